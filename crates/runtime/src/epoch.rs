//! The epoch that inline caches of metatable chains compare.

/// Counts, in one state, the changes that may invalidate inline caches of metatable chains.
///
/// A cache entry is valid while the state's epoch equals the epoch with which the entry was
/// recorded, and is then used without bounds checks. The count has 64 bits, so no value ever
/// recurs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub struct MetaEpoch(u64);

impl MetaEpoch {
    /// The epoch of entries that match nothing.
    pub const NEVER: MetaEpoch = MetaEpoch(0);
    /// The epoch of a new state.
    pub const FIRST: MetaEpoch = MetaEpoch::NEVER.next();

    /// Returns the epoch after this one.
    ///
    /// Builds with debug assertions count in the upper half first, so that tests of caches fail if
    /// any tier compares only 32 bits.
    #[inline(always)]
    pub const fn next(self) -> MetaEpoch {
        let swap = if cfg!(debug_assertions) { 32 } else { 0 };
        MetaEpoch(self.0.rotate_left(swap).wrapping_add(1).rotate_left(swap))
    }
}

// Machine code compares epochs with one instruction.
const _: () = assert!(size_of::<MetaEpoch>() == 8);

#[cfg(test)]
mod tests {
    use super::MetaEpoch;

    #[test]
    fn differs_after_as_many_steps_as_32_bits_count() {
        let mut epoch = MetaEpoch::FIRST;
        for _ in 0..1000 {
            let next = epoch.next();
            assert_ne!(next, epoch);
            assert_ne!(next, MetaEpoch::NEVER);
            epoch = next;
        }
        // The step at which a count of 32 bits wraps around.
        let last = MetaEpoch(if cfg!(debug_assertions) {
            u64::from(u32::MAX) << 32
        } else {
            u64::from(u32::MAX)
        });
        assert_ne!(last.next(), MetaEpoch::NEVER);
        assert_ne!(last.next().next(), MetaEpoch::FIRST);
    }
}
