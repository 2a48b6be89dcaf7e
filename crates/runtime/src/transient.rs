//! Large allocations for short-lived work, in separate mappings.
//!
//! Compiling a function takes megabytes for a few milliseconds, most of them for lists that grow.
//! The system's allocator keeps freed memory for the thread that allocated it, and the old copies
//! of growing lists become holes. In a separate mapping, a list grows in place, and its memory is
//! returned to the system when it is dropped.
//!
//! The program's global allocator must support this ([`Reserve`](crate::reserve::Reserve)).

use std::cell::Cell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The minimum size in bytes of an allocation that gets a separate mapping.
pub const LARGE: usize = 64 << 10;
/// The largest alignment of a block that may get a mapping.
pub(crate) const ALIGN: usize = 4096;
/// The largest number of mappings at a time. Further allocations go to the system's allocator.
const MOST: usize = 256;
/// The contents of a slot while its mapping is being moved; no mapping has this address.
const MOVING: usize = 1;

/// The addresses of the mappings, and 0 in free slots.
static MAPPINGS: [AtomicUsize; MOST] = [const { AtomicUsize::new(0) }; MOST];
/// The number of slots in use.
static TAKEN: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The size from which on allocations of this thread get mappings. It is the maximum, so that
    /// none do, except during transient work.
    static LEAST: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// Runs `work`, during which allocations of at least `least` bytes, and at least [`LARGE`], get
/// separate mappings if the program's allocator supports this. The mappings may outlive the call.
pub fn during<R>(least: usize, work: impl FnOnce() -> R) -> R {
    struct Restore(usize);
    impl Drop for Restore {
        fn drop(&mut self) {
            LEAST.set(self.0);
        }
    }
    let is_possible = cfg!(all(target_os = "linux", not(miri)));
    let least = if is_possible { least.max(LARGE) } else { usize::MAX };
    let _restore = Restore(LEAST.replace(least));
    work()
}

/// Returns whether an allocation of this thread gets a mapping, by its size.
#[inline]
pub(crate) fn is_for(size: usize) -> bool {
    size >= LEAST.get()
}

/// Returns the number of mappings.
pub fn count() -> usize {
    TAKEN.load(Ordering::Relaxed)
}

/// Allocates `size` bytes, zeroed and aligned to a page. Returns null if there is no memory for
/// them, or if there are too many mappings.
#[cold]
pub(crate) fn alloc(size: usize) -> *mut u8 {
    let free = |slot: &&AtomicUsize| {
        slot.compare_exchange(0, MOVING, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    };
    let Some(slot) = MAPPINGS.iter().find(free) else { return null_mut() };
    let p = sys::map(size);
    slot.store(p.addr(), Ordering::Relaxed);
    if !p.is_null() {
        TAKEN.fetch_add(1, Ordering::Relaxed);
    }
    p
}

/// Returns the slot of the mapping at `p`, if it is one.
#[inline]
fn slot_of(p: *mut u8) -> Option<&'static AtomicUsize> {
    if count() == 0 {
        return None;
    }
    MAPPINGS.iter().find(|slot| slot.load(Ordering::Relaxed) == p.addr())
}

/// Returns whether a block is a mapping.
pub(crate) fn owns(p: *mut u8) -> bool {
    slot_of(p).is_some()
}

/// Frees a block if it is a mapping. Returns whether it was one.
///
/// # Safety
/// The block was allocated with this size by the program's allocator, and nothing uses it any more.
pub(crate) unsafe fn free(p: *mut u8, size: usize) -> bool {
    let Some(slot) = slot_of(p) else { return false };
    // Another thread may get the address for a new mapping as soon as this one is gone.
    slot.store(0, Ordering::Relaxed);
    TAKEN.fetch_sub(1, Ordering::Relaxed);
    sys::unmap(p, size);
    true
}

/// Changes the size of a mapping, which is large before and after. Returns null, without an
/// effect, if there is no memory.
///
/// # Safety
/// As for [`free`], and the block [is a mapping](owns).
pub(crate) unsafe fn resize(p: *mut u8, old: usize, new: usize) -> *mut u8 {
    let slot = slot_of(p).expect("it is a mapping");
    // Another thread may get the address for a new mapping while this one is being moved.
    slot.store(MOVING, Ordering::Relaxed);
    let moved = sys::remap(p, old, new);
    let now = if moved.is_null() { p } else { moved };
    slot.store(now.addr(), Ordering::Relaxed);
    moved
}

#[cfg(target_os = "linux")]
mod sys {
    use std::ptr::null_mut;

    fn or_null(p: *mut libc::c_void) -> *mut u8 {
        if p == libc::MAP_FAILED { null_mut() } else { p.cast() }
    }

    pub(super) fn map(size: usize) -> *mut u8 {
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping at an address of the kernel's choice.
        or_null(unsafe { libc::mmap(null_mut(), size, rights, flags, -1, 0) })
    }

    /// # Safety
    /// It is a mapping of this size that nothing uses any more.
    pub(super) unsafe fn unmap(p: *mut u8, size: usize) {
        libc::munmap(p.cast(), size);
    }

    /// # Safety
    /// As for [`unmap`].
    pub(super) unsafe fn remap(p: *mut u8, old: usize, new: usize) -> *mut u8 {
        or_null(libc::mremap(p.cast(), old, new, libc::MREMAP_MAYMOVE))
    }
}

#[cfg(not(target_os = "linux"))]
mod sys {
    use std::ptr::null_mut;

    pub(super) fn map(_size: usize) -> *mut u8 {
        null_mut()
    }

    /// # Safety
    /// Never called.
    pub(super) unsafe fn unmap(_p: *mut u8, _size: usize) {}

    /// # Safety
    /// Never called.
    pub(super) unsafe fn remap(_p: *mut u8, _old: usize, _new: usize) -> *mut u8 {
        null_mut()
    }
}
