//! Closes to-be-closed variables after an error (manual 3.3.8).

use perilune_runtime::frame::{Frame, flags};
use perilune_runtime::meta::Event;
use perilune_runtime::state::{State, StateRef};
use perilune_runtime::table::Table;
use perilune_runtime::thread::Thread;
use perilune_runtime::value::{SlotExt, Value};

use crate::enter::enter;
use crate::slots::kept;
use crate::step::{Entered, Exit};

/// Closes the next pending variable above the protected frame on top, which has received an error.
/// When there are no more variables to close, the native function runs next.
///
/// # Safety
/// I2; the top frame has the flag CLOSING, and the error value is in the slot after the values that
/// the frame keeps.
pub(crate) unsafe fn close_next(st: *mut State) -> Result<Entered, Exit> {
    let mut s = StateRef::new(st);
    let base = s.base;
    let level = base.add(kept(base));
    let level_offset = level.offset_from((*s.thread).stack) as u32;
    // whether the limit that stands is the error already: there may be many variables
    let mut is_stopped = false;
    while let Some(&slot) = (&(*s.thread).to_close).last()
        && slot >= level_offset
    {
        (&mut (*s.thread).to_close).pop();
        let place = (*s.thread).stack.add(slot as usize);
        let v = place.get();
        let h = Table::metamethod(s.ptr(), v, Event::Close);
        if !s.calls_destructor(h) {
            if !std::mem::replace(&mut is_stopped, true) {
                let _ = State::raise_limit(st);
                level.put(s.error);
                s.error = Value::NIL;
            }
            continue;
        }
        s.top = place.add(1);
        let err = level.get();
        if State::reserve(st, 8).is_err() {
            return Err(Exit::Error);
        }
        let callee = s.top;
        callee.put(h);
        callee.add(1).put(Value::NIL);
        callee.add(2).put(v);
        callee.add(3).put(err);
        s.top = callee.add(4);
        s.native_depth += 1;
        return enter(st, callee, 2, flags::CONTINUED);
    }
    Frame(base).clear_flags(flags::ALL_PROTECTED);
    s.top = level.add(1);
    Thread::shrink_after_error(st);
    Ok(Entered::Native)
}
