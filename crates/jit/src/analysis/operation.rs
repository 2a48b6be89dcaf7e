//! Operators of instructions, and their operands.

use perilune_bytecode::{Constant, Instr, Op, Proto};

use crate::codegen::number::Operator;
use crate::entity::{Reg, RegisterOperands};

/// An operand.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Operand {
    /// A register.
    Reg(Reg),
    /// An integer in the bytecode.
    Int(i64),
    /// A float in the bytecode.
    Float(f64),
}

impl Operand {
    /// Returns the integer that the operand is, if it is a constant.
    pub(crate) fn constant_int(self) -> Option<i64> {
        match self {
            Operand::Int(n) => Some(n),
            Operand::Reg(_) | Operand::Float(_) => None,
        }
    }
}

/// Returns the operator of an instruction and its operands, or `None` if it has no operator. A
/// unary operator has its operand twice.
pub(crate) fn operation(proto: &Proto, i: Instr) -> Option<(Operator, Operand, Operand)> {
    let reg = Operand::Reg;
    let constant = |n: usize| match proto.constants[n] {
        Constant::Integer(i) => Operand::Int(i),
        Constant::Float(f) => Operand::Float(f),
        _ => unreachable!("the verifier has seen a number"),
    };
    Some(match i.op() {
        Op::AddI => (Operator::Add, reg(i.rb()), Operand::Int(i.c() as i64)),
        Op::SubI => (Operator::Sub, reg(i.rb()), Operand::Int(i.c() as i64)),
        Op::AddK => (Operator::Add, reg(i.rb()), constant(i.c())),
        Op::SubK => (Operator::Sub, reg(i.rb()), constant(i.c())),
        Op::MulK => (Operator::Mul, reg(i.rb()), constant(i.c())),
        Op::ModK => (Operator::Mod, reg(i.rb()), constant(i.c())),
        Op::PowK => (Operator::Pow, reg(i.rb()), constant(i.c())),
        Op::DivK => (Operator::Div, reg(i.rb()), constant(i.c())),
        Op::IDivK => (Operator::IDiv, reg(i.rb()), constant(i.c())),
        Op::BAndK => (Operator::And, reg(i.rb()), constant(i.c())),
        Op::BOrK => (Operator::Or, reg(i.rb()), constant(i.c())),
        Op::BXorK => (Operator::Xor, reg(i.rb()), constant(i.c())),
        Op::KAdd => (Operator::Add, constant(i.b()), reg(i.rc())),
        Op::KSub => (Operator::Sub, constant(i.b()), reg(i.rc())),
        Op::KMul => (Operator::Mul, constant(i.b()), reg(i.rc())),
        Op::KDiv => (Operator::Div, constant(i.b()), reg(i.rc())),
        Op::ShrI => (Operator::Shr, reg(i.rb()), Operand::Int(i.c() as i64)),
        Op::ShlI => (Operator::Shl, reg(i.rb()), Operand::Int(i.c() as i64)),
        Op::Add => (Operator::Add, reg(i.rb()), reg(i.rc())),
        Op::Sub => (Operator::Sub, reg(i.rb()), reg(i.rc())),
        Op::Mul => (Operator::Mul, reg(i.rb()), reg(i.rc())),
        Op::Mod => (Operator::Mod, reg(i.rb()), reg(i.rc())),
        Op::Pow => (Operator::Pow, reg(i.rb()), reg(i.rc())),
        Op::Div => (Operator::Div, reg(i.rb()), reg(i.rc())),
        Op::IDiv => (Operator::IDiv, reg(i.rb()), reg(i.rc())),
        Op::BAnd => (Operator::And, reg(i.rb()), reg(i.rc())),
        Op::BOr => (Operator::Or, reg(i.rb()), reg(i.rc())),
        Op::BXor => (Operator::Xor, reg(i.rb()), reg(i.rc())),
        Op::Shl => (Operator::Shl, reg(i.rb()), reg(i.rc())),
        Op::Shr => (Operator::Shr, reg(i.rb()), reg(i.rc())),
        Op::Unm => (Operator::Neg, reg(i.rb()), reg(i.rb())),
        Op::BNot => (Operator::Not, reg(i.rb()), reg(i.rb())),
        _ => return None,
    })
}
