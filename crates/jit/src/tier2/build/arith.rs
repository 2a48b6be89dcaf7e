//! Arithmetic and bit operations.

use perilune_bytecode::{Constant, Op as Bytecode};
use perilune_runtime::value::Tag;

use super::Builder;
use crate::analysis::facts::{Speculation, speculation};
use crate::codegen::number::Operator;
use crate::entity::{Reg, RegisterOperands};
use crate::tier2::ir::{Op, Type, Value};

/// An operand of an operator.
#[derive(Clone, Copy)]
enum Operand {
    Register(Reg),
    Constant(usize),
    Integer(i64),
}

/// Returns the operator of an instruction and its operands.
fn decode(i: perilune_bytecode::Instr) -> Option<(Operator, Operand, Operand)> {
    use Bytecode::*;
    use Operand::{Constant, Integer, Register};
    let (rb, rc) = (Register(i.rb()), Register(i.rc()));
    let (kb, kc) = (Constant(i.b()), Constant(i.c()));
    let c = Integer(i.c() as i64);
    Some(match i.op() {
        AddI => (Operator::Add, rb, c),
        SubI => (Operator::Sub, rb, c),
        AddK => (Operator::Add, rb, kc),
        SubK => (Operator::Sub, rb, kc),
        MulK => (Operator::Mul, rb, kc),
        ModK => (Operator::Mod, rb, kc),
        PowK => (Operator::Pow, rb, kc),
        DivK => (Operator::Div, rb, kc),
        IDivK => (Operator::IDiv, rb, kc),
        BAndK => (Operator::And, rb, kc),
        BOrK => (Operator::Or, rb, kc),
        BXorK => (Operator::Xor, rb, kc),
        KAdd => (Operator::Add, kb, rc),
        KSub => (Operator::Sub, kb, rc),
        KMul => (Operator::Mul, kb, rc),
        KDiv => (Operator::Div, kb, rc),
        ShrI => (Operator::Shr, rb, c),
        ShlI => (Operator::Shl, rb, c),
        Add => (Operator::Add, rb, rc),
        Sub => (Operator::Sub, rb, rc),
        Mul => (Operator::Mul, rb, rc),
        Mod => (Operator::Mod, rb, rc),
        Pow => (Operator::Pow, rb, rc),
        Div => (Operator::Div, rb, rc),
        IDiv => (Operator::IDiv, rb, rc),
        BAnd => (Operator::And, rb, rc),
        BOr => (Operator::Or, rb, rc),
        BXor => (Operator::Xor, rb, rc),
        Shl => (Operator::Shl, rb, rc),
        Shr => (Operator::Shr, rb, rc),
        Unm => (Operator::Neg, rb, rb),
        BNot => (Operator::Not, rb, rb),
        _ => return None,
    })
}

/// Returns whether instructions with this opcode compute a number of numbers.
pub(super) fn is_operator(op: Bytecode) -> bool {
    use Bytecode::*;
    matches!(
        op,
        AddI | SubI
            | AddK
            | SubK
            | MulK
            | ModK
            | PowK
            | DivK
            | IDivK
            | BAndK
            | BOrK
            | BXorK
            | KAdd
            | KSub
            | KMul
            | KDiv
            | ShrI
            | ShlI
            | Add
            | Sub
            | Mul
            | Mod
            | Pow
            | Div
            | IDiv
            | BAnd
            | BOr
            | BXor
            | Shl
            | Shr
            | Unm
            | BNot
    )
}

impl Builder<'_> {
    /// An operator.
    pub(super) fn arithmetic(&mut self) {
        let i = self.instr(self.pc);
        let Some((operator, x, y)) = decode(i) else { unreachable!("it is an operator") };
        let (ty, op) = match speculation(self.source.snapshot, self.pc, i) {
            Speculation::Any => return self.generic(),
            Speculation::Int => {
                let (a, b) = (self.operand(x), self.operand(y));
                if [a, b].into_iter().any(|v| self.is_never(v, Tag::INTEGER)) {
                    return self.generic();
                }
                let a = self.guard(a, Tag::INTEGER);
                let b = if self.same(x, y) { a } else { self.guard(b, Tag::INTEGER) };
                let state = self.state();
                (Tag::INTEGER, Op::IntArith(operator, a, b, state))
            }
            Speculation::Float => {
                let (a, b) = (self.operand(x), self.operand(y));
                let wrong = |s: &Self, o: Operand, v: Value| {
                    matches!(o, Operand::Register(_)) && s.is_never(v, Tag::FLOAT)
                };
                if wrong(self, x, a) || wrong(self, y, b) {
                    return self.generic();
                }
                let a = self.float_operand(x, a);
                let b = if self.same(x, y) { a } else { self.float_operand(y, b) };
                (Tag::FLOAT, Op::FloatArith(operator, a, b))
            }
            Speculation::Number => {
                let (a, b) = (self.operand(x), self.operand(y));
                let ints = [a, b].map(|v| self.f.ty(v) == Type::Is(Tag::INTEGER));
                let never_ints = [a, b].map(|v| self.is_never(v, Tag::INTEGER));
                if operator.has_int() && ints == [true, true] {
                    return self.generic();
                }
                let numbers = [a, b].map(|v| match self.f.ty(v) {
                    Type::Is(tag) => tag == Tag::INTEGER || tag == Tag::FLOAT,
                    _ => true,
                });
                if numbers != [true, true] {
                    return self.generic();
                }
                if operator.has_int() && never_ints == [false, false] {
                    let state = self.state();
                    self.push(Op::GuardNotBothInt(a, b, state));
                }
                let (a, b) = (self.as_float(a), self.as_float(b));
                (Tag::FLOAT, Op::FloatArith(operator, a, b))
            }
        };
        self.set(i.ra(), Type::Is(ty), op);
    }

    /// Whether two operands are one.
    fn same(&self, x: Operand, y: Operand) -> bool {
        matches!((x, y), (Operand::Register(x), Operand::Register(y)) if x == y)
    }

    /// Whether a value is known not to have this tag.
    pub(super) fn is_never(&self, v: Value, tag: Tag) -> bool {
        self.f.ty(v).tag().is_some_and(|known| known != tag)
    }

    fn operand(&mut self, o: Operand) -> Value {
        match o {
            Operand::Register(r) => self.read(r),
            Operand::Constant(n) => self.constant(n),
            Operand::Integer(n) => self.integer(n),
        }
    }

    /// Returns an integer.
    pub(super) fn integer(&mut self, n: i64) -> Value {
        self.value(Type::Is(Tag::INTEGER), Op::Integer(n))
    }

    /// Returns an operand of an operator that has had floats in registers only.
    fn float_operand(&mut self, o: Operand, v: Value) -> Value {
        let constant = match o {
            Operand::Register(_) => return self.guard(v, Tag::FLOAT),
            Operand::Integer(n) => n as f64,
            Operand::Constant(n) => match self.source.proto.constants[n] {
                Constant::Integer(n) => n as f64,
                Constant::Float(f) => f,
                _ => unreachable!("the verifier has seen a number"),
            },
        };
        self.value(Type::Is(Tag::FLOAT), Op::Float(constant.to_bits()))
    }

    /// Returns a number as a float.
    fn as_float(&mut self, v: Value) -> Value {
        let float = Type::Is(Tag::FLOAT);
        match self.f.ty(v) {
            Type::Is(Tag::FLOAT) => v,
            Type::Is(_) => self.value(float, Op::ToFloat(v)),
            _ => {
                let state = self.state();
                self.value(float, Op::NumberToFloat(v, state))
            }
        }
    }
}
