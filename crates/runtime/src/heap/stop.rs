//! Stopping a collection when the script has to stop.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::state::poll;

/// The poll word that the collector checks at intervals to see whether to stop. A stopped
/// collection continues, or restarts, with the next one.
///
/// The collector stops at once, even for a request that still leaves library functions time.
pub(crate) struct Stop {
    /// Null if the collector never stops.
    word: *const AtomicU32,
    was_due: bool,
    /// Number of checks until it has to stop in any case, for tests.
    fuse: u32,
}

impl Stop {
    pub(crate) const fn new() -> Stop {
        Stop { word: std::ptr::null(), was_due: false, fuse: u32::MAX }
    }

    /// Watches `word` from here on, if it is not null, and stops after `fuse` checks in any case.
    pub(super) fn watch(word: *const AtomicU32, fuse: u32) -> Stop {
        Stop { word, was_due: false, fuse }
    }

    /// Returns whether to stop. Once true, the result stays so until [`Stop::watch`].
    #[inline]
    pub(crate) unsafe fn is_due(&mut self) -> bool {
        if self.fuse != u32::MAX {
            self.was_due |= self.fuse == 0;
            self.fuse = self.fuse.saturating_sub(1);
        }
        #[cfg(test)]
        if !self.word.is_null() && tests::fuse_burns_down() {
            self.was_due = true;
        }
        if !self.word.is_null() && (*self.word).load(Ordering::Relaxed) & poll::INTERRUPT != 0 {
            self.was_due = true;
        }
        self.was_due
    }

    /// Stops the collector because it cannot continue.
    pub(crate) fn fail(&mut self) {
        self.was_due = true;
    }

    /// Returns whether a previous check said to stop.
    pub(crate) fn was_due(&self) -> bool {
        self.was_due
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::cell::Cell;

    thread_local! {
        /// Number of checks until the collector has to stop.
        pub(in super::super) static FUSE: Cell<usize> = const { Cell::new(usize::MAX) };
    }

    pub(super) fn fuse_burns_down() -> bool {
        let left = FUSE.get();
        if left < usize::MAX {
            FUSE.set(left.saturating_sub(1));
        }
        left == 0
    }
}
