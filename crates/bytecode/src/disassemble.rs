//! Listings of bytecode in the style of `luac -l -l`, for readers and for golden tests. They are
//! stable from run to run.
//!
//! Program counters, registers, constants, upvalues and functions are counted from 0, as in the
//! instructions.

use std::fmt::Write as _;

use crate::instr::Instr;
use crate::opcode::{Op, Shape};
use crate::proto::{Constant, Proto};

/// Returns the listing of a function; with `recursive`, also of all functions inside it.
pub fn disassemble(proto: &Proto, recursive: bool) -> String {
    let mut out = String::new();
    list(&mut out, proto, "main", recursive);
    out
}

/// Returns the listing of one function under a name, without the functions inside it.
pub fn disassemble_function(proto: &Proto, name: &str) -> String {
    let mut out = String::new();
    list(&mut out, proto, name, false);
    out
}

/// Returns the line of one instruction in a listing.
///
/// # Panics
/// Panics if there is no instruction at `pc`.
pub fn disassemble_instruction(proto: &Proto, pc: usize) -> String {
    let mut out = String::new();
    instruction(&mut out, proto, pc);
    out.truncate(out.trim_end().len());
    out
}

fn list(out: &mut String, proto: &Proto, path: &str, recursive: bool) {
    header(out, proto, path);
    for pc in 0..proto.code.len() {
        instruction(out, proto, pc);
    }
    section(out, "constants", proto.constants.len(), |out, i| {
        let _ = writeln!(out, "  {i} {}", constant(proto, &proto.constants[i]));
    });
    section(out, "locals", proto.locals.len(), |out, i| {
        let local = &proto.locals[i];
        let name = String::from_utf8_lossy(proto.str(local.name));
        let _ = writeln!(out, "  R{} {name} {}..{}", local.register, local.start_pc, local.end_pc);
    });
    section(out, "upvalues", proto.upvalues.len(), |out, i| {
        let upvalue = &proto.upvalues[i];
        let name = upvalue_name(proto, i);
        let source = if upvalue.in_stack { "R" } else { "U" };
        let constant = match (upvalue.constant, upvalue.itself) {
            (_, true) => " itself",
            (true, _) => " constant",
            _ => "",
        };
        let _ = writeln!(out, "  {i} {name} {source}{}{constant}", upvalue.index);
    });
    if recursive {
        for (i, inner) in proto.protos.iter().enumerate() {
            out.push('\n');
            let path = if path == "main" { i.to_string() } else { format!("{path}.{i}") };
            list(out, inner, &path, true);
        }
    }
}

fn header(out: &mut String, proto: &Proto, path: &str) {
    let kind = match path {
        "main" if proto.line_defined == 0 => String::from("main"),
        "main" => String::from("function"),
        path => format!("function {path}"),
    };
    let source = match &proto.source {
        Some(source) => perilune_syntax::chunkid(source),
        None => b"?".to_vec(),
    };
    let _ = writeln!(
        out,
        "{kind} <{}:{},{}>",
        String::from_utf8_lossy(&source),
        proto.line_defined,
        proto.last_line
    );
    let vararg = if proto.is_vararg { "+" } else { "" };
    let _ = writeln!(out, "{}{vararg} params, {} registers", proto.num_params, proto.max_stack);
}

fn section(out: &mut String, title: &str, count: usize, mut item: impl FnMut(&mut String, usize)) {
    if count > 0 {
        let _ = writeln!(out, "{title}:");
        for i in 0..count {
            item(out, i);
        }
    }
}

fn instruction(out: &mut String, proto: &Proto, pc: usize) {
    let instr = proto.code[pc];
    let line = proto.lines.get(pc).map_or_else(|| String::from("-"), u32::to_string);
    let text = format!("{pc:>4} [{line}] {:<10} {}", instr.op().name(), operands(instr));
    match comment(proto, pc) {
        Some(comment) => {
            let _ = writeln!(out, "{text:<36} ; {comment}");
        }
        None => out.push_str(text.trim_end()),
    }
    if !out.ends_with('\n') {
        out.push('\n');
    }
}

