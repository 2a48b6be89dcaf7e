//! The test mode `gc-phases`: each safepoint performs one tiny increment of the collector's work.
//!
//! Allocation, write barriers and inline caches of the interpreter and of machine code are thus
//! exercised in every phase: marking, an atomic step that was interrupted and restarts, removal of
//! dead strings from the string table, sweeping, an abandoned cycle, minor and full collections. A
//! seeded random generator selects each increment, so a run on one thread is reproducible. The heap
//! is verified after each marking and after each sweep.

use std::sync::atomic::Ordering;

use super::Phase;
use super::pacing::Mode;
use super::slices::{Phases, Slices};
use crate::chaos::Chaos;
use crate::state::{State, poll};

/// Heaps of up to this many bytes are verified after each collection, larger ones now and then.
const WALKED: usize = 512 * 1024;

impl State {
    /// Enables the mode `gc-phases`, with decisions that follow from `seed`.
    pub fn set_gc_phases(&mut self, seed: u64) {
        self.heap.phases = Some(Phases {
            random: Chaos::new(seed),
            asked: self.gc_mode(),
            patience: u64::MAX,
            ended: 0,
            fuse: u32::MAX,
        });
        self.heap.slices = Slices::TINY;
        self.request(poll::GC);
    }

    /// Disables the log of the write barrier, so that a test can show that the verification of the
    /// heap finds the effects of a missing barrier.
    pub fn lose_barriers(&mut self) {
        self.heap.loses_barriers = true;
    }

    fn draw(&mut self) -> u64 {
        self.heap.phases.as_mut().map_or(0, |phases| phases.random.draw())
    }

    /// Does one increment, and requests the next.
    ///
    /// # Safety
    /// As for [`State::gc_poll`].
    pub(super) unsafe fn phases_step(&mut self) {
        self.watch_stop();
        let ended = match self.heap.phase {
            Phase::Idle => self.begin_something(),
            Phase::Mark => {
                self.mark_a_little();
                false
            }
            Phase::Resurrect | Phase::Purge | Phase::Sweep => {
                let resurrected = self.heap.phase == Phase::Resurrect;
                let swept = self.sweep_slice();
                if swept || resurrected && self.heap.phase == Phase::Purge {
                    self.walk_after_sweep();
                }
                swept
            }
        };
        if ended {
            self.rest();
        } else {
            self.request(poll::GC);
        }
    }

    /// Begins a collection of some kind. Returns whether it has also ended.
    unsafe fn begin_something(&mut self) -> bool {
        let kind = self.draw() % Phases::KINDS;
        if kind == Phases::FULL || self.heap.pace.unfinished {
            let done = self.full_cycle();
            if done {
                self.walk_after_sweep();
            }
            return done;
        }
        if kind <= Phases::YOUNG {
            self.take_mode(Mode::Generational);
            self.light_fuse();
            self.watch_stop();
            if self.draw() & 1 == 0 {
                self.generational_step(true);
            } else {
                self.start_young_cycle();
            }
            return false;
        }
        self.take_mode(Mode::Incremental);
        let bits = self.draw();
        if let Some(phases) = &mut self.heap.phases {
            phases.patience = if bits & 3 == 0 { bits >> 8 & 0xFF } else { u64::MAX };
        }
        self.start_cycle();
        false
    }

    unsafe fn mark_a_little(&mut self) {
        let bits = self.draw();
        let impatient = match &mut self.heap.phases {
            Some(phases) => {
                phases.patience = phases.patience.saturating_sub(1);
                phases.patience == 0
            }
            None => false,
        };
        // No two cycles in a row are abandoned, so that cycles end.
        if impatient && self.heap.marker.given_up == 0 || self.heap.marker.lost {
            self.start_cycle_again();
            return;
        }
        let most = 512 + self.heap.pace.live as u64 / 256;
        let Slices { logged, big, .. } = self.heap.slices;
        if self.heap.marker.mark_some(1 + (bits % most) as usize, logged, big) {
            self.light_fuse();
            self.watch_stop();
            if self.atomic() {
                self.verify_if_checked();
            }
        }
    }

    /// Makes some collections stop early, as they do when the script has to stop.
    fn light_fuse(&mut self) {
        let bits = self.draw();
        if let Some(phases) = &mut self.heap.phases
            && bits & 3 == 0
        {
            phases.fuse = (bits >> 8 & 31) as u32;
        }
    }

    /// Waits for a few allocations, and for more the longer the program runs.
    fn rest(&mut self) {
        let bits = self.draw();
        if let Some(phases) = &mut self.heap.phases {
            phases.ended += 1;
            let most = 1024u64 << (phases.ended / 16).min(11);
            self.heap.pace.wait_for((bits % most) as isize);
        }
    }

    /// Puts `mode` into effect.
    unsafe fn take_mode(&mut self, mode: Mode) {
        match mode {
            Mode::Generational if !self.heap.pace.generational => self.enter_generational(),
            Mode::Incremental if self.heap.pace.generational => self.leave_generational(),
            _ => {}
        }
    }

    /// Puts the mode into effect that the program has requested, before an explicit step.
    pub(super) unsafe fn take_asked_mode(&mut self) {
        if let Some(phases) = &self.heap.phases {
            let asked = phases.asked;
            self.take_mode(asked);
        }
    }

    unsafe fn walk_after_sweep(&mut self) {
        if self.is_to_be_walked() {
            self.sync_running();
            self.verify_swept();
        }
    }

    /// Returns whether to verify the heap now.
    pub(super) fn is_to_be_walked(&mut self) -> bool {
        let one_in = 1 + (self.heap.pace.live / WALKED) as u64;
        self.heap.phases.is_some() && self.draw().is_multiple_of(one_in)
    }

    /// Requests the next increment, after finalizers and after the collector was blocked.
    pub(super) fn request_next_phase(&mut self) {
        if self.heap.phases.is_some() && self.heap.phase != Phase::Idle {
            self.poll.fetch_or(poll::GC, Ordering::Relaxed);
        }
    }
}
