//! Run-time errors, worded as PUC Lua words them.

use perilune_bytecode::{Instr, LocalDesc, NameKind, Op, Operand, operand_name};

use super::level::Level;
use crate::convert;
use crate::native::{Cx, Raised};
use crate::state::{State, StateRef};
use crate::string::LuaString;
use crate::table::Table;
use crate::value::{SlotExt, Tag, Value};

/// Raises an error whose message is `text`, preceded by the position of the top frame if a Lua
/// function runs it.
///
/// # Safety
/// `st` is live, its `base` is that of the top frame, and the pc is stored in that frame.
#[cold]
#[inline(never)]
pub unsafe fn runtime_error(st: *mut State, text: &[u8]) -> Raised {
    runtime_error_of(st, &[text])
}

/// Like [`runtime_error`], with a text in several parts, which may be strings of the program and
/// have any length. Raises a memory error if there is no memory for the text.
///
/// # Safety
/// As for [`runtime_error`].
#[cold]
#[inline(never)]
pub unsafe fn runtime_error_of(st: *mut State, parts: &[&[u8]]) -> Raised {
    let size = parts.iter().map(|part| part.len()).sum();
    if let Err(no_memory) = Cx::from_state(st).check_room(size) {
        return no_memory;
    }
    let mut s = StateRef::new(st);
    let mut message = Level::innermost(st, s.thread)
        .and_then(|l| match l.position() {
            Some(p) => Some(p),
            None => l.proto().map(|_| {
                let mut p = super::level::FunctionInfo::of(l.function()).short_source;
                p.extend_from_slice(b":-1: ");
                p
            }),
        })
        .unwrap_or_default();
    message.reserve_exact(size);
    parts.iter().for_each(|part| message.extend_from_slice(part));
    let message = s.intern(&message);
    s.raise(Value::string(message))
}

/// Returns the type name of a value for messages: `__name` of a table's or userdata's metatable, or
/// the plain name.
///
/// # Safety
/// `v` is a live value of `st`, and the result is not used after the next safepoint.
pub unsafe fn type_name_for_error<'a>(st: *mut State, v: Value) -> &'a [u8] {
    if matches!(v.tag(), Tag::TABLE | Tag::USERDATA) {
        let name = Table::metamethod(&mut *st, v, crate::meta::Event::Name);
        if name.is_string() {
            return crate::cfmt::c_str(LuaString::bytes(name.as_string()));
        }
    }
    v.type_name().as_bytes()
}

/// Returns the registers and upvalues of an instruction that an error message can name.
fn operands(i: Instr) -> [Option<Operand>; 2] {
    use Op::*;
    let r = |n| Some(Operand::Register(n));
    match i.op() {
        GetTabUp => [Some(Operand::Upvalue(i.b())), None],
        SetTabUp | SetTabUpK => [Some(Operand::Upvalue(i.a())), None],
        SetTable | SetTableK | SetI | SetIK | SetField | SetFieldK => [r(i.a()), None],
        GetTable | GetI | GetField | SelfK | SelfR | Unm | BNot | Len => [r(i.b()), None],
        Add | Sub | Mul | Mod | Pow | Div | IDiv | BAnd | BOr | BXor | Shl | Shr => {
            [r(i.b()), r(i.c())]
        }
        KAdd | KSub | KMul | KDiv => [None, r(i.c())],
        AddI | SubI | AddK | SubK | MulK | ModK | PowK | DivK | IDivK | BAndK | BOrK | BXorK
        | ShrI | ShlI => [r(i.b()), None],
        _ => [None, None],
    }
}

/// The parts of ` (local 'x')`, or nothing. The name may be a string of the program of any length.
type Info<'a> = [&'a [u8]; 5];

/// Returns the parts that describe the operand of the current instruction that holds `v`.
unsafe fn operand_info<'a>(st: *mut State, v: Value) -> Info<'a> {
    let Some(l) = Level::innermost(st, (*st).thread) else { return Info::default() };
    let (Some(proto), Some(pc)) = (l.proto(), l.pc()) else { return Info::default() };
    for operand in operands(proto.code[pc]).into_iter().flatten() {
        let holds = match operand {
            Operand::Register(r) => l.register(r).same_bits(v),
            Operand::Upvalue(u) => {
                let up = *crate::closure::LuaClosure::upvalue(l.function().as_function(), u);
                (*up).place.get().same_bits(v)
            }
            Operand::Constant(_) => false,
        };
        if holds {
            return named(operand_name(proto, pc, operand));
        }
    }
    Info::default()
}

fn named(name: Option<(NameKind, &[u8])>) -> Info<'_> {
    let Some((kind, name)) = name else { return Info::default() };
    [b" (", kind.text().as_bytes(), b" '", crate::cfmt::c_str(name), b"')"]
}

