//! Checks for memory before large allocations.

use perilune_runtime::frame::Frame;
use perilune_runtime::state::State;
use perilune_runtime::value::Tag;

use crate::step::{Exit, IntoExit};

/// Returns whether there is room for this number of bytes, after a full collection if necessary.
///
/// # Safety
/// I2; pc stored; all values in use are in the registers of the top frame.
#[cold]
#[inline(never)]
pub(crate) unsafe fn make(st: *mut State, bytes: usize) -> bool {
    let s = &mut *st;
    let top = s.top;
    let callee = Frame(s.base).callee();
    if callee.tag() == Tag::FUNCTION {
        let inst = (*callee.as_function()).instance;
        s.top = top.max(s.base.add((*inst).max_stack as usize));
    }
    let made = s.make_room(bytes);
    s.top = top;
    made
}

/// Raises the error of a request for which there is no room, or the error of an interrupt if the
/// collection was stopped by one.
///
/// # Safety
/// As [`make`].
#[cold]
pub(crate) unsafe fn error(st: *mut State) -> Exit {
    let s = &mut *st;
    if s.interrupt_due() {
        return crate::interrupt::interrupted(st);
    }
    s.raise_memory().into_exit()
}
