//! Errors outside of protected calls.

use std::ffi::c_int;

use perilune_runtime::frame::Frame;
use perilune_runtime::state::State;
use perilune_runtime::string::LuaString;
use perilune_runtime::value::{SlotExt, Value};

use crate::index::value_or_nil;
use crate::run::close_from;
use crate::state::{CFunction, LuaState};
use crate::status::status_of_kind;

/// Ends the process because of an error in C code outside of protected calls (manual 4.4).
///
/// # Safety
/// An error was raised.
#[cold]
pub(crate) unsafe fn unprotected(l: *mut LuaState) -> ! {
    let st = LuaState::state(l);
    (*l).panicked = status_of(st);
    close_all(st, (*st).error);
    let panic: CFunction = (*(*l).global).panic.unwrap_or(report);
    panic(l);
    std::process::abort()
}

/// The panic function of a state for which no other was set.
pub(crate) unsafe extern "C" fn report(l: *mut LuaState) -> c_int {
    let error = value_or_nil(LuaState::state(l), -1);
    let message = if error.is_string() {
        String::from_utf8_lossy(LuaString::bytes(error.as_string())).into_owned()
    } else {
        "error object is not a string".to_owned()
    };
    eprintln!("PANIC: unprotected error in call to Lua API ({message})");
    0
}

unsafe fn status_of(st: *mut State) -> c_int {
    status_of_kind((*st).error_kind)
}

/// Removes all frames of the running coroutine, closes its upvalues and to-be-closed variables, and
/// makes the error, or nil if there is none, its only value.
///
/// # Safety
/// N1; no function of the coroutine is returned to.
pub(crate) unsafe fn close_all(st: *mut State, error: Value) {
    let th = (*st).thread;
    (*st).base = (*th).stack.add(Frame::RESERVED);
    let pending = (&(*th).to_close).last().map(|&slot| slot as usize + 1);
    let at = pending.unwrap_or(Frame::RESERVED);
    // SAFETY: the coroutine is live. Its stack may move while variables are closed.
    let slot = |i: usize| unsafe { (*th).stack.add(i) };
    (*st).close_upvalues((*st).base);
    slot(at).put(error);
    (*st).top = slot(at + 1);
    while close_from(st, 0, Some(at)).is_err() {
        slot(at).put((*st).error);
        (*st).base = slot(Frame::RESERVED);
        (*st).top = slot(at + 1);
    }
    let error = slot(at).get();
    (*st).base.put(error);
    (*st).top = (*st).base.add(1);
}
