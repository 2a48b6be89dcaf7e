//! Names of values, derived from code: the descriptions by which error messages and `debug.getinfo`
//! refer to a register or a called function (`(local 'x')`, `method 'f'`).
//!
//! A register's name is found by looking for the last instruction that certainly set it. Program
//! counters are those of the instruction that is being executed.

use crate::opcode::Op;
use crate::proto::{Constant, LocalDesc, Proto};

/// The kind of object that a name denotes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NameKind {
    /// A field of the variable `_ENV`.
    Global,
    /// A local variable.
    Local,
    /// A method called with `:`.
    Method,
    /// A field of some other table.
    Field,
    /// An upvalue.
    Upvalue,
    /// A string constant.
    Constant,
    /// The function of a generic `for`.
    ForIterator,
    /// A metamethod; the name is the event without underscores.
    Metamethod,
}

impl NameKind {
    /// Returns the word for the kind in messages and in `namewhat`.
    pub const fn text(self) -> &'static str {
        match self {
            NameKind::Global => "global",
            NameKind::Local => "local",
            NameKind::Method => "method",
            NameKind::Field => "field",
            NameKind::Upvalue => "upvalue",
            NameKind::Constant => "constant",
            NameKind::ForIterator => "for iterator",
            NameKind::Metamethod => "metamethod",
        }
    }
}

/// The location of the value that an error concerns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operand {
    /// A register of the frame.
    Register(usize),
    /// An upvalue of the running function, used in place.
    Upvalue(usize),
    /// A constant operand, for which messages show no name.
    Constant(usize),
}

/// A kind and a name, which may be a string constant of any length.
type Named<'p> = (NameKind, &'p [u8]);

/// Returns the name by which a message refers to an operand of the instruction at `pc`.
pub fn operand_name(proto: &Proto, pc: usize, operand: Operand) -> Option<Named<'_>> {
    match operand {
        Operand::Register(register) => register_name(proto, pc, register),
        Operand::Upvalue(index) => Some((NameKind::Upvalue, upvalue_name(proto, index))),
        Operand::Constant(_) => None,
    }
}

/// Returns the name of the value that `register` holds when the instruction at `pc` runs.
pub fn register_name(proto: &Proto, pc: usize, register: usize) -> Option<Named<'_>> {
    let setter = match plain_name(proto, pc, register) {
        Plain::Named(kind, name) => return Some((kind, name)),
        Plain::SetAt(setter) => setter,
        Plain::Unknown => return None,
    };
    let instr = proto.code[setter];
    let (kind, name) = match instr.op() {
        Op::GetTabUp => {
            let is_env = upvalue_name(proto, instr.b()) == b"_ENV";
            (global_or_field(is_env), constant_text(proto, instr.c()))
        }
        Op::GetTable => {
            (table_kind(proto, setter, instr.b()), constant_in_register(proto, setter, instr.c()))
        }
        Op::GetI => (NameKind::Field, &b"integer index"[..]),
        Op::GetField => (table_kind(proto, setter, instr.b()), constant_text(proto, instr.c())),
        Op::SelfK => (NameKind::Method, constant_text(proto, instr.c())),
        Op::SelfR => (NameKind::Method, constant_in_register(proto, setter, instr.c())),
        _ => return None,
    };
    Some((kind, name))
}

/// Returns the name of the function that the instruction at `pc` is calling.
pub fn call_name(proto: &Proto, pc: usize) -> Option<Named<'_>> {
    let instr = *proto.code.get(pc)?;
    match instr.op() {
        Op::Call | Op::CallMeta | Op::TailCall => register_name(proto, pc, instr.a()),
        Op::TForCall => Some((NameKind::ForIterator, b"for iterator")),
        op => {
            let event = metamethod_event(op)?;
            Some((NameKind::Metamethod, event.as_bytes()))
        }
    }
}

