//! How much processor time compiling may take.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::observe::clock;

/// What may be spent before the program has used any time itself, in nanoseconds of processor time:
/// a program's first hot functions should not wait.
const ADVANCE: u64 = 30_000_000;
/// Limits of a pause. A thread asks again after it, since the program may have been waiting.
const SHORTEST: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_millis(20);

/// The processor time that compile threads have used, and the share of the program's time that
/// they may use.
pub(crate) struct Budget {
    /// In percent of the time of the process's other threads; `None` does not limit it.
    share: Option<u32>,
    /// In nanoseconds.
    spent: AtomicU64,
}

impl Budget {
    pub(crate) fn new(share: Option<u32>) -> Budget {
        Budget { share, spent: AtomicU64::new(0) }
    }

    /// Calls `f`, and adds the processor time that it takes.
    pub(crate) fn spend<R>(&self, f: impl FnOnce() -> R) -> R {
        let start = clock::thread_time();
        let result = f();
        let time = clock::thread_time().saturating_sub(start);
        self.spent.fetch_add(time, Ordering::Relaxed);
        result
    }

    /// Returns how long a thread should wait before the next compile, if more is spent than may be.
    pub(crate) fn pause(&self) -> Option<Duration> {
        self.pause_at(clock::process_time())
    }

    fn pause_at(&self, process: u64) -> Option<Duration> {
        let share = u64::from(self.share?);
        let spent = self.spent.load(Ordering::Relaxed);
        let program = process.saturating_sub(spent);
        let over = spent.checked_sub(ADVANCE + program / 100 * share)?;
        if over == 0 {
            return None;
        }
        let wait = Duration::from_nanos((over * 100).checked_div(share).unwrap_or(u64::MAX));
        Some(wait.clamp(SHORTEST, LONGEST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_while_more_than_the_share_is_spent() {
        const MS: u64 = 1_000_000;
        let budget = Budget::new(Some(10));
        budget.spent.store(40 * MS, Ordering::Relaxed);
        assert_eq!(budget.pause_at(40 * MS), Some(LONGEST), "10 ms over, for 100 of the program");
        assert_eq!(budget.pause_at((40 + 95) * MS), Some(Duration::from_millis(5)));
        assert_eq!(budget.pause_at((40 + 100) * MS), None);
        assert_eq!(Budget::new(None).pause_at(0), None);
        let none = Budget::new(Some(0));
        none.spent.store(ADVANCE + 1, Ordering::Relaxed);
        assert_eq!(none.pause_at(u64::MAX), Some(LONGEST));
    }

    #[test]
    fn measures_what_is_spent() {
        let budget = Budget::new(Some(10));
        let n = budget.spend(|| (0..1_000_000u64).fold(0, |a, b| std::hint::black_box(a ^ b)));
        assert!(n < 1 << 20 && budget.spent.load(Ordering::Relaxed) > 0);
    }
}
