//! The memory of a heap, which is allocated by a function that can be replaced for each state.
//!
//! Blocks, large objects, stacks, instances and the other boxed objects are allocated through
//! [`Memory`]. Rust values that these objects own (a host's value in a userdata, the entries of a
//! polymorphic inline cache) come from the global allocator.

use std::alloc::Layout;
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::null_mut;
#[cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]
use std::sync::atomic::{AtomicU32, Ordering};
#[cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]
use std::thread::Builder;

use crate::reserve;

/// Alignment of the memory that an [`AllocFn`] returns.
const ALIGN: usize = 16;

/// The size from which on an allocation is tried before anything depends on it. Smaller ones may
/// come from the [reserve].
pub(crate) const LARGE: usize = 1 << 16;

/// The function through which a state allocates, with the meaning of `lua_Alloc` (manual 4.6):
/// `block` is null for a new block, `old` is its size, and `new` the requested size, or 0 to free
/// it. It returns memory aligned to 16 bytes, or null if there is none, in which case `block` is
/// unchanged. Shrinking a block never fails.
pub type AllocFn = unsafe extern "C" fn(
    data: *mut c_void,
    block: *mut c_void,
    old: usize,
    new: usize,
) -> *mut c_void;

/// An [`AllocFn`] and the value that is passed to it.
#[derive(Clone, Copy)]
pub struct Allocator {
    function: AllocFn,
    data: *mut c_void,
}

impl Allocator {
    /// Creates an allocator that calls `function` with `data`.
    ///
    /// # Safety
    /// The function does what [`AllocFn`] says, on every thread that the state is used on and as
    /// long as the state lives. It neither unwinds nor uses the state.
    pub const unsafe fn new(function: AllocFn, data: *mut c_void) -> Allocator {
        Allocator { function, data }
    }

    /// Returns the allocator that uses the global allocator of the program.
    pub const fn global() -> Allocator {
        Allocator { function: from_global, data: null_mut() }
    }

    /// Calls the function.
    pub(super) unsafe fn call(&self, block: *mut c_void, old: usize, new: usize) -> *mut c_void {
        (self.function)(self.data, block, old, new)
    }

    fn is_global(&self) -> bool {
        std::ptr::fn_addr_eq(self.function, from_global as AllocFn)
    }
}

const fn layout(size: usize) -> Layout {
    match Layout::from_size_align(size, ALIGN) {
        Ok(layout) => layout,
        Err(_) => panic!("sizes are far below isize::MAX"),
    }
}

/// Implements the [`AllocFn`] of [`Allocator::global`].
unsafe extern "C" fn from_global(
    _data: *mut c_void,
    block: *mut c_void,
    old: usize,
    new: usize,
) -> *mut c_void {
    if new == 0 {
        if !block.is_null() {
            std::alloc::dealloc(block.cast(), layout(old));
        }
        null_mut()
    } else if block.is_null() {
        std::alloc::alloc(layout(new)).cast()
    } else {
        std::alloc::realloc(block.cast(), layout(old), new).cast()
    }
}

/// Returns freed memory that the program's allocator has kept to the system.
///
/// This takes about 0.1 ms for each megabyte. Unless the program `waits` for the collector anyway,
/// a new thread does it. The program continues, but has to wait if it needs memory of the allocator
/// in the meantime.
#[cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]
fn give_back(waits: bool) {
    /// The process whose thread is at work, or 0: a forked child does not have the thread.
    static BUSY: AtomicU32 = AtomicU32::new(0);
    fn trim() {
        // SAFETY: the function has no requirements.
        unsafe { libc::malloc_trim(1 << 20) };
    }
    let process = std::process::id();
    if waits {
        trim();
    } else if BUSY.swap(process, Ordering::Relaxed) != process {
        let work = || {
            trim();
            BUSY.store(0, Ordering::Relaxed);
        };
        if !without_signals(|| Builder::new().name("perilune-trim".into()).spawn(work).is_ok()) {
            // The memory stays where it is.
            BUSY.store(0, Ordering::Relaxed);
        }
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu", not(miri))))]
fn give_back(_waits: bool) {}

/// Runs `f` with all signals blocked. Threads that it starts receive none.
#[cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]
fn without_signals<R>(f: impl FnOnce() -> R) -> R {
    // SAFETY: the sets are initialized by the functions that receive them first, and the former
    // mask of the thread is restored.
    unsafe {
        let (mut all, mut before) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const all, &raw mut before);
        let result = f();
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut());
        result
    }
}

