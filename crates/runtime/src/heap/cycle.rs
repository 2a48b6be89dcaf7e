//! The phases of a collection cycle.

use super::growth::try_push;
use super::marker::THOROUGH;
use super::pauses::Part;
use super::stop::Stop;
use super::{Phase, block};
use crate::header::GcHeader;
use crate::instance::{CalleeCache, FieldEntry, GlobalCache, Instance};
use crate::meta::Event;
use crate::state::State;
use crate::strings::Scan;
use crate::table::LocalShape;
use crate::thread::Thread;
use crate::upvalue::Upvalue;
use crate::value::SlotExt;

impl State {
    /// Watches the poll word from now on, unless the collector works for the host. Called when a
    /// collection begins or continues.
    pub(super) fn watch_stop(&mut self) {
        // SAFETY: the running thread is live.
        unsafe { self.sync_running() };
        let word = if self.heap.for_host { std::ptr::null() } else { &raw const self.poll };
        self.heap.marker.stop = Stop::watch(word, self.heap.take_fuse());
    }

    /// Starts a cycle (phase Idle to Mark) with a new mark, and marks the roots.
    pub(super) unsafe fn start_cycle(&mut self) {
        debug_assert!(matches!(self.heap.phase, Phase::Idle | Phase::Mark));
        self.heap.marker.restart();
        self.heap.phase = Phase::Mark;
        self.sync_running();
        self.heap.marker.mode_name = self.event_names[Event::Mode as usize];
        self.mark_roots();
    }

    /// Starts a cycle that keeps the marks, and so collects only objects that were allocated since
    /// the last one. All others count as reachable; those that were stored into are logged.
    pub(super) unsafe fn start_young_cycle(&mut self) {
        debug_assert!(self.heap.phase == Phase::Idle && self.heap.pace.generational);
        self.heap.marker.passes = 0;
        self.heap.marker.recount = true;
        self.heap.phase = Phase::Mark;
        self.sync_running();
        self.heap.marker.mode_name = self.event_names[Event::Mode as usize];
        self.mark_roots();
    }

    /// Does the same as [`State::start_cycle`], but also in the phase Mark, where it abandons the
    /// current cycle. Returns false if that has happened too often.
    pub(super) unsafe fn start_cycle_again(&mut self) -> bool {
        if self.heap.phase == Phase::Mark {
            if !self.heap.marker.may_give_up() {
                return false;
            }
            self.heap.marker.given_up += 1;
        }
        self.start_cycle();
        true
    }

    /// Ends marking, after which everything unmarked is unreachable. The phase changes from Mark to
    /// Resurrect or one of those after it.
    ///
    /// Returns false when the collector had to stop. The phase is Mark then, of this cycle or of a
    /// new one, and nothing reachable was cleared.
    pub(super) unsafe fn atomic(&mut self) -> bool {
        self.heap.end_part(Part::Mark);
        self.sync_running();
        self.heap.marker.atomic = true;
        let mut done =
            self.mark_the_rest() && self.clear_weak_values() && self.clear_stale_caches();
        if done {
            debug_assert!(self.heap.marker.gray.is_empty());
            self.end_marking();
            done = self.begin_resurrection();
        } else {
            self.heap.marker.leave_atomic();
        }
        self.heap.end_part(Part::Atomic);
        done
    }

    /// Marks everything that is strongly reachable.
    unsafe fn mark_the_rest(&mut self) -> bool {
        // Roots have no barrier.
        self.mark_roots();
        self.heap.marker.propagate_all()
            && self.rescan_running()
            && self.mark_upvalues_of_dead_threads()
            && self.trace_logged()
            && self.converge()
    }

    /// Marks the objects that weak tables keep alive.
    unsafe fn converge(&mut self) -> bool {
        self.heap.marker.revisit_changed();
        self.heap.marker.converge()
    }

    /// Clears weak references to unreachable values, before finalizers can see them. If this stops
    /// early, some weak tables have lost entries that others still have, all of them unreachable.
    unsafe fn clear_weak_values(&mut self) -> bool {
        self.count_clearing();
        if self.heap.marker.clear_places() {
            self.advance_epoch();
        }
        !self.heap.marker.stop.was_due()
    }

