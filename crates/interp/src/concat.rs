//! Concatenation (manual 3.4.6).

use perilune_bytecode::Instr;
use perilune_bytecode::feedback::operands as seen;
use perilune_runtime::cfmt;
use perilune_runtime::convert;
use perilune_runtime::debug;
use perilune_runtime::frame::Frame;
use perilune_runtime::meta::Event;
use perilune_runtime::state::{State, StateRef};
use perilune_runtime::string::{LuaString, MAX_SHORT};
use perilune_runtime::strings::NotJoined;
use perilune_runtime::table::Table;
use perilune_runtime::value::{SlotExt, Tag, Value};

use crate::enter::enter;
use crate::feedback::note_operands;
use crate::interrupt::{interrupted, obey_interrupt};
use crate::room;
use crate::step::{Entered, Exit, IntoExit};

#[inline(always)]
fn joins(v: Value) -> bool {
    v.is_string() || v.is_number()
}

/// Concatenates the `n` values from `first` on into the first, for instruction `i` of the top
/// frame. When the last two are not strings or numbers, enters their metamethod; the number of
/// remaining values is kept in the slot below its callee.
///
/// # Safety
/// I2; pc stored; the values are registers of the top frame.
pub(crate) unsafe fn concat(st: *mut State, i: Instr, mut n: usize) -> Result<Entered, Exit> {
    let s = StateRef::new(st);
    let base = s.base;
    let first = base.add(i.a());
    while n > 1 {
        let (a, b) = (first.add(n - 2).get(), first.add(n - 1).get());
        if joins(a) && joins(b) {
            let mut from = n - 2;
            while from > 0 && joins(first.add(from - 1).get()) {
                from -= 1;
            }
            let v = join(st, first.add(from), n - from)?;
            first.add(from).put(v);
            n = from + 1;
            continue;
        }
        let mut h = Table::metamethod(s.ptr(), a, Event::Concat);
        if h.is_nil() {
            h = Table::metamethod(s.ptr(), b, Event::Concat);
        }
        if h.is_nil() {
            return Err(debug::concat_error(st, first.add(n - 2)).into_exit());
        }
        note_operands(st, seen::OTHER);
        let inst = (*Frame(base).callee().as_function()).instance;
        let mark = base.add((*inst).max_stack as usize);
        mark.put(Value::int(n as i64));
        let callee = mark.add(1);
        callee.put(h);
        callee.add(1).put(Value::NIL);
        callee.add(2).put(a);
        callee.add(3).put(b);
        obey_interrupt(st)?;
        return enter(st, callee, 2, 0);
    }
    Ok(Entered::Lua)
}

/// Concatenates the remaining values after a metamethod has returned.
///
/// # Safety
/// As [`concat()`]; the instruction is the one before the pc of the top frame, and `ret::deliver`
/// gave it the result of the metamethod.
pub(crate) unsafe fn resume(st: *mut State) -> Result<Entered, Exit> {
    let frame = Frame((*st).base);
    let inst = (*frame.callee().as_function()).instance;
    let i = *(*inst).code.add(frame.word().pc() as usize - 1);
    let left = frame.0.add((*inst).max_stack as usize).get().as_int();
    concat(st, i, left as usize)
}

/// Joins the `n` values from `first` on and returns the string, if all of them are strings or
/// numbers and the result is not large.
///
/// # Safety
/// The values are registers of the top frame.
pub(crate) unsafe fn join_some(st: *mut State, first: *mut Value, n: usize) -> Option<Value> {
    if let Some(v) = join_short(st, first, n) {
        return Some(v);
    }
    let mut total = 0usize;
    for i in 0..n {
        let v = first.add(i).get();
        if !joins(v) {
            return None;
        }
        total += if v.is_string() { (*v.as_string()).len as usize } else { MAX_SHORT };
    }
    if total > SURELY_ROOM { None } else { join(st, first, n).ok() }
}

/// The maximum number of bytes that are allocated without a check.
const SURELY_ROOM: usize = 1 << 16;

/// Joins strings and integers to a short string, without intermediate strings.
#[inline]
unsafe fn join_short(st: *mut State, first: *mut Value, n: usize) -> Option<Value> {
    let mut buffer = [0; MAX_SHORT];
    let mut at = 0;
    for i in 0..n {
        let v = first.add(i).get();
        let mut digits = [0; 20];
        let bytes = match v.tag() {
            Tag::STRING => LuaString::bytes(v.as_string()),
            Tag::INTEGER => cfmt::decimal(v.as_int(), &mut digits),
            _ => return None,
        };
        buffer.get_mut(at..at + bytes.len())?.copy_from_slice(bytes);
        at += bytes.len();
    }
    Some(Value::string((*st).intern(&buffer[..at])))
}

/// Joins `n` strings and numbers to a string.
unsafe fn join(st: *mut State, first: *mut Value, n: usize) -> Result<Value, Exit> {
    if let Some(v) = join_short(st, first, n) {
        return Ok(v);
    }
    let mut s = StateRef::new(st);
    // numbers become strings in place first
    let mut total = 0usize;
    for i in 0..n {
        let v = first.add(i).get();
        let v = if v.is_string() {
            v
        } else {
            let mut buf = Vec::with_capacity(32);
            convert::write_number(&mut buf, v);
            let t = Value::string(s.intern(&buf));
            first.add(i).put(t);
            t
        };
        total += (*v.as_string()).len as usize;
    }
    if n == 2 {
        let (a, b) = (first.get(), first.add(1).get());
        if (*a.as_string()).len == 0 {
            return Ok(b);
        }
        if (*b.as_string()).len == 0 {
            return Ok(a);
        }
    }
    if total > SURELY_ROOM {
        if total >= u32::MAX as usize - 64 {
            return Err(debug::runtime_error(st, b"string length overflow").into_exit());
        }
        if total >= i32::MAX as usize || !s.check_room(total) && !room::make(st, total) {
            return Err(room::error(st));
        }
        return match State::join_long(st, first, n, total) {
            Ok(r) => Ok(Value::string(r)),
            Err(NotJoined::NoMemory) => Err(room::error(st)),
            Err(NotJoined::Interrupted) => Err(interrupted(st)),
        };
    }
    let r = s.new_string_with(total, |out| {
        let mut at = 0;
        for i in 0..n {
            // SAFETY: the operands are live strings, and making a string does not collect.
            let bytes = unsafe { LuaString::bytes(first.add(i).get().as_string()) };
            out[at..at + bytes.len()].copy_from_slice(bytes);
            at += bytes.len();
        }
    });
    Ok(Value::string(r))
}
