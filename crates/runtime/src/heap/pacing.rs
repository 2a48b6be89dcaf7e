//! When to collect, and how much at a time.
//!
//! The unit is the byte. `balance` counts what was allocated (less what was freed) since marking ended last; the safepoint
//! is asked for when it reaches `trigger`.

/// Bytes allocated between slices.
pub(crate) const STEP: isize = 64 * 1024;
/// The next cycle starts at the earliest after so many bytes, so that small heaps are not collected all the time.
const MIN_IDLE: isize = 256 * 1024;
/// With the default step multiplier of 100, so many bytes are looked at for each byte allocated.
const WORK_RATIO: usize = 10;

/// The parameters and counters of pacing.
pub(crate) struct Pace {
    /// Bytes alive at the end of the last marking.
    pub(crate) live: usize,
    /// Bytes allocated, less bytes freed, since.
    pub(crate) balance: isize,
    /// Value of `balance` at which the next safepoint is asked for.
    pub(crate) trigger: isize,
    /// Value of `balance` at the end of the last slice.
    pub(crate) seen: isize,
    /// Percent of the live bytes at which the next cycle starts.
    pub(crate) pause: usize,
    /// How fast to mark, in percent of the usual speed.
    pub(crate) step_multiplier: usize,
    /// log2 of the bytes allocated between slices, as asked for.
    pub(crate) step_log: u8,
    /// Marks are kept from one cycle to the next.
    pub(crate) generational: bool,
    /// A minor collection after the heap grew by so many percent.
    pub(crate) minor: usize,
    /// A major one after it grew by so many percent since the last major one.
    pub(crate) major: usize,
    /// Live bytes after the last major collection.
    pub(crate) major_base: usize,
    /// The last major collection freed too little: live bytes after it; else 0.
    pub(crate) bad_major: usize,
    /// A collection in generational mode had to stop halfway: the marks are not those of one cycle, so the next collection is a full one.
    pub(crate) unfinished: bool,
    /// Stopped by the program.
    pub(crate) stopped: bool,
    /// Most bytes that may be in use.
    pub(crate) limit: usize,
}

impl Pace {
    pub(crate) fn new() -> Pace {
        Pace {
            live: 0,
            balance: 0,
            trigger: MIN_IDLE,
            seen: 0,
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

    /// Bytes in use.
    pub(crate) fn in_use(&self) -> usize {
        self.live.saturating_add_signed(self.balance)
    }

    /// Marking has ended with so many bytes alive.
    pub(crate) fn end_marking(&mut self, live: usize) {
        self.live = live;
        self.balance = 0;
        self.seen = 0;
    }

    fn step(&self) -> isize {
        STEP.max(
            1isize.checked_shl(self.step_log.into()).filter(|s| *s > 0).unwrap_or(isize::MAX / 4),
        )
    }

    /// Bytes to look at in a slice, for what was allocated since the last one.
    pub(crate) fn slice_budget(&mut self, starting: bool) -> usize {
        let allocated =
            if starting { self.step() } else { (self.balance - self.seen).max(self.step()) };
        self.seen = self.balance;
        self.work_for(allocated as usize, WORK_RATIO)
    }

    /// Bytes to look at in an explicit step of so many kilobytes.
    pub(crate) fn explicit_budget(&self, kilobytes: usize) -> usize {
        self.work_for(kilobytes.saturating_mul(1024), 4)
    }

    fn work_for(&self, bytes: usize, ratio: usize) -> usize {
        (bytes / 100).saturating_mul(self.step_multiplier.max(1)).saturating_mul(ratio).max(1024)
    }

    /// Bytes that will be allocated until the next cycle starts.
    pub(crate) fn until_next_cycle(&self) -> usize {
        let percent = if self.generational && self.bad_major == 0 {
            self.minor
        } else {
            self.pause.saturating_sub(100)
        };
        (self.live / 100).saturating_mul(percent).min(isize::MAX as usize / 2)
    }

    /// The next slice comes after one step.
    pub(crate) fn wait_for_slice(&mut self) {
        self.seen = self.balance;
        self.set_trigger(self.balance.saturating_add(self.step()));
    }

    /// The next cycle comes when the heap has grown enough.
    pub(crate) fn wait_for_cycle(&mut self) {
        let least = if self.pause <= 100 && !self.generational { STEP } else { MIN_IDLE };
        let wait = (self.until_next_cycle() as isize).max(least);
        self.set_trigger(wait.max(self.balance + STEP / 4));
    }

    /// The next safepoint comes when `bytes` more were allocated.
    pub(crate) fn wait_for(&mut self, bytes: isize) {
        self.set_trigger(self.balance.saturating_add(bytes));
    }

    fn set_trigger(&mut self, at: isize) {
        // The limit must be seen in time.
        let room = self.limit.saturating_sub(self.live).min(isize::MAX as usize) as isize;
        self.trigger = if self.stopped {
            room.max(self.balance.saturating_add(STEP))
        } else {
            at.min(room.max(self.balance + STEP / 4))
        };
    }

    /// The next safepoint comes soon.
    pub(crate) fn soon(&mut self) {
        self.trigger = self.balance;
    }

    /// The collector rested while finalizers ran.
    pub(crate) fn after_finalizers(&mut self) {
        self.set_trigger(self.trigger.min(self.balance.saturating_add(STEP)).max(self.balance));
    }

    /// A finalizer runs or the program stopped the collector: look again later.
    pub(crate) fn postpone(&mut self) {
        self.trigger = self.balance.saturating_add(STEP);
    }
}
