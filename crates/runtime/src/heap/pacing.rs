//! Decides when to collect, and how much at a time.
//!
//! All amounts are in bytes. `balance` counts the bytes allocated, less the bytes freed, since the
//! end of the last marking. A safepoint is requested when it reaches `trigger`.

/// Number of bytes allocated between slices.
pub(crate) const STEP: isize = 64 * 1024;
/// The least number of bytes allocated between cycles at first, so that small heaps are not
/// collected all the time.
const MIN_IDLE: isize = 256 * 1024;
/// The same for a state that has had many cycles, so that a program that produces much garbage
/// spends less time on marking live objects. A state that allocates little stays small. With little
/// to mark, collecting often costs less than using more memory than the caches of the processor
/// hold.
const IDLE: isize = 1024 * 1024;
/// The same in percent of the bytes marked, with the default pause of 200, up to [`MAX_IDLE`].
const IDLE_PERCENT: usize = 400;
/// The most by which marked bytes raise the least number of bytes allocated between cycles.
const MAX_IDLE: isize = 8 * 1024 * 1024;
/// Number of bytes visited for each byte allocated, with the default step multiplier of 100.
const WORK_RATIO: usize = 10;

/// How many slices are done for one step of allocation when earlier slices have left work.
const STEPS_WITH_DEBT: isize = 16;
/// Number of bytes to be visited above which slices do not wait for allocations.
const MOST_DEBT: usize = 16 << 20;

/// The mode of the collector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Incremental.
    Incremental,
    /// Generational.
    Generational,
}

/// The parameters and counters of pacing.
pub(crate) struct Pace {
    /// Number of bytes alive at the end of the last marking.
    pub(crate) live: usize,
    /// How many of these belong to the table of strings, which is not marked. It is large where a
    /// program produces many strings, even if few of them are alive.
    table: usize,
    /// Number of bytes allocated since, less bytes freed.
    pub(crate) balance: isize,
    /// The value of `balance` at which the next safepoint is requested.
    pub(crate) trigger: isize,
    /// The value of `balance` at which the next cycle starts.
    due: isize,
    /// The value of `balance` at the end of the last slice.
    pub(crate) seen: isize,
    /// Number of bytes that slices have left for later ones to visit.
    debt: usize,
    /// The percentage of the live bytes at which the next cycle starts.
    pub(crate) pause: usize,
    /// The speed of marking, in percent of the usual speed.
    pub(crate) step_multiplier: usize,
    /// The logarithm to base 2 of the bytes allocated between slices, as set by the program.
    pub(crate) step_log: u8,
    /// Whether marks are kept from one cycle to the next.
    pub(crate) generational: bool,
    /// The growth of the heap in percent after which a minor collection is done.
    pub(crate) minor: usize,
    /// The growth of the heap in percent since the last major collection after which the next is
    /// done.
    pub(crate) major: usize,
    /// Number of live bytes after the last major collection.
    pub(crate) major_base: usize,
    /// Number of live bytes after the last major collection if it freed too little, else 0.
    pub(crate) bad_major: usize,
    /// Whether a collection in generational mode had to stop early: the marks are then not those of
    /// one cycle, so the next collection is a full one.
    pub(crate) unfinished: bool,
    /// Whether the program has stopped the collector.
    pub(crate) stopped: bool,
    /// How many bytes may be in use at most.
    pub(crate) limit: usize,
}

impl Pace {
    pub(crate) fn new() -> Pace {
        Pace {
            live: 0,
            table: 0,
            balance: 0,
            trigger: MIN_IDLE,
            due: MIN_IDLE,
            seen: 0,
            debt: 0,
            pause: 200,
            step_multiplier: 100,
            step_log: 13,
            generational: false,
            minor: 20,
            major: 100,
            major_base: 0,
            bad_major: 0,
            unfinished: false,
            stopped: false,
            limit: usize::MAX,
        }
    }

    /// Returns the number of bytes in use.
    pub(crate) fn in_use(&self) -> usize {
        self.live.saturating_add_signed(self.balance)
    }

