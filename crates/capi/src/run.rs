//! Running C functions: the native function that all C functions share, and its steps.

use perilune_runtime::closure::NativeClosure;
use perilune_runtime::frame::{Frame, flags};
use perilune_runtime::native::{Cx, NativeResult, Raised, Ret, StepResult};
use perilune_runtime::pending::Pending;
use perilune_runtime::state::State;
use perilune_runtime::value::{SlotExt, Value};

use crate::arch::{self, Left};
use crate::functions::code_of;
use crate::new_hooks::install_new;
use crate::state::{Continuation, LuaState};
use crate::status::{self, status_of_kind};

/// The step after `lua_callk`.
pub(crate) const AFTER_CALL: u32 = 1;
/// The step after `lua_pcallk`.
pub(crate) const AFTER_PROTECTED_CALL: u32 = 2;
/// The step after `lua_yieldk`.
pub(crate) const AFTER_YIELD: u32 = 3;
/// The step after a `__close` that was called because the function returns.
const AFTER_CLOSE: u32 = 4;

/// Runs or continues the C function of the running frame.
pub(crate) fn run(cx: &mut Cx) -> NativeResult {
    // SAFETY: N1; C2: the closure has the address of a C function.
    unsafe {
        let st = cx.state();
        let l = LuaState::of(st, (*st).thread);
        let jump = &raw mut (*(*l).global).jump;
        let left = if cx.step() == 0 {
            let f: *const NativeClosure = Frame((*st).base).callee().as_native();
            arch::call(jump, code_of(f), [l.expose_provenance(), 0, 0, 0])
        } else {
            if cx.step() == AFTER_CLOSE {
                let kept = cx.kept();
                return close_next(cx, kept);
            }
            match resume_step(cx, l) {
                Resumed::Returned(n) => return finish(cx, n),
                Resumed::Call(k, status) => call_continuation(l, k, status),
            }
        };
        install_new((*l).global);
        match left.why {
            Left::RETURNED => {
                // an `int`: the upper half of the register is undefined
                let n = (left.value as i32).max(0) as usize;
                debug_assert!(n <= cx.top(), "a C function returns more values than it has");
                let n = n.min(cx.top());
                finish(cx, n)
            }
            Left::YIELD => Ok(Ret::YIELD),
            _ => Err(Raised::new()),
        }
    }
}

/// How a C function continues that was waiting without a frame of C code.
enum Resumed {
    /// The function returns its last values.
    Returned(usize),
    /// The function's continuation is called with this status.
    Call(Continuation, i32),
}

unsafe fn call_continuation(l: *mut LuaState, k: Continuation, status: i32) -> Left {
    let args = [l.expose_provenance(), status as usize, k.context as usize, 0];
    let code = k.function.map_or(std::ptr::null(), |f| f as *const ());
    arch::call(&raw mut (*(*l).global).jump, code, args)
}

/// Removes and returns the continuation of the running function.
unsafe fn next_continuation(cx: &mut Cx, l: *mut LuaState) -> Continuation {
    let st = cx.state();
    let frame = (*st).base.offset_from((*(*st).thread).stack) as usize;
    let continuations = &mut (*l).continuations;
    // continuations above belong to frames that an error has removed
    while continuations.last().is_some_and(|k| k.frame > frame) {
        continuations.pop();
    }
    match continuations.pop() {
        Some(k) if k.frame == frame => k,
        _ => unreachable!("a C function that waits has a continuation"),
    }
}