/// Returns the event of the metamethod that an instruction may call, without underscores (manual
/// 2.4).
pub fn metamethod_event(op: Op) -> Option<&'static str> {
    use Op::*;
    Some(match op {
        GetTabUp | GetTable | GetI | GetField | SelfK | SelfR => "index",
        SetTabUp | SetTabUpK | SetTable | SetTableK | SetI | SetIK | SetField | SetFieldK => {
            "newindex"
        }
        Add | AddI | AddK | KAdd => "add",
        Sub | SubI | SubK | KSub => "sub",
        Mul | MulK | KMul => "mul",
        Mod | ModK => "mod",
        Pow | PowK => "pow",
        Div | DivK | KDiv => "div",
        IDiv | IDivK => "idiv",
        BAnd | BAndK => "band",
        BOr | BOrK => "bor",
        BXor | BXorK => "bxor",
        Shl | ShlI => "shl",
        Shr | ShrI => "shr",
        Unm => "unm",
        BNot => "bnot",
        Len => "len",
        Concat => "concat",
        Eq => "eq",
        Lt | LtI | GtI => "lt",
        Le | LeI | GeI => "le",
        Close | Return => "close",
        _ => return None,
    })
}

/// Returns the local variables that are active when the instruction at `pc` runs, in order of
/// declaration.
pub fn active_locals(proto: &Proto, pc: usize) -> impl Iterator<Item = &LocalDesc> {
    proto.locals.iter().filter(move |l| l.start_pc as usize <= pc && pc < l.end_pc as usize)
}

/// The facts about a register that are known without looking at table accesses.
enum Plain<'p> {
    Named(NameKind, &'p [u8]),
    /// The instruction at this pc set it.
    SetAt(usize),
    Unknown,
}

fn plain_name(proto: &Proto, mut pc: usize, mut register: usize) -> Plain<'_> {
    loop {
        if let Some(local) = active_locals(proto, pc).find(|l| l.register as usize == register) {
            return Plain::Named(NameKind::Local, proto.str(local.name));
        }
        let Some(setter) = find_setter(proto, pc, register) else { return Plain::Unknown };
        let instr = proto.code[setter];
        let index = match instr.op() {
            // Copies go from temporaries down to variables; following copies in the other direction
            // could loop forever.
            Op::Move if instr.b() < instr.a() => {
                (pc, register) = (setter, instr.b());
                continue;
            }
            Op::GetUpval => {
                return Plain::Named(NameKind::Upvalue, upvalue_name(proto, instr.b()));
            }
            Op::LoadK => instr.bx(),
            Op::LoadKX => match proto.code.get(setter + 1) {
                Some(extra) => extra.ax_value(),
                None => return Plain::Unknown,
            },
            _ => return Plain::SetAt(setter),
        };
        return match proto.constants.get(index) {
            Some(Constant::Str(text)) => Plain::Named(NameKind::Constant, proto.str(*text)),
            _ => Plain::SetAt(setter),
        };
    }
}

/// Returns the last instruction before `last` that set `register` on every path of control.
fn find_setter(proto: &Proto, last: usize, register: usize) -> Option<usize> {
    let mut setter = None;
    // Jumps may have skipped the code before this target.
    let mut target = 0;
    for pc in 0..last.min(proto.code.len()) {
        let instr = proto.code[pc];
        let a = instr.a();
        let changes = match instr.op() {
            Op::LoadNil => (a..=a + instr.b()).contains(&register),
            Op::TForCall => register >= a + 2,
            Op::Call | Op::CallMeta | Op::TailCall => register >= a,
            Op::Jmp => {
                let destination = (pc + 1).wrapping_add_signed(instr.sj_value());
                if destination <= last && destination > target {
                    target = destination;
                }
                false
            }
            op => sets_a(op) && register == a,
        };
        if changes {
            setter = (pc >= target).then_some(pc);
        }
    }
    setter
}

/// Returns whether an opcode sets `R[A]` (except for calls and jumps).
fn sets_a(op: Op) -> bool {
    use Op::*;
    !matches!(
        op,
        SetUpval
            | SetTabUp
            | SetTabUpK
            | SetTable
            | SetTableK
            | SetI
            | SetIK
            | SetField
            | SetFieldK
            | Close
            | Tbc
            | Eq
            | Lt
            | Le
            | EqK
            | EqI
            | LtI
            | LeI
            | GtI
            | GeI
            | Test
            | Return
            | Return0
            | Return1
            | TForPrep
            | SetList
            | VarArgPrep
            | ExtraArg
    )
}

