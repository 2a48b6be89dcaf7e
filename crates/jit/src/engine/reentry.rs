//! OSR entry after exits.
//!
//! The interpreter and stitched code check for compiled code of a loop only when the number of
//! iterations since the last check reaches the threshold for hot loops. A frame that has left
//! compiled code would run all these iterations in the lower tiers, although the loop is compiled.
//! Therefore the threshold is lowered from an exit until some loop is entered.

use std::time::{Duration, Instant};

use perilune_runtime::state::Threshold;

/// The logarithm to base 2 of the number of iterations after which a loop is entered again.
const SOON: u32 = 4;
/// Like [`SOON`], for code that keeps exiting shortly after it was entered; not less than the usual
/// threshold.
const LATE: u32 = 11;
/// Code that exits within this time was not worth its entry.
const SHORT: Duration = Duration::from_micros(20);
/// The number of times that loops without code reach the lowered threshold before it is raised
/// again.
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
    /// Lowers the threshold for loops after a frame has left compiled code.
    pub(crate) fn exited(&mut self, threshold: &mut Threshold) {
        let was_short = self.entered.take().is_some_and(|entered| entered.elapsed() < SHORT);
        self.log = if was_short { self.log + 1 } else { self.log.saturating_sub(1) };
        self.log = self.log.clamp(SOON, LATE);
        self.tries = 0;
        self.raise(threshold);
        let lower = Threshold::at(1 << self.log);
        if lower.interval() < threshold.interval() {
            self.usual = Some(std::mem::replace(threshold, lower));
        }
    }

    /// Returns whether the loop that has reached the threshold would not have reached the usual
    /// one: it may be entered, but is not hot for that reason.
    pub(crate) fn is_early(&mut self, threshold: &mut Threshold) -> bool {
        let Some(usual) = self.usual else { return false };
        self.met += 1;
        self.tries += 1;
        if self.tries == TRIES {
            self.raise(threshold);
        }
        // The counts are shared by all loops, so each loop gets its share only on average.
        let is_early = self.met < usual.interval() >> self.log;
        if !is_early {
            self.met = 0;
        }
        is_early
    }

    /// A loop is entered.
    pub(crate) fn entered(&mut self, threshold: &mut Threshold) {
        self.entered = Some(Instant::now());
        self.raise(threshold);
    }

    fn raise(&mut self, threshold: &mut Threshold) {
        if let Some(usual) = self.usual.take() {
            *threshold = usual;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: Threshold = Threshold::at(2048);

    #[test]
    fn loops_are_entered_soon_after_an_exit() {
        let (mut reentry, mut threshold) = (Reentry::default(), USUAL);
        assert!(!reentry.is_early(&mut threshold), "nothing has exited");
        reentry.exited(&mut threshold);
        assert_eq!(threshold.interval(), 1 << SOON);
        assert!(reentry.is_early(&mut threshold));
        reentry.entered(&mut threshold);
        assert_eq!(threshold.interval(), USUAL.interval());
        assert!(!reentry.is_early(&mut threshold));
    }

    #[test]
    fn code_that_exits_at_once_is_entered_later() {
        let (mut reentry, mut threshold) = (Reentry::default(), USUAL);
        // a pause of the test would make one entry longer
        for _ in 0..100 {
            reentry.entered(&mut threshold);
            reentry.exited(&mut threshold);
        }
        assert!(threshold.interval() > 1 << SOON);
        reentry.entered(&mut threshold);
        std::thread::sleep(SHORT);
        let before = reentry.log;
        reentry.exited(&mut threshold);
        assert_eq!(reentry.log, before - 1);
    }

    #[test]
    fn loops_without_code_are_hot_as_often_as_before() {
        let (mut reentry, mut threshold) = (Reentry::default(), USUAL);
        let mut hot = 0;
        for n in 0..1 << 12 {
            if n % 16 == 0 {
                reentry.exited(&mut threshold);
            }
            hot += u32::from(!reentry.is_early(&mut threshold));
        }
        assert_eq!(hot, (1 << 12) / (USUAL.interval() >> SOON));
        reentry.exited(&mut threshold);
        for _ in 0..TRIES {
            reentry.is_early(&mut threshold);
        }
        assert_eq!(threshold.interval(), USUAL.interval(), "no loop has code");
    }
}
