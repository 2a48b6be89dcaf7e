//! Calls from native code: the entry points of [`Vm`](perilune_runtime::state::Vm) that run a
//! function to completion.

use std::mem::MaybeUninit;
use std::sync::atomic::Ordering;

use perilune_runtime::debug;
use perilune_runtime::frame::{Frame, Link, flags};
use perilune_runtime::frames::Frames;
use perilune_runtime::meta::Event;
use perilune_runtime::native::Raised;
use perilune_runtime::state::{Returned, State, StateRef, poll};
use perilune_runtime::table::Table;
use perilune_runtime::thread::Thread;
use perilune_runtime::tier::{Left, MAX_NATIVE_DEPTH};
use perilune_runtime::value::{SlotExt, Tag, Value};

use crate::call_native::{call_native, run_all};
use crate::depth::depth_error;
use crate::enter::{code_of, enter_interpreted};
use crate::error::keep_frames;
use crate::machine;
use crate::step::{Entered, Exit, Step};
use crate::unwound::{Before, Unwound, leave_tier};

/// Implements `Vm::call`: a call from a native function (or the collector), which is run to
/// completion.
///
/// # Safety
/// I2; `callee`, its header slot and `nargs` arguments are at the end of the top frame's values.
pub(crate) unsafe fn call_from_native(
    st: *mut State,
    callee: *mut Value,
    nargs: usize,
) -> Result<usize, Raised> {
    call_or_yield(st, callee, nargs, 0)
}

/// Implements `Vm::traced`: a call from the host.
///
/// # Safety
/// As [`call_from_native`].
pub(crate) unsafe fn call_traced(
    st: *mut State,
    callee: *mut Value,
    nargs: usize,
) -> Result<usize, Raised> {
    call_or_yield(st, callee, nargs, flags::TRACED)
}

/// Implements `Vm::finalize`: calls a finalizer for the collector. The running function knows
/// nothing of this call, so the error of one that cannot be called is made here.
///
/// # Safety
/// As [`call_from_native`].
pub(crate) unsafe fn call_finalizer(
    st: *mut State,
    callee: *mut Value,
    nargs: usize,
) -> Result<usize, Raised> {
    let finalizer = callee.get();
    if !finalizer.is_function() && Table::metamethod(st, finalizer, Event::Call).is_nil() {
        return Err(debug::finalizer_error(st, finalizer));
    }
    call_marked(st, callee, nargs, flags::FINALIZER)
}

/// Implements `Vm::hook`: calls the function of a hook.
///
/// # Safety
/// As [`call_from_native`].
pub(crate) unsafe fn call_hook(
    st: *mut State,
    callee: *mut Value,
    nargs: usize,
) -> Result<usize, Raised> {
    call_marked(st, callee, nargs, flags::HOOK)
}

/// Implements `Vm::continuable`: a call from a native function that can continue at one of its
/// steps.
///
/// # Safety
/// As [`call_from_native`]; the frame's step and kept values are set.
pub(crate) unsafe fn call_continuable(
    st: *mut State,
    callee: *mut Value,
    nargs: usize,
) -> Result<Option<usize>, Raised> {
    call_or_yield(st, callee, nargs, 0)
}

#[inline(never)]
unsafe fn call_marked(
    st: *mut State,
    callee: *mut Value,
    nargs: usize,
    mark: u16,
) -> Result<usize, Raised> {
    call_or_yield(st, callee, nargs, mark)
}

/// The outcome of a call: the number of results, or `None` if the callee may yield and has yielded.
trait Outcome {
    /// Whether the callee may yield.
    const YIELDS: bool;
    /// Returns the outcome of a callee that has returned `n` values.
    fn returned(n: usize) -> Self;
    /// Returns the outcome of a callee that has yielded.
    fn yielded() -> Self;
}

impl Outcome for usize {
    const YIELDS: bool = false;
    #[inline(always)]
    fn returned(n: usize) -> usize {
        n
    }
    fn yielded() -> usize {
        unreachable!("a call from native code cannot yield")
    }
}

impl Outcome for Option<usize> {
    const YIELDS: bool = true;
    #[inline(always)]
    fn returned(n: usize) -> Option<usize> {
        Some(n)
    }
    fn yielded() -> Option<usize> {
        None
    }
}

/// Calls a function, with additional flags for the new frame.
#[inline(always)]
unsafe fn call_or_yield<R: Outcome>(
    st: *mut State,
    callee: *mut Value,
    nargs: usize,
    more: u16,
) -> Result<R, Raised> {
    let mut callee = callee;
    // a depth of 0 also needs the slow path
    if (*st).native_depth.wrapping_sub(1) >= MAX_NATIVE_DEPTH - 1
        || !machine::has_reserve(st)
        || (*st).poll.load(Ordering::Relaxed) & BEFORE_CALLS != 0
    {
        callee = begin_slow(st, callee, nargs, more)?;
    }
    let Some(entry) = code_of(st, callee) else {
        return call_others(st, callee, nargs, more);
    };
    let before = Before::call(st, callee, more);
    before.begin(st, R::YIELDS);
    let mut first = MaybeUninit::uninit();
    let (p, all) = (first.as_mut_ptr(), flags::BOUNDARY | more);
    match machine::call_code_from_native(st, callee, entry, nargs, all, p) {
        Ok(n) => {
            before.end(st);
            Ok(R::returned(n))
        }
        // single words, so that they stay in machine registers until then
        Err((left, link)) => {
            let Before { thread, callee, depth, non_yieldable, .. } = before;
            left_code(st, left, &*p, link, thread, callee, depth, non_yieldable)
        }
    }
}

