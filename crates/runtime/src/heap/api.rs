//! The operations of the collector that safepoints and `collectgarbage` (manual 6.1, `lua_gc`)
//! request.

use std::sync::atomic::Ordering;

use super::Phase;
use super::memory::LARGE;
use super::pacing::Mode;
use super::slices::Slices;
use crate::reserve;
use crate::state::{State, poll};

/// The error that live objects exceed the memory limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutOfMemory;

/// The cost of a slice of purging or sweeping, in bytes of marking.
const SWEEP_WORK: usize = 128 * 1024;
/// Bytes that are marked between two checks whether to stop.
const WORK_AT_ONCE: usize = super::mark::WORK_BETWEEN_LOOKS;
/// The number of finalizers that a safepoint calls in incremental mode, when few are pending.
const FINALIZERS_AT_ONCE: usize = 10;

impl State {
    /// Returns how often the collector has made changes that are visible to the program, or has run
    /// code: by clearing weak tables and caches, closing variables of dead coroutines, calling
    /// finalizers, or dropping values of the host. Between two equal results it has only marked and
    /// swept.
    pub fn collector_changes(&self) -> u64 {
        self.heap.finalizers.changes
    }

    /// Performs the work that is due when the GC bit of the poll word is set, and clears the bit: a
    /// slice of a cycle or a minor collection, and some finalizers. The stack may move.
    ///
    /// # Errors
    /// Returns an error if more memory is in use than the limit allows, even after a full
    /// collection.
    ///
    /// # Safety
    /// This is a safepoint: `base` and `top` are those of the running coroutine's top frame, and
    /// the caller holds no bare pointer.
    pub unsafe fn gc_poll(&mut self) -> Result<(), OutOfMemory> {
        self.poll.fetch_and(!poll::GC, Ordering::Relaxed);
        let short = self.heap.memory.is_short();
        if self.heap.finalizers.running || self.heap.finalizers.closing {
            self.heap.pace.postpone();
            return if short { self.after_shortage() } else { Ok(()) };
        }
        let in_use = self.gc_count_bytes();
        let over_limit = in_use > self.heap.pace.limit;
        if short
            && !over_limit
            && self.heap.short.skips(0, in_use)
            && self.after_shortage().is_err()
        {
            return Err(OutOfMemory);
        }
        self.heap.begin_pause();
        if over_limit || short || self.heap.stress {
            if short && self.heap.blocks.checked {
                // Memory that this collection frees can be reused only after the next one.
                self.full_cycle();
            }
            if (over_limit || short || !self.heap.pace.stopped) && !self.full_cycle() {
                // The next safepoint stops the script.
                return self.after_failure();
            }
        } else if self.heap.pace.stopped {
            self.heap.pace.postpone();
            return Ok(());
        } else if self.heap.phases.is_some() {
            self.phases_step();
        } else if self.heap.phase == Phase::Idle && self.heap.pace.is_early() {
            self.heap.pace.wait_until_due();
            self.heap.drop_pause();
        } else {
            let starting = self.heap.phase == Phase::Idle;
            let urgency =
                if self.heap.phase == Phase::Mark { self.heap.marker.urgency() } else { 1 };
            let budget = self.heap.pace.slice_budget(starting) * urgency;
            self.incremental_step(budget);
        }
        self.heap.end_pause();
        if self.heap.phase != Phase::Idle && self.heap.pace.is_behind() {
            self.request(poll::GC);
        }
        if short && let Err(e) = self.after_shortage() {
            let in_use = self.gc_count_bytes();
            self.heap.short.note(0, in_use);
            return Err(e);
        }
        if self.heap.finalizers.has_pending() {
            let limit = if self.heap.pace.generational || self.heap.stress {
                usize::MAX
            } else {
                FINALIZERS_AT_ONCE.max(self.heap.finalizers.pending.len() / 32)
            };
            self.run_finalizers(limit);
            if self.heap.finalizers.has_pending() {
                self.heap.pace.postpone();
            }
        } else {
            self.drop_dead();
        }
        self.request_next_phase();
        if over_limit && self.gc_count_bytes() > self.heap.pace.limit {
            Err(OutOfMemory)
        } else {
            Ok(())
        }
    }

