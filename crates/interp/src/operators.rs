//! The slow paths of operators: mixed numbers, strings, metamethods, errors.

use perilune_bytecode::Instr;
use perilune_bytecode::feedback::operands as seen;
use perilune_runtime::arith::{ArithError, arith};
use perilune_runtime::compare;
use perilune_runtime::debug;
use perilune_runtime::frame::{Frame, flags};
use perilune_runtime::instance::FieldEntry;
use perilune_runtime::meta::Event;
use perilune_runtime::native::{Cx, NativeResult, Val};
use perilune_runtime::state::{State, StateRef};
use perilune_runtime::table::Table;
use perilune_runtime::value::{SlotExt, Tag, Value};

use crate::enter::enter;
use crate::feedback::{note_handler, note_operands};
use crate::interrupt::obey_interrupt;
use crate::native::{call_for_instruction, run_to_lua};
use crate::step::{IntoExit, Step};

/// Returns the address for a metamethod and its arguments, which is above the registers of the top
/// frame.
unsafe fn scratch(st: *mut State) -> *mut Value {
    let base = (*st).base;
    let inst = (*Frame(base).callee().as_function()).instance;
    base.add((*inst).max_stack as usize)
}

/// Calls `h` with one argument for the top frame's instruction.
///
/// # Safety
/// I2; pc stored.
pub(crate) unsafe fn call_meta1(st: *mut State, h: Value, a: Value) -> Step {
    let callee = scratch(st);
    callee.put(h);
    callee.add(1).put(Value::NIL);
    callee.add(2).put(a);
    call_for_instruction(st, callee, 1)
}

/// Calls metamethod `h` with two arguments for the top frame's instruction.
///
/// # Safety
/// I2; pc stored.
pub(crate) unsafe fn call_meta2(st: *mut State, h: Value, a: Value, b: Value) -> Step {
    let callee = push_meta2(st, h, a, b);
    call_for_instruction(st, callee, 2)
}

/// Places a call of `h` with two arguments above the registers of the top frame. Returns the
/// callee's address.
unsafe fn push_meta2(st: *mut State, h: Value, a: Value, b: Value) -> *mut Value {
    let callee = scratch(st);
    callee.put(h);
    callee.add(1).put(Value::NIL);
    callee.add(2).put(a);
    callee.add(3).put(b);
    callee
}

/// Calls metamethod `h` with three arguments for the top frame's instruction.
///
/// # Safety
/// I2; pc stored.
pub(crate) unsafe fn call_meta3(st: *mut State, h: Value, a: Value, b: Value, c: Value) -> Step {
    let callee = scratch(st);
    callee.put(h);
    callee.add(1).put(Value::NIL);
    callee.add(2).put(a);
    callee.add(3).put(b);
    callee.add(4).put(c);
    call_for_instruction(st, callee, 3)
}

/// Computes `R[A] := a op b` for operands that the inline paths do not handle.
///
/// # Safety
/// I2; pc stored.
#[cold]
#[inline(never)]
pub(crate) unsafe fn arith_slow(st: *mut State, i: Instr, op: Event, a: Value, b: Value) -> Step {
    let s = StateRef::new(st);
    if a.is_number() && b.is_number() {
        note_operands(
            st,
            if a.tag() == b.tag() {
                if a.is_int() { seen::INT } else { seen::FLOAT }
            } else {
                seen::MIXED
            },
        );
        match arith(op, a, b) {
            Ok(v) => {
                s.base.add(i.a()).put(v);
                return Ok(());
            }
            Err(ArithError::DivideByZero) => {
                return Err(debug::runtime_error(st, b"attempt to divide by zero").into_exit());
            }
            Err(ArithError::ModuloByZero) => {
                return Err(debug::runtime_error(st, b"attempt to perform 'n%0'").into_exit());
            }
            Err(_) => {}
        }
    }
    let bitwise = matches!(
        op,
        Event::BAnd | Event::BOr | Event::BXor | Event::Shl | Event::Shr | Event::BNot
    );
    note_operands(st, if a.is_string() || b.is_string() { seen::STRING } else { seen::OTHER });
    let h = binary_handler(st, op, a, b);
    if h.is_nil() {
        return Err(debug::arith_error(st, a, b, bitwise).into_exit());
    }
    call_meta2(st, h, a, b)
}

/// The relation that a comparison instruction tests.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// `<`
    Less,
    /// `<=`
    LessEqual,
}

/// Completes a comparison of the top frame: skips the jump after it, or executes it.
unsafe fn finish_test(st: *mut State, i: Instr, cond: bool) {
    if cond != (i.c() & 1 != 0) {
        let frame = Frame((*st).base);
        frame.set_word(frame.word().at(frame.word().pc() + 1));
    }
}

