//! Calls: entering frames of Lua and native functions.

use perilune_runtime::debug;
use perilune_runtime::frame::{Frame, FrameWord, Link, flags};
use perilune_runtime::instance::Instance;
use perilune_runtime::meta::Event;
use perilune_runtime::native::{Cx, Raised, Ret};
use perilune_runtime::state::{State, StateRef, poll};
use perilune_runtime::table::Table;
use perilune_runtime::thread::{MIN_FREE, Thread};
use perilune_runtime::value::{SlotExt, Tag, Value};

use crate::poll::interrupted;
use crate::step::{Exit, Step, raised};
use crate::unwound::Unwound;
use crate::{hooks, machine, ret, run};

/// Most nested entries from native code (PUC's `LUAI_MAXCCALLS`).
pub(crate) const MAX_NATIVE_DEPTH: u32 = 200;

/// What was entered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entered {
    /// A frame of a Lua function, ready to run.
    Lua,
    /// A frame of a native function, whose code has not run yet.
    Native,
}

/// Pushes a frame for the function at `callee` (its header slot and `nargs` arguments follow it) on top of the frame `State::base`, and makes it the
/// top frame. Not callable values are replaced by their `__call`.
///
/// # Safety
/// I2; the arguments lie in the stack.
pub(crate) unsafe fn enter(
    st: *mut State,
    callee: *mut Value,
    nargs: usize,
    frame_flags: u16,
) -> Result<Entered, Exit> {
    let (mut callee, mut nargs, mut tries) = (callee, nargs, 0);
    while !matches!(callee.get().tag(), Tag::FUNCTION | Tag::NATIVE) {
        callee = become_metamethod(st, callee, nargs, &mut tries)?;
        nargs += 1;
    }
    match code_of(st, callee) {
        Some(entry) => machine::enter_code(st, callee, entry, nargs, frame_flags),
        None => enter_interpreted(st, callee, nargs, frame_flags),
    }
}

/// The machine code of the function at `callee`, if it is to be run by that.
///
/// # Safety
/// I2.
#[inline(always)]
pub(crate) unsafe fn code_of(st: *mut State, callee: *mut Value) -> Option<*const u8> {
    let f = callee.get();
    if f.tag() != Tag::FUNCTION {
        return None;
    }
    let entry = machine::entry_of((*f.as_function()).instance);
    let hooked = (*st).poll.load(std::sync::atomic::Ordering::Relaxed) & poll::HOOK != 0;
    (!machine::is_idle(entry) && !hooked && machine::has_room(st)).then_some(entry)
}