    /// Handles a full collection that did not finish: fails if memory was short.
    #[cold]
    unsafe fn after_failure(&mut self) -> Result<(), OutOfMemory> {
        if self.heap.marker.lost {
            self.heap.memory.answer();
            return Err(OutOfMemory);
        }
        Ok(())
    }

    /// Handles a failure of the allocator, after everything possible was collected: fails unless
    /// memory is available again.
    #[cold]
    unsafe fn after_shortage(&mut self) -> Result<(), OutOfMemory> {
        let lists = self.strings_have_room() && self.heap.has_room() && self.host_roots.have_room();
        let heap = &mut self.heap;
        let again = lists && heap.blocks.replenish(&mut heap.memory) && heap.memory.has(LARGE);
        if again {
            heap.short.forget();
        }
        if !heap.memory.answer() && again {
            return Ok(());
        }
        if reserve::is_low() {
            // The script must not continue before memory is available.
            heap.memory.note_short();
            self.request(poll::GC);
        }
        Err(OutOfMemory)
    }

    /// Performs a full collection and calls all pending finalizers (`collectgarbage("collect")`).
    /// Returns false inside a finalizer, where it does nothing. Ends early if the script has to
    /// stop.
    ///
    /// # Safety
    /// As for [`State::gc_poll`].
    pub unsafe fn gc_full(&mut self) -> bool {
        if self.heap.finalizers.running {
            return false;
        }
        self.heap.short.forget();
        self.heap.refused.forget();
        self.full_cycle();
        self.run_finalizers(usize::MAX);
        true
    }

    /// Performs a step as large as if `kilobytes` had been allocated (0: a basic step). Returns
    /// whether it completed a cycle, or `None` inside a finalizer. Works even while the collector
    /// is stopped.
    ///
    /// # Safety
    /// As for [`State::gc_poll`].
    pub unsafe fn gc_step(&mut self, kilobytes: usize) -> Option<bool> {
        if self.heap.finalizers.running {
            return None;
        }
        self.take_asked_mode();
        if self.heap.pace.generational {
            self.generational_step(kilobytes == 0);
            self.run_finalizers(usize::MAX);
            return Some(false);
        }
        let budget = match kilobytes {
            0 => self.heap.pace.slice_budget(true),
            n => self.heap.pace.explicit_budget(n),
        };
        let ended = self.incremental_step(budget);
        self.run_finalizers(if ended { usize::MAX } else { FINALIZERS_AT_ONCE });
        Some(ended)
    }

    /// Stops the collector until [`State::gc_restart`].
    pub fn gc_stop(&mut self) {
        self.heap.pace.stopped = true;
        self.heap.pace.postpone();
    }

    /// Lets a stopped collector run again.
    pub fn gc_restart(&mut self) {
        self.heap.pace.stopped = false;
        self.heap.pace.soon();
    }

    /// Returns whether collections happen when they are due: the collector is not stopped, and no
    /// finalizer is running.
    pub fn gc_is_running(&self) -> bool {
        !self.heap.pace.stopped && !self.heap.finalizers.running && !self.heap.finalizers.closing
    }

    /// Returns whether requests have no effect because a finalizer is running (`collectgarbage`
    /// then returns false).
    pub fn gc_is_blocked(&self) -> bool {
        self.heap.finalizers.running
    }

    /// Returns the mode.
    pub fn gc_mode(&self) -> Mode {
        self.heap.mode()
    }

    /// Switches to incremental mode with these parameters (manual 2.5.1; 0: unchanged), and returns
    /// the previous mode.
    pub fn gc_set_incremental(
        &mut self,
        pause: usize,
        step_multiplier: usize,
        step_size: usize,
    ) -> Mode {
        let before = self.gc_mode();
        let pace = &mut self.heap.pace;
        if pause != 0 {
            pace.pause = parameter(pause);
        }
        if step_multiplier != 0 {
            pace.step_multiplier = parameter(step_multiplier);
        }
        if step_size != 0 {
            pace.step_log = step_size.min(62) as u8;
        }
        if let Some(phases) = &mut self.heap.phases {
            phases.asked = Mode::Incremental;
        }
        if self.heap.pace.generational {
            self.leave_generational();
        }
        before
    }

