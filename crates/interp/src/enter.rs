//! Enters frames of Lua and native functions.

use std::sync::atomic::Ordering;

use perilune_runtime::debug;
use perilune_runtime::frame::{Frame, FrameWord, Link};
use perilune_runtime::instance::Instance;
use perilune_runtime::meta::Event;
use perilune_runtime::state::{State, StateRef, poll};
use perilune_runtime::table::Table;
use perilune_runtime::thread::{MAX_STACK, MIN_FREE, Thread};
use perilune_runtime::value::{SlotExt, Tag, Value};

use crate::step::{Entered, Exit, IntoExit, raised};
use crate::varargs::lay_out;
use crate::{hooks, machine};

/// Pushes a frame for the function at `callee` (its header slot and `nargs` arguments follow it) on
/// top of the frame `State::base`, and makes it the top frame. Values that are not callable are
/// replaced by their `__call`.
///
/// # Safety
/// I2; the arguments are on the stack.
pub(crate) unsafe fn enter(
    st: *mut State,
    callee: *mut Value,
    nargs: usize,
    frame_flags: u16,
) -> Result<Entered, Exit> {
    let (mut callee, mut nargs) = (callee, nargs);
    while !is_function(callee.get()) {
        (callee, nargs) = become_metamethod(st, callee, nargs)?;
    }
    match code_of(st, callee) {
        Some(entry) => machine::enter_code(st, callee, entry, nargs, frame_flags),
        None => enter_interpreted(st, callee, nargs, frame_flags),
    }
}

/// Returns the machine code of the function at `callee`, if it has machine code that may run.
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
    let hooked = (*st).poll.load(Ordering::Relaxed) & poll::HOOK != 0;
    (!machine::is_idle(entry) && !hooked && machine::has_room(st)).then_some(entry)
}

/// As [`enter`], but the interpreter runs a Lua function even if it has machine code.
///
/// # Safety
/// As [`enter`].
pub(crate) unsafe fn enter_interpreted(
    st: *mut State,
    mut callee: *mut Value,
    mut nargs: usize,
    frame_flags: u16,
) -> Result<Entered, Exit> {
    let mut s = StateRef::new(st);
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
                let mut link = Link::new(frame_flags, 0, distance);
                if (*inst).is_vararg {
                    (base, link) = lay_out(base, nargs, np, link);
                } else {
                    for i in nargs..np {
                        base.add(i).put(Value::NIL);
                    }
                }
                let frame = Frame(base);
                frame.set_word(FrameWord::new(FrameWord::INTERPRETER, 0));
                frame.set_link(link);
                s.base = base;
                s.top = base.add(ms);
                if s.counts {
                    s.spend((&(&(*inst).proto).code).len() as u64);
                }
                (*inst).entries = (*inst).entries.wrapping_add(1);
                if s.entry_threshold.is_reached((*inst).entries) {
                    hot_entry(st, inst);
                }
                if s.poll.load(Ordering::Relaxed) & poll::HOOK != 0 {
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
                (callee, nargs) = become_metamethod(st, callee, nargs)?;
            }
        }
    }
}

/// Returns whether a frame can be entered for a value.
#[inline(always)]
pub(crate) fn is_function(v: Value) -> bool {
    matches!(v.tag(), Tag::FUNCTION | Tag::NATIVE)
}

/// Replaces the value at `callee`, which is not a function, with its `__call` metamethod, or with
/// that of the metamethod, and so on up to a function, and inserts each value that was called in
/// front of the arguments. Returns the address of the callee, which may have moved, and the number
/// of arguments, which was `nargs`.
///
/// # Safety
/// As [`enter`].
#[cold]
pub(crate) unsafe fn become_metamethod(
    st: *mut State,
    mut callee: *mut Value,
    nargs: usize,
) -> Result<(*mut Value, usize), Exit> {
    let mut s = StateRef::new(st);
    let (mut f, mut more) = (callee.get(), 0);
    // a chain without an end needs more room than there is
    while !is_function(f) && more <= MAX_STACK {
        let h = Table::metamethod(s.ptr(), f, Event::Call);
        if h.is_nil() {
            callee.put(f);
            s.top = s.top.max(callee.add(2 + nargs));
            return Err(debug::call_error(st, callee).into_exit());
        }
        (f, more) = (h, more + 1);
    }
    if s.limit.offset_from(callee) < (nargs + more + 3) as isize {
        let at = callee.offset_from((*s.thread).stack);
        s.top = callee.add(2 + nargs);
        raised(Thread::grow(st, more.max(MIN_FREE)))?;
        callee = (*s.thread).stack.offset(at);
    }
    let args = callee.add(2);
    for i in (0..nargs).rev() {
        args.add(i + more).put(args.add(i).get());
    }
    let mut f = callee.get();
    for i in (0..more).rev() {
        args.add(i).put(f);
        f = Table::metamethod(s.ptr(), f, Event::Call);
    }
    callee.put(f);
    Ok((callee, nargs + more))
}

/// Notifies the compiler that a method is entered often.
#[cold]
#[inline(never)]
pub(crate) unsafe fn hot_entry(st: *mut State, inst: *mut Instance) {
    machine::with_tier(st, |tier| tier.hot_entry(st, inst));
}