unsafe fn type_error(st: *mut State, what: &[u8], v: Value, info: Info<'_>) -> Raised {
    let t = type_name_for_error(st, v);
    let [a, b, c, d, e] = info;
    runtime_error_of(st, &[b"attempt to ", what, b" a ", t, b" value", a, b, c, d, e])
}

/// Raises "attempt to `what` a … value", with the name of the operand.
///
/// # Safety
/// As for [`runtime_error`].
#[cold]
pub unsafe fn operand_error(st: *mut State, what: &[u8], v: Value) -> Raised {
    type_error(st, what, v, operand_info(st, v))
}

/// Raises "attempt to index a … value".
///
/// # Safety
/// As for [`runtime_error`].
#[cold]
pub unsafe fn index_error(st: *mut State, object: Value, _key: Value) -> Raised {
    operand_error(st, b"index", object)
}

/// Raises "attempt to call a … value"; `callee` is the place of the value.
///
/// # Safety
/// As for [`runtime_error`].
#[cold]
pub unsafe fn call_error(st: *mut State, callee: *mut Value) -> Raised {
    let v = callee.get();
    let name = Level::innermost(st, (*st).thread).and_then(|l| l.call_name());
    type_error(st, b"call", v, named(name))
}

/// Raises the error of a finalizer that cannot be called.
///
/// # Safety
/// As for [`runtime_error`].
#[cold]
pub unsafe fn finalizer_error(st: *mut State, finalizer: Value) -> Raised {
    type_error(st, b"call", finalizer, named(Some((NameKind::Metamethod, b"__gc"))))
}

/// Raises the error of a failed arithmetic or bitwise operation.
///
/// # Safety
/// As for [`runtime_error`].
#[cold]
pub unsafe fn arith_error(st: *mut State, a: Value, b: Value, bitwise: bool) -> Raised {
    if bitwise && a.is_number() && b.is_number() {
        let culprit = if convert::to_integer(a).is_none() { a } else { b };
        let [a, b, c, d, e] = operand_info(st, culprit);
        let end: &[u8] = b" has no integer representation";
        return runtime_error_of(st, &[b"number", a, b, c, d, e, end]);
    }
    let culprit = if a.is_number() { b } else { a };
    operand_error(
        st,
        if bitwise { b"perform bitwise operation on" } else { b"perform arithmetic on" },
        culprit,
    )
}

/// Raises "attempt to concatenate a … value"; the operands are `first` and the next one.
///
/// # Safety
/// As for [`runtime_error`].
#[cold]
pub unsafe fn concat_error(st: *mut State, first: *mut Value) -> Raised {
    let a = first.get();
    let place = if a.is_string() || a.is_number() { first.add(1) } else { first };
    let info = match Level::innermost(st, (*st).thread) {
        Some(l) => match (l.proto(), l.pc()) {
            (Some(p), Some(pc)) => {
                let register = place.offset_from((*st).base) as usize;
                named(operand_name(p, pc, Operand::Register(register)))
            }
            _ => Info::default(),
        },
        None => Info::default(),
    };
    type_error(st, b"concatenate", place.get(), info)
}

/// Raises "attempt to compare …".
///
/// # Safety
/// As for [`runtime_error`].
#[cold]
pub unsafe fn compare_error(st: *mut State, a: Value, b: Value) -> Raised {
    let (t, u) = (type_name_for_error(st, a), type_name_for_error(st, b));
    if t == u {
        runtime_error_of(st, &[b"attempt to compare two ", t, b" values"])
    } else {
        runtime_error_of(st, &[b"attempt to compare ", t, b" with ", u])
    }
}

/// Raises "variable 'x' got a non-closable value"; the variable is at `place`.
///
/// # Safety
/// As for [`runtime_error`].
#[cold]
pub unsafe fn close_error(st: *mut State, place: *mut Value) -> Raised {
    let register = place.offset_from((*st).base);
    let name = Level::innermost(st, (*st).thread)
        .and_then(|l| {
            let Some(p) = l.proto() else { return Some(b"(C temporary)".to_vec()) };
            let pc = l.pc()?;
            // The variable of a loop is active from the next instruction on; a declared variable
            // may be active only at this instruction.
            let named = |l: &&LocalDesc| {
                l.register as isize == register
                    && l.start_pc as usize <= pc + 1
                    && pc < l.end_pc as usize
            };
            let local = p.locals.iter().find(named);
            Some(local.map_or_else(|| b"(temporary)".to_vec(), |l| p.str(l.name).to_vec()))
        })
        .unwrap_or_else(|| b"?".to_vec());
    runtime_error_of(st, &[b"variable '", &name, b"' got a non-closable value"])
}
