//! A reserve of memory for allocations that cannot report failure.
//!
//! Rust's collections and reference counts abort the process when the global allocator fails. A
//! program that installs [`Reserve`] as its global allocator has some memory set aside, from which
//! such allocations are served when the system has none left. Each use is counted. A state that
//! detects a changed count collects at its next safepoint, and raises "not enough memory" unless
//! the system has memory again. Memory for objects that may be large is requested before they are
//! created ([`State::make_room`](crate::state::State::make_room)), so that the reserve only serves
//! small allocations, and few of them between two safepoints.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};

use perilune_code::lock::{Mutex, lock};

use crate::transient;

/// Number of allocations that a reserve has served.
static USES: AtomicUsize = AtomicUsize::new(0);
/// Number of bytes of the reserve in use.
static USED: AtomicUsize = AtomicUsize::new(0);
/// The address and the size of the reserve that has served allocations.
static BASE: AtomicUsize = AtomicUsize::new(0);
static SIZE: AtomicUsize = AtomicUsize::new(0);

/// Returns how many allocations the program's reserve has served.
#[inline]
pub fn uses() -> usize {
    USES.load(Ordering::Relaxed)
}

/// Returns whether more than half of the reserve is in use.
pub fn is_low() -> bool {
    USED.load(Ordering::Relaxed) > SIZE.load(Ordering::Relaxed) / 2
}

/// Returns whether `p` is in the reserve.
pub(crate) fn owns(p: *mut u8) -> bool {
    p.addr().wrapping_sub(BASE.load(Ordering::Relaxed)) < SIZE.load(Ordering::Relaxed)
}

/// Returns whether the global allocator has `bytes` bytes outside the reserve, by allocating and
/// freeing them.
pub fn system_has(bytes: usize) -> bool {
    let mut buffer = Vec::<u8>::new();
    buffer.try_reserve_exact(bytes).is_ok() && !owns(std::hint::black_box(buffer.as_mut_ptr()))
}

/// Returns an empty list with room for `len` elements, if the system has memory for it outside the
/// reserve.
pub fn try_with_capacity<T>(len: usize) -> Option<Vec<T>> {
    let mut list = Vec::<T>::new();
    list.try_reserve_exact(len).ok()?;
    (!owns(list.as_mut_ptr().cast())).then_some(list)
}

/// Returns a list of `len` times `value`, if the system has memory for it outside the reserve.
pub(crate) fn try_list<T: Clone>(value: T, len: usize) -> Option<Box<[T]>> {
    let mut list = try_with_capacity(len)?;
    list.resize(len, value);
    Some(list.into_boxed_slice())
}

/// The unit of allocation in the reserve, which is also its alignment.
const UNIT: usize = 64;
/// The size in bytes of a [`Reserve`] by default.
pub const DEFAULT_BYTES: usize = 4 << 20;

/// A global allocator with `BYTES` bytes (4 MB by default) set aside for allocations that `A`
/// cannot serve.
///
/// The reserve is zero-initialized memory of the program's image: it costs address space, but no
/// physical memory before it is used.
///
/// ```
/// use perilune_runtime::reserve::Reserve;
///
/// #[global_allocator]
/// static ALLOCATOR: Reserve = Reserve::new(std::alloc::System);
/// # fn main() { assert_eq!(vec![1; 3].len(), 3) }
/// ```
pub struct Reserve<A = std::alloc::System, const BYTES: usize = DEFAULT_BYTES> {
    allocator: A,
    free: Mutex<FreeList>,
    memory: UnsafeCell<Memory<BYTES>>,
}

#[repr(align(64))]
struct Memory<const BYTES: usize>([u8; BYTES]);

// SAFETY: the memory is only accessed by the owners of its parts, and through the free list, which
// is locked.
unsafe impl<A: Sync, const BYTES: usize> Sync for Reserve<A, BYTES> {}

/// The free pieces in the order of their addresses, linked through the pieces themselves.
struct FreeList {
    /// Whether the memory was added as one piece.
    ready: bool,
    first: *mut Piece,
}