    /// Switches from generational to incremental mode.
    pub(super) fn leave_generational(&mut self) {
        let pace = &mut self.heap.pace;
        pace.generational = false;
        pace.bad_major = 0;
        if self.heap.phase != Phase::Mark {
            // The next cycle scans the logged objects in any case.
            self.heap.marker.again.clear();
        }
        self.heap.pace.wait_for_cycle();
    }

    /// Switches to generational mode with these parameters (manual 2.5.2; 0: unchanged), and
    /// returns the previous mode. A change of mode performs a full collection.
    ///
    /// # Safety
    /// As for [`State::gc_poll`].
    pub unsafe fn gc_set_generational(&mut self, minor: usize, major: usize) -> Mode {
        let before = self.gc_mode();
        let pace = &mut self.heap.pace;
        if minor != 0 {
            pace.minor = minor.min(100);
        }
        if major != 0 {
            pace.major = parameter(major);
        }
        if before == Mode::Incremental && !self.heap.finalizers.running {
            if let Some(phases) = &mut self.heap.phases {
                phases.asked = Mode::Generational;
            }
            self.enter_generational();
            self.run_finalizers(usize::MAX);
        }
        before
    }

    /// Switches from incremental to generational mode by a full collection, without calling
    /// finalizers.
    pub(super) unsafe fn enter_generational(&mut self) {
        let done = self.full_cycle();
        self.heap.pace.generational = true;
        self.heap.pace.unfinished = !done;
        self.enter_young();
    }

    /// Sets the pause (manual 2.5.1) in percent, and returns the previous one.
    pub fn gc_set_pause(&mut self, percent: usize) -> usize {
        std::mem::replace(&mut self.heap.pace.pause, parameter(percent))
    }

    /// Sets the step multiplier (manual 2.5.1), and returns the previous one.
    pub fn gc_set_step_multiplier(&mut self, percent: usize) -> usize {
        std::mem::replace(&mut self.heap.pace.step_multiplier, parameter(percent))
    }

    /// Returns the number of bytes in use, that is, live at the end of the last cycle or allocated
    /// since.
    pub fn gc_count_bytes(&self) -> usize {
        let rest = self.heap.hole_end.addr() - self.heap.cursor.addr();
        self.heap.pace.in_use().saturating_sub(rest + self.heap.blocks.overflow.len())
    }

    /// Returns the number of bytes that blocks occupy, used or free.
    pub fn gc_reserved_bytes(&self) -> usize {
        self.heap.blocks.reserved()
    }

    /// Sets the maximum number of bytes that may be in use; `usize::MAX` means no limit.
    pub fn set_memory_limit(&mut self, bytes: usize) {
        self.heap.pace.limit = bytes;
        self.heap.pace.soon();
    }

    /// Returns the maximum number of bytes that may be in use; `usize::MAX` means no limit.
    pub fn memory_limit(&self) -> usize {
        self.heap.pace.limit
    }

    /// Returns whether `bytes` more bytes would be within the limit and are available from the
    /// system. Does not collect.
    pub fn check_room(&self, bytes: usize) -> bool {
        let within =
            self.gc_count_bytes().checked_add(bytes).is_some_and(|n| n <= self.heap.pace.limit);
        within && self.heap.memory.may_have(bytes)
    }

    /// Returns the same as [`State::check_room`], but first performs a full collection if there is
    /// not enough room without it.
    ///
    /// # Safety
    /// As for [`State::gc_poll`].
    pub unsafe fn make_room(&mut self, bytes: usize) -> bool {
        if self.check_room(bytes) {
            self.heap.refused.forget();
            return true;
        }
        if !self.heap.finalizers.running && bytes <= self.heap.pace.limit {
            let in_use = self.gc_count_bytes();
            if self.heap.refused.skips(bytes, in_use) {
                return false;
            }
            self.full_cycle();
            if self.heap.memory.is_short() {
                if self.heap.blocks.checked {
                    self.full_cycle();
                }
                // The result is not needed: the check below sees whether memory is available.
                let _ = self.after_shortage();
            }
            let in_use = self.gc_count_bytes();
            self.heap.refused.note(bytes, in_use);
        }
        let has_room = self.check_room(bytes);
        if has_room {
            self.heap.refused.forget();
        }
        has_room
    }

