//! Requests to stop the script, as its own thread sees them.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::state::{State, poll};

/// How long a library function goes on after a signal asked to stop the script ([`poll::PATIENCE`]).
pub const PATIENCE: Duration = Duration::from_secs(1);

impl State {
    /// Whether a library function that runs long is to stop.
    #[inline]
    pub fn interrupt_due(&self) -> bool {
        let bits = self.poll.load(Ordering::Relaxed);
        bits & poll::INTERRUPT != 0 && (bits & poll::PATIENCE == 0 || self.patience_is_over())
    }

    #[cold]
    fn patience_is_over(&self) -> bool {
        let seen = self.interrupt_seen.get().unwrap_or_else(Instant::now);
        self.interrupt_seen.set(Some(seen));
        seen.elapsed() >= PATIENCE
    }

    /// Takes back the request to stop, as it was obeyed or came too late.
    pub fn forget_interrupt(&self) {
        self.poll.fetch_and(!(poll::INTERRUPT | poll::PATIENCE), Ordering::Relaxed);
        self.interrupt_seen.set(None);
    }
}
