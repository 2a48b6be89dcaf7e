//! Maps for what compiling looks up most.

use foldhash::fast::FixedState;

/// A map whose keys are the compiler's own, so they are not chosen to make it slow. The hashes of
/// the standard library, which withstand that, take several times as long.
pub(crate) type HashMap<K, V> = std::collections::HashMap<K, V, FixedState>;
