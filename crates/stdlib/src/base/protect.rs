//! `error`, `assert`, `pcall`, `xpcall`.

use perilune_runtime::native::{Cx, NativeResult, StepResult, Val};

/// Implements `error([message [, level]])`.
pub(super) fn error(cx: &mut Cx) -> NativeResult {
    // The level is a C `int` in PUC.
    let level = cx.opt_int(1, 1)? as i32;
    let v = cx.get(0);
    if level > 0
        && let Some(s) = v.as_str()
    {
        return Err(cx.error_at(level as usize, s.bytes()));
    }
    Err(cx.raise(v))
}

/// Implements `assert(v [, message])`.
pub(super) fn assert(cx: &mut Cx) -> NativeResult {
    if cx.get(0).truthy() {
        return cx.ret(cx.top());
    }
    cx.check_any(0)?;
    if cx.is_none(1) {
        return Err(cx.error("assertion failed!"));
    }
    let v = cx.get(1);
    match v.as_str() {
        Some(s) => Err(cx.error(s.bytes())),
        None => Err(cx.raise(v)),
    }
}

/// Implements `pcall(f, …)`.
pub(super) fn pcall(cx: &mut Cx) -> NativeResult {
    match cx.step() {
        0 => {
            cx.check_any(0)?;
            let n = cx.top() - 1;
            // [f, args] becomes [true, f, header, args]. Machine code makes the same frame
            // (`Frame::PROTECTED_KEEPS`), whose function continues at the same step.
            cx.open_gap(1, 2);
            cx.set(1, cx.get(0));
            cx.set(0, Val::bool(true));
            cx.call_protected_then(n, 1, false)
        }
        _ => finish(cx),
    }
}

/// Implements `xpcall(f, handler, …)`.
pub(super) fn xpcall(cx: &mut Cx) -> NativeResult {
    match cx.step() {
        0 => {
            cx.check_func(1)?;
            let n = cx.top() - 2;
            // [f, handler, args] becomes [handler, true, f, header, args].
            cx.open_gap(2, 2);
            cx.set(2, cx.get(0));
            cx.set(0, cx.get(1));
            cx.set(1, Val::bool(true));
            cx.call_protected_then(n, 1, true)
        }
        _ => finish(cx),
    }
}

/// Returns the results of a protected call; `true` is below them on the stack.
fn finish(cx: &mut Cx) -> NativeResult {
    match cx.step_result() {
        StepResult::Returned(n) => cx.ret(n + 1),
        StepResult::Failed => {
            let e = cx.get(cx.top() - 1);
            cx.push(Val::bool(false));
            cx.push(e);
            cx.ret(2)
        }
    }
}
