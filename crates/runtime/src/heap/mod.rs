//! The heap of one state: a mark-region collector that does not move objects.
//!
//! **Safepoints.** A collection (or a slice of one) runs only at a safepoint, that is when the interpreter, after an allocation, a
//! call or at a loop's back-edge, finds the poll word set, or when `collectgarbage` asks for it. **Allocation itself never collects.** So
//! whoever runs between two safepoints (the slow paths of the interpreter, a native function until it calls
//! back) may hold bare pointers; whatever must live across a safepoint is on a VM stack, in a table, or in another root.
//!
//! At a safepoint the slots of the running stack below the top frame's end are roots. Slots above may hold stale values; every
//! collection clears those that it has not scanned, so a stale slot never outlives its object.
//!
//! **Space.** Objects and buffers of up to [`block::SMALL_MAX`] bytes lie in 32 KB [`block`]s, bump-allocated in holes (runs of free
//! 128-byte lines); larger ones in the [`large`] space; userdata, threads, instances and shapes are boxed and
//! [adopted](crate::state::State::adopt). A block has a mark byte for each line, set with the mark of every object that touches the line;
//! sweeping makes the lines with other marks free and looks at no object.
//!
//! **Cycle.** Idle, marking (slices at safepoints), one atomic step, taking dead strings out of the string table, then sweeping (slices, and lazily by the allocator). Objects are born
//! with mark 0, also while marking: their references may come from anywhere, so they must be traced. An object
//! is reached in the running cycle, or alive since the last one, when its mark is the heap's.
//!
//! **Barrier.** An object that was scanned carries the flag UNLOGGED. A store into it must call [`State::barrier`](crate::state::State::barrier), which clears the
//! flag and logs the object, to be scanned again by the atomic step (marking) or the next minor collection (generational mode). **A
//! new buffer counts as a store**, and so does closing an upvalue. Stacks have no barrier; every atomic step scans them.
//!
//! **Generational mode** keeps the marks of the last cycle: what is marked is old, what has mark 0 is young, and a minor collection is an
//! atomic step that starts from the roots and the logged objects.

mod alloc;
mod api;
mod barrier;
mod block;
mod boxed;
mod cycle;
mod dead;
mod debug;
mod finalize;
mod gray;
mod large;
mod mark;
mod memory;
mod pacing;
mod phases;
mod roots;
mod stop;
mod trace;
mod weak;

#[cfg(test)]
mod tests;

pub use api::{Mode, OutOfMemory};
pub(crate) use memory::Memory;
pub use memory::{AllocFn, Allocator};

use crate::table::Asking;

/// Phase of the cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// Nothing to do until the next cycle.
    Idle,
    /// Marking in slices.
    Mark,
    /// Marks are right, but dead strings are still in the string table, so no memory is used again yet.
    Purge,
    /// Marks are right; blocks, large objects and boxes are being swept.
    Sweep,
}

/// The heap's allocator and collector state.
#[repr(C)]
pub struct Heap {
    /// Next free byte of the current hole.
    pub cursor: *mut u8,
    /// End of the current hole.
    pub hole_end: *mut u8,
    /// `mark` byte given to new objects: always 0.
    pub newborn: u8,
    /// Every safepoint does a full collection, and checks the heap (a mode for tests).
    pub stress: bool,
    /// The mode `gc-phases`, if it is on.
    phases: Option<phases::Phases>,
    slices: phases::Slices,
    /// The write barrier logs nothing, so that tests can show that this is found.
    loses_barriers: bool,
    /// Called with the message when a finalizer fails ("error in __gc (...)").
    pub warn: Option<unsafe fn(&mut crate::state::State, &[u8])>,
    /// The collector works for the host: it does not stop when the script has to.
    for_host: bool,
    /// A store into a table asks for room.
    pub(crate) asking: Asking,
    phase: Phase,
    pub(crate) memory: memory::Memory,
    blocks: block::Blocks,
    large: large::LargeSpace,
    boxed: boxed::Boxes,
    marker: mark::Marker,
    finalizers: finalize::Finalizers,
    pace: pacing::Pace,
}

impl Heap {
    /// An empty heap, whose memory comes from `allocator`.
    pub fn new(allocator: Allocator) -> Heap {
        Heap {
            cursor: std::ptr::null_mut(),
            hole_end: std::ptr::null_mut(),
            newborn: 0,
            stress: false,
            phases: None,
            slices: phases::Slices::USUAL,
            loses_barriers: false,
            warn: None,
            for_host: false,
            asking: Asking::default(),
            phase: Phase::Idle,
            memory: memory::Memory::new(allocator),
            blocks: block::Blocks::new(),
            large: large::LargeSpace::new(),
            boxed: boxed::Boxes::new(),
            marker: mark::Marker::new(),
            finalizers: finalize::Finalizers::new(),
            pace: pacing::Pace::new(),
        }
    }
}

impl Drop for Heap {
    fn drop(&mut self) {
        // SAFETY: the state is going away, so nobody refers to any object; each is freed once.
        unsafe {
            self.boxed.free_all(&mut self.memory);
            self.large.free_all(&mut self.memory);
            self.blocks.free_all(&mut self.memory);
        }
    }
}