// SAFETY: the list is only accessed under the lock.
unsafe impl Send for FreeList {}

struct Piece {
    size: usize,
    next: *mut Piece,
}

impl FreeList {
    /// Takes `size` bytes with this alignment from the end of the first piece that has room for
    /// them. Returns null if there is none.
    ///
    /// # Safety
    /// The list is that of memory that nothing else uses.
    unsafe fn take(&mut self, size: usize, align: usize) -> *mut u8 {
        let mut link = &raw mut self.first;
        while !(*link).is_null() {
            let piece = *link;
            let (start, end) = (piece.addr(), piece.addr() + (*piece).size);
            let at = end.wrapping_sub(size) & !(align - 1);
            // If alignment leaves a gap after the block, it becomes a piece of its own.
            let after = end.wrapping_sub(at).wrapping_sub(size);
            if at >= start && at <= end {
                let p = piece.cast::<u8>().add(at - start);
                if after > 0 {
                    let rest = p.add(size).cast::<Piece>();
                    rest.write(Piece { size: after, next: (*piece).next });
                    (*piece).next = rest;
                }
                if at == start {
                    *link = (*piece).next;
                } else {
                    (*piece).size = at - start;
                }
                return p;
            }
            link = &raw mut (*piece).next;
        }
        null_mut()
    }

    /// Adds `size` bytes at `p`, and merges them with adjacent free pieces.
    ///
    /// # Safety
    /// The bytes belong to the memory of the list, are in no piece, and nothing uses them any more.
    unsafe fn give(&mut self, p: *mut u8, size: usize) {
        let mut before: *mut Piece = null_mut();
        let mut after = self.first;
        while !after.is_null() && after.addr() < p.addr() {
            before = after;
            after = (*after).next;
        }
        let mut piece = p.cast::<Piece>();
        piece.write(Piece { size, next: after });
        if before.is_null() {
            self.first = piece;
        } else if before.addr() + (*before).size == piece.addr() {
            (*before).size += size;
            piece = before;
        } else {
            (*before).next = piece;
        }
        if !after.is_null() && piece.addr() + (*piece).size == after.addr() {
            (*piece).size += (*after).size;
            (*piece).next = (*after).next;
        }
    }
}

impl<A, const BYTES: usize> Reserve<A, BYTES> {
    /// Creates an allocator that uses `allocator`, and a reserve when that fails.
    pub const fn new(allocator: A) -> Self {
        const { assert!(BYTES.is_multiple_of(UNIT) && BYTES > 0) };
        Reserve {
            allocator,
            free: Mutex::new(FreeList { ready: false, first: null_mut() }),
            memory: UnsafeCell::new(Memory([0; BYTES])),
        }
    }

    /// Returns whether a block of this size and alignment gets a mapping of its own, as a large
    /// block of transient work.
    #[inline]
    fn gets_mapping(size: usize, align: usize) -> bool {
        transient::is_for(size) && align <= transient::ALIGN
    }

    fn base(&self) -> *mut u8 {
        self.memory.get().cast()
    }

    #[inline]
    fn has(&self, p: *mut u8) -> bool {
        p.addr().wrapping_sub(self.base().addr()) < BYTES
    }

    #[cold]
    fn serve(&self, layout: Layout) -> *mut u8 {
        let Some(size) = layout.size().checked_next_multiple_of(UNIT) else { return null_mut() };
        // A request gets at most half of the reserve, so that some remains for others.
        if size > BYTES / 2 {
            return null_mut();
        }
        let mut free = lock(&self.free);
        // SAFETY: the list is locked, and its memory is that of this reserve.
        let p = unsafe {
            if !free.ready {
                free.ready = true;
                free.give(self.base(), BYTES);
                SIZE.store(BYTES, Ordering::Relaxed);
                BASE.store(self.base().expose_provenance(), Ordering::Relaxed);
            }
            free.take(size, layout.align().max(UNIT))
        };
        if !p.is_null() {
            USES.fetch_add(1, Ordering::Relaxed);
            USED.fetch_add(size, Ordering::Relaxed);
        }
        p
    }