/// As [`enter`]; a Lua function is run by the interpreter in any case.
///
/// # Safety
/// As there.
pub(crate) unsafe fn enter_interpreted(
    st: *mut State,
    mut callee: *mut Value,
    mut nargs: usize,
    frame_flags: u16,
) -> Result<Entered, Exit> {
    let mut s = StateRef::new(st);
    let mut tries = 0;
    loop {
        let f = callee.get();
        match f.tag() {
            Tag::FUNCTION => {
                let inst = (*f.as_function()).instance;
                let (np, ms) = ((*inst).num_params as usize, (*inst).max_stack as usize);
                let mut base = callee.add(2);
                let mut distance = base.offset_from(s.base) as usize;
                if base == (*s.thread).stack.add(2) {
                    distance = 0;
                }
                let need = ms.max(np) + if (*inst).is_vararg { nargs.max(np) + 2 } else { 0 };
                if s.limit.offset_from(base) < need as isize {
                    let at = base.offset_from((*s.thread).stack);
                    s.top = base.add(nargs);
                    raised(Thread::grow(st, need))?;
                    base = (*s.thread).stack.offset(at);
                }
                for i in nargs..np {
                    base.add(i).put(Value::NIL);
                }
                let mut extra = 0;
                if (*inst).is_vararg {
                    let actual = nargs.max(np);
                    extra = actual - np;
                    let moved = base.add(actual + 2);
                    moved.sub(2).put(f);
                    for i in 0..np {
                        moved.add(i).put(base.add(i).get());
                        base.add(i).put(Value::NIL);
                    }
                    // the abandoned header must not look like one of a live frame
                    base.sub(1).put(Value::NIL);
                    if distance != 0 {
                        distance += actual + 2;
                    }
                    base = moved;
                }
                let frame = Frame(base);
                frame.set_word(FrameWord::new(FrameWord::INTERPRETER, 0));
                frame.set_link(Link::new(frame_flags, extra, distance));
                s.base = base;
                s.top = base.add(ms);
                if s.counts {
                    s.spend((&(&(*inst).proto).code).len() as u64);
                }
                (*inst).entries = (*inst).entries.wrapping_add(1);
                if s.entry_threshold.is_reached((*inst).entries) {
                    hot_entry(st, inst);
                }
                if s.poll.load(std::sync::atomic::Ordering::Relaxed) & poll::HOOK != 0 {
                    hooks::enter_event(st)?;
                }
                return Ok(Entered::Lua);
            }
            Tag::NATIVE => {
                let mut base = callee.add(2);
                if s.limit.offset_from(base) < nargs as isize {
                    let at = base.offset_from((*s.thread).stack);
                    s.top = base.add(nargs);
                    raised(Thread::grow(st, MIN_FREE))?;
                    base = (*s.thread).stack.offset(at);
                }
                let distance = if base == (*s.thread).stack.add(2) {
                    0
                } else {
                    base.offset_from(s.base) as usize
                };
                let frame = Frame(base);
                frame.set_word(FrameWord::new(FrameWord::NATIVE, 0));
                frame.set_link(Link::new(frame_flags, 0, distance));
                s.base = base;
                s.top = base.add(nargs);
                return Ok(Entered::Native);
            }
            _ => {
                callee = become_metamethod(st, callee, nargs, &mut tries)?;
                nargs += 1;
            }
        }
    }
}

/// Puts the `__call` of the value at `callee` in its place, and the value in front of its `nargs` arguments. `tries` counts how often
/// this was done in one call. The place, which may have moved.
///
/// # Safety
/// As [`enter`].
#[cold]
pub(crate) unsafe fn become_metamethod(
    st: *mut State,
    mut callee: *mut Value,
    nargs: usize,
    tries: &mut u32,
) -> Result<*mut Value, Exit> {
    let mut s = StateRef::new(st);
    let h = Table::metamethod(s.ptr(), callee.get(), Event::Call);
    *tries += 1;
    if h.is_nil() || *tries > 100 {
        s.top = s.top.max(callee.add(2 + nargs));
        return Err(debug::call_error(st, callee).into_exit());
    }
    if s.limit.offset_from(callee) < nargs as isize + 4 {
        let at = callee.offset_from((*s.thread).stack);
        s.top = callee.add(2 + nargs);
        raised(Thread::grow(st, MIN_FREE))?;
        callee = (*s.thread).stack.offset(at);
    }
    let args = callee.add(2);
    for i in (0..nargs).rev() {
        args.add(i + 1).put(args.add(i).get());
    }
    args.put(callee.get());
    callee.put(h);
    Ok(callee)
}

/// Tells the compiler of a method that is entered often.
#[cold]
#[inline(never)]
pub(crate) unsafe fn hot_entry(st: *mut State, inst: *mut Instance) {
    machine::with_tier(st, |tier| tier.hot_entry(st, inst));
}

/// An error as an exit.
pub(crate) trait IntoExit {
    /// The exit.
    fn into_exit(self) -> Exit;
}

impl IntoExit for Raised {
    #[inline(always)]
    fn into_exit(self) -> Exit {
        Exit::Error
    }
}