fn upvalue_name(proto: &Proto, index: usize) -> &[u8] {
    proto.upvalues.get(index).and_then(|u| u.name).map_or(b"?", |name| proto.str(name))
}

fn constant_text(proto: &Proto, index: usize) -> &[u8] {
    match proto.constants.get(index) {
        Some(Constant::Str(text)) => proto.str(*text),
        _ => b"?",
    }
}

fn constant_in_register(proto: &Proto, pc: usize, register: usize) -> &[u8] {
    match plain_name(proto, pc, register) {
        Plain::Named(NameKind::Constant, name) => name,
        _ => b"?",
    }
}

/// Returns whether a field of the table in `register` is a global variable.
fn table_kind(proto: &Proto, pc: usize, register: usize) -> NameKind {
    let is_env = matches!(
        plain_name(proto, pc, register),
        Plain::Named(NameKind::Local | NameKind::Upvalue, b"_ENV")
    );
    global_or_field(is_env)
}

fn global_or_field(is_env: bool) -> NameKind {
    if is_env { NameKind::Global } else { NameKind::Field }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Op;
    use std::sync::Arc;

    fn compile(source: &str) -> Arc<Proto> {
        crate::compile_source(source.as_bytes(), b"=test", 0).ok().expect("source compiles")
    }

    /// Checks the name of the function called by the last call of `source`.
    fn check(source: &str, expect: &str) {
        let proto = compile(source);
        let pc = proto.code.iter().rposition(|i| is_call(i.op()));
        let name = call_name(&proto, pc.expect("a call"));
        let text = match name {
            Some((kind, name)) => format!("{} '{}'", kind.text(), String::from_utf8_lossy(name)),
            None => String::from("?"),
        };
        assert_eq!(text, expect, "{}", crate::disassemble(&proto, true));
    }

    fn is_call(op: Op) -> bool {
        matches!(op, Op::Call | Op::TailCall | Op::CallMeta | Op::TForCall)
    }

    #[test]
    fn called_functions() {
        check("f()", "global 'f'");
        check("return f()", "global 'f'");
        check("local f; f()", "local 'f'");
        check("local t; t.x.y()", "field 'y'");
        check("local t; t[1]()", "field 'integer index'");
        check("local t; t:m()", "method 'm'");
        check("local _ENV = {}; f()", "global 'f'");
        check("local t, k; t[k]()", "field '?'");
        check("('x')()", "constant 'x'");
        check("f()()", "?");
        check("local a, b; (a or b)()", "?");
        check("for k in f do end", "for iterator 'for iterator'");
        check("return setmetatable(o, {__index = i})", "global 'setmetatable'");
        let long = "x".repeat(41);
        check(&format!("{long}()"), &format!("global '{long}'"));
        check(&format!("local t; t:{long}()"), &format!("method '{long}'"));
    }

    #[test]
    fn names_behind_many_constants() {
        let mut source = String::from("local t = {");
        for i in 0..300 {
            source.push_str(&format!("'k{i}', "));
        }
        source.push_str("} t:method()");
        check(&source, "method 'method'");
    }

    #[test]
    fn operands() {
        let proto = compile("local a; local function f() return a.b.c + a end");
        let inner = &proto.protos[0];
        let add = inner.code.iter().position(|i| i.op() == Op::Add).expect("an ADD");
        let (b, c) = (inner.code[add].b(), inner.code[add].c());
        let name = |operand| operand_name(inner, add, operand);
        assert_eq!(name(Operand::Register(b)), Some((NameKind::Field, &b"c"[..])));
        assert_eq!(name(Operand::Register(c)), Some((NameKind::Upvalue, &b"a"[..])));
        assert_eq!(name(Operand::Upvalue(0)), Some((NameKind::Upvalue, &b"a"[..])));
        assert_eq!(call_name(inner, add), Some((NameKind::Metamethod, &b"add"[..])));
    }
}