    /// Frees memory of the reserve.
    ///
    /// # Safety
    /// `p` was allocated from the reserve with this layout, and nothing uses it any more.
    #[cold]
    unsafe fn take_back(&self, p: *mut u8, layout: Layout) {
        let size = layout.size().next_multiple_of(UNIT);
        lock(&self.free).give(p, size);
        USED.fetch_sub(size, Ordering::Relaxed);
    }
}

// The code for large blocks is in separate functions, since the compiler copies the methods of the
// global allocator to every place where something is allocated.
impl<A: GlobalAlloc, const BYTES: usize> Reserve<A, BYTES> {
    /// # Safety
    /// As for [`GlobalAlloc::alloc`].
    #[inline(never)]
    unsafe fn alloc_large(&self, layout: Layout) -> *mut u8 {
        if Self::gets_mapping(layout.size(), layout.align()) {
            let p = transient::alloc(layout.size());
            if !p.is_null() {
                return p;
            }
        }
        let p = self.allocator.alloc(layout);
        if p.is_null() { self.serve(layout) } else { p }
    }

    /// # Safety
    /// As for [`GlobalAlloc::dealloc`].
    #[inline(never)]
    unsafe fn dealloc_large(&self, p: *mut u8, layout: Layout) {
        if transient::free(p, layout.size()) {
            return;
        }
        if self.has(p) { self.take_back(p, layout) } else { self.allocator.dealloc(p, layout) }
    }

    /// # Safety
    /// As for [`GlobalAlloc::realloc`].
    #[inline(never)]
    unsafe fn realloc_large(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let is_mapping = layout.size() >= transient::LARGE && transient::owns(p);
        let new = if is_mapping && size >= transient::LARGE {
            transient::resize(p, layout.size(), size)
        } else if is_mapping || Self::gets_mapping(size, layout.align()) || self.has(p) {
            null_mut()
        } else {
            self.allocator.realloc(p, layout, size)
        };
        if new.is_null() { self.realloc_by_copy(p, layout, size) } else { new }
    }

    /// # Safety
    /// As for [`GlobalAlloc::realloc`].
    #[inline(never)]
    unsafe fn realloc_by_copy(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let new = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
        if !new.is_null() {
            std::ptr::copy_nonoverlapping(p, new, layout.size().min(size));
            self.dealloc(p, layout);
        }
        new
    }
}

// SAFETY: memory comes from `A`, which fulfils the contract, or is a mapping or a piece of the
// reserve that nothing else uses, with the requested size and alignment. Its address determines
// which of the three it is. Nothing here unwinds.
unsafe impl<A: GlobalAlloc, const BYTES: usize> GlobalAlloc for Reserve<A, BYTES> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() >= transient::LARGE {
            return self.alloc_large(layout);
        }
        let p = self.allocator.alloc(layout);
        if p.is_null() { self.serve(layout) } else { p }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if layout.size() >= transient::LARGE && Self::gets_mapping(layout.size(), layout.align()) {
            let p = transient::alloc(layout.size());
            if !p.is_null() {
                return p;
            }
        }
        let p = self.allocator.alloc_zeroed(layout);
        if !p.is_null() {
            return p;
        }
        let p = self.serve(layout);
        if !p.is_null() {
            p.write_bytes(0, layout.size());
        }
        p
    }

    #[inline]
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        if layout.size() >= transient::LARGE {
            return self.dealloc_large(p, layout);
        }
        if self.has(p) { self.take_back(p, layout) } else { self.allocator.dealloc(p, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if layout.size().max(size) >= transient::LARGE {
            return self.realloc_large(p, layout, size);
        }
        if !self.has(p) {
            let new = self.allocator.realloc(p, layout, size);
            if !new.is_null() {
                return new;
            }
        }
        self.realloc_by_copy(p, layout, size)
    }
}