/// Runs the native function of the top frame, and whatever its end leads to, until a Lua frame is on top.
///
/// # Safety
/// I2; the top frame is a native one whose step is set.
pub(crate) unsafe fn run_native(st: *mut State) -> Step {
    let s = StateRef::new(st);
    loop {
        if s.poll.load(std::sync::atomic::Ordering::Relaxed) & poll::HOOK != 0 {
            hooks::native_call(st)?;
        }
        let base = s.base;
        let f = Frame(base).callee().as_native();
        let func = (*f).func;
        match func(Cx::from_state(st)) {
            Ok(Ret(n)) if n >= -1 => match native_returned(st, n, Value::native(f))? {
                Entered::Lua => return Ok(()),
                Entered::Native => {}
            },
            Ok(Ret::CALL) => match enter_continued(st)? {
                Entered::Lua => return Ok(()),
                Entered::Native => {}
            },
            Ok(_) => return Err(Exit::Yield),
            Err(_) => return Err(Exit::Error),
        }
    }
}

/// The native function `f` of the top frame returned `n` values (-1: one, in place). Pops its frame.
///
/// # Safety
/// I2; nothing was collected since `f` returned.
pub(crate) unsafe fn native_returned(st: *mut State, n: i32, f: Value) -> Result<Entered, Exit> {
    let mut s = StateRef::new(st);
    let (mut src, n) = if n < 0 { (s.base.sub(2), 1) } else { (s.top.sub(n as usize), n as usize) };
    if s.poll.load(std::sync::atomic::Ordering::Relaxed) & poll::HOOK != 0 {
        if src < s.base {
            // The hook sees the function, and its result where results of other functions are.
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

/// Enters the function that the native frame on top asks to be called before its next step. Such calls nest no native frames, but
/// they count as native levels all the same, as in PUC: without that limit an error that is caught and raised again at every level of a
/// deep recursion through `pcall` takes time that grows with the square of the depth. They are safepoints as far as interrupts go: functions that do
/// nothing but call themselves in this way, or by metamethods, have no other.
///
/// # Safety
/// I2; the function said [`Ret::CALL`].
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

/// The part of a safepoint that calls have which no instruction for calls makes.
#[inline(always)]
unsafe fn obey_interrupt(st: *mut State) -> Step {
    if (*st).poll.load(std::sync::atomic::Ordering::Relaxed) & poll::INTERRUPT != 0 {
        return Err(interrupted(st));
    }
    Ok(())
}

/// Values that the native frame at `base` keeps below the results that it waits for.
pub(crate) unsafe fn kept(base: *mut Value) -> usize {
    (Frame(base).word().pc() >> 8) as usize
}

/// Calls the function at `callee` from a Lua frame for the sake of the instruction at its pc, which
/// gets the results by [`ret::deliver`].
///
/// # Safety
/// I2; `callee`, its header slot and `nargs` arguments lie above the live registers of the top frame, whose pc is stored.
pub(crate) unsafe fn call_for_instruction(
    st: *mut State,
    callee: *mut Value,
    nargs: usize,
) -> Step {
    obey_interrupt(st)?;
    match enter(st, callee, nargs, 0)? {
        Entered::Lua => Ok(()),
        Entered::Native => run_native(st),
    }
}

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

/// As [`call_from_native`], with further flags for the new frame.
///
/// # Safety
/// As there.
pub(crate) unsafe fn call_flagged(
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
        Ok(Entered::Lua) => run::execute(st),
        Ok(Entered::Native) => match run_native(st) {
            Ok(()) => run::execute(st),
            Err(Exit::Error) => run::after_error(st),
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

/// "C stack overflow", or, deep inside the handling of one, an error without a handler.
#[cold]
unsafe fn depth_error(st: *mut State) -> Result<(), Raised> {
    let mut s = StateRef::new(st);
    if !machine::has_reserve(st) {
        // there is no room for a handler either
        let e = debug::runtime_error(st, b"C stack overflow");
        s.error_handled = true;
        return Err(e);
    }
    if s.native_depth == MAX_NATIVE_DEPTH {
        s.native_depth += 1;
        let e = debug::runtime_error(st, b"C stack overflow");
        // the handler runs in the room above the limit
        let _ = crate::error::call_handler(st);
        s.native_depth -= 1;
        Err(e)
    } else if s.native_depth >= MAX_NATIVE_DEPTH / 10 * 11 {
        s.error = Value::string(s.intern(b"error in error handling"));
        s.error_handled = true;
        Err(Raised::new())
    } else {
        Ok(())
    }
}
