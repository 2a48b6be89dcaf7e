//! Stopping a collection, for a script that has to stop.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::state::{State, poll};

/// Where the collector looks, every so often, whether to stop: the poll word. It stops where it is, and the next collection goes on or begins anew.
///
/// It obeys at once, also a signal that leaves library functions time.
pub(crate) struct Stop {
    /// Null: it never stops.
    word: *const AtomicU32,
    was_due: bool,
    /// Looks until it has to stop anyway, for tests.
    pub(super) fuse: u32,
}

impl Stop {
    pub(crate) const fn new() -> Stop {
        Stop { word: std::ptr::null(), was_due: false, fuse: u32::MAX }
    }

    /// Whether to stop. Stays so until [`State::watch_stop`].
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

    /// The collector cannot go on.
    pub(crate) fn fail(&mut self) {
        self.was_due = true;
    }

    /// Whether the last look, or one before it, said so.
    pub(crate) fn was_due(&self) -> bool {
        self.was_due
    }
}

impl State {
    /// The collector begins, or goes on, and looks at the poll word from here on, unless it works for the host.
    pub(super) fn watch_stop(&mut self) {
        let word = if self.heap.for_host { std::ptr::null() } else { &raw const self.poll };
        self.heap.marker.stop = Stop { word, was_due: false, fuse: self.heap.take_fuse() };
    }

    /// Runs `f` with a collector that does not stop when the script has to: for the host, which may need memory or peace after a limit was reached.
    ///
    /// # Safety
    /// `st` is live.
    pub unsafe fn collecting_for_host<R>(st: *mut State, f: impl FnOnce() -> R) -> R {
        struct Before(*mut State, bool);
        impl Drop for Before {
            fn drop(&mut self) {
                // SAFETY: the state outlives the call.
                unsafe { (*self.0).heap.for_host = self.1 }
            }
        }
        let _before = Before(st, std::mem::replace(&mut (*st).heap.for_host, true));
        f()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::cell::Cell;

    thread_local! {
        /// Looks until the collector has to stop.
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
