//! How much processor time compiling may take.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::observe::clock;

/// What may be spent before the program has used any time itself, in nanoseconds of processor time:
/// a program's first hot functions should not wait.
const ADVANCE: u64 = 30_000_000;
/// What may be spent before the interpreter has taken any time.
const FIRST: u64 = 10_000_000;
/// What the interpreter takes for a bytecode, about, in nanoseconds.
const PER_BYTECODE: u64 = 3;
/// The part of the time that interpreting functions has taken which may be spent on compiling, in
/// percent. A compile pays if the function runs on for so long that its code saves what the compile
/// has cost, and that a function runs on for as long as it has run is the best estimate there is.
const OF_INTERPRETING: u64 = 50;
/// Limits of a pause. A thread asks again after it, since the program may have been waiting.
const SHORTEST: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_millis(20);

/// The processor time that compile threads have used, and what limits it: a share of the program's
/// time, and a part of the time that went into interpreting functions which were hot. The second
/// is what compiling can save: a program that spends its time in the library gains nothing.
pub(crate) struct Budget {
    /// In percent of the time of the process's other threads; `None` limits nothing.
    share: Option<u32>,
    /// In nanoseconds.
    spent: AtomicU64,
    /// Bytecodes that hot functions have run in the interpreter.
    interpreted: AtomicU64,
}

impl Budget {
    pub(crate) fn new(share: Option<u32>) -> Budget {
        Budget { share, spent: AtomicU64::new(0), interpreted: AtomicU64::new(0) }
    }

    /// Adds bytecodes that the interpreter has run.
    pub(crate) fn add_interpreted(&self, bytecodes: u64) {
        self.interpreted.fetch_add(bytecodes, Ordering::Relaxed);
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
        let interpreting = self.interpreted.load(Ordering::Relaxed).saturating_mul(PER_BYTECODE);
        let useful = FIRST + interpreting / 100 * OF_INTERPRETING;
        let over = spent.checked_sub(useful.min(ADVANCE + program / 100 * share))?;
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
        budget.add_interpreted(u64::MAX / 2);
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
    fn pauses_while_interpreting_takes_little() {
        const MS: u64 = 1_000_000;
        let budget = Budget::new(Some(10));
        budget.spent.store(20 * MS, Ordering::Relaxed);
        assert_eq!(budget.pause_at(1000 * MS), Some(LONGEST));
        budget.add_interpreted(20 * MS / PER_BYTECODE + 1);
        assert_eq!(budget.pause_at(1000 * MS), None);
    }

    #[test]
    fn measures_what_is_spent() {
        let budget = Budget::new(Some(10));
        let n = budget.spend(|| (0..1_000_000u64).fold(0, |a, b| std::hint::black_box(a ^ b)));
        assert!(n < 1 << 20 && budget.spent.load(Ordering::Relaxed) > 0);
    }
}
