//! Calls (manual 4.6): plain, protected, and with continuations.

use std::ffi::c_int;

use perilune_runtime::frame::{Frame, flags};
use perilune_runtime::native::{Cx, Val};
use perilune_runtime::state::State;
use perilune_runtime::value::{SlotExt, Value};

use crate::arch::{begin_line, stub};
use crate::entry::{Entry, is_running};
use crate::hooks::NOT_YIELDABLE_IN_HOOK;
use crate::index::value_or_nil;
use crate::new_hooks::install_new;
use crate::outcome::{Fallible, Leave, Outcome, guarded_popping, guarded_running, raising};
use crate::run::{AFTER_CALL, AFTER_PROTECTED_CALL, AFTER_YIELD, adjust, status_of_error};
use crate::state::{Continuation, KFunction, LuaState};
use crate::status::OK;

/// Inserts the header slot of a call between the function and its arguments. Returns the callee's
/// slot.
#[inline(always)]
unsafe fn make_header(e: &mut Entry, nargs: usize) -> Fallible<*mut Value> {
    let st = e.st;
    State::reserve(st, 2)?;
    let top = (*st).top;
    let args = top.sub(nargs);
    for i in (0..nargs).rev() {
        args.add(i + 1).put(args.add(i).get());
    }
    args.put(Value::NIL);
    (*st).top = top.add(1);
    Ok(args.sub(1))
}

/// Returns whether the calling function can continue after a yield.
#[inline(always)]
unsafe fn can_continue(st: *mut State, k: Option<KFunction>) -> bool {
    k.is_some() && (*(*st).thread).non_yieldable == 0
}

/// Records the continuation of the running function.
unsafe fn wait(l: *mut LuaState, st: *mut State, k: Continuation) {
    let frame = (*st).base.offset_from((*(*st).thread).stack) as usize;
    let (k, known) = (Continuation { frame, ..k }, &mut (*l).continuations);
    // The frames above have recorded theirs already. A function that an error has removed may have
    // left a record for the same frame.
    match known.binary_search_by_key(&frame, |k| k.frame) {
        Ok(i) => known[i] = k,
        Err(i) => known.insert(i, k),
    }
}

/// Calls the function below the last `nargs` values. If the caller can continue after a yield, it
/// does so with `k`. Returns the number of results.
#[inline(always)]
unsafe fn call(
    l: *mut LuaState,
    e: &mut Entry,
    nargs: usize,
    step: u32,
    k: Continuation,
) -> Fallible<usize> {
    let st = e.st;
    if !can_continue(st, k.function) {
        install_new((*l).global);
        let callee = make_header(e, nargs)?;
        return Ok(((*st).vm.call)(st, callee, nargs)?);
    }
    install_new((*l).global);
    let callee = make_header(e, nargs)?;
    let Continuation { function, context, results, handler, .. } = k;
    call_continuable(l, st, callee, nargs, step, function, context, results, handler)
}

/// Like [`call`], for a callee that may yield. The continuation is passed in parts, so that it is
/// only built here.
#[inline(never)]
#[allow(clippy::too_many_arguments)]
unsafe fn call_continuable(
    l: *mut LuaState,
    st: *mut State,
    callee: *mut Value,
    nargs: usize,
    step: u32,
    function: Option<KFunction>,
    context: isize,
    results: c_int,
    handler: bool,
) -> Fallible<usize> {
    let k = Continuation::new(function, context, results, handler);
    let callee = callee.offset_from((*st).base) as usize;
    let base = (*st).base.offset_from((*(*st).thread).stack);
    Cx::from_state(st).set_step(step, callee);
    match ((*st).vm.continuable)(st, (*st).base.add(callee), nargs)? {
        Some(n) => Ok(n),
        None => {
            // The top frame is that of the function that yields.
            let top = std::mem::replace(&mut (*st).base, (*(*st).thread).stack.offset(base));
            wait(l, st, k);
            (*st).base = top;
            Err(Leave::Yield)
        }
    }
}

