//! Operands by themselves: they must name existing entities.

use super::{Result, ensure};
use crate::effects::{Range, effects};
use crate::opcode::Op;
use crate::proto::{Constant, Proto};

pub(super) fn check(proto: &Proto) -> Result {
    for pc in 0..proto.code.len() {
        instruction(proto, pc)?;
    }
    Ok(())
}

fn instruction(proto: &Proto, pc: usize) -> Result {
    use Op::*;
    let instr = proto.code[pc];
    ensure(Op::from_u8(instr.op_byte()).is_some(), pc, "no such opcode")?;
    let (a, b, c) = (instr.a(), instr.b(), instr.c());
    let max = proto.max_stack as usize;
    let registers = |last: usize| ensure(last < max, pc, "register out of range");
    let upvalue = |index: usize| ensure(index < proto.upvalues.len(), pc, "upvalue out of range");
    let constant = |index: usize, fits: fn(&Constant) -> bool| match proto.constants.get(index) {
        Some(k) => ensure(fits(k), pc, "constant of the wrong type"),
        None => ensure(false, pc, "constant out of range"),
    };
    let flag = |value: usize, most: usize| ensure(value <= most, pc, "bad operand");

    let e = effects(instr);
    // The register after the last one that an operand names.
    let end = |(first, count): Range| if count > 0 { first + count } else { 0 };
    let ends = e.reads.map(end).into_iter().fold(0, usize::max);
    let ends = e.writes.map(end).into_iter().fold(ends, usize::max);
    ensure(ends <= max, pc, "register out of range")?;
    match instr.op() {
        LoadK => constant(instr.bx(), any),
        GetUpval | SetUpval => upvalue(b),
        GetTabUp => {
            upvalue(b)?;
            constant(c, name)
        }
        SetTabUp => {
            upvalue(a)?;
            constant(b, name)
        }
        SetTabUpK => {
            upvalue(a)?;
            constant(b, name)?;
            constant(c, any)
        }
        SetTableK | SetIK => constant(c, any),
        SetField => constant(b, name),
        SetFieldK => {
            constant(b, name)?;
            constant(c, any)
        }
        GetField | SelfK => constant(c, name),
        SelfR => ensure(c != a + 2, pc, "bad operand"),
        AddK | SubK | MulK | ModK | PowK | DivK | IDivK => constant(c, number),
        BAndK | BOrK | BXorK => constant(c, integer),
        KAdd | KSub | KMul | KDiv => constant(b, number),
        EqK => {
            constant(b, any)?;
            flag(c, 1)
        }
        Eq | Lt | Le | Test => flag(c, 1),
        TestSet => {
            registers(a)?;
            flag(c, 1)
        }
        EqI | LtI | LeI | GtI | GeI => flag(c, 3),
        Concat => ensure(b >= 2, pc, "bad operand"),
        Close => registers(a),
        Call | TailCall => registers(a + 1),
        CallMeta => ensure(b == 3, pc, "bad operand"),
        Return => ensure(a < max || (b == 1 && a == max), pc, "register out of range"),
        ForPrep | ForLoop => registers(a + 3),
        TForPrep | TForLoop => registers(a + 4),
        TForCall => {
            ensure(c >= 1, pc, "bad operand")?;
            registers(a + 7)
        }
        Closure => ensure(instr.bx() < proto.protos.len(), pc, "function out of range"),
        VarArg => {
            ensure(proto.is_vararg, pc, "no extra arguments here")?;
            registers(a)
        }
        VarArgPrep => ensure(
            proto.is_vararg && pc == 0 && a == proto.num_params as usize,
            pc,
            "misplaced VARARGPREP",
        ),
        _ => Ok(()),
    }
}

fn any(_: &Constant) -> bool {
    true
}

fn name(constant: &Constant) -> bool {
    matches!(constant, Constant::Str(s) if s.len() <= crate::MAX_FIELD_NAME)
}

fn number(constant: &Constant) -> bool {
    matches!(constant, Constant::Integer(_) | Constant::Float(_))
}

fn integer(constant: &Constant) -> bool {
    matches!(constant, Constant::Integer(_))
}
