//! The heap of one state: a mark-region collector that does not move objects.
//!
//! Safepoints: a collection (or a slice of one) runs only at a safepoint, that is when the interpreter, after an allocation, a
//! call or at a loop's back-edge, finds the poll word set, or when `collectgarbage` asks for it. **Allocation itself never collects.** So
//! whoever runs between two safepoints (the slow paths of the interpreter, a native function until it calls
//! back) may hold bare pointers; whatever must live across a safepoint is on a VM stack, in a table, or in another root.
//!
//! At a safepoint the slots of the running stack below the top frame's end are roots. Slots above may hold stale values; every
//! collection clears those that it has not scanned, so a stale slot never outlives its object.

use crate::header::{GcHeader, Kind};
use crate::state::State;

/// The heap's allocator and collector state.
#[repr(C)]
pub struct Heap {
    /// Next free byte of the current hole.
    pub cursor: *mut u8,
    /// End of the current hole.
    pub hole_end: *mut u8,
    /// `mark` byte given to new objects.
    pub newborn: u8,
}

impl State {
    /// Allocates an object of `size` bytes (a multiple of 16) and fills in its header; the rest is uninitialised and must be
    /// filled before the next safepoint. Never collects; past the trigger it asks for a collection through the poll word.
    ///
    /// # Safety
    /// The caller initialises the object before the next safepoint.
    #[inline(always)]
    pub unsafe fn alloc(&mut self, _kind: Kind, _size: usize) -> *mut GcHeader {
        todo!()
    }

    /// Allocates `size` bytes (rounded up to 16) owned by one object, which marks them when it is traced.
    ///
    /// # Safety
    /// The owner is an object whose tracing knows this buffer.
    pub unsafe fn alloc_buffer(&mut self, _size: usize) -> *mut u8 {
        todo!()
    }

    /// Gives back a buffer that its owner no longer uses.
    ///
    /// # Safety
    /// `p` came from [`State::alloc_buffer`] with the same size and nobody refers to it.
    pub unsafe fn free_buffer(&mut self, _p: *mut u8, _size: usize) {
        todo!()
    }

    /// Enters a boxed object (userdata, thread, instance, shape) of about `bytes` bytes into the heap, which drops the box
    /// when the object is unreached.
    ///
    /// # Safety
    /// `object` is the result of `Box::into_raw` on the type that its kind names.
    pub unsafe fn adopt(&mut self, _object: *mut GcHeader, _bytes: usize) {
        todo!()
    }

    /// The write barrier: to be called after (or before) a collectable value is stored into `owner`, when `owner` may have been
    /// scanned already.
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
    unsafe fn barrier_cold(&mut self, _owner: *mut GcHeader) {
        todo!()
    }
}
