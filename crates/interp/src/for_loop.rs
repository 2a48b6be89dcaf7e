//! Preparation of `for` loops, and generic loops off the fast paths.

use perilune_bytecode::Instr;
use perilune_runtime::convert::{self, Round};
use perilune_runtime::debug;
use perilune_runtime::native::Builtin;
use perilune_runtime::state::State;
use perilune_runtime::value::{SlotExt, Tag, Value};

use crate::call::{IntoExit, call_for_instruction};
use crate::step::{Exit, Step};

unsafe fn bound_error(st: *mut State, v: Value, what: &str) -> Exit {
    let got = debug::type_name_for_error(st, v);
    let mut text = format!("bad 'for' {what} (number expected, got ").into_bytes();
    text.extend_from_slice(&got);
    text.push(b')');
    debug::runtime_error(st, &text).into_exit()
}

/// The limit of an integer loop, clipped to an integer; `None`: the loop does not run.
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

/// FORPREP: `Ok(true)` when the loop is to be skipped.
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

/// TFORPREP: marks the closing value, and turns a plain `next` loop over a table into an inlined one.
///
/// # Safety
/// I2; pc stored; `ra` is the loop's first register.
#[inline(always)]
pub(crate) unsafe fn prepare_generic(st: *mut State, ra: *mut Value) -> Step {
    let f = ra.get();
    if f.tag() == Tag::NATIVE
        && (*f.as_native()).header.word == Builtin::Next as u32
        && ra.add(1).get().is_table()
        && ra.add(2).get().is_nil()
    {
        ra.add(2).put(Value::from_parts(0, Tag::ITER));
    }
    if ra.add(3).get().truthy() { mark_to_close(st, ra.add(3)) } else { Ok(()) }
}

/// TBC: the variable at `place` is to be closed.
///
/// # Safety
/// I2; pc stored.
#[inline(never)]
pub(crate) unsafe fn mark_to_close(st: *mut State, place: *mut Value) -> Step {
    let v = place.get();
    if !v.truthy() {
        return Ok(());
    }
    let s = &mut *st;
    if perilune_runtime::table::Table::metamethod(s, v, perilune_runtime::meta::Event::Close)
        .is_nil()
    {
        return Err(debug::close_error(st, place).into_exit());
    }
    let offset = place.offset_from((*s.thread).stack) as u32;
    (&mut (*s.thread).to_close).push(offset);
    Ok(())
}

/// TFORCALL off the fast paths: an ordinary call.
///
/// # Safety
/// I2; pc stored.
#[inline(never)]
pub(crate) unsafe fn call_iterator(st: *mut State, i: Instr) -> Step {
    let ra = (*st).base.add(i.a());
    let callee = ra.add(4);
    callee.put(ra.get());
    callee.add(1).put(Value::NIL);
    callee.add(2).put(ra.add(1).get());
    callee.add(3).put(ra.add(2).get());
    call_for_instruction(st, callee, 2)
}
