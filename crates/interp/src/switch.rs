//! Resumes coroutines that are suspended in a call of `coroutine.yield`, without running a frame of
//! the library. The library functions handle all other cases, through [`crate::coroutine`].

use std::sync::atomic::Ordering;

use perilune_runtime::closure::NativeClosure;
use perilune_runtime::frame::{Frame, FrameWord};
use perilune_runtime::native::{Builtin, Cx, Raised, Ret};
use perilune_runtime::state::{State, StateRef, Switched, poll};
use perilune_runtime::thread::{CallResults, MIN_FREE, Status, Thread};
use perilune_runtime::tier::MAX_NATIVE_DEPTH;
use perilune_runtime::value::{SlotExt, Tag, Value};

use crate::coroutine::{begin_turn, carry, end_turn};
use crate::execute::execute;
use crate::machine;
use crate::native::RESUMED;
use crate::slots::{clear, move_values};

/// Implements the entry `switch` of [`perilune_runtime::state::Vm`].
///
/// # Safety
/// I2; a native frame of `coroutine.resume` or of a function made by `coroutine.wrap` is on top, at
/// its first step.
pub(crate) unsafe fn switch(st: *mut State) -> Switched {
    let f = Frame((*st).base).callee().as_native();
    if (*f).header.word == Builtin::ResumeWrapped as u32 {
        resume_wrapped(st, f)
    } else {
        resume(st)
    }
}

/// Executes a function made by `coroutine.wrap`. After an error the library continues at the next
/// step.
unsafe fn resume_wrapped(st: *mut State, f: *mut NativeClosure) -> Switched {
    let s = StateRef::new(st);
    let co = NativeClosure::bound(f, 0).get().as_thread();
    let (args, nargs) = (s.base, s.top.offset_from(s.base) as usize);
    let results = results_of(st, co, nargs)?;
    let turn = take_turn(st, co, results, args, nargs);
    if let Ok((end, 1)) = turn {
        s.base.sub(Frame::RESERVED).put(end.sub(1).get());
        return Some(Ok(Ret::IN_PLACE.0));
    }
    match turn.and_then(|(end, n)| carry(st, end, n, "results").map(|()| n)) {
        Ok(n) => Some(Ok(n as i32)),
        Err(_) => {
            push_error(st);
            Frame(s.base).set_word(FrameWord::new(FrameWord::NATIVE, RESUMED));
            Some(((*f).func)(Cx::from_state(st)).map(|ret| ret.0))
        }
    }
}

/// Executes `coroutine.resume(co, …)`.
unsafe fn resume(st: *mut State) -> Switched {
    let mut s = StateRef::new(st);
    let n = s.top.offset_from(s.base) as usize;
    if n == 0 || s.base.get().tag() != Tag::THREAD {
        return None;
    }
    let co = s.base.get().as_thread();
    let results = results_of(st, co, n - 1)?;
    let turn = take_turn(st, co, results, s.base.add(1), n - 1);
    // the coroutine stays in its slot, below the values to return
    s.top = s.base.add(2);
    let carried = turn.and_then(|(end, n)| carry(st, end, n, "results").map(|()| n));
    s.base.add(1).put(Value::bool(carried.is_ok()));
    Some(Ok(match carried {
        Ok(n) => n as i32 + 1,
        Err(_) => {
            push_error(st);
            2
        }
    }))
}

/// Moves the error that was raised onto the stack.
unsafe fn push_error(st: *mut State) {
    let mut s = StateRef::new(st);
    let error = std::mem::replace(&mut s.error, Value::NIL);
    s.top.put(error);
    s.top = s.top.add(1);
}

/// Returns the address at which `co` expects the values with which it is resumed, if [`take_turn`]
/// can resume it with this number of values.
#[inline(always)]
unsafe fn results_of(st: *mut State, co: *mut Thread, nargs: usize) -> Option<CallResults> {
    let can_switch = (*co).status == Status::Suspended
        && (*co).hook.is_none()
        && (*st).poll.load(Ordering::Relaxed) & poll::HOOK == 0
        && (*st).native_depth < MAX_NATIVE_DEPTH
        && machine::has_reserve(st)
        && (*co).capacity - MIN_FREE - (*co).base.offset_from((*co).stack) as usize >= nargs;
    (*co).yielded_in_call.filter(|_| can_switch)
}

/// Resumes `co` with the `nargs` values from `args` on, which are popped with all values after
/// them. Returns the end of the values that `co` yields or returns, and their number.
///
/// # Safety
/// I2; `results` is what [`results_of`] returned for them.
#[inline(always)]
unsafe fn take_turn(
    st: *mut State,
    co: *mut Thread,
    results: CallResults,
    args: *mut Value,
    nargs: usize,
) -> Result<(*mut Value, usize), Raised> {
    let mut s = StateRef::new(st);
    let from = s.thread;
    s.top = args;
    Thread::save_registers(st);
    Thread::load_registers(st, co);
    // the results of `coroutine.yield` go to its caller
    let CallResults { first, wanted } = results;
    s.base = s.base.sub(Frame(s.base).link().distance());
    let ra = s.base.add(first.into());
    if wanted == 0 {
        move_values(args, ra, nargs);
        s.top = ra.add(nargs);
    } else {
        let wanted = usize::from(wanted - 1);
        move_values(args, ra, nargs.min(wanted));
        clear(ra, nargs, wanted);
        let inst = (*Frame(s.base).callee().as_function()).instance;
        s.top = s.base.add((*inst).max_stack as usize);
    }
    let depth = begin_turn(st, from, co);
    let r = execute(st);
    end_turn(st, from, co, depth, r)
}
