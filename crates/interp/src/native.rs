//! Runs the steps of native functions, carries out their requests, and continues them after calls
//! return.

use std::sync::atomic::Ordering;

use perilune_runtime::closure::NativeClosure;
use perilune_runtime::frame::{Frame, FrameWord, flags};
use perilune_runtime::native::{Builtin, Cx, NativeResult, Ret};
use perilune_runtime::state::{State, StateRef, poll};
use perilune_runtime::thread::CallResults;
use perilune_runtime::tier::MAX_NATIVE_DEPTH;
use perilune_runtime::value::{SlotExt, Value};

use crate::closing::close_next;
use crate::depth::depth_error;
use crate::enter::enter;
use crate::interrupt::obey_interrupt;
use crate::slots::kept;
use crate::step::{Entered, Exit, Step, raised};
use crate::{concat, hooks, ret};

/// The step at which `coroutine.yield` and functions that resume a coroutine continue.
pub(crate) const RESUMED: u32 = 1;

/// Calls the native function `f`, whose frame is on top, at its first step. `results` is the
/// address for the results, if the function is called by a CALL.
///
/// # Safety
/// I2.
#[inline(always)]
pub(crate) unsafe fn call_function(
    st: *mut State,
    f: *mut NativeClosure,
    results: Option<CallResults>,
) -> NativeResult {
    if (*f).header.word < Builtin::Yield as u32 {
        return ((*f).func)(Cx::from_state(st));
    }
    call_switching(st, f, results)
}

/// Calls `coroutine.yield` or a function that resumes a coroutine. A yield is performed here,
/// without running the function of the library.
#[inline(never)]
unsafe fn call_switching(
    st: *mut State,
    f: *mut NativeClosure,
    results: Option<CallResults>,
) -> NativeResult {
    let thread = (*st).thread;
    if (*f).header.word == Builtin::Yield as u32 {
        if (*thread).non_yieldable != 0 {
            return ((*f).func)(Cx::from_state(st));
        }
        (*thread).yielded_in_call = results;
        Frame((*st).base).set_word(FrameWord::new(FrameWord::NATIVE, RESUMED));
        return Ok(Ret::YIELD);
    }
    match ((*st).vm.switch)(st) {
        Some(result) => result.map(Ret),
        None => ((*f).func)(Cx::from_state(st)),
    }
}

/// Runs the frame that a call or a return left on top, and all frames that result from it, until a
/// Lua frame that is ready to run is on top.
///
/// # Safety
/// I2; `entered` is the kind of frame on top, and the step of a native function is set.
#[inline]
pub(crate) unsafe fn run_to_lua(st: *mut State, entered: Result<Entered, Exit>) -> Step {
    match entered? {
        Entered::Lua => Ok(()),
        other => run_others(st, other),
    }
}

unsafe fn run_others(st: *mut State, mut on_top: Entered) -> Step {
    loop {
        on_top = match on_top {
            Entered::Lua => return Ok(()),
            Entered::Native => run_native(st)?,
            Entered::Closing => close_next(st)?,
            Entered::Concat => concat::resume(st)?,
        };
    }
}

/// Runs the next step of the native function of the top frame.
///
/// # Safety
/// I2; the top frame is a native one whose step is set.
#[inline(always)]
unsafe fn run_native(st: *mut State) -> Result<Entered, Exit> {
    if (*st).poll.load(Ordering::Relaxed) & poll::HOOK != 0 {
        hooks::native_call(st)?;
    }
    let f = Frame((*st).base).callee().as_native();
    match ((*f).func)(Cx::from_state(st)) {
        Ok(Ret(n)) if n >= -1 => native_returned(st, n, Value::native(f)),
        Ok(Ret::CALL) => enter_continued(st),
        Ok(_) => Err(Exit::Yield),
        Err(_) => Err(Exit::Error),
    }
}

