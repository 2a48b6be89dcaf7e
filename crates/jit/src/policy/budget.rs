//! The budget of processor time for compiling.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::observe::clock;

/// The nanoseconds of processor time that may be spent before the program itself has used any: a
/// program's first hot functions should not wait.
const ADVANCE: u64 = 30_000_000;
/// The nanoseconds that may be spent before the interpreter has used any.
const FIRST: u64 = 10_000_000;
/// The nanoseconds that the interpreter takes for a bytecode, approximately.
const PER_BYTECODE: u64 = 3;
/// The limit of compile time, as a percentage of the time spent on interpreting functions. A
/// compile pays off if the function continues to run until its code has saved the cost of the
/// compile. The best estimate is that a function continues to run for as long as it has run so far,
/// and a compile mostly runs on another core. In measurements with real programs and benchmarks, 50
/// made runs take 1.05 times as long, and 400 took at least as much processor time without making
/// them faster.
const OF_INTERPRETING: u64 = 200;
/// Limits of a pause. A thread checks the budget again afterwards, since the program may have been
/// idle.
const SHORTEST: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_millis(20);

/// The processor time that compile threads have used, and its limits: a share of the program's
/// time, and a multiple of the time spent on interpreting hot functions. Compiling can only save
/// time of the second kind: a program that spends its time in the library gains nothing. The cost
/// of exits from code is added to the share, because exits continue until the code is replaced.
pub(crate) struct Budget {
    /// The share of the time of the process's other threads, in percent; `None` sets no limit.
    share: Option<u32>,
    /// The time used, in nanoseconds.
    spent: AtomicU64,
    /// Bytecodes that hot functions have run in the interpreter.
    interpreted: AtomicU64,
    /// The part of these that is due to exits from code.
    exited: AtomicU64,
}

impl Budget {
    pub(crate) fn new(share: Option<u32>) -> Budget {
        let zero = || AtomicU64::new(0);
        Budget { share, spent: zero(), interpreted: zero(), exited: zero() }
    }

    /// Adds bytecodes that hot functions have run in the interpreter.
    pub(crate) fn add_interpreted(&self, bytecodes: u64) {
        self.interpreted.fetch_add(bytecodes, Ordering::Relaxed);
    }

    /// Adds the cost of an exit from code.
    pub(crate) fn add_exit(&self, bytecodes: u64) {
        self.add_interpreted(bytecodes);
        self.exited.fetch_add(bytecodes, Ordering::Relaxed);
    }

    /// Calls `f`, and counts the processor time that it takes.
    pub(crate) fn spend<R>(&self, f: impl FnOnce() -> R) -> R {
        let start = clock::thread_time();
        let result = f();
        let time = clock::thread_time().saturating_sub(start);
        self.spent.fetch_add(time, Ordering::Relaxed);
        result
    }

    /// Returns how long a thread should wait before the next compile, if the budget is exceeded.
    pub(crate) fn pause(&self) -> Option<Duration> {
        self.pause_at(clock::process_time())
    }

    fn pause_at(&self, process: u64) -> Option<Duration> {
        let share = u64::from(self.share?);
        let spent = self.spent.load(Ordering::Relaxed);
        let program = process.saturating_sub(spent);
        let time = |of: &AtomicU64| of.load(Ordering::Relaxed).saturating_mul(PER_BYTECODE);
        let useful = (time(&self.interpreted) / 100).saturating_mul(OF_INTERPRETING);
        let useful = useful.saturating_add(FIRST);
        let allowed = (ADVANCE + program / 100 * share).saturating_add(time(&self.exited));
        let over = spent.checked_sub(useful.min(allowed))?;
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
    fn what_exits_cost_may_be_spent() {
        const MS: u64 = 1_000_000;
        let budget = Budget::new(Some(10));
        budget.add_interpreted(u64::MAX / 4);
        budget.spent.store(ADVANCE + 6 * MS, Ordering::Relaxed);
        assert!(budget.pause_at(ADVANCE + 6 * MS).is_some());
        budget.add_exit(6 * MS / PER_BYTECODE);
        assert_eq!(budget.pause_at(ADVANCE + 6 * MS), None);
    }

    #[test]
    fn pauses_while_interpreting_takes_little() {
        const MS: u64 = 1_000_000;
        let budget = Budget::new(Some(10));
        budget.spent.store(20 * MS, Ordering::Relaxed);
        assert_eq!(budget.pause_at(1000 * MS), Some(LONGEST));
        budget.add_interpreted(5 * MS / PER_BYTECODE + 1);
        assert_eq!(budget.pause_at(1000 * MS), None);
    }

    #[test]
    fn measures_what_is_spent() {
        let budget = Budget::new(Some(10));
        let n = budget.spend(|| (0..1_000_000u64).fold(0, |a, b| std::hint::black_box(a ^ b)));
        assert!(n < 1 << 20 && budget.spent.load(Ordering::Relaxed) > 0);
    }
}
