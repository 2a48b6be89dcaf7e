//! Prepares `for` loops, and executes the slow paths of generic loops.

use std::sync::atomic::Ordering;

use perilune_bytecode::Instr;
use perilune_bytecode::feedback::operands as seen;
use perilune_runtime::convert::{self, Round};
use perilune_runtime::debug;
use perilune_runtime::frame::{Frame, FrameWord, Link};
use perilune_runtime::meta::Event;
use perilune_runtime::native::{Builtin, Ret};
use perilune_runtime::state::{State, StateRef, poll};
use perilune_runtime::table::Table;
use perilune_runtime::value::{SlotExt, Tag, Value};

use crate::feedback::note_called;
use crate::native::{
    call_for_instruction, call_function, enter_continued, native_returned, run_to_lua,
};
use crate::slots::move_values;
use crate::step::{Exit, IntoExit, Step};

unsafe fn bound_error(st: *mut State, v: Value, what: &str) -> Exit {
    let got = debug::type_name_for_error(st, v);
    let text: [&[u8]; 5] = [b"bad 'for' ", what.as_bytes(), b" (number expected, got ", got, b")"];
    debug::runtime_error_of(st, &text).into_exit()
}

/// Returns the limit of an integer loop, clipped to an integer, or `None` if the loop does not run.
unsafe fn integer_limit(
    st: *mut State,
    init: i64,
    limit: Value,
    step: i64,
) -> Result<Option<i64>, Exit> {
    let n =
        if limit.is_string() { convert::string_to_number(limit).unwrap_or(limit) } else { limit };
    let l = if n.is_int() {
        n.as_int()
    } else if n.is_float() {
        let f = n.as_float();
        match convert::float_to_integer_rounded(
            f,
            if step < 0 { Round::Ceil } else { Round::Floor },
        ) {
            Some(l) => l,
            None if f > 0.0 => {
                if step < 0 {
                    return Ok(None);
                }
                i64::MAX
            }
            None => {
                if step > 0 {
                    return Ok(None);
                }
                i64::MIN
            }
        }
    } else {
        return Err(bound_error(st, limit, "limit"));
    };
    Ok(if if step > 0 { init > l } else { init < l } { None } else { Some(l) })
}

/// Returns the feedback of FORPREP for a loop whose first register then contains `index`, and which
/// had this limit.
#[inline(always)]
pub(crate) fn seen_in_loop(index: Value, limit: Value) -> u32 {
    match index.is_int() {
        true if limit.is_float() => seen::INT | seen::MIXED,
        true => seen::INT,
        false => seen::FLOAT,
    }
}

/// Executes FORPREP; returns `Ok(true)` if the loop is to be skipped.
///
/// # Safety
/// I2; pc stored; `ra` is the loop's first register.
#[inline(never)]
pub(crate) unsafe fn prepare(st: *mut State, ra: *mut Value) -> Result<bool, Exit> {
    let (init, limit, step) = (ra.get(), ra.add(1).get(), ra.add(2).get());
    if init.is_int() && step.is_int() {
        let (init, step) = (init.as_int(), step.as_int());
        if step == 0 {
            return Err(debug::runtime_error(st, b"'for' step is zero").into_exit());
        }
        let Some(limit) = integer_limit(st, init, limit, step)? else { return Ok(true) };
        let count = if step > 0 {
            (limit as u64).wrapping_sub(init as u64) / step as u64
        } else {
            (init as u64).wrapping_sub(limit as u64) / ((-(step + 1)) as u64 + 1)
        };
        ra.add(1).put(Value::int(count as i64));
        ra.add(3).put(Value::int(init));
        return Ok(false);
    }
    let Some(l) = convert::to_float(limit) else { return Err(bound_error(st, limit, "limit")) };
    let Some(s) = convert::to_float(step) else { return Err(bound_error(st, step, "step")) };
    let Some(i) = convert::to_float(init) else {
        return Err(bound_error(st, init, "initial value"));
    };
    if s == 0.0 {
        return Err(debug::runtime_error(st, b"'for' step is zero").into_exit());
    }
    if if s > 0.0 { l < i } else { i < l } {
        return Ok(true);
    }
    ra.put(Value::float(i));
    ra.add(1).put(Value::float(l));
    ra.add(2).put(Value::float(s));
    ra.add(3).put(Value::float(i));
    Ok(false)
}

