//! The gate that keeps locks free while the process forks.
//!
//! The gate is a reader-writer spin lock in a single word; the writer is the thread that forks. It
//! does not use a lock of `std`, because the child must be able to reset the word by a plain store.

use crate::sync::{AtomicUsize, Mutant, Ordering, mutated, order, relax};

/// Set while a thread forks; the other bits count the threads inside.
const CLOSED: usize = 1 << (usize::BITS - 1);

/// A gate that any number of threads may enter, and none while it is closed.
///
/// The count of threads inside cannot reach [`CLOSED`], as each thread counts once.
#[derive(Debug)]
pub struct Gate {
    word: AtomicUsize,
}

impl Gate {
    /// Creates an open gate with no thread inside.
    #[cfg(not(loom))]
    pub(crate) const fn new() -> Gate {
        Gate { word: AtomicUsize::new(0) }
    }

    /// Creates an open gate with no thread inside.
    #[cfg(loom)]
    #[expect(clippy::new_without_default, reason = "only the model creates one")]
    pub fn new() -> Gate {
        Gate { word: AtomicUsize::new(0) }
    }

    /// Enters the gate; waits while the gate is closed. A thread that is inside must not call this.
    #[inline]
    pub fn enter(&self) {
        // Acquire: this thread sees everything done between closing and opening.
        if self.word.fetch_add(1, Ordering::Acquire) & CLOSED != 0 {
            self.wait_and_enter();
        }
    }

    #[cold]
    fn wait_and_enter(&self) {
        let mut turn = 0;
        loop {
            self.word.fetch_sub(1, Ordering::Release);
            while self.look(Ordering::Relaxed) & CLOSED != 0 {
                relax(&mut turn);
            }
            if self.word.fetch_add(1, Ordering::Acquire) & CLOSED == 0 {
                return;
            }
        }
    }

    /// Leaves the gate.
    #[inline]
    pub fn leave(&self) {
        // Release: a thread that closes the gate sees what this thread did inside.
        self.word.fetch_sub(1, order(Mutant::GateLeaveRelaxed, Ordering::Release));
    }

    /// Closes the gate and waits until no thread is inside. If another thread has closed it, waits
    /// for that thread first. The calling thread must be outside.
    pub fn close(&self) {
        let mut turn = 0;
        while self.word.fetch_or(CLOSED, Ordering::Relaxed) & CLOSED != 0 {
            relax(&mut turn);
        }
        while self.look(Ordering::Acquire) != CLOSED && !mutated(Mutant::GateNotAwaited) {
            relax(&mut turn);
        }
    }

    /// Reads the word in a loop that waits. In the model this is an exchange, which reads the
    /// latest value: a load could return an old one any number of times.
    fn look(&self, order: Ordering) -> usize {
        if cfg!(loom) { self.word.fetch_or(0, order) } else { self.word.load(order) }
    }

    /// Opens the gate that this thread has closed.
    pub fn open(&self) {
        self.word.fetch_and(!CLOSED, Ordering::Release);
    }

    /// Opens the gate in a child process, in which the threads that wait to enter do not exist.
    #[cfg(not(loom))]
    pub(crate) fn reset(&self) {
        self.word.store(0, Ordering::Release);
    }
}
