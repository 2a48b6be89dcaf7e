//! Closes to-be-closed variables after an error (manual 3.3.8).

use perilune_runtime::frame::{Frame, flags};
use perilune_runtime::raised::ErrorKind;
use perilune_runtime::state::{State, StateRef};
use perilune_runtime::thread::Thread;
use perilune_runtime::value::SlotExt;

use crate::enter::enter;
use crate::slots::kept;
use crate::step::{Entered, Exit, raised};

/// Closes the next pending variable above the protected frame on top, which has received an error.
/// When there are no more variables to close, the native function runs next.
///
/// # Safety
/// I2; the top frame has the flag CLOSING. In the slots after the values that the frame keeps are
/// the error value and the number of the error's kind.
pub(crate) unsafe fn close_next(st: *mut State) -> Result<Entered, Exit> {
    let mut s = StateRef::new(st);
    let (th, base) = (s.thread, s.base);
    let level = base.add(kept(base)).offset_from((*th).stack) as usize;
    s.top = (*th).stack.add(level + 1);
    if let Some(pending) = raised(State::take_pending(st, level))? {
        let error = (*th).stack.add(level).get();
        let callee = pending.push_call(st, error);
        s.native_depth += 1;
        return enter(st, callee, 2, flags::CONTINUED);
    }
    // metamethods may have caught errors of other kinds
    s.error_kind = ErrorKind::from_number((*th).stack.add(level + 1).get().as_int());
    Frame(base).clear_flags(flags::ALL_PROTECTED);
    Thread::shrink_after_error(st);
    Ok(Entered::Native)
}
