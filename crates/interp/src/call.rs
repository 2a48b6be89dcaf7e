//! Calls from native code: the entry points of [`Vm`](perilune_runtime::state::Vm) that run a
//! function to its end.

use perilune_runtime::frame::flags;
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

/// As [`call_from_native`], with further flags for the new frame.
unsafe fn call_flagged(
    st: *mut State,
    callee: *mut Value,
    nargs: usize,
    more: u16,
) -> Result<usize, Raised> {
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
    (*s.thread).non_yieldable += 1;
    let base = s.base.offset_from((*s.thread).stack);
    let at = callee.offset_from((*s.thread).stack);
    let entered = match code_of(st, callee) {
        Some(entry) => {
            match machine::call_code_from_native(st, callee, entry, nargs, flags::BOUNDARY | more) {
                Ok(n) => {
                    // the commonest end
                    std::mem::forget(unwound);
                    (*s.thread).non_yieldable -= 1;
                    s.native_depth = depth;
                    if depth == 0
                        && let Some(tier) = &mut s.tier
                    {
                        tier.leave();
                    }
                    return Ok(n);
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
    (*s.thread).non_yieldable -= 1;
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
            Ok(s.top.offset_from(callee) as usize)
        }
        Err(Exit::Error) => {
            // the caller's frame is on top again
            s.raised_at = None;
            s.base = (*s.thread).stack.offset(base);
            Err(Raised::new())
        }
        _ => unreachable!("a call from native code cannot yield"),
    }
}
