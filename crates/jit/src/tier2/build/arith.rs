//! Builds arithmetic and bit operations.

use perilune_bytecode::feedback::operands as seen;
use perilune_runtime::value::Tag;

use super::Builder;
use crate::analysis::facts::{Speculation, speculation};
use crate::analysis::operation::Operand;
use crate::codegen::number::Operator;
use crate::entity::RegisterOperands;
use crate::tier2::ir::{Op, State, Type, Value};

impl Builder<'_> {
    /// Builds an operator; returns whether control continues after it.
    pub(super) fn arithmetic(&mut self, (operator, x, y): (Operator, Operand, Operand)) -> bool {
        let i = self.instr(self.pc);
        if self.has_handler() {
            let operands = [self.operand(x), self.operand(y)];
            return match self.handler_to_inline(&operands) {
                Some(handler) => self.value_of_handler(handler, &operands),
                None => self.generic_value(),
            };
        }
        let (ty, op) = match speculation(self.source.snapshot, self.pc, i) {
            Speculation::Any if self.has_met_integral_floats(operator) => {
                let (a, b) = (self.operand(x), self.operand(y));
                let are_numbers = [a, b].into_iter().all(|v| self.may_be_number(v));
                if !are_numbers {
                    return self.generic_value();
                }
                let a = self.as_int(a);
                let b = if self.same(x, y) { a } else { self.as_int(b) };
                let state = self.state();
                (Tag::INTEGER, Op::IntArith(operator, a, b, state))
            }
            Speculation::Any if self.has_met_numbers(operator) => {
                return self.number_arithmetic((operator, x, y));
            }
            Speculation::Any => return self.generic_value(),
            Speculation::Int => {
                let (a, b) = (self.operand(x), self.operand(y));
                if [a, b].into_iter().any(|v| self.is_never(v, Tag::INTEGER)) {
                    return self.generic_value();
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
                    return self.generic_value();
                }
                let a = self.float_operand(x, a);
                let b = if self.same(x, y) { a } else { self.float_operand(y, b) };
                (Tag::FLOAT, self.float_arithmetic(operator, a, b))
            }
            Speculation::Number => {
                let (a, b) = (self.operand(x), self.operand(y));
                let ints = [a, b].map(|v| self.f.consult(v) == Type::Is(Tag::INTEGER));
                let never_ints = [a, b].map(|v| self.is_never(v, Tag::INTEGER));
                if operator.has_int() && ints == [true, true] {
                    return self.generic_value();
                }
                if ![a, b].into_iter().all(|v| self.may_be_number(v)) {
                    return self.generic_value();
                }
                if operator.has_int() && never_ints == [false, false] {
                    let state = self.state();
                    self.push(Op::GuardNotBothInt(a, b, state));
                }
                self.write_float(operator, a, b);
                return true;
            }
        };
        let v = self.value(Type::Is(ty), op);
        self.note_sum(v, op);
        self.write(i.ra(), v);
        true
    }

    /// Returns the operation for an operator on floats. If the exact result is the same, a sum is
    /// used instead of a product, and a product instead of a quotient, since these are faster.
    fn float_arithmetic(&mut self, operator: Operator, a: Value, b: Value) -> Op {
        let [x, y] = [a, b].map(|v| self.constants.number(v));
        match (operator, x, y) {
            (Operator::Mul, _, Some(2.0)) => Op::FloatArith(Operator::Add, a, a),
            (Operator::Mul, Some(2.0), _) => Op::FloatArith(Operator::Add, b, b),
            (Operator::Div, _, Some(divisor)) if has_exact_inverse(divisor) => {
                let inverse = self.float(divisor.recip());
                Op::FloatArith(Operator::Mul, a, inverse)
            }
            _ => Op::FloatArith(operator, a, b),
        }
    }

    /// Builds an operator on numbers of both kinds; returns whether control continues after it.
    fn number_arithmetic(&mut self, (operator, x, y): (Operator, Operand, Operand)) -> bool {
        let (a, b) = (self.operand(x), self.operand(y));
        if ![a, b].into_iter().all(|v| self.may_be_number(v)) {
            return self.generic_value();
        }
        let (a, b) = (self.refined(a), self.refined(b));
        let is = |v, tag| self.f.consult(v) == Type::Is(tag);
        let target = self.instr(self.pc).ra();
        if is(a, Tag::INTEGER) && is(b, Tag::INTEGER) && operator.has_int() {
            let state = self.state();
            self.set(target, Type::Is(Tag::INTEGER), Op::IntArith(operator, a, b, state));
        } else if is(a, Tag::FLOAT) || is(b, Tag::FLOAT) || !operator.has_int() {
            self.write_float(operator, a, b);
        } else {
            let state = self.state();
            self.set(target, Type::Any, Op::NumberArith(operator, a, b, state));
        }
        true
    }

    /// Builds an operator on numbers whose result is a float.
    fn write_float(&mut self, operator: Operator, a: Value, b: Value) {
        let x = self.as_float(a);
        let y = if a == b { x } else { self.as_float(b) };
        let op = self.float_arithmetic(operator, x, y);
        let v = self.value(Type::Is(Tag::FLOAT), op);
        if operator == Operator::Div
            && self.f.consult(a) == Type::Is(Tag::INTEGER)
            && let Some(divisor) = self.constants.number(y)
            && (2.0..=2_f64.powi(53)).contains(&divisor)
            && divisor.fract() == 0.0
        {
            self.constants.quotients.insert(v, (a, divisor as u64));
        }
        self.write(self.instr(self.pc).ra(), v);
    }

    /// Returns whether an operator that is built for numbers of both kinds has encountered only
    /// numbers.
    fn has_met_numbers(&self, operator: Operator) -> bool {
        use Operator::*;
        matches!(operator, Add | Sub | Mul | Mod | IDiv | Neg | Div | Pow)
            && self.has_met_only_numbers()
    }

    /// Returns whether the operands of the instruction have all been numbers.
    pub(super) fn has_met_only_numbers(&self) -> bool {
        let snapshot = self.source.snapshot;
        let met = snapshot.cell(self.pc) & seen::ALL;
        !snapshot.general && met != 0 && met & seen::OTHER == 0
    }

    /// Executes the instruction by generic code, after which control continues.
    fn generic_value(&mut self) -> bool {
        self.generic();
        true
    }

    /// Returns whether the instruction is a bit operation that has seen only numbers, though they
    /// may be floats.
    fn has_met_integral_floats(&self, operator: Operator) -> bool {
        operator.has_int() && !operator.has_float() && self.has_met_only_numbers()
    }

    /// Returns whether a value may be a number.
    pub(super) fn may_be_number(&self, v: Value) -> bool {
        self.f.consult(v).tag().is_none_or(|tag| tag == Tag::INTEGER || tag == Tag::FLOAT)
    }

    /// Returns whether two operands are the same register.
    fn same(&self, x: Operand, y: Operand) -> bool {
        matches!((x, y), (Operand::Reg(x), Operand::Reg(y)) if x == y)
    }

    /// Returns whether a value is known not to have this tag.
    pub(super) fn is_never(&self, v: Value, tag: Tag) -> bool {
        self.f.consult(v).tag().is_some_and(|known| known != tag)
    }

    fn operand(&mut self, o: Operand) -> Value {
        match o {
            Operand::Reg(r) => self.read(r),
            Operand::Int(n) => self.integer(n),
            Operand::Float(f) => self.float(f),
        }
    }

    /// Returns an integer constant.
    pub(super) fn integer(&mut self, n: i64) -> Value {
        self.value(Type::Is(Tag::INTEGER), Op::Integer(n))
    }

    /// Returns an operand as a float, for an operator whose register operands have all been floats.
    fn float_operand(&mut self, o: Operand, v: Value) -> Value {
        match o {
            Operand::Reg(_) => self.guard(v, Tag::FLOAT),
            Operand::Int(n) => self.float(n as f64),
            Operand::Float(f) => self.float(f),
        }
    }

    /// Returns a float constant.
    pub(super) fn float(&mut self, f: f64) -> Value {
        self.value(Type::Is(Tag::FLOAT), Op::Float(f.to_bits()))
    }

    /// Returns the integer that is equal to a number.
    pub(super) fn as_int(&mut self, v: Value) -> Value {
        let int = Type::Is(Tag::INTEGER);
        if self.f.consult(v) == int {
            return v;
        }
        self.converted(v, Tag::INTEGER, Op::NumberToInt)
    }

    /// Returns the result of a conversion of a number that may exit. Each conversion is built only
    /// once.
    fn converted(&mut self, v: Value, to: Tag, op: impl Fn(Value, State) -> Op) -> Value {
        let origin = self.f.origin(v);
        if let Some(number) = self.known.converted(origin, to) {
            return number;
        }
        let state = self.state();
        let number = self.value(Type::Is(to), op(v, state));
        self.known.note_converted(origin, to, number);
        number
    }

    /// Returns a number as a float.
    pub(super) fn as_float(&mut self, v: Value) -> Value {
        let float = Type::Is(Tag::FLOAT);
        match self.f.consult(v) {
            Type::Is(Tag::FLOAT) => v,
            Type::Is(_) => match self.constants.integer(v) {
                Some(n) => self.float(n as f64),
                None => self.value(float, Op::ToFloat(v)),
            },
            _ => self.converted(v, Tag::FLOAT, Op::NumberToFloat),
        }
    }
}

/// Returns whether a number is a power of two whose inverse is a normal number.
fn has_exact_inverse(f: f64) -> bool {
    const FRACTION: u64 = (1 << (f64::MANTISSA_DIGITS - 1)) - 1;
    f.is_normal() && f.recip().is_normal() && f.to_bits() & FRACTION == 0
}