unsafe fn resume_step(cx: &mut Cx, l: *mut LuaState) -> Resumed {
    let st = cx.state();
    let k = next_continuation(cx, l);
    match cx.step() {
        AFTER_YIELD => {
            if k.function.is_none() {
                return Resumed::Returned(cx.top() - cx.kept());
            }
            Resumed::Call(k, status::YIELD)
        }
        AFTER_PROTECTED_CALL => {
            let result = cx.step_result();
            let kept = cx.kept();
            Frame((*st).base).clear_flags(flags::ALL_PROTECTED | flags::CLOSING);
            if k.handler {
                cx.remove(kept - 1);
            }
            match result {
                StepResult::Returned(n) => {
                    adjust(st, n, k.results);
                    Resumed::Call(k, status::YIELD)
                }
                StepResult::Failed => Resumed::Call(k, status_of_error(cx)),
            }
        }
        _ => {
            let n = cx.top() - cx.kept();
            adjust(st, n, k.results);
            Resumed::Call(k, status::YIELD)
        }
    }
}

/// Returns the status of the error that was caught last.
pub(crate) fn status_of_error(cx: &Cx) -> i32 {
    status_of_kind(cx.caught_kind())
}

/// Adjusts the `got` results on top of the stack to `want` values, or keeps all if `want` is
/// `LUA_MULTRET`.
///
/// # Safety
/// `st` is live, and `got` values are on top of its frame.
#[inline(always)]
pub(crate) unsafe fn adjust(st: *mut State, got: usize, want: i32) {
    let Ok(want) = usize::try_from(want) else { return };
    if got == want {
        return;
    }
    let first = (*st).top.sub(got);
    (*st).top = first.add(got.min(want));
    for _ in got..want {
        if (*st).top >= (*st).limit && State::reserve(st, want - got).is_err() {
            return;
        }
        (*st).top.put(Value::NIL);
        (*st).top = (*st).top.add(1);
    }
}

/// Returns the last `n` values, after the to-be-closed variables (`lua_toclose`) that the function
/// has left below them have been closed.
#[inline(always)]
unsafe fn finish(cx: &mut Cx, n: usize) -> NativeResult {
    let st = cx.state();
    let base = (*st).base.offset_from((*(*st).thread).stack) as u32;
    if (&(*(*st).thread).to_close).last().is_some_and(|&slot| slot >= base) {
        // the number of results, in case a metamethod yields
        State::reserve(st, 1)?;
        (*st).top.put(Value::int(n as i64));
        (*st).top = (*st).top.add(1);
        let kept = cx.top();
        return close_next(cx, kept);
    }
    cx.ret(n)
}

/// Closes the to-be-closed variables of the function that returns; its results and their number are
/// the last of its first `kept` values.
#[cold]
unsafe fn close_next(cx: &mut Cx, kept: usize) -> NativeResult {
    let st = cx.state();
    loop {
        (*st).top = (*st).base.add(kept);
        let Some(pending) = take_pending(st, 0)? else { break };
        let callee = pending.push_call(st, Value::NIL);
        cx.set_step(AFTER_CLOSE, kept);
        if ((*st).vm.continuable)(st, callee, 2)?.is_none() {
            return Ok(Ret::YIELD);
        }
    }
    let n = (*st).top.sub(1).get().as_int() as usize;
    (*st).top = (*st).top.sub(1);
    cx.ret(n)
}

/// Takes the last to-be-closed variable of the running frame from value `from` on.
unsafe fn take_pending(st: *mut State, from: usize) -> Result<Option<Pending>, Raised> {
    let level = (*st).base.add(from).offset_from((*(*st).thread).stack);
    State::take_pending(st, level as usize)
}

/// Closes the to-be-closed variables of the running frame from value `from` on, the last one first.
/// Their `__close` receives no error, or the one in a slot of the stack.
///
/// # Errors
/// Returns the errors of `__close`.
///
/// # Safety
/// N1.
pub(crate) unsafe fn close_from(
    st: *mut State,
    from: usize,
    error: Option<usize>,
) -> Result<(), Raised> {
    while let Some(pending) = take_pending(st, from)? {
        let error = error.map_or(Value::NIL, |slot| (*(*st).thread).stack.add(slot).get());
        let callee = pending.push_call(st, error);
        let n = ((*st).vm.call)(st, callee, 2)?;
        (*st).top = (*st).top.sub(n);
    }
    Ok(())
}
