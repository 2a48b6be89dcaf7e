//! The heap of one state: a mark-region collector that does not move objects.
//!
//! **Safepoints.** A collection (or a slice of one) runs only at a safepoint: when the interpreter,
//! after an allocation, at a call or at a loop's back-edge, finds the poll word set, or when
//! `collectgarbage` requests it. **Allocation itself never collects.** Code that runs between two
//! safepoints (the slow paths of the interpreter, a native function until it calls back) may
//! therefore hold bare pointers. Everything that must stay alive across a safepoint must be on a VM
//! stack, in a table, or in another root.
//!
//! At a safepoint the slots of the running stack below the top frame's end are roots. Slots above
//! may hold stale values. Every collection clears those that it has not scanned, so a stale slot
//! never outlives its object.
//!
//! **Space.** Objects and buffers of up to [`block::SMALL_MAX`] bytes are in 32 KB [`block`]s,
//! bump-allocated in holes (runs of free 128-byte lines). Larger ones are in the [`large`] space.
//! Userdata of the host, threads, instances and shapes are boxed and
//! [adopted](crate::state::State::adopt). A block has a mark byte for each line, which is set to
//! the current mark when an object that overlaps the line is marked. Sweeping frees the lines with
//! other marks, without visiting the objects.
//!
//! **Cycle.** Idle, marking (in slices at safepoints), one atomic step, [marking](resurrect) what
//! objects to be finalized refer to, removing dead strings from the string table, then sweeping (in
//! slices, and lazily by the allocator). Objects are allocated with mark 0, even during marking:
//! they may contain references to unmarked objects, so they must be traced. An object whose mark is
//! that of the heap was reached in the current cycle or was alive at the end of the last one.
//!
//! **Barrier.** An object that was scanned carries the flag UNLOGGED. A store into it must call
//! [`State::barrier`](crate::state::State::barrier), which clears the flag and logs the object.
//! Logged objects are scanned again before marking ends, or by the next minor collection
//! (generational mode). **A new buffer counts as a store**, and so does closing an upvalue. Stacks
//! have no barrier.
//!
//! **Generational mode** keeps the marks of the last cycle (sticky marks): a marked object is old,
//! an object with mark 0 is young, and a minor collection is a cycle that starts from the roots and
//! the logged objects.
//!
//! **Pauses.** The work at a safepoint is bounded. Logged objects are traced again in slices until
//! only a few are left for the atomic step, and large tables are visited in parts. A store into a
//! large table that was already scanned marks the stored object, since otherwise the whole table
//! would have to be scanned again
//! ([`State::barrier_of_store`](crate::state::State::barrier_of_store)). The atomic step scans the
//! stack of the running coroutine; others are logged when they run. [Weak tables](weak) are visited
//! in slices before it, and their dead [keys](clearing) are removed in slices after it: the atomic
//! step itself removes only weak values that are unmarked. It still visits the list of coroutines.

mod alloc;
mod api;
mod barrier;
mod block;
mod boxed;
mod clearing;
mod cycle;
mod dead;
mod debug;
mod ephemerons;
mod finalize;
mod finalizers;
mod fruitless;
mod gray;
mod growth;
mod large;
mod mark;
mod marker;
mod memory;
mod pacing;
mod pauses;
mod phases;
mod poison;
mod resurrect;
mod roots;
mod segments;
mod slices;
mod stop;
mod trace;
mod weak;
mod weak_tables;

#[cfg(test)]
mod tests;

pub use api::OutOfMemory;
pub(crate) use block::{kept_by_lines, prefetch_line_mark, round};
pub(crate) use clearing::is_hidden;
pub(crate) use growth::{has_room, try_push};
pub use memory::{AllocFn, Allocator};
pub(crate) use memory::{LARGE, Memory};
pub use pacing::Mode;
pub use pauses::{Part, Pause};

use crate::table::Asking;

/// The phase of the cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// Waiting for the next cycle.
    Idle,
    /// Marking in slices.
    Mark,
    /// Everything that the program can reach is marked. The objects to be finalized are being
    /// found, and the objects that they refer to marked.
    Resurrect,
    /// Marks are complete, but dead strings are still in the string table, so no memory is reused
    /// yet.
    Purge,
    /// Marks are complete; blocks, large objects and boxes are being swept.
    Sweep,
}

/// The heap's allocator and collector state.
#[repr(C)]
pub struct Heap {
    /// The next free byte of the current hole.
    pub cursor: *mut u8,
    /// The end of the current hole.
    pub hole_end: *mut u8,
    /// The `mark` byte of new objects: always 0.
    pub newborn: u8,
    /// Whether every safepoint does a full collection and checks the heap (a test mode).
    pub stress: bool,
    /// The mode `gc-phases`, if it is on.
    phases: Option<slices::Phases>,
    slices: slices::Slices,
    /// Whether the write barrier logs nothing, so that tests can show that this is detected.
    loses_barriers: bool,
    /// Whether the collector works for the host, and so does not stop when the script has to.
    for_host: bool,
    /// Whether the current store into a table checks for room, and the result.
    pub(crate) asking: Asking,
    phase: Phase,
    pub(crate) memory: memory::Memory,
    /// The fruitless collections when memory was short or much memory was requested.
    short: fruitless::Fruitless,
    refused: fruitless::Fruitless,
    blocks: block::Blocks,
    large: large::LargeSpace,
    boxed: boxed::Boxes,
    marker: marker::Marker,
    /// In a box, as machine code knows the layout of the state.
    finalizers: Box<finalizers::Finalizers>,
    pace: pacing::Pace,
    /// The pauses of the program, if they are recorded.
    pauses: Option<Box<pauses::Pauses>>,
}

impl Heap {
    /// Creates an empty heap whose memory comes from `allocator`.
    pub fn new(allocator: Allocator) -> Heap {
        Heap {
            cursor: std::ptr::null_mut(),
            hole_end: std::ptr::null_mut(),
            newborn: 0,
            stress: false,
            phases: None,
            slices: slices::Slices::USUAL,
            loses_barriers: false,
            for_host: false,
            asking: Asking::default(),
            phase: Phase::Idle,
            memory: memory::Memory::new(allocator),
            short: fruitless::Fruitless::default(),
            refused: fruitless::Fruitless::default(),
            blocks: block::Blocks::new(),
            large: large::LargeSpace::new(),
            boxed: boxed::Boxes::new(),
            marker: marker::Marker::new(),
            finalizers: Box::new(finalizers::Finalizers::new()),
            pace: pacing::Pace::new(),
            pauses: None,
        }
    }

    /// Replaces the allocator.
    ///
    /// # Safety
    /// The new one takes blocks that the previous one has returned.
    pub unsafe fn set_allocator(&mut self, allocator: Allocator) {
        self.memory.set_allocator(allocator);
    }
}

impl Heap {
    /// Returns the mark of the current cycle, or of the last one.
    #[inline(always)]
    pub(crate) fn mark(&self) -> u8 {
        self.marker.mark
    }

    /// Returns whether objects keep their marks from one cycle to the next.
    #[inline(always)]
    pub(crate) fn keeps_marks(&self) -> bool {
        self.pace.generational
    }
}

impl Drop for Heap {
    fn drop(&mut self) {
        // SAFETY: the state is being dropped, so nothing refers to any object; each is freed once.
        unsafe {
            let panics = self.boxed.free_all(&mut self.memory);
            self.large.free_all(&mut self.memory);
            self.blocks.free_all(&mut self.memory);
            panics.resume();
        }
    }
}