    /// Scans the stack of the running thread, as stacks have no barrier. Others are logged when
    /// they begin to run.
    unsafe fn rescan_running(&mut self) -> bool {
        let marker = &mut self.heap.marker;
        if !marker.running.is_null() {
            marker.trace_thread(marker.running);
        }
        !marker.stop.is_due() && marker.propagate_all()
    }

    /// Marks the values of open upvalues whose thread is not reached: the upvalue may outlive its
    /// thread, and nothing else scans the slot of its value.
    unsafe fn mark_upvalues_of_dead_threads(&mut self) -> bool {
        use super::trace::Visitor;
        let heap = &mut self.heap;
        for &th in &heap.boxed.threads.items {
            if !heap.marker.is_marked(th.cast()) {
                if heap.marker.stop.is_due() {
                    return false;
                }
                let mut up = (*th).open;
                while !up.is_null() {
                    if heap.marker.is_marked(up.cast()) {
                        heap.marker.value((*up).place.get());
                    }
                    up = *Upvalue::next_open(up);
                }
            }
        }
        heap.marker.propagate_all()
    }

    /// Traces the objects that the barrier has logged.
    unsafe fn trace_logged(&mut self) -> bool {
        let marker = &mut self.heap.marker;
        // An object that is not marked yet is traced when it is reached, and its entry in the log
        // has no effect.
        let mut logged = std::mem::take(&mut marker.again);
        logged.append(&mut marker.deferred);
        for (i, &o) in logged.iter().enumerate() {
            // The running thread was scanned just before.
            if marker.is_marked(o) && o != marker.running.cast() {
                marker.trace(o);
                marker.propagate_all();
            }
            if i % 64 == 0 && marker.stop.is_due() || marker.stop.was_due() {
                if marker.again.try_reserve(logged.len() - i).is_err() {
                    marker.lose();
                    return false;
                }
                marker.again.extend(&logged[i..]);
                return false;
            }
        }
        true
    }

    /// Counts a change if weak tables may lose entries.
    pub(super) fn count_clearing(&mut self) {
        if self.heap.marker.weak.may_lose_entries() {
            self.heap.finalizers.changes += 1;
        }
    }

    /// Clears inline caches that refer to unreachable objects. Returns false when the collector had
    /// to stop.
    unsafe fn clear_stale_caches(&mut self) -> bool {
        let mark = self.heap.marker.mark;
        for &instance in &self.heap.boxed.instances.items {
            if (*instance).header.mark == mark {
                if clear_caches(instance, mark) {
                    self.heap.finalizers.changes += 1;
                }
                if self.heap.marker.stop.is_due() {
                    return false;
                }
            }
        }
        true
    }

    /// Removes dead objects from everything that refers to them weakly. Weak tables were cleared
    /// before.
    pub(super) unsafe fn forget_dead(&mut self) {
        let mark = self.heap.marker.mark;
        if self.heap.finalizers.has_resurrected() {
            // The caches of other instances do not refer to dead objects, and new ones were left
            // out: objects without a mark may be new.
            for &instance in self.heap.boxed.instances.to_be_swept() {
                if (*instance).header.mark == mark && clear_caches(instance, mark) {
                    self.heap.finalizers.changes += 1;
                }
            }
        }
        for &th in self.heap.boxed.threads.to_be_swept() {
            if (*th).header.mark != mark {
                // variables move
                self.heap.finalizers.changes += 1;
                close_upvalues(th, mark);
            }
        }
        for i in 0..self.heap.boxed.shapes.to_be_swept().len() {
            let shape = self.heap.boxed.shapes.items[i];
            if (*shape).header.mark != mark {
                LocalShape::forget(self, shape);
            }
        }
    }