/// `lua_callk`. The most common case is handled separately, so that few values are live across the
/// call.
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn lua_callk(
    l: *mut LuaState,
    nargs: c_int,
    results: c_int,
    context: isize,
    k: Option<KFunction>,
) {
    unsafe extern "C" fn body(
        l: *mut LuaState,
        nargs: c_int,
        results: c_int,
        context: isize,
        k: Option<KFunction>,
    ) -> Outcome {
        if k.is_some() || !is_running(l) {
            begin_line!();
            return any_call(l, nargs, results, context, k);
        }
        guarded_running(l, |e| {
            let st = e.st;
            install_new((*l).global);
            let callee = make_header(e, nargs as usize)?;
            let n = ((*st).vm.call)(st, callee, nargs as usize)?;
            adjust(st, n, results);
            Ok(())
        })
    }
    stub!(body)
}

#[cold]
#[inline(never)]
unsafe extern "C" fn any_call(
    l: *mut LuaState,
    nargs: c_int,
    results: c_int,
    context: isize,
    k: Option<KFunction>,
) -> Outcome {
    let nargs = nargs as usize;
    guarded_popping(l, nargs + 1, |e| {
        let k = Continuation::new(k, context, results, false);
        let n = call(l, e, nargs, AFTER_CALL, k)?;
        adjust(e.st, n, results);
        Ok(())
    })
}

raising! {

    fn lua_pcallk(
        l,
        nargs: c_int,
        results: c_int,
        handler: c_int,
        context: isize,
        k: Option<KFunction>,
    ) -> c_int |e| {
        let st = e.st;
        let has_handler = handler != 0;
        let k = Continuation::new(k, context, results, has_handler);
        let nargs = nargs as usize;
        let mut kept = (*st).top.offset_from((*st).base) as usize - nargs - 1;
        let mut bits = flags::PROTECTED;
        if has_handler {
            // the handler is the last value below the call, where the search for handlers finds it
            let h = value_or_nil(st, handler);
            e.cx().reserve(2)?;
            e.cx().insert(kept, Val::of(Cx::from_state(st), h));
            kept += 1;
            bits |= flags::HANDLER_KEPT;
        }
        let base = (*st).base.offset_from((*(*st).thread).stack);
        e.cx().set_step(AFTER_PROTECTED_CALL, kept);
        Frame((*st).base).add_flags(bits);
        let called = call(l, e, nargs, AFTER_PROTECTED_CALL, k);
        if let Err(Leave::Yield) = called {
            return Err(Leave::Yield);
        }
        (*st).base = (*(*st).thread).stack.offset(base);
        let status = match called {
            Ok(n) => {
                adjust(st, n, results);
                OK
            }
            Err(_) if can_continue(st, k.function) => {
                // As in PUC, where the error ends this call when it is raised: the interpreter
                // catches it, closes variables, which may yield, and runs the next step.
                let depth = (*st).native_depth - (*(*st).thread).depth;
                let frame = Frame((*st).base);
                frame.set_link(frame.link().with_extra(depth as usize));
                wait(l, st, k);
                return Err(Leave::Error);
            }
            Err(_) => {
                // an error of the call itself, such as that the value cannot be called, was raised
                // in this frame, which has not passed it to the handler
                ((*st).vm.handle)(st);
                e.cx().recover_protected(kept);
                status_of_error(e.cx())
            }
        };
        Frame((*st).base).clear_flags(flags::ALL_PROTECTED);
        if has_handler {
            e.cx().remove(kept - 1);
        }
        Ok(status)
    }

    fn lua_error(l) -> c_int |e| {
        let v = e.pop();
        let cx = e.cx();
        let v = Val::of(cx, v);
        Err(cx.raise(v).into())
    }

    fn lua_yieldk(l, n: c_int, context: isize, k: Option<KFunction>) -> c_int |e| {
        if (*l).in_hook && (*(*l).thread).non_yieldable == NOT_YIELDABLE_IN_HOOK {
            // the hook itself asks: the coroutine yields after it has returned
            e.cx().yield_after_hook();
            return Ok(0);
        }
        e.cx().yield_then(n as usize, AFTER_YIELD)?;
        let k = Continuation::new(k, context, 0, false);
        wait(l, e.st, k);
        Err(Leave::Yield)
    }
}
