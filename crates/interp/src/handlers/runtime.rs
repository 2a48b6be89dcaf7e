//! The functions that handlers call: see `Runtime` of `crates/semantics`.
//!
//! Those that return a status may run Lua code, collect and move the stack, and find the position
//! stored in the frame word. The others do none of that. Panics pass the handlers by unwinding.

use std::sync::atomic::Ordering;

use perilune_runtime::closure::{LuaClosure, NativeClosure};
use perilune_runtime::compare;
use perilune_runtime::frame::{Frame, FrameWord, Link};
use perilune_runtime::instance::{FieldCache, Instance};
use perilune_runtime::native::{Cx, Ret};
use perilune_runtime::state::{State, StateRef, poll as reason};
use perilune_runtime::string::LuaString;
use perilune_runtime::table::Table;
use perilune_runtime::tier::{MISS, Pair};
use perilune_runtime::value::{SlotExt, Tag, Value};

use crate::closure::make_closure;
use crate::feedback::{access_of_int, note_callee};
use crate::machine::builtin;
use crate::native::{after_native, call_for_instruction, native_returned, run_to_lua};
use crate::numbers::{IDiv, Mod, Pow};
use crate::poll::safepoint;
use crate::run::{SINGLE, run};
use crate::slots::{clear, move_values};
use crate::step::{Exit, Step};
use crate::varargs::copy_extra;
use crate::{class, concat, for_loop};

/// The frame on top is to be continued by handlers.
const CONTINUE: u64 = 0;

/// Returns the exit with a status that is not [`CONTINUE`].
pub(super) fn exit(status: u64) -> Exit {
    match status {
        1 => Exit::Error,
        2 => Exit::Yield,
        3 => Exit::Done,
        _ => Exit::Switch,
    }
}

/// Returns the status of an exit.
fn status(exit: Exit) -> u64 {
    match exit {
        Exit::Stepped => CONTINUE,
        Exit::Error => 1,
        Exit::Yield => 2,
        Exit::Done => 3,
        Exit::Switch => 4,
    }
}

/// Returns the status after a step.
unsafe fn stepped(st: *mut State, step: Step) -> u64 {
    match step {
        Err(e) => status(e),
        Ok(()) if Frame((*st).base).word().is_machine() => status(Exit::Done),
        Ok(()) if (*st).poll.load(Ordering::Relaxed) & reason::HOOK != 0 => status(Exit::Switch),
        Ok(()) => CONTINUE,
    }
}

pub(super) unsafe extern "C-unwind" fn single(st: *mut State) -> u64 {
    status(run::<SINGLE>(st))
}

pub(super) unsafe extern "C-unwind" fn poll(st: *mut State) -> u64 {
    let frame = Frame((*st).base);
    let inst = (*frame.callee().as_function()).instance;
    let i = *(*inst).code.add(frame.word().pc() as usize - 1);
    // A is the first free register of instructions that allocate, before they do.
    let top = frame.0.add(i.a() + 1);
    stepped(st, safepoint(st, top, false))
}

