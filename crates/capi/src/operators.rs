//! Operators (manual 4.6): arithmetic, comparison, concatenation, length.

use std::ffi::{c_char, c_int};

use perilune_runtime::arith::{ArithError, arith};
use perilune_runtime::compare;
use perilune_runtime::convert;
use perilune_runtime::debug;
use perilune_runtime::meta::Event;
use perilune_runtime::native::Raised;
use perilune_runtime::string::LuaString;
use perilune_runtime::table::Table;
use perilune_runtime::value::{SlotExt, Tag, Value};

use crate::entry::Entry;
use crate::index::{value, value_or_nil};
use crate::outcome::{infallible, raising};
use crate::push::{c_bytes, push_bytes, safepoint};

/// The events of `LUA_OPADD` and so on.
const ARITHMETIC: [Event; 14] = [
    Event::Add,
    Event::Sub,
    Event::Mul,
    Event::Mod,
    Event::Pow,
    Event::Div,
    Event::IDiv,
    Event::BAnd,
    Event::BOr,
    Event::BXor,
    Event::Shl,
    Event::Shr,
    Event::Unm,
    Event::BNot,
];

/// Calls the metamethod of one of two operands, and returns its result; `None` if neither has one.
unsafe fn by_metamethod(
    e: &mut Entry,
    event: Event,
    a: Value,
    b: Value,
) -> Result<Option<Value>, Raised> {
    let mut h = Table::metamethod(e.st, a, event);
    if h.is_nil() {
        h = Table::metamethod(e.st, b, event);
    }
    if h.is_nil() {
        return Ok(None);
    }
    let callee = (*e.st).top.offset_from((*e.st).base) as usize;
    for v in [h, Value::NIL, a, b] {
        e.push(v);
    }
    let st = e.st;
    let n = ((*st).vm.call)(st, (*st).base.add(callee), 2)?;
    (*st).top = (*st).base.add(callee);
    Ok(Some(if n > 0 { (*st).top.get() } else { Value::NIL }))
}

unsafe fn compute(e: &mut Entry, event: Event, a: Value, b: Value) -> Result<Value, Raised> {
    let bitwise = matches!(
        event,
        Event::BAnd | Event::BOr | Event::BXor | Event::Shl | Event::Shr | Event::BNot
    );
    match arith(event, a, b) {
        Ok(v) => Ok(v),
        Err(ArithError::DivideByZero) => {
            Err(debug::runtime_error(e.st, b"attempt to divide by zero"))
        }
        Err(ArithError::ModuloByZero) => {
            Err(debug::runtime_error(e.st, b"attempt to perform 'n%0'"))
        }
        Err(_) => match by_metamethod(e, event, a, b)? {
            Some(v) => Ok(v),
            None => Err(debug::arith_error(e.st, a, b, bitwise)),
        },
    }
}

/// Returns whether two values are equal, honoring `__eq`.
unsafe fn equal(e: &mut Entry, a: Value, b: Value) -> Result<bool, Raised> {
    if a.raw_equals(b) {
        return Ok(true);
    }
    if a.tag() != b.tag() || !matches!(a.tag(), Tag::TABLE | Tag::USERDATA) {
        return Ok(false);
    }
    Ok(by_metamethod(e, Event::Eq, a, b)?.is_some_and(Value::truthy))
}

unsafe fn less(e: &mut Entry, event: Event, a: Value, b: Value) -> Result<bool, Raised> {
    let plain =
        if event == Event::Lt { compare::less_than(a, b) } else { compare::less_equal(a, b) };
    if let Some(r) = plain {
        return Ok(r);
    }
    if let Some(v) = by_metamethod(e, event, a, b)? {
        return Ok(v.truthy());
    }
    // as in the interpreter
    if event == Event::Le
        && let Some(v) = by_metamethod(e, Event::Lt, b, a)?
    {
        return Ok(!v.truthy());
    }
    Err(debug::compare_error(e.st, a, b))
}

fn joins(v: Value) -> bool {
    v.is_string() || v.is_number()
}