/// Executes TFORPREP: marks the closing value, and changes a loop over a table with `next` so that
/// it runs inline.
///
/// # Safety
/// I2; pc stored; `ra` is the loop's first register.
#[inline(always)]
pub(crate) unsafe fn prepare_generic(st: *mut State, ra: *mut Value) -> Step {
    if ra.add(3).get().truthy() {
        return mark_to_close(st, ra.add(3));
    }
    inline_next(st, ra);
    Ok(())
}

/// Changes a loop over a table with `next` so that it runs inline: the register of the closing
/// value, which is nil, is set to the position of the traversal ([`Tag::ITER`]). Iterator, table
/// and control value stay the same for `debug.getlocal`. If the position is replaced with nil, the
/// loop calls its iterator again ([`debug::Level::set_local`]).
///
/// # Safety
/// I2; `ra` is the loop's first register.
#[inline(always)]
pub(crate) unsafe fn inline_next(st: *mut State, ra: *mut Value) {
    let f = ra.get();
    if f.tag() == Tag::NATIVE
        && (*f.as_native()).header.word == Builtin::Next as u32
        && ra.add(1).get().is_table()
        && ra.add(2).get().is_nil()
        && ra.add(3).get().is_nil()
    {
        let start = Table::start(st, ra.add(1).get().as_table());
        ra.add(3).put(Value::from_parts(start.into(), Tag::ITER));
    }
}

/// Executes TFORCALL if it needs no call, that is, for an iteration of an inline loop over `next`,
/// or of a loop over `ipairs` of a table without a metamethod for it. Returns whether this was the
/// case.
///
/// # Safety
/// I2; `ra` is the loop's first register, `wanted` the number of its variables.
#[inline(always)]
pub(crate) unsafe fn inline_round(ra: *mut Value, wanted: usize) -> bool {
    let (f, object) = (ra.get(), ra.add(1).get());
    if !object.is_table() {
        return false;
    }
    let (t, position) = (object.as_table(), ra.add(3).get());
    let (key, v) = if position.tag() == Tag::ITER {
        match Table::next_index(t, position.bits() as u32) {
            Some((next, key, v)) => {
                ra.add(3).put(Value::from_parts(next.into(), Tag::ITER));
                (key, v)
            }
            None => {
                ra.add(4).put(Value::NIL);
                return true;
            }
        }
    } else {
        let control = ra.add(2).get();
        if f.tag() != Tag::NATIVE
            || (*f.as_native()).header.word != Builtin::IpairsStep as u32
            || !control.is_int()
        {
            return false;
        }
        let n = control.as_int().wrapping_add(1);
        let v = Table::get_int(t, n);
        if v.is_nil() && Table::has_meta(t) {
            return false;
        }
        (if v.is_nil() { Value::NIL } else { Value::int(n) }, v)
    };
    ra.add(4).put(key);
    ra.add(5).put(v);
    let mut j = 2;
    while j < wanted {
        ra.add(4 + j).put(Value::NIL);
        j += 1;
    }
    true
}

/// Executes TBC: marks the variable at `place` to be closed.
///
/// # Safety
/// I2; pc stored.
#[inline(never)]
pub(crate) unsafe fn mark_to_close(st: *mut State, place: *mut Value) -> Step {
    match mark_closable(st, place) {
        true => Ok(()),
        false if !is_closable(st, place.get()) => Err(debug::close_error(st, place).into_exit()),
        false => Err(crate::room::error(st)),
    }
}

