//! Coroutines: resume, yield, close. A resume runs the coroutine's frames in a nested loop on the
//! native stack; a suspended coroutine has no native frames.

use perilune_runtime::frame::{Frame, FrameWord, Link, flags};
use perilune_runtime::native::Raised;
use perilune_runtime::state::{State, StateRef};
use perilune_runtime::thread::{MAX_STACK, Status, Thread};
use perilune_runtime::tier::MAX_NATIVE_DEPTH;
use perilune_runtime::value::{SlotExt, Value};

use crate::call::call_from_native;
use crate::enter::enter;
use crate::execute;
use crate::machine;
use crate::native::run_to_lua;
use crate::slots::kept;
use crate::step::{Entered, Exit, Step};

unsafe fn fail(st: *mut State, message: &[u8]) -> Raised {
    let message = (*st).intern(message);
    (*st).raise_handled(Value::string(message))
}

/// Copies the `n` values below `from_end` onto the end of the running coroutine's values. `what`
/// names them in the error that they are too many for its stack.
pub(crate) unsafe fn carry(
    st: *mut State,
    from_end: *mut Value,
    n: usize,
    what: &str,
) -> Result<(), Raised> {
    if (*st).limit.offset_from((*st).top) < n as isize {
        let used = (*st).top.offset_from((*(*st).thread).stack) as usize;
        if used + n > MAX_STACK {
            return Err(fail(st, format!("too many {what} to resume").as_bytes()));
        }
        Thread::grow(st, n)?;
    }
    for i in 0..n {
        (*st).top.add(i).put(from_end.sub(n - i).get());
    }
    (*st).top = (*st).top.add(n);
    Ok(())
}

/// Resumes a coroutine.
///
/// # Safety
/// I2; `co` is a live coroutine of this state; the arguments are the top `nargs` values of the
/// running native frame.
pub(crate) unsafe fn resume(
    st: *mut State,
    co: *mut Thread,
    nargs: usize,
) -> Result<usize, Raised> {
    let mut s = StateRef::new(st);
    let from = s.thread;
    Thread::begin_again(co);
    if (*co).status != Status::Suspended {
        s.top = s.top.sub(nargs);
        return Err(match (*co).status {
            Status::Dead => fail(st, b"cannot resume dead coroutine"),
            _ => fail(st, b"cannot resume non-suspended coroutine"),
        });
    }
    if s.native_depth >= MAX_NATIVE_DEPTH || !machine::has_reserve(st) {
        s.top = s.top.sub(nargs);
        return Err(fail(st, b"C stack overflow"));
    }
    let idle = Thread::is_idle(co);
    if idle && (*co).top == (*co).base {
        s.top = s.top.sub(nargs);
        return Err(fail(st, b"cannot resume dead coroutine"));
    }
    Thread::save_registers(st);
    let args_end = s.top;
    (*from).top = args_end.sub(nargs);
    Thread::load_registers(st, co);
    if idle {
        // the function is the last of the host's values; the values below stay in the frame
        let kept = s.top.offset_from(s.base) as u32 - 1;
        Frame(s.base).set_word(FrameWord::new(FrameWord::NATIVE, kept << 8));
        s.top.put(Value::NIL);
        s.top = s.top.add(1);
    }
    let by_hook = (*co).hook_yielded.take();
    // Lua code that was suspended by a hook receives no values
    let nargs = if by_hook.is_some() { 0 } else { nargs };
    if let Err(e) = carry(st, args_end, nargs, "arguments") {
        if idle {
            // the function is the last value again
            s.top = s.top.sub(1);
        }
        Thread::save_registers(st);
        Thread::load_registers(st, from);
        return Err(e);
    }
    let depth = begin_turn(st, from, co);

    let started = (*co).base != (*co).stack;
    let r = if let Some(end) = by_hook {
        let frame = Frame(s.base);
        s.top = (*co).stack.add(end as usize);
        // the instruction before which it was suspended has not run
        let word = frame.word();
        frame.set_word(FrameWord::new(word.code(), word.pc() - 1));
        if let Some(hook) = (*co).hook.as_mut() {
            hook.resumed = true;
        }
        execute::execute(st)
    } else if idle {
        let callee = s.base.add(kept(s.base));
        begin(st, callee, nargs)
    } else if started {
        match run_to_lua(st, Ok(Entered::Native)) {
            Ok(()) => execute::execute(st),
            Err(Exit::Error) => execute::after_error(st),
            Err(e) => Err(e),
        }
    } else {
        s.base = (*co).stack;
        begin(st, (*co).stack, nargs)
    };
    let (end, n) = end_turn(st, from, co, depth, r)?;
    carry(st, end, n, "results")?;
    Ok(n)
}

/// Records that `co`, whose registers are loaded, is running, and that `from` is waiting for it.
/// Returns the native depth of `from`.
///
/// # Safety
/// I2; both are live coroutines of this state.
#[inline(always)]
pub(crate) unsafe fn begin_turn(st: *mut State, from: *mut Thread, co: *mut Thread) -> u32 {
    let mut s = StateRef::new(st);
    (*from).status = Status::Normal;
    (*co).status = Status::Running;
    (*co).resumer = from;
    (*co).yielded_in_call = None;
    let depth = s.native_depth;
    s.native_depth += 1;
    (*co).depth = s.native_depth;
    // the collector may have scanned the coroutine's stack, which changes now
    s.barrier(co.cast());
    s.sync_hook();
    depth
}