/// Pops the top frame, whose native function `f` returned `n` values (-1: one, in place).
///
/// # Safety
/// I2; nothing was collected since `f` returned.
pub(crate) unsafe fn native_returned(st: *mut State, n: i32, f: Value) -> Result<Entered, Exit> {
    let mut s = StateRef::new(st);
    let (mut src, n) = if n < 0 { (s.base.sub(2), 1) } else { (s.top.sub(n as usize), n as usize) };
    if s.poll.load(Ordering::Relaxed) & poll::HOOK != 0 {
        if src < s.base {
            // The hook sees the function, with its result in the same position as the results of
            // other functions.
            let v = src.get();
            src.put(f);
            raised(State::reserve(st, 1))?;
            src = s.top;
            src.put(v);
            s.top = src.add(1);
        }
        // the hook may move the stack
        let at = src.offset_from((*s.thread).stack);
        hooks::return_event(st, src, n)?;
        src = (*s.thread).stack.offset(at);
    }
    ret::leave(st, src, n)
}

/// Enters the function that the native frame on top has requested to call before its next step.
/// Such calls do not nest native frames, but count as native levels, as in PUC: without that limit,
/// an error that is caught and raised again at every level of a deep recursion through `pcall`
/// would take time quadratic in the depth. They are safepoints for interrupts, since functions that
/// only call themselves in this way, or through metamethods, have no other safepoints.
///
/// # Safety
/// I2; the function returned [`Ret::CALL`].
pub(crate) unsafe fn enter_continued(st: *mut State) -> Result<Entered, Exit> {
    let mut s = StateRef::new(st);
    let frame = Frame(s.base);
    frame.set_link(frame.link().with_extra((s.native_depth - (*s.thread).depth) as usize));
    if s.native_depth >= MAX_NATIVE_DEPTH {
        raised(depth_error(st))?;
    }
    obey_interrupt(st)?;
    s.native_depth += 1;
    let callee = s.base.add(kept(s.base));
    let nargs = s.top.offset_from(callee) as usize - 2;
    enter(st, callee, nargs, flags::CONTINUED)
}

/// Calls the function at `callee` for the instruction at the pc of the Lua frame on top, to which
/// [`ret::deliver`] passes the results.
///
/// # Safety
/// I2; `callee`, its header slot and `nargs` arguments lie above the live registers of the top
/// frame, whose pc is stored.
pub(crate) unsafe fn call_for_instruction(
    st: *mut State,
    callee: *mut Value,
    nargs: usize,
) -> Step {
    obey_interrupt(st)?;
    run_to_lua(st, enter(st, callee, nargs, 0))
}

/// Carries out the request with which a native function has returned.
///
/// # Safety
/// I2; the function returned `r`, which requests a call or a yield.
#[inline(never)]
pub(crate) unsafe fn after_native(st: *mut State, r: Ret) -> Step {
    if r != Ret::CALL {
        return Err(Exit::Yield);
    }
    run_to_lua(st, enter_continued(st))
}

/// Returns from the top frame with the `n` results at `src` to any kind of caller, and raises the
/// return event of hooks.
///
/// # Safety
/// I2; pc stored.
#[inline(never)]
pub(crate) unsafe fn return_slow(st: *mut State, src: *mut Value, n: usize) -> Step {
    if (*st).poll.load(Ordering::Relaxed) & poll::HOOK != 0 {
        // the hook may move the stack
        let at = src.offset_from((*(*st).thread).stack);
        hooks::return_event(st, src, n)?;
        let src = (*(*st).thread).stack.offset(at);
        return finish_return(st, src, n);
    }
    finish_return(st, src, n)
}

unsafe fn finish_return(st: *mut State, src: *mut Value, n: usize) -> Step {
    run_to_lua(st, ret::leave(st, src, n))
}

/// Passes the `n` results at `src` to the Lua frame on top, and runs all frames that result from
/// this.
///
/// # Safety
/// As [`ret::deliver`].
#[inline(never)]
pub(crate) unsafe fn deliver(st: *mut State, src: *mut Value, n: usize) -> Step {
    run_to_lua(st, ret::deliver(st, src, n))
}

/// Passes results to a frame of machine code, which continues with them, unless it is at a CONCAT
/// whose next metamethod runs first.
///
/// # Safety
/// I2; the top frame is one of machine code, which waits for the `n` results at `src`.
#[inline(never)]
pub(crate) unsafe fn returned_to_machine(st: *mut State, src: *mut Value, n: usize) -> Exit {
    match deliver(st, src, n) {
        Ok(()) if Frame((*st).base).word().is_machine() => Exit::Done,
        Ok(()) => Exit::Switch,
        Err(e) => e,
    }
}
