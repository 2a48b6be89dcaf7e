//! Arithmetic and bit operations.

use perilune_runtime::value::Tag;

use super::Builder;
use crate::analysis::facts::{Speculation, speculation};
use crate::analysis::operation::Operand;
use crate::codegen::number::Operator;
use crate::entity::RegisterOperands;
use crate::tier2::ir::{Op, Type, Value};

impl Builder<'_> {
    /// An operator.
    pub(super) fn arithmetic(&mut self, (operator, x, y): (Operator, Operand, Operand)) {
        let i = self.instr(self.pc);
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
                    matches!(o, Operand::Reg(_)) && s.is_never(v, Tag::FLOAT)
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
        matches!((x, y), (Operand::Reg(x), Operand::Reg(y)) if x == y)
    }

    /// Whether a value is known not to have this tag.
    pub(super) fn is_never(&self, v: Value, tag: Tag) -> bool {
        self.f.ty(v).tag().is_some_and(|known| known != tag)
    }

    fn operand(&mut self, o: Operand) -> Value {
        match o {
            Operand::Reg(r) => self.read(r),
            Operand::Int(n) => self.integer(n),
            Operand::Float(f) => self.float(f),
        }
    }

    /// Returns an integer.
    pub(super) fn integer(&mut self, n: i64) -> Value {
        self.value(Type::Is(Tag::INTEGER), Op::Integer(n))
    }

    /// Returns an operand of an operator that has had floats in registers only.
    fn float_operand(&mut self, o: Operand, v: Value) -> Value {
        match o {
            Operand::Reg(_) => self.guard(v, Tag::FLOAT),
            Operand::Int(n) => self.float(n as f64),
            Operand::Float(f) => self.float(f),
        }
    }

    /// Returns a float.
    pub(super) fn float(&mut self, f: f64) -> Value {
        self.value(Type::Is(Tag::FLOAT), Op::Float(f.to_bits()))
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
