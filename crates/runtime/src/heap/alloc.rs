//! Allocation of objects and buffers.

use std::ptr::null_mut;

use super::Phase;
use super::block::{FREE, LINE, SMALL_MAX, line_mark, round};
use super::boxed::NEW;
use super::large::Large;
use super::poison;
use crate::header::{GcHeader, Kind};
use crate::state::{State, poll};

/// Writes the first word of a new object: the fields of [`GcHeader`] from the low byte up.
#[inline(always)]
unsafe fn write_header(p: *mut u8, kind: Kind, flags: u8) {
    p.cast::<u64>().write(u64::from_le_bytes([kind as u8, 0, flags, 0, 0, 0, 0, 0]).to_le());
}

impl State {
    /// Allocates an object of `size` bytes (a multiple of 16) and fills in its header. The rest is
    /// uninitialized.
    ///
    /// Never collects: when the heap has grown past the trigger, it requests a collection through
    /// the poll word. Returns null if there is no memory for a large object; the allocation of an
    /// object of less than 64 KB never fails.
    ///
    /// # Safety
    /// The caller initializes the object before the next safepoint.
    #[inline(always)]
    pub unsafe fn alloc(&mut self, kind: Kind, size: usize) -> *mut GcHeader {
        debug_assert!(size.is_multiple_of(16));
        let p = self.heap.cursor;
        let end = p.wrapping_add(size);
        if end > self.heap.hole_end {
            return self.alloc_slow(kind, size);
        }
        self.heap.cursor = end;
        write_header(p, kind, 0);
        p.cast()
    }

    #[cold]
    #[inline(never)]
    unsafe fn alloc_slow(&mut self, kind: Kind, size: usize) -> *mut GcHeader {
        let p = self.refill(size);
        if p.is_null() {
            return null_mut();
        }
        write_header(p, kind, if size > SMALL_MAX { GcHeader::LARGE } else { 0 });
        p.cast()
    }

    /// Allocates a buffer of `size` bytes (rounded up to 16). It belongs to one object, which marks
    /// it when it is traced. Returns null if there is no memory for a large buffer; the allocation
    /// of a buffer of less than 64 KB never fails.
    ///
    /// # Safety
    /// The owner is an object whose tracing marks this buffer. The caller has just allocated the
    /// owner, or calls the write barrier for it.
    #[inline]
    pub unsafe fn alloc_buffer(&mut self, size: usize) -> *mut u8 {
        let size = round(size);
        let p = self.heap.cursor;
        let end = p.wrapping_add(size);
        // Whether a buffer is in a block follows from its size alone, so a large one must not go
        // into a hole.
        if end > self.heap.hole_end || size > SMALL_MAX {
            return self.refill(size);
        }
        self.heap.cursor = end;
        p
    }

    /// Frees a buffer that its owner no longer uses.
    ///
    /// # Safety
    /// `p` came from [`State::alloc_buffer`] with the same size, and nothing refers to it any more.
    pub unsafe fn free_buffer(&mut self, p: *mut u8, size: usize) {
        let size = round(size);
        let heap = &mut self.heap;
        if size > SMALL_MAX {
            if (*Large::of(p)).mark == heap.marker.mark {
                // The buffer was counted as live, either in the current cycle or, in generational
                // mode, in the last one. The end of the cycle discards the balance.
                heap.marker.live = heap.marker.live.saturating_sub(size);
            }
            heap.pace.balance -= size as isize;
            heap.large.free(&mut heap.memory, p);
            return;
        }
        if heap.blocks.checked {
            poison::poison(p, size);
        }
        // The buffer is the newest allocation of the current hole, so its memory is returned to the
        // hole.
        if p.wrapping_add(size) == heap.cursor {
            heap.cursor = p;
        }
    }

    /// Changes the size of a buffer, which may move it. The contents are kept up to the smaller
    /// size. The newest allocation is resized in place. Returns null and changes nothing if there
    /// is no memory for a large buffer.
    ///
    /// # Safety
    /// As for [`State::free_buffer`] for the old buffer, and for [`State::alloc_buffer`] for the
    /// result.
    pub unsafe fn resize_buffer(&mut self, p: *mut u8, old: usize, new: usize) -> *mut u8 {
        let (old_size, new_size) = (round(old), round(new));
        let heap = &mut self.heap;
        if old_size <= SMALL_MAX
            && new_size <= SMALL_MAX
            && p.wrapping_add(old_size) == heap.cursor
            && p.wrapping_add(new_size) <= heap.hole_end
        {
            heap.cursor = p.wrapping_add(new_size);
            return p;
        }
        if old_size > SMALL_MAX && new_size > SMALL_MAX && !heap.large.checked {
            let marked = (*Large::of(p)).mark == heap.marker.mark;
            let q = heap.large.resize(&mut heap.memory, p, new_size);
            if q.is_null() {
                self.request(poll::GC);
                return q;
            }
            if marked {
                heap.marker.live = (heap.marker.live + new_size).saturating_sub(old_size);
            }
            self.charge(new_size as isize - old_size as isize);
            return q;
        }
        let q = self.alloc_buffer(new);
        if q.is_null() {
            return q;
        }
        std::ptr::copy_nonoverlapping(p, q, old.min(new));
        self.free_buffer(p, old);
        q
    }