pub(super) unsafe extern "C-unwind" fn call_native(st: *mut State) -> u64 {
    let frame = Frame((*st).base);
    let inst = (*frame.callee().as_function()).instance;
    let at = frame.word().pc() as usize - 1;
    let i = *(*inst).code.add(at);
    let (a, c) = (i.a(), i.c());
    let ra = frame.0.add(a);
    let nargs = if i.b() != 0 { i.b() - 1 } else { (*st).top.offset_from(ra) as usize - 2 };
    let f = ra.get();
    let native = f.as_native();
    let function = NativeClosure::callee(native);
    let cell = *(*inst).cells.add(at) as usize;
    if (*(*inst).callees.add(cell)).callee != function {
        note_callee(inst, cell, function);
    }
    let new_base = ra.add(Frame::RESERVED);
    if let 1..=2 = c
        && let Some(v) = builtin::first_result(st, (*native).header.word as usize, new_base, nargs)
    {
        if c == 2 {
            ra.put(v);
        }
        if (*st).poll.load(Ordering::Relaxed) == 0 {
            return CONTINUE;
        }
        return stepped(st, safepoint(st, ra.add(c - 1), false));
    }
    if (*st).limit.offset_from(new_base) < nargs as isize {
        return stepped(st, call_for_instruction(st, ra, nargs));
    }
    let callee = Frame(new_base);
    callee.set_word(FrameWord::new(FrameWord::NATIVE, 0));
    callee.set_link(Link::new(0, 0, a + Frame::RESERVED));
    (*st).base = new_base;
    (*st).top = new_base.add(nargs);
    match ((*native).func)(Cx::from_state(st)) {
        Ok(Ret(n)) if n >= -1 && (*st).poll.load(Ordering::Relaxed) & reason::HOOK != 0 => {
            // it switched a hook on
            status(native_returned(st, n, f).err().unwrap_or(Exit::Switch))
        }
        Ok(Ret(n)) if n >= -1 => {
            let base = (*st).base.sub(a + Frame::RESERVED);
            let ra = base.add(a);
            let mut count = 1;
            if n >= 0 {
                count = n as usize;
                let src = (*st).top.sub(count);
                move_values(src, ra, if c == 0 { count } else { count.min(c - 1) });
            }
            (*st).base = base;
            if c == 0 {
                (*st).top = ra.add(count);
            } else {
                clear(ra, count, c - 1);
            }
            if (*st).poll.load(Ordering::Relaxed) == 0 {
                return CONTINUE;
            }
            stepped(st, safepoint(st, if c == 0 { (*st).top } else { ra.add(c - 1) }, false))
        }
        Ok(r) => stepped(st, after_native(st, r)),
        Err(_) => status(Exit::Error),
    }
}

pub(super) unsafe extern "C-unwind" fn concat(st: *mut State) -> u64 {
    let frame = Frame((*st).base);
    let inst = (*frame.callee().as_function()).instance;
    let i = *(*inst).code.add(frame.word().pc() as usize - 1);
    if let Err(e) = run_to_lua(st, concat::concat(st, i, i.b())) {
        return status(e);
    }
    // A metamethod may be on top.
    let frame = Frame((*st).base);
    if (*st).poll.load(Ordering::Relaxed) == 0 || frame.word().is_machine() {
        return stepped(st, Ok(()));
    }
    let inst = (*frame.callee().as_function()).instance;
    stepped(st, safepoint(st, frame.0.add((*inst).max_stack as usize), false))
}

pub(super) unsafe extern "C-unwind" fn get_field(
    st: *mut State,
    cache: *const FieldCache,
    t: *mut Table,
) -> Pair {
    FieldCache::hit_get(st, cache, t).map_or(Pair { bits: 0, tag: MISS }, Pair::from)
}

pub(super) unsafe extern "C-unwind" fn set_field(
    st: *mut State,
    cache: *const FieldCache,
    t: *mut Table,
    bits: u64,
    tag: u64,
) -> u64 {
    FieldCache::hit_set(st, cache, t, Value::from_parts(bits, Tag(tag as u8))).into()
}

pub(super) unsafe extern "C-unwind" fn get_any(
    _: *mut State,
    t: *mut Table,
    bits: u64,
    tag: u64,
) -> Pair {
    let v = Table::get(t, Value::from_parts(bits, Tag(tag as u8)));
    if v.is_nil() && Table::has_meta(t) { Pair { bits: 0, tag: MISS } } else { Pair::from(v) }
}

pub(super) unsafe extern "C-unwind" fn set_int(
    st: *mut State,
    t: *mut Table,
    key: i64,
    bits: u64,
    tag: u64,
    cell: *mut u32,
) -> u64 {
    *cell |= access_of_int(t, key);
    let v = Value::from_parts(bits, Tag(tag as u8));
    let stored = if Table::has_meta(t) {
        Table::set_existing_int(st, t, key, v)
    } else {
        Table::set_int_within(st, t, key, v)
    };
    stored.into()
}