/// Concatenates the last `n` values from the right. Pairs that are not strings or numbers are
/// joined by a metamethod. If all values except one string are empty, the result is that string
/// itself and not a copy, as in PUC: C code reads it as long as the operand is reachable.
unsafe fn concat(e: &mut Entry, n: usize) -> Result<(), Raised> {
    let mut left = n;
    while left > 1 {
        let top = (*e.st).top;
        let (a, b) = (top.sub(2).get(), top.sub(1).get());
        if !joins(a) || !joins(b) {
            let v = match by_metamethod(e, Event::Concat, a, b)? {
                Some(v) => v,
                None => return Err(debug::concat_error(e.st, (*e.st).top.sub(2))),
            };
            (*e.st).top = (*e.st).top.sub(2);
            e.push(v);
            left -= 1;
            continue;
        }
        let mut run = 2;
        while run < left && joins(top.sub(run + 1).get()) {
            run += 1;
        }
        let mut text = Vec::new();
        for i in (1..=run).rev() {
            let v = top.sub(i).get();
            if v.is_string() {
                let more = LuaString::bytes(v.as_string());
                if text.try_reserve(more.len()).is_err() {
                    return Err(e.cx().memory_error());
                }
                text.extend_from_slice(more);
            } else {
                convert::write_number(&mut text, v);
            }
        }
        let mut operands = (1..=run).map(|i| top.sub(i).get());
        let is_all = |v: &Value| v.is_string() && (*v.as_string()).len as usize == text.len();
        let v = match operands.find(is_all) {
            Some(v) => v,
            None => {
                push_bytes(e, &text)?;
                e.pop()
            }
        };
        (*e.st).top = (*e.st).top.sub(run);
        e.push(v);
        left -= run - 1;
    }
    Ok(())
}

infallible! {
    fn lua_rawequal(l, a: c_int, b: c_int) -> c_int |e| {
        match (value(e.st, a), value(e.st, b)) {
            (Some(a), Some(b)) => c_int::from(a.raw_equals(b)),
            _ => 0,
        }
    }

    fn lua_stringtonumber(l, s: *const c_char) -> usize |e| {
        let text = c_bytes(s);
        match convert::text_to_number(text) {
            Some(v) => {
                e.push(v);
                text.len() + 1
            }
            None => 0,
        }
    }
}

/// Pushes `#v`.
///
/// # Errors
/// Returns the errors of `__len`, or "attempt to get length of …".
///
/// # Safety
/// N1; `v` is live.
pub(crate) unsafe fn push_length(e: &mut Entry, v: Value) -> Result<(), Raised> {
    let r = match v.tag() {
        Tag::STRING => Value::int(i64::from((*v.as_string()).len)),
        Tag::TABLE if !Table::has_meta(v.as_table()) => Value::int(Table::length(v.as_table())),
        tag => match by_metamethod(e, Event::Len, v, v)? {
            Some(r) => r,
            None if tag == Tag::TABLE => Value::int(Table::length(v.as_table())),
            None => return Err(debug::operand_error(e.st, b"get length of", v)),
        },
    };
    e.push(r);
    Ok(())
}

raising! {
    fn lua_arith(l, op: c_int) |e| {
        let event = ARITHMETIC[op as usize];
        if matches!(event, Event::Unm | Event::BNot) {
            let v = (*e.st).top.sub(1).get();
            e.push(v);
        }
        let (a, b) = ((*e.st).top.sub(2).get(), (*e.st).top.sub(1).get());
        let v = compute(e, event, a, b)?;
        (*e.st).top = (*e.st).top.sub(2);
        e.push(v);
        Ok(())
    }

    fn lua_compare(l, a: c_int, b: c_int, op: c_int) -> c_int |e| {
        let (Some(a), Some(b)) = (value(e.st, a), value(e.st, b)) else { return Ok(0) };
        let r = match op {
            0 => equal(e, a, b)?,
            1 => less(e, Event::Lt, a, b)?,
            _ => less(e, Event::Le, a, b)?,
        };
        Ok(c_int::from(r))
    }

    fn lua_concat(l, n: c_int) |e| {
        match n {
            0 => {
                push_bytes(e, b"")?;
            }
            1 => {}
            _ => concat(e, n as usize)?,
        }
        Ok(safepoint(e)?)
    }

    fn lua_len(l, index: c_int) |e| {
        let v = value_or_nil(e.st, index);
        Ok(push_length(e, v)?)
    }
}