/// The memory of one state.
pub(crate) struct Memory {
    allocator: Allocator,
    /// Whether the allocator has failed since the last collection that a shortage caused.
    short: bool,
    /// Whether an operation was skipped because there was no memory for it, without an error so
    /// far.
    failed: bool,
    /// Blocks from the global allocator, used because the state's own allocator had failed.
    borrowed: Vec<*mut u8>,
    /// In a box, as this struct is a part of the state, whose layout machine code knows.
    in_use: Box<InUse>,
}

/// The number of allocated bytes, for [`Memory::end_cycle`], and the handling of shortages.
#[derive(Default)]
struct InUse {
    now: Cell<usize>,
    /// The most since the last cycle ended.
    most: Cell<usize>,
    /// The most since memory was last given back to the system.
    peak: usize,
    /// Whether the program waits for the end of the cycle.
    waits: bool,
    /// The value of [`reserve::uses`] at the last collection that a shortage caused.
    answered: usize,
}

impl InUse {
    fn note(&self, old: usize, new: usize) {
        // Memory that another heap has left was not counted.
        let now = self.now.get().saturating_sub(old) + new;
        self.now.set(now);
        self.most.set(self.most.get().max(now));
    }
}

impl Memory {
    pub(crate) fn new(allocator: Allocator) -> Memory {
        Memory {
            allocator,
            short: false,
            failed: false,
            borrowed: Vec::new(),
            in_use: Box::new(InUse { answered: reserve::uses(), ..InUse::default() }),
        }
    }

    /// Replaces the allocator by one that accepts blocks of the previous one.
    pub(super) fn set_allocator(&mut self, allocator: Allocator) {
        self.allocator = allocator;
    }

    /// Returns whether the memory comes from the program's global allocator.
    pub(crate) fn is_global(&self) -> bool {
        self.allocator.is_global()
    }

    unsafe fn call(&self, block: *mut u8, old: usize, new: usize) -> *mut u8 {
        let p = self.allocator.call(block.cast(), old, new);
        debug_assert!(p.addr().is_multiple_of(ALIGN));
        if new == 0 || !p.is_null() {
            self.in_use.note(old, new);
        }
        p.cast()
    }

    /// Notes whether the program waits until the cycle ends, as in a collection that it has
    /// requested.
    pub(crate) fn wait(&mut self, on: bool) {
        self.in_use.waits = on;
    }

    /// Notes that a cycle has ended. Gives freed memory back to the system if the whole cycle
    /// needed less than half of the most that was in use before.
    ///
    /// A program that fills a large heap in each cycle would only have to get the pages again.
    pub(crate) fn end_cycle(&mut self) {
        const LEAST: usize = 16 << 20;
        let InUse { now, most, peak, waits, .. } = &mut *self.in_use;
        let high = most.replace(now.get());
        if high >= *peak / 2 || *peak - high < LEAST {
            *peak = high.max(*peak);
        } else if self.allocator.is_global() {
            *peak = high;
            give_back(*waits);
        }
    }

    /// Allocates `size` bytes, not 0. Returns null if there is no memory.
    pub(crate) unsafe fn try_alloc(&mut self, size: usize) -> *mut u8 {
        let p = self.call(null_mut(), 0, size);
        if p.is_null() {
            self.short = true;
        }
        p
    }

    /// Allocates `size` bytes, not 0. If the allocator fails, the memory comes from the global one
    /// with its reserve ([`crate::reserve`]), and the next safepoint collects, and raises an error
    /// if memory is still short.
    pub(crate) unsafe fn alloc(&mut self, size: usize) -> *mut u8 {
        let p = self.alloc_if_any(size);
        if p.is_null() {
            std::alloc::handle_alloc_error(layout(size));
        }
        p
    }

    /// Does the same as [`Memory::alloc`], but returns null if not even the reserve has memory,
    /// which only happens from [`LARGE`] bytes on. This is for objects whose size has no bound:
    /// other threads may take the memory between a trial and the allocation.
    pub(crate) unsafe fn alloc_if_any(&mut self, size: usize) -> *mut u8 {
        let p = self.try_alloc(size);
        if p.is_null() { self.borrow(size) } else { p }
    }

