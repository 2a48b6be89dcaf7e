//! Requests to stop the script, as native functions see them.

use std::sync::atomic::{AtomicU32, Ordering};

use super::{Cx, Raised};
use crate::state::poll;

/// Number of bytes of source text that take about as long to compile as one instruction takes to
/// execute.
const BYTES_PER_INSTRUCTION: usize = 4;

/// Tells, on any thread, whether the script must stop.
pub struct StopSign<'a>(&'a AtomicU32);

impl StopSign<'_> {
    /// Returns whether the script must stop.
    #[inline]
    pub fn is_up(&self) -> bool {
        self.0.load(Ordering::Relaxed) & (poll::INTERRUPT | poll::PATIENCE) == poll::INTERRUPT
    }
}

impl Cx {
    /// Returns whether a long-running function must stop now, because of a request or a limit. If
    /// instructions are counted, counts 100 of them.
    #[inline]
    pub fn interrupt_pending(&self) -> bool {
        // SAFETY: N1.
        unsafe { (*self.state()).piece_of_work() }
    }

    /// If instructions are counted, counts the compilation of this number of bytes of source text.
    /// If that exceeds the limit, the compiler stops at its next check.
    pub fn count_source(&self, bytes: usize) {
        // SAFETY: N1.
        unsafe {
            let st = self.state();
            if (*st).counts {
                (*st).spend((bytes / BYTES_PER_INSTRUCTION) as u64);
            }
        }
    }

    /// Returns a view of the requests that [`Cx::interrupt_pending`] reads, for work without the
    /// context.
    pub fn stop_sign(&self) -> StopSign<'_> {
        // SAFETY: N1; the word is atomic, and no exclusive reference to the state exists while
        // `self` is lent.
        StopSign(unsafe { &(*self.state()).poll })
    }

    /// Withdraws a request to stop that came too late.
    pub fn forget_interrupt(&self) {
        // SAFETY: N1.
        unsafe { (*self.state()).forget_interrupt() };
    }

    /// Checks whether the script must stop, for long loops of native functions. If instructions are
    /// counted, counts 100 of them.
    ///
    /// # Errors
    /// Returns "interrupted!" after a request, or the error of the limit that was reached.
    #[inline]
    pub fn interrupted(&self) -> Result<(), Raised> {
        if !self.interrupt_pending() {
            return Ok(());
        }
        // SAFETY: N1.
        let why = unsafe { (*self.state()).take_interrupt() };
        Err(self.error(why))
    }
}
