//! Limits of the native stack for machine code.

use std::cell::Cell;

use perilune_runtime::state::State;

thread_local! {
    /// The limits of this thread, once they are known: the address below which no machine code may
    /// be entered, and the address below which no function may be called.
    static LIMITS: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// Returns whether there is enough native stack to enter machine code.
#[inline(always)]
pub(crate) unsafe fn has_room(st: *mut State) -> bool {
    let here = 0u8;
    (&raw const here).addr() > (*st).native_limit
}

/// Returns whether there is enough native stack for another nested interpreter loop and for a
/// native function.
#[inline(always)]
pub(crate) unsafe fn has_reserve(st: *mut State) -> bool {
    let here = 0u8;
    (&raw const here).addr() > (*st).native_floor
}

/// Sets the limits of the state for the native stack of this thread. The lower half is reserved for
/// nested calls of the interpreter, whose number is limited. The last part, in which no call may
/// begin, is reserved for the work of native functions.
#[inline(always)]
pub(crate) unsafe fn measure(st: *mut State) {
    let (limit, floor) = LIMITS.get();
    if limit == 0 {
        LIMITS.set(find());
        return measure_again(st);
    }
    (*st).native_limit = limit;
    (*st).native_floor = floor;
}

#[cold]
unsafe fn measure_again(st: *mut State) {
    ((*st).native_limit, (*st).native_floor) = LIMITS.get();
}

#[cfg(all(target_os = "linux", not(miri)))]
fn find() -> (usize, usize) {
    /// The number of bytes that a native function may need without further calls.
    const RESERVE: usize = 40 << 10;
    let (low, size) = perilune_runtime::sys::native_stack();
    if size == 0 {
        return (usize::MAX, 0);
    }
    (low + size / 2, low + (size / 8).clamp(RESERVE.min(size / 4), 8 * RESERVE))
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn find() -> (usize, usize) {
    (usize::MAX, 0)
}
