//! OSR entry after exits.
//!
//! The interpreter and stitched code ask for the compiled code of a loop only once in as many
//! iterations as make a loop hot. A frame that has left compiled code would run all these
//! iterations in the lower tiers, although there is code for the loop. So the threshold is lower
//! from an exit until some loop is entered.

use std::time::{Duration, Instant};

use perilune_runtime::state::{State, Threshold};

/// The logarithm to base 2 of the number of iterations after which a loop is entered again.
const SOON: u32 = 4;
/// As [`SOON`], for code that keeps exiting shortly after it was entered: no less than the usual
/// threshold.
const LATE: u32 = 11;
/// Code that exits within this time was not worth its entry.
const SHORT: Duration = Duration::from_micros(20);
/// The number of times that loops without code are met before the threshold is raised again.
const TRIES: u32 = 32;

/// The state of the entries after exits in one state.
#[derive(Default)]
pub(crate) struct Reentry {
    /// The threshold for loops before it was lowered.
    usual: Option<Threshold>,
    /// The logarithm of the lower threshold.
    log: u32,
    /// The loops without code that have been met since the last exit.
    tries: u32,
    /// The loops that have been met with the lower threshold, modulo the part of them that is met
    /// with the usual one.
    met: u32,
    /// When a loop was last entered.
    entered: Option<Instant>,
}

impl Reentry {
    /// A frame has left compiled code: lowers the threshold.
    ///
    /// # Safety
    /// `st` is the state that this belongs to.
    pub(crate) unsafe fn exited(&mut self, st: *mut State) {
        let was_short = self.entered.take().is_some_and(|entered| entered.elapsed() < SHORT);
        self.log = if was_short { self.log + 1 } else { self.log.saturating_sub(1) };
        self.log = self.log.clamp(SOON, LATE);
        self.tries = 0;
        let lower = Threshold::at(1 << self.log);
        let now = (*st).loop_threshold;
        if self.usual.is_none() && lower.interval() < now.interval() {
            self.usual = Some(now);
            (*st).loop_threshold = lower;
        }
    }

    /// Returns whether the loop that has reached the threshold would not have reached the usual
    /// one: it may be entered, but is not hot for that reason.
    ///
    /// # Safety
    /// As for [`Reentry::exited`].
    pub(crate) unsafe fn is_early(&mut self, st: *mut State) -> bool {
        let Some(usual) = self.usual else { return false };
        self.met += 1;
        self.tries += 1;
        if self.tries == TRIES {
            self.raise(st);
        }
        // The counts are those of all loops, so one loop gets its part only on average.
        let part = (usual.interval() >> self.log).max(1);
        let is_early = self.met < part;
        if !is_early {
            self.met = 0;
        }
        is_early
    }

    /// A loop is entered.
    ///
    /// # Safety
    /// As for [`Reentry::exited`].
    pub(crate) unsafe fn entered(&mut self, st: *mut State) {
        self.entered = Some(Instant::now());
        self.raise(st);
    }

    unsafe fn raise(&mut self, st: *mut State) {
        if let Some(usual) = self.usual.take() {
            (*st).loop_threshold = usual;
        }
    }
}