/// Computes `a < b` or `a <= b` for operands that the inline paths do not handle.
///
/// # Safety
/// I2; pc stored, after the test.
#[cold]
#[inline(never)]
pub(crate) unsafe fn order_slow(
    st: *mut State,
    i: Instr,
    order: Order,
    a: Value,
    b: Value,
) -> Step {
    let r = if order == Order::Less { compare::less_than(a, b) } else { compare::less_equal(a, b) };
    if let Some(r) = r {
        note_operands(st, if a.is_string() { seen::STRING } else { seen::MIXED });
        finish_test(st, i, r);
        return Ok(());
    }
    note_operands(st, seen::OTHER);
    let e = if order == Order::Less { Event::Lt } else { Event::Le };
    let h = binary_handler(st, e, a, b);
    if !h.is_nil() {
        return call_meta2(st, h, a, b);
    }
    if order == Order::LessEqual && !either_handler(st, Event::Lt, b, a).is_nil() {
        let h = Cx::from_state(st).func(not_less, &[]).val().raw();
        let callee = push_meta2(st, h, a, b);
        obey_interrupt(st)?;
        // a function that the program does not see
        return run_to_lua(st, enter(st, callee, 2, flags::HIDDEN));
    }
    Err(debug::compare_error(st, a, b).into_exit())
}

/// Returns the metamethod of the first of two values that has one, or nil.
unsafe fn either_handler(st: *mut State, e: Event, a: Value, b: Value) -> Value {
    let h = Table::metamethod(st, a, e);
    if h.is_nil() { Table::metamethod(st, b, e) } else { h }
}

/// As [`either_handler`]; also records the metamethod for the instruction before the pc of the top
/// frame.
unsafe fn binary_handler(st: *mut State, e: Event, a: Value, b: Value) -> Value {
    let mut s = StateRef::new(st);
    let h = Table::metamethod(s.ptr(), a, e);
    if !h.is_nil() {
        note_handler(&mut s, a.tag(), FieldEntry::NO_SHAPE, a, h);
        return h;
    }
    let h = Table::metamethod(s.ptr(), b, e);
    if !h.is_nil() {
        // The tag of the first operand shows that it has no such metamethod, except for types whose
        // values have individual metatables.
        let is_certain = !matches!(a.tag(), Tag::TABLE | Tag::USERDATA);
        let certain = if is_certain { h } else { Value::NIL };
        note_handler(&mut s, a.tag(), FieldEntry::NO_SHAPE, b, certain);
    }
    h
}

/// Computes `a <= b` as `not (b < a)` for values that have `__lt` and no `__le`, as PUC Lua does in
/// its default build, with LUA_COMPAT_LT_LE.
fn not_less(cx: &mut Cx) -> NativeResult {
    if cx.step() != 0 {
        cx.set_top(cx.kept() + 1);
        let less = cx.get(cx.kept()).truthy();
        return cx.ret1(Val::bool(!less));
    }
    let (a, b) = (cx.get(0), cx.get(1));
    let first = cx.metamethod(b, Event::Lt);
    let h = if first.is_nil() { cx.metamethod(a, Event::Lt) } else { first };
    cx.push_callee(h);
    cx.push(b);
    cx.push(a);
    cx.call_then(2, 1)
}

/// Computes `a == b` for operands that the inline paths do not handle.
///
/// # Safety
/// I2; pc stored, after the test.
#[cold]
#[inline(never)]
pub(crate) unsafe fn equal_slow(st: *mut State, i: Instr, a: Value, b: Value) -> Step {
    if a.tag() == b.tag() && !a.same_bits(b) && matches!(a.tag(), Tag::TABLE | Tag::USERDATA) {
        let h = binary_handler(st, Event::Eq, a, b);
        if !h.is_nil() {
            note_operands(st, seen::OTHER);
            return call_meta2(st, h, a, b);
        }
    }
    finish_test(st, i, a.raw_equals(b));
    Ok(())
}

/// Computes `R[A] := #v`.
///
/// # Safety
/// I2; pc stored.
#[inline(never)]
pub(crate) unsafe fn length_slow(st: *mut State, i: Instr, v: Value) -> Step {
    let s = StateRef::new(st);
    if v.is_string() {
        s.base.add(i.a()).put(Value::int((*v.as_string()).len as i64));
        return Ok(());
    }
    let h = Table::metamethod(s.ptr(), v, Event::Len);
    if h.is_nil() {
        if v.is_table() {
            s.base.add(i.a()).put(Value::int(Table::length(v.as_table())));
            return Ok(());
        }
        return Err(debug::operand_error(st, b"get length of", v).into_exit());
    }
    note_handler(&mut *st, v.tag(), FieldEntry::NO_SHAPE, v, h);
    call_meta2(st, h, v, v)
}