    /// Returns whether the next collection is one of the young objects.
    pub(crate) fn is_minor_due(&self) -> bool {
        self.generational
            && !self.unfinished
            && self.bad_major == 0
            && self.in_use() <= self.major_base + self.major_growth()
    }

    /// Returns by how many bytes the heap may grow from one major collection to the next.
    fn major_growth(&self) -> usize {
        (self.major_base / 100).saturating_mul(self.major).max(STEP as usize)
    }

    /// Notes that marking has ended with `marked` bytes alive besides the `table` of strings, in a
    /// major collection or a minor one.
    pub(crate) fn end_marking(&mut self, marked: usize, table: usize, major: bool) {
        let live = marked + table;
        if major && self.generational {
            // When a major collection frees little, others follow until one frees more.
            let good = match self.bad_major {
                0 => live < self.major_base + self.major_growth() / 2,
                last => live < last + last / 8,
            };
            self.bad_major = if good { 0 } else { live };
            self.major_base = live;
            self.unfinished = false;
        }
        self.live = live;
        self.table = table;
        self.balance = 0;
        self.seen = 0;
    }

    fn step(&self) -> isize {
        STEP.max(
            1isize.checked_shl(self.step_log.into()).filter(|s| *s > 0).unwrap_or(isize::MAX / 4),
        )
    }

    /// Returns how many bytes to visit in a slice, for the bytes allocated since the last one. Work
    /// beyond that for one step, because a large object was allocated, is left for the next slices,
    /// which follow sooner.
    pub(crate) fn slice_budget(&mut self, starting: bool) -> usize {
        let step = self.step();
        // Less than a step when there was work left.
        let least = if self.debt > 0 { STEP / STEPS_WITH_DEBT } else { step };
        let allocated = if starting { step } else { (self.balance - self.seen).max(least) };
        self.seen = self.balance;
        let wanted = self.debt.saturating_add(self.work_for(allocated as usize, WORK_RATIO));
        let budget = wanted.min(self.work_for(step as usize, WORK_RATIO));
        self.debt = wanted - budget;
        budget
    }

    /// Returns whether so much work is left that it must not wait for allocations.
    pub(crate) fn is_behind(&self) -> bool {
        self.debt > MOST_DEBT
    }

    /// Returns how many bytes to visit in an explicit step of so many kilobytes.
    pub(crate) fn explicit_budget(&self, kilobytes: usize) -> usize {
        self.work_for(kilobytes.saturating_mul(1024), 4)
    }

    fn work_for(&self, bytes: usize, ratio: usize) -> usize {
        (bytes / 100).saturating_mul(self.step_multiplier.max(1)).saturating_mul(ratio).max(1024)
    }

    /// Returns how many bytes will be allocated until the next cycle starts, if that is scheduled
    /// now.
    pub(crate) fn until_next_cycle(&self) -> usize {
        let growth = self.pause.saturating_sub(100);
        // A program that sets a short pause wants to use little memory.
        let share = if self.generational { 100 } else { growth };
        let marked = self.live - self.table;
        let idle = (marked / 100).saturating_mul(share.saturating_mul(IDLE_PERCENT) / 100);
        let idle = idle.clamp(IDLE as usize, MAX_IDLE as usize) as isize;
        let longer = self.due.saturating_add(self.due / 16).clamp(MIN_IDLE, idle);
        let least = if growth == 0 && !self.generational { STEP } else { longer };
        let percent = if self.generational && self.bad_major == 0 { self.minor } else { growth };
        (self.live / 100).saturating_mul(percent).clamp(least as usize, isize::MAX as usize / 2)
    }

    /// Schedules the next slice after one step of allocation.
    pub(crate) fn wait_for_slice(&mut self) {
        self.seen = self.balance;
        let step = if self.debt > 0 { STEP / STEPS_WITH_DEBT } else { self.step() };
        self.set_trigger(self.balance.saturating_add(step));
    }

