//! How much native stack there is for machine code.

use std::cell::Cell;

use perilune_runtime::state::State;

/// Bytes that a native function may need that calls no other.
const RESERVE: usize = 40 << 10;

thread_local! {
    /// Of this thread, once they are known: where machine code may not be entered any more, and
    /// where nothing may be called.
    static LIMITS: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// Is there native stack to enter machine code?
#[inline(always)]
pub(crate) unsafe fn has_room(st: *mut State) -> bool {
    let here = 0u8;
    (&raw const here).addr() > (*st).native_limit
}

/// Is there native stack to nest another loop of the interpreter, and whatever a native function
/// needs?
#[inline(always)]
pub(crate) unsafe fn has_reserve(st: *mut State) -> bool {
    let here = 0u8;
    (&raw const here).addr() > (*st).native_floor
}

/// Tells the state how much native stack this thread has: the lower half is left to nested calls of
/// the interpreter, whose number is limited; the rest that no call may begin in is for what native
/// functions do themselves.
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
