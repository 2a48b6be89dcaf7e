//! The epoch that inline caches of metatable chains compare.

/// Counts, in one state, the changes that may invalidate inline caches of metatable chains.
///
/// An entry of a cache is valid while the state's epoch is the one that it was recorded with, and
/// is then used without bounds checks. The count is in the upper 16 bits of a word, above those of
/// an address, so that epoch and metatable are compared at once (see [`MetaEpoch::with`]). When it
/// begins again, `State::invalidate_chains` invalidates all entries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub struct MetaEpoch(u64);

impl MetaEpoch {
    const STEP: u64 = 1 << 48;
    /// The epoch of a new state. Builds with debug assertions begin shortly before the count begins
    /// again, so that most tests see that.
    pub const FIRST: MetaEpoch =
        MetaEpoch(if cfg!(debug_assertions) { 0xFFF8 * MetaEpoch::STEP } else { MetaEpoch::STEP });

    /// The epoch with which the count begins again.
    pub(crate) const LEAST: MetaEpoch = MetaEpoch(MetaEpoch::STEP);

    /// Returns the epoch after this one, or `None` if the count begins again.
    pub(crate) const fn next(self) -> Option<MetaEpoch> {
        match self.0.wrapping_add(MetaEpoch::STEP) {
            0 => None,
            next => Some(MetaEpoch(next)),
        }
    }

    /// Returns a word that says the epoch and the metatable word of a value: what a chain entry is
    /// valid for. It is not [`MetaEpoch::NEVER`].
    #[inline(always)]
    pub fn with(self, meta: usize) -> u64 {
        debug_assert!(meta as u64 <= MetaEpoch::ADDRESS, "an address has 48 bits");
        self.0 | meta as u64
    }

    /// What [`MetaEpoch::with`] returns for no epoch and no metatable.
    pub const NEVER: u64 = 0;
    /// The bits of the metatable word.
    pub const ADDRESS: u64 = MetaEpoch::STEP - 1;
}

// Machine code adds a metatable word with one instruction.
const _: () = assert!(size_of::<MetaEpoch>() == 8);

#[cfg(test)]
mod tests {
    use super::MetaEpoch;

    #[test]
    fn epochs_differ_until_the_count_begins_again() {
        let mut epoch = MetaEpoch::LEAST;
        for _ in 2..=u16::MAX {
            let next = epoch.next().expect("it counts to 65 535");
            assert!(next.0 > epoch.0);
            assert_ne!(next.with(16), epoch.with(16));
            epoch = next;
        }
        assert_eq!(epoch.next(), None);
        assert_ne!(epoch.with(0), MetaEpoch::NEVER);
    }
}