    /// Separates the objects allocated so far from new ones, which this cycle does not free.
    unsafe fn end_marking(&mut self) {
        let heap = &mut self.heap;
        heap.cursor = std::ptr::null_mut();
        heap.hole_end = std::ptr::null_mut();
        heap.marker.weak.hide_unreached();
        heap.blocks.end_marking();
        // Objects that are allocated from here on, also while purging, must not be swept.
        heap.large.begin_sweep(&mut heap.memory, heap.marker.mark);
        heap.boxed.begin_sweep(heap.marker.mark);
        // The running thread changes its stack without a barrier, so the next collection of young
        // objects scans it.
        let running = heap.marker.running;
        if !running.is_null() && !try_push(&mut heap.marker.again, running.cast()) {
            heap.pace.unfinished = heap.pace.generational;
        }
        let major = !heap.marker.recount;
        heap.pace.end_marking(heap.marker.live, self.strings.bytes(), major);
        let scan = if !major {
            Scan::Young
        } else if heap.marker.marks_used >= THOROUGH {
            heap.marker.marks_used = 0;
            Scan::Thorough
        } else {
            Scan::ByLines
        };
        self.strings.begin_purge(heap.marker.mark, scan);
        self.megamorphic.clear();
        self.inherited.clear();
        self.inherited_globals.begin_cycle();
    }

    /// Does one slice of removing dead strings from the string table, after which sweeping begins.
    pub(super) unsafe fn purge_slice(&mut self) {
        let before = self.strings.bytes();
        if self.strings.purge(self.heap.slices.strings) {
            let heap = &mut self.heap;
            heap.pace.balance -= (before - self.strings.bytes()) as isize;
            let mark = heap.marker.mark;
            heap.blocks.begin_sweep(mark);
            heap.phase = Phase::Sweep;
        }
    }

    /// Keeps a string alive that may be dead and was found in the string table, or is new.
    ///
    /// # Safety
    /// The phase is Resurrect or Purge.
    pub(crate) unsafe fn revive(&mut self, string: *mut GcHeader) {
        use super::trace::Visitor;
        debug_assert!(matches!(self.heap.phase, Phase::Resurrect | Phase::Purge));
        self.heap.marker.object(string);
    }

    /// Does one slice of the work after marking. Returns whether everything is swept and the phase
    /// is Idle.
    pub(super) unsafe fn sweep_slice(&mut self) -> bool {
        if self.heap.phase == Phase::Resurrect {
            self.resurrect_slice();
            self.heap.end_part(Part::Mark);
            return false;
        }
        if self.heap.phase == Phase::Purge {
            self.purge_slice();
            self.heap.end_part(Part::Purge);
            return false;
        }
        let heap = &mut self.heap;
        debug_assert_eq!(heap.phase, Phase::Sweep);
        let slices = heap.slices;
        let blocks = heap.blocks.sweep_some(slices.blocks);
        let large = heap.large.sweep_some(&mut heap.memory, slices.objects);
        let boxed = heap.boxed.sweep_some(&mut heap.memory, slices.objects);
        let mut done = blocks && large && boxed;
        if done {
            let reserve = heap.pace.until_next_cycle() + 8 * block::BLOCK;
            heap.blocks.begin_release(reserve);
            done = heap.blocks.release_some(&mut heap.memory, slices.chunks);
        }
        if done {
            heap.phase = Phase::Idle;
            heap.memory.end_cycle();
        }
        heap.end_part(Part::Sweep);
        done
    }

    /// Sweeps everything that remains. Returns false when the collector had to stop.
    pub(super) unsafe fn finish_sweep(&mut self) -> bool {
        self.heap.memory.wait(true);
        let done = self.finish_slices();
        self.heap.memory.wait(false);
        done
    }

    unsafe fn finish_slices(&mut self) -> bool {
        while matches!(self.heap.phase, Phase::Resurrect | Phase::Purge | Phase::Sweep) {
            if self.heap.marker.stop.is_due() {
                return false;
            }
            self.sweep_slice();
            if self.heap.phase == Phase::Mark {
                // The cycle was abandoned.
                return false;
            }
        }
        true
    }

