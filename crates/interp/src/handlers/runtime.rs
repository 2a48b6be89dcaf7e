//! The functions that handlers call: see `Runtime` of `crates/semantics`.
//!
//! Functions that return a status may run Lua code, collect garbage and move the stack, and expect
//! the position to be stored in the frame word. The others do none of that. Panics unwind through
//! the handlers.

use std::sync::atomic::Ordering;

use perilune_bytecode::Instr;
use perilune_runtime::closure::{LuaClosure, NativeClosure};
use perilune_runtime::compare;
use perilune_runtime::frame::{Frame, FrameWord, Link};
use perilune_runtime::instance::{CalleeCache, FieldCache, Instance};
use perilune_runtime::native::{Builtin, Ret};
use perilune_runtime::state::{State, StateRef, poll as reason};
use perilune_runtime::string::LuaString;
use perilune_runtime::table::Table;
use perilune_runtime::thread::CallResults;
use perilune_runtime::tier::{MISS, Pair};
use perilune_runtime::value::{SlotExt, Tag, Value};

use super::steps;
use crate::closure::make_closure;
use crate::feedback::{load_of, note_other_callee, store_to_int};
use crate::interrupt::obey_interrupt;
use crate::machine::builtin;
use crate::native::{
    after_native, call_for_instruction, call_function, native_returned, run_to_lua,
};
use crate::numbers::{IDiv, Mod, Pow};
use crate::poll::safepoint;
use crate::run::{SINGLE, run};
use crate::slots::{clear, move_values};
use crate::step::{Exit, Step};
use crate::varargs::copy_extra;
use crate::{class, concat, for_loop, machine};

/// The status with which the handlers continue with the frame on top.
pub(super) const CONTINUE: u64 = 0;
/// The status of functions that call a function (`Exits::called` of `crates/semantics`), if the
/// running frame is on top afterwards.
const HERE: u64 = 0;
/// The status of the same functions if another frame may be on top, with which the handlers
/// continue.
pub(super) const ON_TOP: u64 = 5;

/// Converts a status other than [`CONTINUE`] to an exit.
pub(super) fn exit(status: u64) -> Exit {
    match status {
        1 => Exit::Error,
        2 => Exit::Yield,
        3 => Exit::Done,
        _ => Exit::Switch,
    }
}

/// Converts a status for a function that may also return [`HERE`]: [`CONTINUE`] becomes [`ON_TOP`].
fn on_top(status: u64) -> u64 {
    if status == CONTINUE { ON_TOP } else { status }
}

/// Returns the status of an exit.
pub(super) fn status(exit: Exit) -> u64 {
    match exit {
        Exit::Stepped => CONTINUE,
        Exit::Error => 1,
        Exit::Yield => 2,
        Exit::Done => 3,
        Exit::Switch => 4,
    }
}

/// Returns the status after a step.
#[inline(always)]
pub(super) unsafe fn stepped(st: *mut State, step: Step) -> u64 {
    match step {
        Err(e) => status(e),
        Ok(()) if Frame((*st).base).word().is_machine() => status(Exit::Done),
        Ok(()) if (*st).poll.load(Ordering::Relaxed) & reason::HOOK != 0 => status(Exit::Switch),
        Ok(()) => {
            // The runtime may have entered a function, such as a metamethod.
            if Frame((*st).base).word().pc() == 0 {
                stitch_if_hot(st);
            }
            CONTINUE
        }
    }
}

pub(super) unsafe extern "C-unwind" fn single(st: *mut State) -> u64 {
    status(run::<SINGLE>(st))
}

/// Stitches the code of the function whose frame is on top, if the function is entered often.
pub(super) unsafe fn stitch_if_hot(st: *mut State) {
    let inst = (*Frame((*st).base).callee().as_function()).instance;
    if (*inst).stitched.is_null() && (*inst).entries >= (*st).stitch_threshold {
        stitch(st);
    }
}

pub(super) unsafe extern "C-unwind" fn stitch(st: *mut State) -> u64 {
    let inst = (*Frame((*st).base).callee().as_function()).instance;
    if let Some(tier) = &mut (*st).tier {
        tier.stitch(st, inst);
    }
    CONTINUE
}

