//! Finds the protected call that catches an error.

use perilune_runtime::frame::{Frame, flags};
use perilune_runtime::frames::Frames;
use perilune_runtime::state::{State, StateRef};
use perilune_runtime::value::{SlotExt, Tag, Value};

use crate::closing::close_next;
use crate::handler::call_handler;
use crate::native::run_to_lua;
use crate::slots::{callee_slot, kept};
use crate::step::{Exit, Step};

/// Finds the protected call that catches the error in `State::error`, which was raised in the top
/// frame, and continues there until a Lua frame is on top. Returns [`Exit::Error`] when the frame
/// that was entered from the host is reached.
///
/// # Safety
/// I2.
#[cold]
#[inline(never)]
pub(crate) unsafe fn unwind(st: *mut State) -> Step {
    let top_frame = Frame((*st).base).callee();
    if top_frame.tag() == Tag::FUNCTION {
        // pending variables and upvalues may be anywhere in the frame
        (*st).top = (*st).base.add((*(*top_frame.as_function()).instance).max_stack as usize);
    } else {
        native_failed(st);
    }
    loop {
        if !(*st).error_handled {
            let _ = call_handler(st);
        }
        if !catch(st) {
            return Err(Exit::Error);
        }
        let r = run_to_lua(st, close_next(st));
        if r != Err(Exit::Error) {
            return r;
        }
    }
}

/// Pops frames until one of them catches the error, and returns whether one does. Its pending
/// variables then remain to be closed.
unsafe fn catch(st: *mut State) -> bool {
    let mut s = StateRef::new(st);
    let mut frames = Frames::from(Frame(s.base));
    let frame = loop {
        let Some(frame) = frames.next() else { return false };
        let link = frame.link();
        if link.flags() & flags::PROTECTED != 0 {
            break frame;
        }
        if link.flags() & flags::NATIVE_CALLER != 0 || frame.word().is_machine() {
            // native code is waiting for the frame, and propagates the error
            keep_frames(st);
            s.base = callee_slot(frame.0).add(2);
            return false;
        }
        if link.flags() & flags::BOUNDARY != 0 {
            return false;
        }
    };
    s.raised_at = None;
    let level = frame.0.add(kept(frame.0));
    s.base = frame.0;
    s.native_depth = (*s.thread).depth + frame.link().extra() as u32;
    frame.add_flags(flags::CLOSING);
    s.close_upvalues(level);
    let offset = frame.0.offset_from((*s.thread).stack) as u32;
    (&mut (*s.thread).returning).retain(|r| r.0 < offset);
    level.put(s.error);
    // in the slot of the callee's header, which is not needed any more
    level.add(1).put(Value::int(s.error_kind as i64));
    s.error = Value::NIL;
    s.top = level.add(1);
    true
}

/// Records where the error that propagates was raised, unless that is recorded already, before
/// frames are removed. Their values remain below `top`.
///
/// # Safety
/// I2, except that the values of frames that the error has removed follow those of the top frame.
pub(crate) unsafe fn keep_frames(st: *mut State) {
    let mut s = StateRef::new(st);
    let stack = (*s.thread).stack;
    let at = |p: *mut Value| p.offset_from(stack) as u32;
    let here = (at(s.base), at(s.top));
    let (_, top) = *s.raised_at.get_or_insert(here);
    s.top = stack.add(top as usize);
}

/// Forgets where the error with which the native function on top has failed was raised if the
/// function has pushed or popped values since: it may have overwritten the frames.
///
/// # Safety
/// As [`keep_frames`].
pub(crate) unsafe fn native_failed(st: *mut State) {
    let mut s = StateRef::new(st);
    let top = s.top.offset_from((*s.thread).stack) as u32;
    s.raised_at = s.raised_at.filter(|&(_, kept)| kept == top);
}
