//! Limits of the native stack for machine code.

use std::cell::Cell;

use perilune_runtime::state::State;

thread_local! {
    /// The limits of this thread, once they are known.
    static LIMITS: Cell<Limits> = const { Cell::new(Limits::UNKNOWN) };
}

/// The limits of a native stack.
#[derive(Clone, Copy)]
struct Limits {
    /// The lowest address of the stack.
    low: usize,
    /// The size of the stack in bytes.
    size: usize,
    /// The address below which no machine code may be entered.
    code: usize,
    /// The address below which no function may be called.
    calls: usize,
}

impl Limits {
    /// The limits of a stack whose place is unknown: no machine code is entered, and only the
    /// number of nested calls is limited.
    const NONE: Limits = Limits { low: 0, size: usize::MAX, code: usize::MAX, calls: 0 };
    /// What every thread has before its stack is looked up: no address is inside.
    const UNKNOWN: Limits = Limits { low: 0, size: 0, code: 0, calls: 0 };
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
///
/// A host that runs this thread on a stack of its own, as libraries for coroutines do, has no
/// machine code there, as nothing tells where that stack ends.
#[inline(always)]
pub(crate) unsafe fn measure(st: *mut State) {
    let here = 0u8;
    let mut limits = LIMITS.get();
    if (&raw const here).addr().wrapping_sub(limits.low) >= limits.size {
        limits = measure_again((&raw const here).addr());
    }
    (*st).native_limit = limits.code;
    (*st).native_floor = limits.calls;
}

#[cold]
fn measure_again(here: usize) -> Limits {
    if LIMITS.get().size == 0 {
        LIMITS.set(find());
    }
    let limits = LIMITS.get();
    if here.wrapping_sub(limits.low) < limits.size { limits } else { Limits::NONE }
}

#[cfg(all(target_os = "linux", not(miri)))]
fn find() -> Limits {
    /// The number of bytes that a native function may need without further calls.
    const RESERVE: usize = 40 << 10;
    let (low, size) = perilune_runtime::sys::native_stack();
    if size == 0 {
        return Limits::NONE;
    }
    let reserve = (size / 8).clamp(RESERVE.min(size / 4), 8 * RESERVE);
    Limits { low, size, code: low + size / 2, calls: low + reserve }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn find() -> Limits {
    Limits::NONE
}
