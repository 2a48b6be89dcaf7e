//! Requests to stop the script, as seen by the thread that runs it.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::state::{State, poll};
use crate::value::{Tag, Value};

/// Time for which a library function continues after a signal asked to stop the script
/// ([`poll::PATIENCE`]).
pub const PATIENCE: Duration = Duration::from_secs(1);

/// Number of instructions charged for one piece of work of a long-running library function.
const PIECE_OF_WORK: u64 = 100;

const INTERRUPTED: &str = "interrupted!";
const OUT_OF_TIME: &str = "time limit exceeded";
const OUT_OF_FUEL: &str = "instruction limit exceeded";

/// The bits of the limits that were reached.
const LIMITS: u32 = poll::OUT_OF_TIME | poll::OUT_OF_FUEL;

impl State {
    /// Returns whether a long-running library function must stop.
    #[inline]
    pub fn interrupt_due(&self) -> bool {
        let bits = self.poll.load(Ordering::Relaxed);
        bits & poll::INTERRUPT != 0 && (bits & poll::PATIENCE == 0 || self.patience_is_over())
    }

    /// Returns whether the script must stop at its next safepoint.
    pub(crate) fn must_stop(&self) -> bool {
        self.poll.load(Ordering::Relaxed) & poll::INTERRUPT != 0
    }

    /// Returns whether a limit of time or instructions was reached and is still in force, so that
    /// everything fails.
    pub fn limit_stands(&self) -> bool {
        self.poll.load(Ordering::Relaxed) & LIMITS != 0
    }

    /// Returns whether a metamethod that closes or finalizes a value is called. A function in Lua
    /// would fail at its first safepoint if a limit stands, but it might mark further variables
    /// before, so that closing would never end. A variable whose `__close` is not called for this
    /// reason fails to close, with [`State::raise_limit`].
    #[inline]
    pub fn calls_destructor(&self, function: Value) -> bool {
        function.tag() == Tag::NATIVE || !self.limit_stands()
    }

    #[cold]
    fn patience_is_over(&self) -> bool {
        let seen = self.interrupt_seen.get().unwrap_or_else(Instant::now);
        self.interrupt_seen.set(Some(seen));
        seen.elapsed() >= PATIENCE
    }

    /// Withdraws the request to stop after it was carried out, or because it came too late. A limit
    /// that was reached stays in force.
    pub fn forget_interrupt(&self) {
        self.change_poll(|bits| match bits & LIMITS {
            0 => bits & !(poll::INTERRUPT | poll::PATIENCE),
            _ => bits,
        });
        self.interrupt_seen.set(None);
    }

    /// Clears `limit` (OUT_OF_TIME or OUT_OF_FUEL) if it was reached, since the host has set it
    /// again.
    pub fn lift_limit(&self, limit: u32) {
        self.change_poll(|bits| {
            let others = bits & !limit;
            if bits & limit != 0 && others & LIMITS == 0 {
                others & !poll::INTERRUPT
            } else {
                others
            }
        });
    }

    /// Replaces the bits of the poll word by what `change` makes of them, in one step: another
    /// thread may report at any time that a limit is reached, which must not be undone.
    fn change_poll(&self, change: impl Fn(u32) -> u32) {
        let changed = |bits| Some(change(bits));
        let _ = self.poll.fetch_update(Ordering::Relaxed, Ordering::Relaxed, changed);
    }

    /// Returns the reason why the script must stop, as the error message; see
    /// [`State::forget_interrupt`].
    #[cold]
    pub fn take_interrupt(&mut self) -> &'static str {
        self.forget_interrupt();
        self.heap.note_interrupt();
        let bits = self.poll.load(Ordering::Relaxed);
        if bits & poll::OUT_OF_TIME != 0 {
            OUT_OF_TIME
        } else if bits & poll::OUT_OF_FUEL != 0 {
            OUT_OF_FUEL
        } else {
            INTERRUPTED
        }
    }

    /// Counts `cost` instructions in a state that counts instructions ([`State::counts`]). If fewer
    /// are left, makes the script stop and returns false.
    ///
    /// At a function entry, all instructions of the function are counted, and at a back edge, all
    /// instructions of the loop. Between two such points control only moves forward, so no more
    /// instructions are executed than were counted, and all tiers count the same.
    #[inline(always)]
    pub fn spend(&mut self, cost: u64) -> bool {
        match self.fuel.checked_sub(cost) {
            Some(left) => {
                self.fuel = left;
                true
            }
            None => self.out_of_fuel(),
        }
    }

    /// Charges a piece of work of a long-running library function. Returns whether the script must
    /// stop.
    #[inline]
    pub(crate) fn piece_of_work(&mut self) -> bool {
        if self.counts {
            self.spend(PIECE_OF_WORK);
        }
        self.interrupt_due()
    }

    /// Makes the script stop because it needs more instructions than are left.
    #[cold]
    pub fn out_of_fuel(&mut self) -> bool {
        self.poll.fetch_or(poll::INTERRUPT | poll::OUT_OF_FUEL, Ordering::Relaxed);
        false
    }
}
