//! The write barrier.

use super::Phase;
use crate::header::GcHeader;
use crate::state::State;

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

    #[cold]
    #[inline(never)]
    unsafe fn barrier_cold(&mut self, owner: *mut GcHeader) {
        (*owner).flags &= !GcHeader::UNLOGGED;
        let heap = &mut self.heap;
        if heap.loses_barriers {
            return;
        }
        // In other phases of incremental mode the next cycle scans everything, so no log is needed.
        let is_logged = heap.phase == Phase::Mark || heap.pace.generational;
        if is_logged && !super::growth::try_push(&mut heap.marker.again, owner) {
            // The object cannot be logged, so the marks are no longer complete.
            heap.marker.lost = true;
            heap.pace.unfinished = heap.pace.generational;
        }
    }
}
