//! Maps for what compiling looks up most.

use foldhash::fast::FixedState;

/// A map with keys that no one chooses in order to make it slow. The hashes of the standard
/// library take several times as long.
pub(crate) type HashMap<K, V> = std::collections::HashMap<K, V, FixedState>;
