//! Hash maps for the most frequent lookups of the compilers.

use foldhash::fast::FixedState;

/// A map whose keys come from the compiler, so they cannot be chosen to cause collisions. The
/// standard library's hasher, which resists such attacks, takes several times as long.
pub(crate) type HashMap<K, V> = std::collections::HashMap<K, V, FixedState>;