/// The requests that are handled before a call from native code. The callee may return without a
/// safepoint, and native code that calls such functions in a loop would never meet one.
const BEFORE_CALLS: u32 = poll::GC | poll::INTERRUPT;

/// Begins a call from the host, a call at a limit, or one before which something is to be done.
/// Returns the callee, which may have moved.
#[cold]
#[inline(never)]
unsafe fn begin_slow(
    st: *mut State,
    callee: *mut Value,
    nargs: usize,
    more: u16,
) -> Result<*mut Value, Raised> {
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
    // Finalizers and hooks run at safepoints.
    if s.poll.load(Ordering::Relaxed) & BEFORE_CALLS == 0
        || more & (flags::FINALIZER | flags::HOOK) != 0
    {
        return Ok(callee);
    }
    let at = callee.offset_from((*s.thread).stack);
    if let Err(e) = safepoint_before_call(st, callee, nargs) {
        if depth == 0 {
            leave_tier(st);
        }
        return Err(e);
    }
    Ok((*s.thread).stack.offset(at))
}

/// Collects garbage if that is due. If the script must stop, fails in place of a function in Lua;
/// native functions are called all the same, since they may close values, and check for themselves
/// whether they must stop.
unsafe fn safepoint_before_call(
    st: *mut State,
    callee: *mut Value,
    nargs: usize,
) -> Result<(), Raised> {
    let mut s = StateRef::new(st);
    let bits = s.poll.load(Ordering::Relaxed);
    if bits & poll::INTERRUPT != 0 && callee.get().tag() != Tag::NATIVE {
        let why = s.take_interrupt();
        return Err(debug::runtime_error(st, why.as_bytes()));
    }
    if bits & poll::GC != 0 {
        let base = s.base.offset_from((*s.thread).stack);
        s.top = s.top.max(callee.add(Frame::RESERVED + nargs));
        let r = s.gc_poll();
        s.base = (*s.thread).stack.offset(base);
        r.map_err(|_| s.raise_memory())?;
    }
    Ok(())
}

/// Continues after a call has entered machine code that did not simply return.
#[cold]
#[inline(never)]
#[allow(clippy::too_many_arguments)]
unsafe fn left_code<R: Outcome>(
    st: *mut State,
    left: Left,
    first: &Returned,
    link: Link,
    thread: *mut Thread,
    callee: isize,
    depth: u32,
    non_yieldable: u32,
) -> Result<R, Raised> {
    debug_assert!(link.distance() != 0, "the frame of a caller is below");
    let base = callee + (Frame::RESERVED as isize) - link.distance() as isize;
    let flags = link.flags() & !flags::BOUNDARY;
    let before = Before { thread, base, callee, depth, non_yieldable, flags };
    let unwound = before.unless_unwound(st);
    let entered = machine::left_code(st, left, first, link, callee + Frame::RESERVED as isize);
    conclude(st, run_on(st, entered), unwound)
}

/// Calls a function that has no machine code.
#[inline(never)]
unsafe fn call_others<R: Outcome>(
    st: *mut State,
    callee: *mut Value,
    nargs: usize,
    more: u16,
) -> Result<R, Raised> {
    let before = Before::call(st, callee, more);
    before.begin(st, R::YIELDS);
    let unwound = before.unless_unwound(st);
    let all = flags::BOUNDARY | more;
    if callee.get().tag() != Tag::NATIVE {
        let entered = enter_interpreted(st, callee, nargs, all);
        return conclude(st, run_on(st, entered), unwound);
    }
    match call_native(st, callee, nargs, all) {
        Ok(n) => {
            std::mem::forget(unwound);
            before.end(st);
            Ok(R::returned(n))
        }
        Err(r) => conclude(st, r, unwound),
    }
}

/// Runs the function that a call has entered to completion. If the call has entered none, there is
/// nothing to unwind; after an error of a call hook, the caller pops the frame.
unsafe fn run_on(st: *mut State, entered: Result<Entered, Exit>) -> Step {
    run_all(st, Ok(entered?))
}

/// Completes a call that has ended with this result.
unsafe fn conclude<R: Outcome>(st: *mut State, r: Step, unwound: Unwound) -> Result<R, Raised> {
    let mut s = StateRef::new(st);
    let before = unwound.before;
    std::mem::forget(unwound);
    before.end(st);
    let at = |offset: isize| (*(*st).thread).stack.offset(offset);
    match r {
        Err(Exit::Done) => {
            debug_assert!(s.base == at(before.base));
            Ok(R::returned(s.top.offset_from(at(before.callee)) as usize))
        }
        Err(Exit::Error) => {
            // the caller's frame is on top again
            keep_frames(st);
            s.base = at(before.base);
            Err(Raised::new())
        }
        Err(Exit::Yield) => {
            let yielded = R::yielded();
            await_callee(st, Frame(at(before.base)));
            Ok(yielded)
        }
        _ => unreachable!("a call ends with a result"),
    }
}

/// Makes `caller`, a native frame whose callee has yielded, wait for the callee without a native
/// frame on the native stack.
unsafe fn await_callee(st: *mut State, caller: Frame) {
    let s = StateRef::new(st);
    let depth = s.native_depth - (*s.thread).depth;
    caller.set_link(caller.link().with_extra(depth as usize));
    // this is the innermost boundary: the frame could not have yielded across calls above it
    let boundary = Frames::from(Frame(s.base)).find(|f| f.link().flags() & flags::BOUNDARY != 0);
    let callee = boundary.expect("the frame that the call has entered");
    callee.clear_flags(flags::BOUNDARY);
    callee.add_flags(flags::CONTINUED);
}