pub(super) unsafe extern "C-unwind" fn set_str(
    st: *mut State,
    t: *mut Table,
    key: *mut LuaString,
    bits: u64,
    tag: u64,
) -> u64 {
    let v = Value::from_parts(bits, Tag(tag as u8));
    let stored = if Table::has_meta(t) {
        Table::set_existing_str(st, t, key, v)
    } else {
        Table::set_short_within(st, t, key, v)
    };
    stored.into()
}

pub(super) unsafe extern "C-unwind" fn new_table(
    st: *mut State,
    fields: u32,
    array: u32,
) -> *mut Table {
    Table::new(st, fields.min(64) as u8, array)
}

pub(super) unsafe extern "C-unwind" fn closure(
    st: *mut State,
    inst: *mut Instance,
    n: usize,
    base: *mut Value,
) -> *mut LuaClosure {
    make_closure(st, inst, n, base).as_function()
}

pub(super) unsafe extern "C-unwind" fn for_next(
    _: *mut State,
    first: *mut Value,
    wanted: usize,
) -> u64 {
    for_loop::inline_round(first, wanted).into()
}

pub(super) unsafe extern "C-unwind" fn for_start(st: *mut State, first: *mut Value) {
    for_loop::inline_next(st, first);
}

/// Compares strings, given by their addresses.
unsafe fn compare_strings(
    a: *mut LuaString,
    b: *mut LuaString,
    order: unsafe fn(Value, Value) -> Option<bool>,
) -> u64 {
    order(Value::string(a), Value::string(b)).is_some_and(|holds| holds).into()
}

pub(super) unsafe extern "C-unwind" fn string_less(
    _: *mut State,
    a: *mut LuaString,
    b: *mut LuaString,
) -> u64 {
    compare_strings(a, b, compare::less_than)
}

pub(super) unsafe extern "C-unwind" fn string_less_equal(
    _: *mut State,
    a: *mut LuaString,
    b: *mut LuaString,
) -> u64 {
    compare_strings(a, b, compare::less_equal)
}

pub(super) unsafe extern "C-unwind" fn var_arg(
    st: *mut State,
    base: *mut Value,
    a: usize,
    c: usize,
) -> u64 {
    copy_extra(st, base, a, c).into()
}

pub(super) unsafe extern "C-unwind" fn set_class(st: *mut State, ra: *mut Value, c: usize) -> u64 {
    class::set_class(st, ra, c).into()
}

pub(super) unsafe extern "C-unwind" fn set_list(
    st: *mut State,
    t: *mut Table,
    start: usize,
    values: *mut Value,
    count: usize,
) {
    Table::set_list(st, t, start as u32, values, count);
}

pub(super) unsafe extern "C-unwind" fn close(st: *mut State, level: *mut Value) -> u64 {
    let mut s = StateRef::new(st);
    let th = s.thread;
    let offset = level.offset_from((*th).stack) as u32;
    let variables = (&(*th).to_close).last().is_some_and(|&slot| slot >= offset);
    // A return continues that has closed variables.
    let returning = (&(*th).returning).last().is_some_and(|r| r.0 == offset);
    if variables || returning {
        return 0;
    }
    s.close_upvalues(level);
    1
}

/// Applies an operator to payloads of floats.
fn of_floats(a: u64, b: u64, op: impl Fn(f64, f64) -> f64) -> u64 {
    op(f64::from_bits(a), f64::from_bits(b)).to_bits()
}

pub(super) unsafe extern "C-unwind" fn pow(_: *mut State, a: u64, b: u64) -> u64 {
    of_floats(a, b, Pow::float)
}

pub(super) unsafe extern "C-unwind" fn float_mod(_: *mut State, a: u64, b: u64) -> u64 {
    of_floats(a, b, Mod::float)
}

pub(super) unsafe extern "C-unwind" fn float_floor(_: *mut State, a: u64, b: u64) -> u64 {
    of_floats(a, b, IDiv::float)
}