    /// Schedules the next slice early, as its work depends on what the program does before it.
    pub(crate) fn hurry(&mut self) {
        self.seen = self.balance;
        self.set_trigger(self.balance.saturating_add(STEP / STEPS_WITH_DEBT));
    }

    /// Schedules the next cycle for when the heap has grown enough.
    pub(crate) fn wait_for_cycle(&mut self) {
        self.debt = 0;
        let wait = self.until_next_cycle() as isize;
        self.set_trigger(wait.max(self.balance + STEP / 4));
        self.due = self.trigger;
    }

    /// Returns whether the safepoint was scheduled early, for finalizers, and no cycle is due yet.
    pub(crate) fn is_early(&self) -> bool {
        self.balance >= self.trigger && self.balance < self.due
    }

    /// Schedules the next cycle for when it is due.
    pub(crate) fn wait_until_due(&mut self) {
        self.set_trigger(self.due);
    }

    /// Schedules the next safepoint after `bytes` more were allocated.
    pub(crate) fn wait_for(&mut self, bytes: isize) {
        self.set_trigger(self.balance.saturating_add(bytes));
    }

    fn set_trigger(&mut self, at: isize) {
        // The safepoint must come before the limit is far exceeded.
        let room = self.limit.saturating_sub(self.live).min(isize::MAX as usize) as isize;
        self.trigger = if self.stopped {
            room.max(self.balance.saturating_add(STEP))
        } else {
            at.min(room.max(self.balance + STEP / 4))
        };
    }

    /// Schedules the next safepoint soon.
    pub(crate) fn soon(&mut self) {
        self.trigger = self.balance;
        self.due = self.balance;
    }

    /// Accounts for the allocations during which the collector was blocked by finalizers.
    pub(crate) fn after_finalizers(&mut self) {
        self.set_trigger(self.trigger.min(self.balance.saturating_add(STEP)).max(self.balance));
    }

    /// Schedules another check later, as a finalizer is running or the program has stopped the
    /// collector.
    pub(crate) fn postpone(&mut self) {
        self.trigger = self.balance.saturating_add(STEP);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_heaps_are_collected_less_often_after_many_cycles() {
        let short = (3_000_000, 120, 2_400_000);
        let usual = [(10_000, 200, IDLE), (500_000, 200, 2_000_000), (3_000_000, 200, MAX_IDLE)];
        for (live, pause, most) in usual.into_iter().chain([short]) {
            let mut pace = Pace::new();
            pace.pause = pause;
            let growth = (live as isize / 100 * (pause as isize - 100)).max(MIN_IDLE);
            let mut last = 0;
            for cycle in 0..80 {
                pace.end_marking(live, 0, true);
                pace.wait_for_cycle();
                assert!(pace.trigger >= last && pace.trigger <= most, "{cycle}: {}", pace.trigger);
                last = pace.trigger;
                if cycle == 4 {
                    assert!(last < 2 * growth, "{last}");
                }
            }
            assert_eq!(last, most);
            pace.soon();
            pace.wait_for_cycle();
            assert_eq!(pace.trigger, growth);
        }
        // A large heap may grow by as much as is alive.
        let mut pace = Pace::new();
        pace.end_marking(100 << 20, 0, true);
        pace.wait_for_cycle();
        assert!(pace.trigger > 99 << 20 && pace.trigger <= 100 << 20);
    }

    #[test]
    fn a_table_of_strings_does_not_delay_cycles_like_live_objects() {
        let after_many_cycles = |marked: usize, table: usize| {
            let mut pace = Pace::new();
            for _ in 0..80 {
                pace.end_marking(marked, table, true);
                pace.wait_for_cycle();
            }
            pace.trigger
        };
        assert_eq!(after_many_cycles(0, 1 << 20), IDLE);
        assert!(after_many_cycles(1 << 20, 0) > 3 * IDLE);
        // the heap may still grow by as much as is in use
        assert!(after_many_cycles(0, 4 << 20) > 3 << 20);
    }
}
