//! Calls of native functions from native code.

use std::sync::atomic::Ordering;

use perilune_runtime::closure::NativeClosure;
use perilune_runtime::frame::{Frame, FrameWord, Link, flags};
use perilune_runtime::native::{Cx, Ret};
use perilune_runtime::state::{State, StateRef, poll};
use perilune_runtime::value::{SlotExt, Value};

use crate::enter::enter;
use crate::error::native_failed;
use crate::execute;
use crate::handler::handle;
use crate::native::{enter_continued, native_returned, run_to_lua};
use crate::slots::move_values;
use crate::step::{Entered, Exit, Step};

/// Calls the native function at `callee` from native code, in a frame with the flag BOUNDARY, and
/// runs everything that it calls. Returns the number of results, which are from the callee's slot
/// up to the top, or the reason why the call has ended without results.
///
/// # Safety
/// As [`enter`]; `callee` is a native function.
#[inline(always)]
pub(crate) unsafe fn call_native(
    st: *mut State,
    callee: *mut Value,
    nargs: usize,
    frame_flags: u16,
) -> Result<usize, Step> {
    let mut s = StateRef::new(st);
    let base = callee.add(Frame::RESERVED);
    if s.limit.offset_from(base) < nargs as isize
        || base == (*s.thread).stack.add(Frame::RESERVED)
        || s.poll.load(Ordering::Relaxed) & poll::HOOK != 0
    {
        return Err(call_native_slow(st, callee, nargs, frame_flags));
    }
    let frame = Frame(base);
    frame.set_word(FrameWord::new(FrameWord::NATIVE, 0));
    let distance = base.offset_from(s.base) as usize;
    frame.set_link(Link::new(frame_flags, 0, distance));
    s.base = base;
    s.top = base.add(nargs);
    let f = callee.get().as_native();
    match ((*f).func)(Cx::from_state(st)) {
        Ok(Ret(n)) if n >= -1 && s.poll.load(Ordering::Relaxed) & poll::HOOK == 0 => {
            let dst = s.base.sub(Frame::RESERVED);
            let mut results = 1;
            if n >= 0 {
                results = n as usize;
                move_values(s.top.sub(results), dst, results);
            }
            s.top = dst.add(results);
            s.base = s.base.sub(distance);
            Ok(results)
        }
        Ok(r) => Err(after_native_call(st, r, f)),
        Err(_) => Err(after_native_error(st)),
    }
}

#[cold]
#[inline(never)]
unsafe fn call_native_slow(
    st: *mut State,
    callee: *mut Value,
    nargs: usize,
    frame_flags: u16,
) -> Step {
    let entered = enter(st, callee, nargs, frame_flags)?;
    run_all(st, Ok(entered))
}

/// Continues after native code has called the native function `f` and `f` did not simply return.
#[cold]
#[inline(never)]
unsafe fn after_native_call(st: *mut State, r: Ret, f: *mut NativeClosure) -> Step {
    let entered = match r {
        Ret(n) if n >= -1 => native_returned(st, n, Value::native(f)),
        Ret::CALL => enter_continued(st),
        _ => Err(Exit::Yield),
    };
    run_all(st, entered)
}

/// Runs the function that native code has entered to completion; begins to unwind if entering it
/// raised an error.
///
/// # Safety
/// As [`run_to_lua`].
pub(crate) unsafe fn run_all(st: *mut State, entered: Result<Entered, Exit>) -> Step {
    match run_to_lua(st, entered) {
        Ok(()) => execute::execute(st),
        Err(Exit::Error) => execute::after_error(st),
        Err(e) => Err(e),
    }
}

/// Continues after an error of a native function that native code has called.
#[inline(never)]
unsafe fn after_native_error(st: *mut State) -> Step {
    let link = Frame((*st).base).link();
    if link.flags() & flags::BOUNDARY == 0 || link.flags() & flags::PROTECTED != 0 {
        return execute::after_error(st);
    }
    // native code waits for the frame on top, which does not catch the error
    native_failed(st);
    handle(st);
    Err(Exit::Error)
}
