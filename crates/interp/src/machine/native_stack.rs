//! How much native stack there is for machine code.

use std::cell::Cell;

use perilune_runtime::state::State;

thread_local! {
    /// The limit of this thread, once it is known.
    static LIMIT: Cell<usize> = const { Cell::new(0) };
}

/// Is there native stack to enter machine code?
#[inline(always)]
pub(crate) unsafe fn has_room(st: *mut State) -> bool {
    let here = 0u8;
    (&raw const here).addr() > (*st).native_limit
}

/// The address below which this thread's stack is left to nested calls of the interpreter, whose number is limited: the lower half.
pub(crate) fn find_limit() -> usize {
    LIMIT.with(|limit| {
        if limit.get() == 0 {
            limit.set(measure());
        }
        limit.get()
    })
}

#[cfg(all(target_os = "linux", not(miri)))]
fn measure() -> usize {
    let (low, size) = perilune_runtime::sys::native_stack();
    if size == 0 { usize::MAX } else { low + size / 2 }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn measure() -> usize {
    usize::MAX
}