/// Makes `from`, of this native depth, the running coroutine again after `co` has ended with `r`.
/// Returns the end of the values that `co` yields or returns, and their number.
///
/// # Safety
/// I2, except for the frames of `co` after an error.
#[inline(always)]
pub(crate) unsafe fn end_turn(
    st: *mut State,
    from: *mut Thread,
    co: *mut Thread,
    depth: u32,
    r: Step,
) -> Result<(*mut Value, usize), Raised> {
    let mut s = StateRef::new(st);
    s.native_depth = depth;
    let (n, status) = match r {
        Err(Exit::Yield) if (*co).hook_yielded.is_some() => (0, Status::Suspended),
        Err(Exit::Yield) => {
            let first = s.base.add(kept(s.base));
            (s.top.offset_from(first) as usize, Status::Suspended)
        }
        Err(Exit::Done) => {
            // as in PUC, the values below the function come with its results
            let below = if (*co).has_bottom { Frame::RESERVED } else { 0 };
            s.base = (*co).stack.add(below);
            (s.top.offset_from(s.base) as usize, Status::Dead)
        }
        _ => (0, Status::Dead),
    };
    if r == Err(Exit::Error)
        && let Some((base, top)) = s.raised_at.take()
    {
        s.base = (*co).stack.add(base as usize);
        s.top = (*co).stack.add(top as usize);
    }
    let end = s.top;
    if r != Err(Exit::Error) {
        s.top = end.sub(n);
    }
    Thread::save_registers(st);
    (*co).status = status;
    if r != Err(Exit::Done) && s.tier.is_some() && (*co).base != (*co).stack {
        machine::abandon_frames(co);
    }
    (*co).failed = r == Err(Exit::Error);
    (*co).resumer = std::ptr::null_mut();
    Thread::load_registers(st, from);
    (*from).status = Status::Running;
    s.barrier(from.cast());
    s.sync_hook();
    if (*co).failed {
        s.error_handled = true;
        // the error value also stays with the coroutine, for `coroutine.close`
        (*co).death = s.error;
        (*co).death_kind = s.error_kind;
        s.barrier(co.cast());
        return Err(Raised::new());
    }
    Ok((end, n))
}

/// Runs the function at `callee`, the first one of the running coroutine.
unsafe fn begin(st: *mut State, callee: *mut Value, nargs: usize) -> Step {
    match enter(st, callee, nargs, flags::BOUNDARY) {
        Ok(Entered::Lua) => execute::execute(st),
        Ok(other) => match run_to_lua(st, Ok(other)) {
            Ok(()) => execute::execute(st),
            Err(Exit::Error) => execute::after_error(st),
            Err(e) => Err(e),
        },
        Err(e) => Err(e),
    }
}

/// Closes a suspended or dead coroutine.
///
/// # Safety
/// I2; `co` is a live coroutine of this state that is neither running nor waiting for one that is.
pub(crate) unsafe fn close(st: *mut State, co: *mut Thread) -> Result<(), Raised> {
    let mut s = StateRef::new(st);
    let from = s.thread;
    let mut error = (*co).failed.then_some(((*co).death, (*co).death_kind));
    (*co).failed = false;
    (*co).death = Value::NIL;
    if s.native_depth >= MAX_NATIVE_DEPTH {
        return Err(fail(st, b"C stack overflow"));
    }
    Thread::save_registers(st);
    Thread::load_registers(st, co);
    (*from).status = Status::Normal;
    (*co).resumer = from;
    (*co).status = Status::Running;
    s.barrier(co.cast());
    s.sync_hook();
    s.close_upvalues((*co).stack);
    (*co).hook_yielded = None;
    s.native_depth += 1;
    (*co).depth = s.native_depth;
    (*co).yielded_in_call = None;
    while !(&(*co).to_close).is_empty() {
        // calls are made from the bottom of the stack, as if by a native function
        s.base = (*co).stack.add(Frame::RESERVED);
        s.top = s.base;
        let bottom = Frame(s.base);
        bottom.set_word(FrameWord::new(FrameWord::NATIVE, 0));
        // the slots there may no longer contain a header: walks end here, and no level shows this
        // frame
        bottom.set_link(Link::new(flags::BOTTOM, 0, 0));
        // the error is kept in `death`, which is a root
        (*co).death = error.map_or(Value::NIL, |(e, _)| e);
        let closed = match State::take_pending(st, 0) {
            Ok(None) => break,
            Ok(Some(pending)) => {
                let callee = pending.push_call(st, (*co).death);
                s.error_handled = false;
                call_from_native(st, callee, 2).map(|_| ())
            }
            Err(e) => Err(e),
        };
        if closed.is_err() {
            error = Some((s.error, s.error_kind));
            s.close_upvalues((*co).stack);
            (&mut (*co).returning).clear();
        }
    }
    s.native_depth -= 1;
    (*co).death = Value::NIL;
    (*co).has_bottom = false;
    s.base = (*co).stack;
    s.top = (*co).stack;
    Thread::save_registers(st);
    (&mut (*co).returning).clear();
    (*co).status = Status::Dead;
    (*co).resumer = std::ptr::null_mut();
    Thread::load_registers(st, from);
    (*from).status = Status::Running;
    s.barrier(from.cast());
    s.sync_hook();
    match error {
        None => Ok(()),
        Some((e, kind)) => {
            let raised = s.raise_handled(e);
            s.error_kind = kind;
            Err(raised)
        }
    }
}