    /// Runs `f` with a collector that does not stop when the script has to stop. The host needs
    /// this when it allocates or collects after a limit was reached.
    ///
    /// # Safety
    /// `st` is live.
    pub unsafe fn collecting_for_host<R>(st: *mut State, f: impl FnOnce() -> R) -> R {
        struct Before(*mut State, bool);
        impl Drop for Before {
            fn drop(&mut self) {
                // SAFETY: the state outlives the call.
                unsafe { (*self.0).heap.for_host = self.1 }
            }
        }
        let _before = Before(st, std::mem::replace(&mut (*st).heap.for_host, true));
        f()
    }

    /// Sets whether every safepoint performs a full collection and checks the heap.
    pub fn set_gc_stress(&mut self, on: bool) {
        self.heap.stress = on;
        self.poll.fetch_or(poll::GC, Ordering::Relaxed);
    }

    /// Does a full collection without calling finalizers. Returns false when it had to stop.
    pub(super) unsafe fn full_cycle(&mut self) -> bool {
        let done = self.collect();
        let pace = &mut self.heap.pace;
        pace.unfinished = pace.generational && !done;
        if !done {
            pace.wait_for_slice();
        } else if pace.generational {
            pace.bad_major = 0;
            self.enter_young();
        } else {
            pace.wait_for_cycle();
        }
        done
    }

    /// Makes everything that is marked old, after a full collection in generational mode.
    fn enter_young(&mut self) {
        let pace = &mut self.heap.pace;
        pace.major_base = pace.live;
        pace.bad_major = 0;
        pace.wait_for_cycle();
    }

    /// Does work worth about `budget` bytes, or less if the script has to stop. Returns whether a
    /// cycle ended.
    unsafe fn incremental_step(&mut self, budget: usize) -> bool {
        let start = self.heap.marker.work;
        self.watch_stop();
        loop {
            let left = budget.saturating_sub(self.heap.marker.work - start).max(1);
            match self.heap.phase {
                Phase::Idle if self.heap.pace.is_minor_due() => self.start_young_cycle(),
                Phase::Idle => self.start_cycle(),
                Phase::Mark if self.heap.marker.lost => {
                    if !self.start_cycle_again() {
                        self.heap.pace.wait_for_slice();
                        return false;
                    }
                }
                Phase::Mark => {
                    let Slices { logged, big, .. } = self.heap.slices;
                    if self.heap.marker.mark_some(left.min(WORK_AT_ONCE), logged, big) {
                        self.atomic();
                        self.heap.pace.wait_for_slice();
                    }
                }
                Phase::Resurrect | Phase::Purge | Phase::Sweep => {
                    if self.sweep_slice() {
                        self.heap.pace.wait_for_cycle();
                        return true;
                    }
                    self.heap.marker.work += SWEEP_WORK;
                }
            }
            if self.heap.marker.work - start >= budget || self.heap.marker.stop.is_due() {
                self.heap.pace.wait_for_slice();
                if self.heap.phase == Phase::Mark && self.heap.marker.passes > 1 {
                    self.heap.pace.hurry();
                }
                return false;
            }
        }
    }

    /// Does a minor collection, or, unless `minor_only`, a major one when the heap has grown too
    /// much.
    pub(super) unsafe fn generational_step(&mut self, minor_only: bool) {
        let pace = &self.heap.pace;
        let minor = !pace.unfinished && pace.bad_major == 0 && (minor_only || pace.is_minor_due());
        let done = if minor { self.collect_young() } else { self.collect() };
        if done {
            self.heap.pace.wait_for_cycle();
        } else {
            self.heap.pace.wait_for_slice();
        }
    }
}

/// Limits a percentage to what PUC-Lua can hold, so that products do not overflow.
fn parameter(percent: usize) -> usize {
    percent.min(1_000_000)
}