/// Returns the operands that the opcode uses.
fn operands(instr: Instr) -> String {
    use Op::*;
    let (a, b, c) = (instr.a(), instr.b(), instr.c());
    match instr.op() {
        Return0 => String::new(),
        LoadKX | LoadFalse | LFalseSkip | LoadTrue | Close | Tbc | Return1 | VarArgPrep => {
            format!("{a}")
        }
        Move | LoadNil | GetUpval | SetUpval | Unm | BNot | Not | Len | Concat | SetList => {
            format!("{a} {b}")
        }
        Test | TForCall | VarArg => format!("{a} {c}"),
        EqI | LtI | LeI | GtI | GeI => format!("{a} {} {c}", instr.sb()),
        op => match op.shape() {
            Shape::Abc => format!("{a} {b} {c}"),
            Shape::Abx => format!("{a} {}", instr.bx()),
            Shape::Asbx => format!("{a} {}", instr.sbx()),
            Shape::Sj => format!("{}", instr.sj_value()),
            Shape::Ax => format!("{}", instr.ax_value()),
        },
    }
}

/// Returns a description of the operands.
fn comment(proto: &Proto, pc: usize) -> Option<String> {
    use Op::*;
    let instr = proto.code[pc];
    let k = |index: usize| {
        proto.constants.get(index).map_or_else(|| String::from("?"), |k| constant(proto, k))
    };
    let upvalue = |index: usize| upvalue_name(proto, index);
    let to = |target: usize| Some(format!("to {target}"));
    let next = pc + 1;
    match instr.op() {
        LoadK => Some(k(instr.bx())),
        LoadKX => Some(k(proto.code.get(next)?.ax_value())),
        GetUpval | SetUpval => Some(upvalue(instr.b())),
        GetTabUp => Some(format!("{} {}", upvalue(instr.b()), k(instr.c()))),
        SetTabUp => Some(format!("{} {}", upvalue(instr.a()), k(instr.b()))),
        SetTabUpK => Some(format!("{} {} {}", upvalue(instr.a()), k(instr.b()), k(instr.c()))),
        SetFieldK => Some(format!("{} {}", k(instr.b()), k(instr.c()))),
        SetField => Some(k(instr.b())),
        SetTableK | SetIK | GetField | SelfK | AddK | SubK | MulK | ModK | PowK | DivK | IDivK
        | BAndK | BOrK | BXorK => Some(k(instr.c())),
        KAdd | KSub | KMul | KDiv | EqK => Some(k(instr.b())),
        Jmp => to(next.wrapping_add_signed(instr.sj_value())),
        ForPrep => to(next + instr.bx() + 1),
        TForPrep => to(next + instr.bx()),
        ForLoop | TForLoop => to(next.wrapping_sub(instr.bx())),
        Call | CallMeta => {
            let args = if instr.b() == 0 { "all".into() } else { (instr.b() - 1).to_string() };
            let results = if instr.c() == 0 { "all".into() } else { (instr.c() - 1).to_string() };
            Some(format!("{args} in {results} out"))
        }
        _ => None,
    }
}

fn upvalue_name(proto: &Proto, index: usize) -> String {
    match proto.upvalues.get(index).and_then(|u| u.name) {
        Some(name) => String::from_utf8_lossy(proto.str(name)).into_owned(),
        None => String::from("-"),
    }
}

fn constant(proto: &Proto, constant: &Constant) -> String {
    match constant {
        Constant::Nil => String::from("nil"),
        Constant::Bool(b) => b.to_string(),
        Constant::Integer(i) => i.to_string(),
        Constant::Float(f) => format!("{f:?}"),
        Constant::Str(text) => format!("\"{}\"", proto.str(*text).escape_ascii()),
    }
}