    /// Does the same as [`Memory::alloc`], but returns null when a large allocation fails, and
    /// takes none from the reserve.
    pub(crate) unsafe fn alloc_or_null(&mut self, size: usize) -> *mut u8 {
        if size < LARGE {
            return self.alloc(size);
        }
        let p = self.try_alloc(size);
        if !p.is_null() && reserve::owns(p) {
            self.free(p, size);
            return null_mut();
        }
        p
    }

    #[cold]
    unsafe fn borrow(&mut self, size: usize) -> *mut u8 {
        let p = std::alloc::alloc(layout(size));
        if p.is_null() {
            // With a program's own allocator there may be no reserve, and small objects cannot do
            // without memory.
            if size < LARGE {
                std::alloc::handle_alloc_error(layout(size));
            }
            return p;
        }
        if !self.is_global() {
            self.borrowed.push(p);
        }
        p
    }

    /// Changes the size of `block`, which may move it. The contents are kept up to the smaller
    /// size. Uses the same sources as [`Memory::alloc_if_any`], and returns null without an effect
    /// if they have no memory.
    pub(crate) unsafe fn realloc(&mut self, block: *mut u8, old: usize, new: usize) -> *mut u8 {
        if !self.borrowed.contains(&block) {
            let p = self.call(block, old, new);
            if !p.is_null() {
                return p;
            }
            self.short = true;
        }
        let p = self.alloc_if_any(new);
        if p.is_null() {
            return p;
        }
        std::ptr::copy_nonoverlapping(block, p, old.min(new));
        self.free(block, old);
        p
    }

    /// Frees `block`.
    pub(crate) unsafe fn free(&mut self, block: *mut u8, size: usize) {
        if !self.borrowed.is_empty()
            && let Some(i) = self.borrowed.iter().position(|&p| p == block)
        {
            self.borrowed.swap_remove(i);
            return std::alloc::dealloc(block, layout(size));
        }
        self.call(block, size, 0);
    }

    /// Allocates memory for `value` and moves it there.
    pub(crate) unsafe fn make<T>(&mut self, value: T) -> *mut T {
        const { assert!(align_of::<T>() <= ALIGN && size_of::<T>() > 0) };
        let p = self.alloc(size_of::<T>()).cast::<T>();
        p.expose_provenance();
        p.write(value);
        p
    }

    /// Drops a value that [`Memory::make`] allocated.
    pub(crate) unsafe fn drop<T>(&mut self, p: *mut T) {
        p.drop_in_place();
        self.free(p.cast(), size_of::<T>());
    }

    /// Returns whether `size` bytes are available without the reserve and without borrowing, by
    /// allocating and freeing them.
    pub(crate) fn has(&self, size: usize) -> bool {
        // SAFETY: the block is freed once, with the size that it was allocated with.
        let own = unsafe {
            let p = self.allocator.call(null_mut(), 0, size);
            let p = std::hint::black_box(p.cast::<u8>());
            let had = !p.is_null() && !reserve::owns(p);
            if !p.is_null() {
                self.allocator.call(p.cast(), size, 0);
            }
            had
        };
        // The buffers of the library come from the global allocator.
        own && (self.is_global() || reserve::system_has(size))
    }

    /// Notes that an allocation failed.
    pub(crate) fn note_short(&mut self) {
        self.short = true;
    }

    /// Notes that an operation was skipped: the next safepoint raises "not enough memory".
    pub(crate) fn note_failed(&mut self) {
        self.short = true;
        self.failed = true;
    }

    /// Returns whether an operation was skipped since the last [`Memory::answer`].
    #[inline]
    pub(crate) fn has_failed(&self) -> bool {
        self.failed
    }

    /// Returns whether memory ran out since the last [`Memory::answer`].
    #[inline]
    pub(crate) fn is_short(&self) -> bool {
        self.short || reserve::uses() != self.in_use.answered
    }

    /// Notes that the shortage was dealt with. Returns whether an operation was skipped.
    pub(crate) fn answer(&mut self) -> bool {
        self.short = false;
        self.in_use.answered = reserve::uses();
        std::mem::take(&mut self.failed)
    }

    /// Returns whether a buffer of `size` bytes may be allocated: always for small ones, and for
    /// large ones if the memory is available.
    #[inline]
    pub(crate) fn may_have(&self, size: usize) -> bool {
        size < LARGE || self.has(size)
    }
}
