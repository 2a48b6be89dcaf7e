//! Message handlers.

use perilune_runtime::debug;
use perilune_runtime::frame::{Frame, flags};
use perilune_runtime::frames::Frames;
use perilune_runtime::meta::Event;
use perilune_runtime::raised::ErrorKind;
use perilune_runtime::state::{State, StateRef};
use perilune_runtime::table::Table;
use perilune_runtime::value::{SlotExt, Value};

use crate::slots::kept;

/// Implements [`Vm::handle`](perilune_runtime::state::Vm::handle).
///
/// # Safety
/// I2; a native frame is on top.
pub(crate) unsafe fn handle(st: *mut State) {
    if !(*st).error_handled {
        let _ = call_handler(st);
    }
}

/// Runs the message handler of the innermost protected call of this coroutine, if it has one, on
/// `State::error`.
///
/// # Safety
/// I2.
pub(crate) unsafe fn call_handler(st: *mut State) -> Result<(), ()> {
    let mut s = StateRef::new(st);
    s.error_handled = true;
    for frame in Frames::from(Frame(s.base)) {
        let fl = frame.link().flags();
        if fl & flags::PROTECTED != 0 {
            if fl & (flags::HANDLER | flags::HANDLER_KEPT) == 0 {
                return Ok(());
            }
            if s.limit_stands() {
                // a handler would be stopped at its first safepoint
                return Ok(());
            }
            let handler = if fl & flags::HANDLER != 0 {
                frame.0.get()
            } else {
                frame.0.add(kept(frame.0) - 1).get()
            };
            if !handler.is_function() && Table::metamethod(s.ptr(), handler, Event::Call).is_nil() {
                // PUC calls the handler for the error of calling it, until its stack is full
                let _ = State::raise_in_handler(st);
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
            let r = (s.vm.call)(st, top, 1);
            s.error_handled = true;
            return match r {
                Ok(n) => {
                    s.error = if n > 0 { s.top.sub(n).get() } else { Value::NIL };
                    s.error_kind = ErrorKind::Value;
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
    }
    Ok(())
}