pub(super) unsafe extern "C-unwind" fn poll(st: *mut State) -> u64 {
    let frame = Frame((*st).base);
    let inst = (*frame.callee().as_function()).instance;
    let i = *(*inst).code.add(frame.word().pc() as usize - 1);
    // A is the first free register of instructions that allocate, before the allocation.
    let top = frame.0.add(i.a() + 1);
    stepped(st, safepoint(st, top, false))
}

pub(super) unsafe extern "C-unwind" fn call_native(
    st: *mut State,
    ra: *mut Value,
    i: Instr,
    record: *mut CalleeCache,
) -> u64 {
    let native = ra.get().as_native();
    note_native(record, native);
    let results = CallResults { first: i.a() as u8, wanted: i.c() as u8 };
    run_native(st, ra, i, Some(results), native)
}

/// Records that a call has this callee.
#[inline(always)]
unsafe fn note_native(record: *mut CalleeCache, native: *mut NativeClosure) {
    let function = NativeClosure::callee(native);
    if (*record).callee != function {
        note_other_callee(record, function);
    }
}

pub(super) unsafe extern "C-unwind" fn call_code(
    st: *mut State,
    ra: *mut Value,
    i: Instr,
    record: *mut CalleeCache,
) -> u64 {
    let callee = (*ra.get().as_function()).instance;
    if (*record).callee != callee.addr() {
        note_other_callee(record, callee.addr());
    }
    let end = if i.b() != 0 { ra.add(i.b() + 1) } else { (*st).top };
    let nargs = end.offset_from(ra) as usize - Frame::RESERVED;
    let entry = machine::entry_of(callee);
    if machine::is_idle(entry) || !machine::has_room(st) {
        let step = call_for_instruction(st, ra, nargs);
        return on_top(steps::polled(st, step, || (*st).top.max(steps::frame_end(st))));
    }
    let at = (*st).base.offset_from((*(*st).thread).stack);
    let step = run_to_lua(st, machine::call_code(st, ra, entry, nargs, i.c()));
    let same = step.is_ok() && (*st).base.offset_from((*(*st).thread).stack) == at;
    if same && (*st).poll.load(Ordering::Relaxed) == 0 {
        return HERE;
    }
    on_top(steps::polled(st, step, || (*st).top.max(steps::frame_end(st))))
}

pub(super) unsafe extern "C-unwind" fn tail_call_native(
    st: *mut State,
    ra: *mut Value,
    i: Instr,
    record: *mut CalleeCache,
) -> u64 {
    note_native(record, ra.get().as_native());
    // The loop calls the function like a metamethod, which is a safepoint before the call.
    if let Err(e) = obey_interrupt(st) {
        return status(e);
    }
    run_native(st, ra, i, None, ra.get().as_native())
}

/// Calls the native function at `ra`, with the arguments that operand B of the instruction
/// specifies. `results` is the number of results of a CALL, or `None` for all results of a
/// TAILCALL.
#[inline(always)]
unsafe fn run_native(
    st: *mut State,
    ra: *mut Value,
    i: Instr,
    results: Option<CallResults>,
    native: *mut NativeClosure,
) -> u64 {
    let wanted = results.map_or(0, |results| usize::from(results.wanted));
    let new_base = ra.add(Frame::RESERVED);
    let end = if i.b() != 0 { new_base.add(i.b() - 1) } else { (*st).top };
    let number = (*native).header.word as usize;
    if Builtin::has_leaf(number as u32) && wanted <= 2 {
        let nargs = end.offset_from(new_base) as usize;
        let found = if wanted == 0 {
            builtin::only_result(st, number, new_base, nargs)
        } else {
            builtin::first_result(st, number, new_base, nargs)
        };
        if let Some(v) = found {
            if wanted != 1 {
                ra.put(v);
            }
            if wanted == 0 {
                (*st).top = ra.add(1);
            }
            if (*st).poll.load(Ordering::Relaxed) == 0 {
                return HERE;
            }
            return poll_after_native(st, ra, wanted);
        }
    }
    if (*st).limit < end {
        return call_with_growth(st, ra, end);
    }
    let a = i.a();
    let callee = Frame(new_base);
    callee.set_word(FrameWord::new(FrameWord::NATIVE, 0));
    callee.set_link(Link::new(0, 0, a + Frame::RESERVED));
    (*st).base = new_base;
    (*st).top = end;
    let n = match call_function(st, native, results) {
        Ok(Ret(n)) if n >= -1 => n,
        Ok(Ret::YIELD) => return status(Exit::Yield),
        Ok(r) => return on_top(stepped(st, after_native(st, r))),
        Err(_) => return status(Exit::Error),
    };
    let poll = (*st).poll.load(Ordering::Relaxed);
    if poll & reason::HOOK != 0 {
        return hooked_by_native(st, n, native);
    }
    // the stack may have moved
    let ra = (*st).base.sub(Frame::RESERVED);
    (*st).base = ra.sub(a);
    match (n, wanted) {
        // it is in place, or no result is needed
        (-1, 2) | (_, 1) => {}
        (1.., 2) => ra.put((*st).top.sub(n as usize).get()),
        _ => give_to_call(st, ra, n, wanted),
    }
    if poll == 0 {
        return HERE;
    }
    poll_after_native(st, ra, wanted)
}