    /// Returns memory for `size` bytes that do not fit into the current hole.
    #[cold]
    #[inline(never)]
    unsafe fn refill(&mut self, size: usize) -> *mut u8 {
        if self.heap.stress {
            // A collection closes all holes, so the first allocation after each one comes here.
            self.request(poll::GC);
        }
        let p = self.alloc_anywhere(size);
        if self.heap.memory.is_short() {
            self.request(poll::GC);
        }
        p
    }

    unsafe fn alloc_anywhere(&mut self, size: usize) -> *mut u8 {
        let heap = &mut self.heap;
        if size > SMALL_MAX {
            let p = heap.large.alloc(&mut heap.memory, size);
            if !p.is_null() {
                self.charge(size as isize);
            }
            return p;
        }
        if size > LINE {
            return self.alloc_overflow(size);
        }
        let hole = heap.blocks.next_hole(&mut heap.memory);
        debug_assert!(line_mark(hole.0) == FREE || self.heap.phase != Phase::Idle);
        self.heap.cursor = hole.0.add(size);
        self.heap.hole_end = hole.1;
        self.charge(hole.len() as isize);
        hole.0
    }

    unsafe fn alloc_overflow(&mut self, size: usize) -> *mut u8 {
        if self.heap.blocks.overflow.len() < size {
            let bytes = self.heap.blocks.renew_overflow(&mut self.heap.memory);
            self.charge(bytes);
        }
        let hole = &mut self.heap.blocks.overflow;
        let p = hole.0;
        hole.0 = p.add(size);
        p
    }

    /// Counts `bytes` as allocated, and requests a collection when one is due.
    #[inline]
    pub(crate) fn charge(&mut self, bytes: isize) {
        let pace = &mut self.heap.pace;
        pace.balance += bytes;
        if pace.balance >= pace.trigger {
            self.poll.fetch_or(poll::GC, std::sync::atomic::Ordering::Relaxed);
        }
    }

    /// Moves an object (userdata, thread, shape) into a separate box, which keeps about `bytes`
    /// bytes alive. The heap drops it when it is unreachable.
    ///
    /// # Safety
    /// `T` is the type for the kind in its header. The object is not rooted yet.
    pub unsafe fn make_boxed<T>(&mut self, object: T, bytes: usize) -> *mut T {
        let object = self.heap.memory.make(object);
        self.adopt(object.cast(), bytes);
        object
    }

    /// Adds a boxed object to the heap; see [`State::make_boxed`].
    ///
    /// # Safety
    /// `object` is in memory of the heap, and is of the kind that its header names.
    pub(crate) unsafe fn adopt(&mut self, object: *mut GcHeader, bytes: usize) {
        object.expose_provenance();
        (*object).mark = if self.heap.phase == Phase::Resurrect { NEW } else { 0 };
        if !self.heap.boxed.push(object) {
            self.heap.memory.note_short();
        }
        if self.heap.stress {
            self.request(poll::GC);
        }
        self.charge(bytes as isize);
        if self.heap.memory.is_short() {
            self.request(poll::GC);
        }
    }
}

impl State {
    /// Records that an operation was skipped because there was no memory for it. The next safepoint
    /// raises the error.
    #[cold]
    pub fn skip_for_memory(&mut self) {
        self.heap.memory.note_failed();
        self.request(poll::GC);
    }
}

impl super::Heap {
    /// Returns whether a store was skipped or a string was not created because memory was short.
    /// The next safepoint raises the error.
    #[inline]
    pub fn has_failed(&self) -> bool {
        self.memory.has_failed()
    }

    /// Returns whether the lists of objects have room for more, after enlarging them if necessary.
    pub(super) fn has_room(&mut self) -> bool {
        self.boxed.have_room() && self.finalizers.registered.has_room()
    }

    /// Counts memory that a boxed object has acquired, or freed (negative), since it was adopted.
    /// The next safepoint takes it into account.
    pub fn note_external(&mut self, bytes: isize) {
        self.pace.balance += bytes;
    }
}