/// As [`mark_to_close`], but returns false in place of an error, without an effect.
///
/// # Safety
/// I2.
pub(crate) unsafe fn mark_closable(st: *mut State, place: *mut Value) -> bool {
    let v = place.get();
    if !v.truthy() {
        return true;
    }
    if !is_closable(st, v) {
        return false;
    }
    let mut s = StateRef::new(st);
    let offset = place.offset_from((*s.thread).stack) as u32;
    let to_close = &mut (*s.thread).to_close;
    if to_close.try_reserve(1).is_err() {
        return false;
    }
    to_close.push(offset);
    true
}

/// Returns whether a value has a metamethod for closing.
unsafe fn is_closable(st: *mut State, v: Value) -> bool {
    !Table::metamethod(st, v, Event::Close).is_nil()
}

/// Records the iterator that the TFORCALL of the frame at `base` calls for the loop whose first
/// register is `a`, except for `next` and the iterator of `ipairs`, which it mostly executes
/// without a call.
///
/// # Safety
/// I2; pc stored.
pub(crate) unsafe fn note_iterator(base: *mut Value, a: usize) {
    let f = base.add(a).get();
    let is_traversal = f.tag() == Tag::NATIVE && {
        let number = (*f.as_native()).header.word;
        number == Builtin::Next as u32 || number == Builtin::IpairsStep as u32
    };
    if !is_traversal {
        let frame = Frame(base);
        let inst = (*frame.callee().as_function()).instance;
        let pc = frame.word().pc() as usize - 1;
        note_called(inst, *(*inst).cells.add(pc) as usize, f);
    }
}

/// Executes the slow path of TFORCALL, which is an ordinary call.
///
/// # Safety
/// I2; pc stored.
#[inline(never)]
pub(crate) unsafe fn call_iterator(st: *mut State, i: Instr) -> Step {
    note_iterator(StateRef::new(st).base, i.a());
    call_iterator_at(st, i.a(), i.c())
}

/// Calls the iterator of the loop whose first register is `a`, for `want` variables. Calls native
/// iterators, the most common, directly.
///
/// # Safety
/// I2; pc stored.
#[inline(always)]
pub(crate) unsafe fn call_iterator_at(st: *mut State, a: usize, want: usize) -> Step {
    let mut s = StateRef::new(st);
    let ra = s.base.add(a);
    let (f, callee) = (ra.get(), ra.add(4));
    let new_base = callee.add(2);
    callee.put(f);
    callee.add(1).put(Value::NIL);
    new_base.put(ra.add(1).get());
    new_base.add(1).put(ra.add(2).get());
    let hooked = |s: &State| s.poll.load(Ordering::Relaxed) & poll::HOOK != 0;
    if f.tag() != Tag::NATIVE || hooked(&s) || s.limit.offset_from(new_base) < 2 {
        return call_for_instruction(st, callee, 2);
    }
    let distance = a + 6;
    let frame = Frame(new_base);
    frame.set_word(FrameWord::new(FrameWord::NATIVE, 0));
    frame.set_link(Link::new(0, 0, distance));
    s.base = new_base;
    s.top = new_base.add(2);
    match call_function(st, f.as_native(), None) {
        Ok(Ret(n)) if n >= -1 => {
            if hooked(&s) {
                return native_returned(st, n, f).map(|_| ());
            }
            // One result is in place: in the callee's slot.
            let base = s.base.sub(distance);
            let results = base.add(a + 4);
            let count = if n < 0 {
                1
            } else {
                let n = n as usize;
                move_values(s.top.sub(n), results, n.min(want));
                n
            };
            for j in count..want {
                results.add(j).put(Value::NIL);
            }
            let inst = (*Frame(base).callee().as_function()).instance;
            s.base = base;
            s.top = base.add((*inst).max_stack as usize);
            Ok(())
        }
        Ok(Ret::CALL) => run_to_lua(st, enter_continued(st)),
        Ok(_) => Err(Exit::Yield),
        Err(_) => Err(Exit::Error),
    }
}