/// Passes the `n` results of a native function, which end at the top (-1: one, in place), to a
/// CALL.
#[inline(never)]
unsafe fn give_to_call(st: *mut State, ra: *mut Value, n: i32, wanted: usize) {
    let mut count = 1;
    if n >= 0 {
        count = n as usize;
        let src = (*st).top.sub(count);
        move_values(src, ra, if wanted == 0 { count } else { count.min(wanted - 1) });
    }
    if wanted == 0 {
        (*st).top = ra.add(count);
    } else {
        clear(ra, count, wanted - 1);
    }
}

/// Handles the requests in the poll word after a native function.
#[cold]
#[inline(never)]
unsafe fn poll_after_native(st: *mut State, ra: *mut Value, wanted: usize) -> u64 {
    let end = if wanted == 0 { (*st).top } else { ra.add(wanted - 1) };
    on_top(stepped(st, safepoint(st, end, false)))
}

/// Calls a native function when the stack has no room for its arguments.
#[cold]
#[inline(never)]
unsafe fn call_with_growth(st: *mut State, ra: *mut Value, end: *mut Value) -> u64 {
    let nargs = end.offset_from(ra) as usize - Frame::RESERVED;
    on_top(stepped(st, call_for_instruction(st, ra, nargs)))
}

/// Returns from a native function that has switched a hook on.
#[cold]
#[inline(never)]
unsafe fn hooked_by_native(st: *mut State, n: i32, native: *mut NativeClosure) -> u64 {
    status(native_returned(st, n, Value::native(native)).err().unwrap_or(Exit::Switch))
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
    stepped(st, safepoint(st, (*st).top.max(steps::frame_end(st)), false))
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

pub(super) unsafe extern "C-unwind" fn get_str(
    _: *mut State,
    t: *mut Table,
    key: *mut LuaString,
) -> Pair {
    let v = Table::get_str(t, key);
    if v.is_nil() && Table::has_meta(t) { Pair { bits: 0, tag: MISS } } else { Pair::from(v) }
}

pub(super) unsafe extern "C-unwind" fn get_any(
    _: *mut State,
    t: *mut Table,
    bits: u64,
    tag: u64,
    cell: *mut u32,
) -> Pair {
    let key = Value::from_parts(bits, Tag(tag as u8));
    *cell |= load_of(t, key);
    let v = Table::get(t, key);
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
    *cell |= store_to_int(t, key);
    let v = Value::from_parts(bits, Tag(tag as u8));
    Table::set_int_plainly(st, t, key, v).into()
}

pub(super) unsafe extern "C-unwind" fn set_str(
    st: *mut State,
    t: *mut Table,
    key: *mut LuaString,
    bits: u64,
    tag: u64,
) -> u64 {
    let v = Value::from_parts(bits, Tag(tag as u8));
    Table::set_short_plainly(st, t, key, v).into()
}

pub(super) unsafe extern "C-unwind" fn new_table(
    st: *mut State,
    inst: *mut Instance,
    pc: usize,
    fields: usize,
) -> *mut Table {
    Table::of_constructor(st, inst, pc, fields)
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
    // A return that has closed variables continues.
    let returning = (&(*th).returning).last().is_some_and(|r| r.0 == offset);
    if variables || returning {
        return 0;
    }
    s.close_upvalues(level);
    1
}

pub(super) unsafe extern "C-unwind" fn mark_to_close(st: *mut State, place: *mut Value) -> u64 {
    for_loop::mark_closable(st, place).into()
}

/// Applies an operator to the payloads of floats.
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