    /// Does a whole cycle, from any phase, without calling finalizers. Returns false when the
    /// collector had to stop; the cycle then continues in slices, or in the next call.
    pub(super) unsafe fn collect(&mut self) -> bool {
        self.watch_stop();
        if !self.finish_sweep() {
            return false;
        }
        if self.heap.phase == Phase::Mark && !self.heap.marker.lost && self.heap.marker.given_up > 0
        {
            // Objects that this cycle has marked may be dead by now. It is finished all the same,
            // so that cycles end.
            if !self.finish_cycle() {
                return false;
            }
        }
        self.start_cycle_again() && self.finish_cycle()
    }

    unsafe fn finish_cycle(&mut self) -> bool {
        if !self.heap.marker.propagate_all() || !self.atomic() {
            return false;
        }
        self.verify_if_checked();
        while self.heap.phase == Phase::Resurrect {
            if self.heap.marker.stop.is_due() {
                return false;
            }
            self.sweep_slice();
            if self.heap.phase == Phase::Purge {
                // Everything that the pending objects refer to is marked as well.
                self.verify_if_checked();
            }
        }
        self.heap.phase != Phase::Mark && self.finish_sweep()
    }

    /// Collects the young objects of a heap in generational mode, or finishes the cycle that has
    /// begun. Returns false when the collector had to stop; the cycle then continues in slices.
    pub(super) unsafe fn collect_young(&mut self) -> bool {
        self.watch_stop();
        if !self.finish_sweep() {
            return false;
        }
        if self.heap.phase == Phase::Idle {
            self.start_young_cycle();
        }
        !self.heap.marker.lost && self.finish_cycle()
    }

    /// Checks the marks after marking, in the test modes that request it.
    pub(super) unsafe fn verify_if_checked(&mut self) {
        if self.heap.stress || self.is_to_be_walked() {
            self.verify_heap();
        }
    }
}

/// Closes the open upvalues of a dying thread that are still alive.
unsafe fn close_upvalues(th: *mut Thread, mark: u8) {
    let mut up = (*th).open;
    (*th).open = std::ptr::null_mut();
    while !up.is_null() {
        let next = *Upvalue::next_open(up);
        // A dead upvalue is not modified, but it is still readable, as nothing has been swept yet.
        if (*up).header.mark == mark {
            let v = (*up).place.get();
            let closed = &raw mut (*up).closed;
            closed.put(v);
            (*up).place = closed;
        }
        up = next;
    }
}

/// Clears the entries of inline caches that refer to dead objects; returns whether there were any.
unsafe fn clear_caches(instance: *mut Instance, mark: u8) -> bool {
    let mut cleared = false;
    let dead = |o: *mut GcHeader| !o.is_null() && (*o).mark != mark;
    let stale = |e: &FieldEntry| {
        let meta = std::ptr::with_exposed_provenance_mut::<GcHeader>(e.meta & !1);
        dead(e.holder.cast()) || dead(e.outcome) || dead(meta)
    };
    let (fields, globals) = ((*instance).counts.fields, (*instance).counts.globals);
    for cache in std::slice::from_raw_parts_mut((*instance).fields, fields as usize) {
        cache.age();
        let more = cache.more.iter_mut().flat_map(|entries| entries.iter_mut());
        for e in more.chain([&mut cache.first]).filter(|e| stale(e)) {
            *e = FieldEntry::EMPTY;
            cleared = true;
        }
    }
    for cache in std::slice::from_raw_parts_mut((*instance).globals, globals as usize) {
        if dead(cache.env.cast()) || dead(cache.cell.cast()) {
            *cache = GlobalCache::EMPTY;
            cleared = true;
        }
    }
    let callees = (*instance).counts.callees as usize;
    for cache in std::slice::from_raw_parts_mut((*instance).callees, callees) {
        let callee = cache.instance();
        if dead(callee.map_or(std::ptr::null_mut(), <*mut Instance>::cast)) {
            *cache = CalleeCache { callee: CalleeCache::OTHER, others: 0 };
            cleared = true;
        }
    }
    for record in (*instance).handlers_mut().filter(|record| stale(&record.entry)) {
        (record.entry, record.others) = (FieldEntry::EMPTY, 0);
        cleared = true;
    }
    cleared
}
