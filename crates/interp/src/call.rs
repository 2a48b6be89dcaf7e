//! Calls from native code: the entry points of [`Vm`](perilune_runtime::state::Vm) that run a
//! function to its end.

use perilune_runtime::frame::{Frame, flags};
use perilune_runtime::frames::Frames;
use perilune_runtime::native::Raised;
use perilune_runtime::state::{State, StateRef};
use perilune_runtime::value::Value;

use crate::depth::{MAX_NATIVE_DEPTH, depth_error};
use crate::enter::{code_of, enter_interpreted};
use crate::native::run_to_lua;
use crate::step::{Entered, Exit};
use crate::unwound::Unwound;
use crate::{execute, machine};

/// `Vm::call`: calls from a native function (or the collector), to the end.
///
/// # Safety
/// I2; `callee`, its header slot and `nargs` arguments lie at the end of the top frame's values.
pub(crate) unsafe fn call_from_native(
    st: *mut State,
    callee: *mut Value,
    nargs: usize,
) -> Result<usize, Raised> {
    call_flagged(st, callee, nargs, 0)
}

/// `Vm::traced`: calls from the host.
///
/// # Safety
/// As [`call_from_native`].
pub(crate) unsafe fn call_traced(
    st: *mut State,
    callee: *mut Value,
    nargs: usize,
) -> Result<usize, Raised> {
    call_flagged(st, callee, nargs, flags::TRACED)
}

/// `Vm::finalize`: calls a finalizer for the collector.
///
/// # Safety
/// As [`call_from_native`].
pub(crate) unsafe fn call_finalizer(
    st: *mut State,
    callee: *mut Value,
    nargs: usize,
) -> Result<usize, Raised> {
    call_flagged(st, callee, nargs, flags::FINALIZER)
}

/// `Vm::hook`: calls the function of a hook.
///
/// # Safety
/// As [`call_from_native`].
pub(crate) unsafe fn call_hook(
    st: *mut State,
    callee: *mut Value,
    nargs: usize,
) -> Result<usize, Raised> {
    call_flagged(st, callee, nargs, flags::HOOK)
}

/// `Vm::continuable`: calls from a native function that can continue at a step of its own.
///
/// # Safety
/// As [`call_from_native`]; the frame's step and kept values are set.
pub(crate) unsafe fn call_continuable(
    st: *mut State,
    callee: *mut Value,
    nargs: usize,
) -> Result<Option<usize>, Raised> {
    call_or_yield::<true>(st, callee, nargs, 0)
}

/// As [`call_from_native`], with further flags for the new frame.
#[inline(always)]
unsafe fn call_flagged(
    st: *mut State,
    callee: *mut Value,
    nargs: usize,
    more: u16,
) -> Result<usize, Raised> {
    match call_or_yield::<false>(st, callee, nargs, more) {
        Ok(Some(n)) => Ok(n),
        Ok(None) => unreachable!("a call that cannot yield"),
        Err(e) => Err(e),
    }
}

/// Calls; `None` says that the callee has yielded.
unsafe fn call_or_yield<const YIELDS: bool>(
    st: *mut State,
    callee: *mut Value,
    nargs: usize,
    more: u16,
) -> Result<Option<usize>, Raised> {
    let mut s = StateRef::new(st);
    let depth = s.native_depth;
    if depth == 0 {
        machine::measure(st);
    }
    if depth >= MAX_NATIVE_DEPTH || !machine::has_reserve(st) {
        depth_error(st)?;
    }
    if depth == 0
        && let Some(tier) = &mut s.tier
    {
        tier.enter();
    }
    let unwound = Unwound::before(st, callee, more);
    s.native_depth += 1;
    (*s.thread).non_yieldable += u32::from(!YIELDS);
    let base = s.base.offset_from((*s.thread).stack);
    let at = callee.offset_from((*s.thread).stack);
    let entered = match code_of(st, callee) {
        Some(entry) => {
            match machine::call_code_from_native(st, callee, entry, nargs, flags::BOUNDARY | more) {
                Ok(n) => {
                    // the commonest end
                    std::mem::forget(unwound);
                    (*s.thread).non_yieldable -= u32::from(!YIELDS);
                    s.native_depth = depth;
                    if depth == 0
                        && let Some(tier) = &mut s.tier
                    {
                        tier.leave();
                    }
                    return Ok(Some(n));
                }
                Err(other) => other,
            }
        }
        None => enter_interpreted(st, callee, nargs, flags::BOUNDARY | more),
    };
    let r = match entered {
        Ok(Entered::Lua) => execute::execute(st),
        Ok(other) => match run_to_lua(st, Ok(other)) {
            Ok(()) => execute::execute(st),
            Err(Exit::Error) => execute::after_error(st),
            Err(e) => Err(e),
        },
        Err(e) => Err(e),
    };
    std::mem::forget(unwound);
    (*s.thread).non_yieldable -= u32::from(!YIELDS);
    s.native_depth = depth;
    if depth == 0
        && let Some(tier) = &mut s.tier
    {
        tier.leave();
    }
    match r {
        Err(Exit::Done) => {
            debug_assert!(s.base == (*s.thread).stack.offset(base));
            let callee = (*s.thread).stack.offset(at);
            Ok(Some(s.top.offset_from(callee) as usize))
        }
        Err(Exit::Error) => {
            // the caller's frame is on top again
            s.raised_at = None;
            s.base = (*s.thread).stack.offset(base);
            Err(Raised::new())
        }
        Err(Exit::Yield) if YIELDS => {
            await_callee(st, Frame((*s.thread).stack.offset(base)));
            Ok(None)
        }
        _ => unreachable!("a call from native code cannot yield"),
    }
}

/// Makes `caller`, a native frame whose callee has yielded, wait for it without native code.
unsafe fn await_callee(st: *mut State, caller: Frame) {
    let s = StateRef::new(st);
    let depth = s.native_depth - (*s.thread).depth;
    caller.set_link(caller.link().with_extra(depth as usize));
    // the innermost one: calls between it and the yielding frame would not have let it yield
    let boundary = Frames::from(Frame(s.base)).find(|f| f.link().flags() & flags::BOUNDARY != 0);
    let callee = boundary.expect("the frame that the call has entered");
    callee.clear_flags(flags::BOUNDARY);
    callee.add_flags(flags::CONTINUED);
}
