//! The write barrier.

use super::weak_tables::Weakness;
use super::{Heap, Phase};
use crate::header::{GcHeader, Kind};
use crate::state::State;
use crate::table::Table;
use crate::value::Value;

impl Heap {
    /// Returns whether the barrier has to record when a marked object comes to refer to an unmarked
    /// one. In other phases of incremental mode the next cycle scans everything.
    fn marks_are_needed(&self) -> bool {
        self.phase == Phase::Mark || self.pace.generational
    }

    /// Returns whether stores into `t` mark the stored object. They do so for a weak table only
    /// while the program can still reach the object, and not from one cycle to the next: entries of
    /// weak tables do not keep objects alive.
    unsafe fn is_big(&mut self, t: *mut Table) -> bool {
        let entries = (*t).array_len as usize + Table::node_count(t);
        entries >= self.slices.big
            && (self.phase == Phase::Mark
                || (*t).meta == 0
                || self.marker.weakness(t) == Weakness::None)
    }
}

impl State {
    /// Records that a collectable value or a new buffer is stored into `owner`, which may have been
    /// scanned already. It may be called before or after the store.
    ///
    /// # Safety
    /// `owner` is a live object.
    #[inline(always)]
    pub unsafe fn barrier(&mut self, owner: *mut GcHeader) {
        if (*owner).flags & GcHeader::UNLOGGED != 0 {
            self.barrier_cold(owner);
        }
    }

    /// Records that `v`, which may be any value, is stored into an entry of the table `t`. Has the
    /// effect of [`State::barrier`], but a large table is not scanned again as a whole.
    ///
    /// # Safety
    /// `t` is a live table. No other entry gets a value that it did not have, and there is no new
    /// buffer.
    #[inline(always)]
    pub unsafe fn barrier_of_store(&mut self, t: *mut Table, v: Value) {
        if (*t).header.flags & GcHeader::UNLOGGED != 0 && v.is_collectable() {
            self.barrier_with(t.cast(), v.as_header());
        }
    }

    /// Does the same as [`State::barrier_of_store`] when `owner` has the flag UNLOGGED. An owner
    /// that is not a table is logged.
    ///
    /// # Safety
    /// Both are live objects.
    #[cold]
    #[inline(never)]
    pub unsafe fn barrier_with(&mut self, owner: *mut GcHeader, stored: *mut GcHeader) {
        if (*owner).kind != Kind::Table || !self.heap.is_big(owner.cast()) {
            return self.barrier_cold(owner);
        }
        let heap = &mut self.heap;
        if heap.loses_barriers {
            return;
        }
        if heap.marks_are_needed() {
            // Scanning all entries again takes long, and often this would happen in the atomic
            // step. The table keeps its flag, so every store into it comes here.
            heap.marker.shade(stored);
            heap.pace.unfinished |= heap.pace.generational && heap.marker.lost;
        } else {
            (*owner).flags &= !GcHeader::UNLOGGED;
        }
    }

    #[cold]
    #[inline(never)]
    unsafe fn barrier_cold(&mut self, owner: *mut GcHeader) {
        (*owner).flags &= !GcHeader::UNLOGGED;
        let heap = &mut self.heap;
        if heap.loses_barriers {
            return;
        }
        if heap.marks_are_needed() && !super::growth::try_push(&mut heap.marker.again, owner) {
            // The object cannot be logged, so the marks are no longer complete.
            heap.marker.lost = true;
            heap.pace.unfinished = heap.pace.generational;
        }
    }
}
