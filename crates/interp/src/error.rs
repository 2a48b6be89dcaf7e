//! Errors: finding who catches one, closing variables on the way, message handlers.

use std::sync::atomic::Ordering;

use perilune_runtime::debug;
use perilune_runtime::frame::{Frame, flags};
use perilune_runtime::meta::Event;
use perilune_runtime::state::{State, StateRef, poll};
use perilune_runtime::table::Table;
use perilune_runtime::thread::Thread;
use perilune_runtime::value::{SlotExt, Tag, Value};

use crate::call::{Entered, call_flagged, enter, kept, run_native};
use crate::ret::callee_slot;
use crate::step::{Exit, Step};

/// The error in `State::error` was raised with the top frame in place. Finds the protected call that catches it and lets it go on (`Ok`: a Lua frame is on top),
/// or leaves the loop with [`Exit::Error`] when the frame entered from the host is reached.
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
    }
    loop {
        if !(*st).error_handled {
            let _ = call_handler(st);
        }
        if !catch(st) {
            return Err(Exit::Error);
        }
        let r = match close_next(st) {
            Ok(Entered::Lua) => return Ok(()),
            Ok(Entered::Native) => run_native(st),
            Err(e) => Err(e),
        };
        if r != Err(Exit::Error) {
            return r;
        }
    }
}

/// As [`Vm::handle`](perilune_runtime::vm::Vm::handle).
///
/// # Safety
/// I2; a native frame is on top.
pub(crate) unsafe fn handle(st: *mut State) {
    if !(*st).error_handled {
        let _ = call_handler(st);
    }
}

/// Runs the message handler of the innermost protected call of this coroutine, if it has one, on `State::error`.
///
/// # Safety
/// I2.
pub(crate) unsafe fn call_handler(st: *mut State) -> Result<(), ()> {
    let mut s = StateRef::new(st);
    s.error_handled = true;
    let mut f = Some(Frame(s.base));
    while let Some(frame) = f {
        let fl = frame.link().flags();
        if fl & flags::PROTECTED != 0 {
            if fl & flags::HANDLER == 0 {
                return Ok(());
            }
            let limits = poll::OUT_OF_TIME | poll::OUT_OF_FUEL;
            if s.poll.load(Ordering::Relaxed) & limits != 0 {
                // no handler would get further than to its first safepoint
                return Ok(());
            }
            let handler = frame.0.get();
            if !handler.is_function() && Table::metamethod(s.ptr(), handler, Event::Call).is_nil() {
                return Ok(());
            }
            let base = s.base.offset_from((*s.thread).stack);
            if State::reserve(st, 8).is_err() {
                s.base = (*s.thread).stack.offset(base);
                return Err(());
            }
            let top = s.top;
            top.put(handler);
            top.add(1).put(Value::NIL);
            top.add(2).put(s.error);
            s.top = top.add(3);
            s.error_handled = false;
            let r = call_flagged(st, top, 1, 0);
            s.error_handled = true;
            return match r {
                Ok(n) => {
                    s.error = if n > 0 { s.top.sub(n).get() } else { Value::NIL };
                    s.top = s.top.sub(n);
                    Ok(())
                }
                Err(_) => Err(()),
            };
        }
        if fl & flags::TRACED != 0 {
            debug::note_traceback(st);
            return Ok(());
        }
        if fl & flags::FINALIZER != 0 {
            // the collector turns the error into a warning
            return Ok(());
        }
        f = frame.caller();
    }
    Ok(())
}

/// Pops frames until one catches, if one does; its pending variables are then still to be closed.
unsafe fn catch(st: *mut State) -> bool {
    let mut s = StateRef::new(st);
    let mut frame = Frame(s.base);
    loop {
        let link = frame.link();
        if link.flags() & flags::PROTECTED != 0 {
            break;
        }
        if link.flags() & flags::NATIVE_CALLER != 0 || frame.word().is_machine() {
            // native code waits for the frame: it passes the error on
            let at = |p: *mut Value| p.offset_from((*s.thread).stack) as u32;
            s.raised_at = s.raised_at.or(Some((at(s.base), at(s.top))));
            s.base = callee_slot(frame.0).add(2);
            return false;
        }
        if link.flags() & flags::BOUNDARY != 0 {
            return false;
        }
        match frame.caller() {
            Some(c) => frame = c,
            None => return false,
        }
    }
    s.raised_at = None;
    let level = frame.0.add(kept(frame.0));
    s.base = frame.0;
    s.native_depth = (*s.thread).depth + frame.link().extra() as u32;
    frame.add_flags(flags::CLOSING);
    s.close_upvalues(level);
    let offset = frame.0.offset_from((*s.thread).stack) as u32;
    (&mut (*s.thread).returning).retain(|r| r.0 < offset);
    level.put(s.error);
    s.error = Value::NIL;
    s.top = level.add(1);
    true
}

/// In the protected frame on top, in which an error has arrived: closes the next pending variable above it; when there is
/// none, the native function is to run.
///
/// # Safety
/// I2; the top frame has the flag CLOSING and its error value stands at the level.
pub(crate) unsafe fn close_next(st: *mut State) -> Result<Entered, Exit> {
    let mut s = StateRef::new(st);
    let base = s.base;
    let level = base.add(kept(base));
    let level_offset = level.offset_from((*s.thread).stack) as u32;
    while let Some(&slot) = (&(*s.thread).to_close).last() {
        if slot < level_offset {
            break;
        }
        (&mut (*s.thread).to_close).pop();
        let place = (*s.thread).stack.add(slot as usize);
        let v = place.get();
        if !v.truthy() {
            continue;
        }
        let h = Table::metamethod(s.ptr(), v, Event::Close);
        let callee = place.add(1);
        s.top = callee;
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
    Frame(base).clear_flags(flags::PROTECTED | flags::HANDLER);
    s.top = level.add(1);
    Thread::shrink_after_error(st);
    Ok(Entered::Native)
}
