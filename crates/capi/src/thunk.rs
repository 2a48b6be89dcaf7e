//! C functions that call native functions of Rust (manual 4.6, `lua_tocfunction`).

use std::ffi::c_int;

use perilune_runtime::native::Val;

use crate::arch::{stub, thunks};
use crate::outcome::{Fallible, Outcome, guarded};
use crate::state::LuaState;

thunks!(call_native);

/// Calls the native function with this number on all values of the frame and returns its results.
#[unsafe(naked)]
unsafe extern "C" fn call_native(l: *mut LuaState, number: usize) -> c_int {
    unsafe extern "C" fn body(l: *mut LuaState, number: usize) -> Outcome {
        guarded(l, |e| -> Fallible<c_int> {
            let st = e.st;
            let cx = e.cx();
            let Some(f) = (*(*l).global).functions.native(cx, number) else {
                return Err(cx.error_plain("the function belongs to another state").into());
            };
            let nargs = cx.top();
            cx.reserve(2)?;
            let cx = &*cx;
            cx.insert(0, Val::of(cx, f));
            cx.insert(1, Val::NIL);
            Ok(((*st).vm.call)(st, (*st).base, nargs)? as c_int)
        })
    }
    stub!(body)
}
