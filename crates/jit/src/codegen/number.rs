//! Operators on numbers, as Lua defines them.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F64, I32, I64};
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, InstructionData, Value};
use perilune_runtime::meta::Event;
use perilune_runtime::value::Tag;

use super::Emitter;
use super::available::constant;
use super::value::Known;

/// Integers of smaller magnitude are exact as floats, and so are remainders of such floats.
const LIMIT: f64 = (1_u64 << 53) as f64;

/// An operator on numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operator {
    Add,
    Sub,
    Mul,
    Mod,
    Pow,
    Div,
    IDiv,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Neg,
    Not,
}

impl Operator {
    /// Returns the metamethod.
    pub(crate) fn event(self) -> Event {
        match self {
            Operator::Add => Event::Add,
            Operator::Sub => Event::Sub,
            Operator::Mul => Event::Mul,
            Operator::Mod => Event::Mod,
            Operator::Pow => Event::Pow,
            Operator::Div => Event::Div,
            Operator::IDiv => Event::IDiv,
            Operator::And => Event::BAnd,
            Operator::Or => Event::BOr,
            Operator::Xor => Event::BXor,
            Operator::Shl => Event::Shl,
            Operator::Shr => Event::Shr,
            Operator::Neg => Event::Unm,
            Operator::Not => Event::BNot,
        }
    }

    /// Returns whether it computes an integer from integers.
    pub(crate) fn has_int(self) -> bool {
        !matches!(self, Operator::Pow | Operator::Div)
    }

    /// Returns whether it computes a float from floats.
    pub(crate) fn has_float(self) -> bool {
        use Operator::*;
        matches!(self, Add | Sub | Mul | Mod | Pow | Div | IDiv | Neg)
    }
}

impl Emitter<'_> {
    /// Emits an operator on integers. `divisor` is the right operand, if it is a constant. Branches
    /// to `slow` where Lua raises an error.
    pub(crate) fn int_operator(
        &mut self,
        operator: Operator,
        x: Value,
        y: Value,
        constant: Option<i64>,
        slow: Block,
    ) -> Value {
        match operator {
            Operator::Add => self.b.ins().iadd(x, y),
            Operator::Sub => self.b.ins().isub(x, y),
            Operator::Mul => self.b.ins().imul(x, y),
            Operator::And => self.b.ins().band(x, y),
            Operator::Or => self.b.ins().bor(x, y),
            Operator::Xor => self.b.ins().bxor(x, y),
            Operator::Neg => self.b.ins().ineg(x),
            Operator::Not => self.b.ins().bnot(x),
            Operator::Shl | Operator::Shr => self.shift(operator, x, y, constant),
            Operator::Mod | Operator::IDiv => self.floor_division(operator, x, y, constant, slow),
            Operator::Pow | Operator::Div => unreachable!("only of floats"),
        }
    }

    /// Emits a division that rounds down, or the remainder of one.
    fn floor_division(
        &mut self,
        operator: Operator,
        x: Value,
        y: Value,
        constant: Option<i64>,
        slow: Block,
    ) -> Value {
        if let Some(divisor) = constant.filter(|&n| n > 0) {
            return self.floor_division_by(operator, x, divisor as u64);
        }
        let done = self.block();
        self.b.append_block_param(done, I64);
        if constant.is_none() {
            self.narrow_division(operator, x, y, slow, done);
        }
        if !matches!(constant, Some(n) if n != 0 && n != -1) {
            // 0 is an error, and -1 overflows
            let near = self.b.ins().iadd_imm_s(y, 1);
            let special = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, near, 1);
            let (on, one) = (self.block(), self.block());
            let other = self.cold_block();
            self.branch(special, other, on);
            self.switch_to(other);
            self.branch(near, slow, one);
            self.switch_to(one);
            let v = if operator == Operator::Mod { self.int(0) } else { self.b.ins().ineg(x) };
            self.jump_with(done, v);
            self.switch_to(on);
        }
        let (quotient, rest) = if operator == Operator::Mod {
            (None, self.b.ins().srem(x, y))
        } else {
            let quotient = self.b.ins().sdiv(x, y);
            let product = self.b.ins().imul(quotient, y);
            (Some(quotient), self.b.ins().isub(x, product))
        };
        let signs = self.b.ins().bxor(rest, y);
        let negative = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, signs, 0);
        let some = self.b.ins().icmp_imm_s(IntCC::NotEqual, rest, 0);
        let adjust = self.b.ins().band(negative, some);
        let v = if let Some(quotient) = quotient {
            let other = self.b.ins().iadd_imm_s(quotient, -1);
            self.b.ins().select(adjust, other, quotient)
        } else {
            let other = self.b.ins().iadd(rest, y);
            self.b.ins().select(adjust, other, rest)
        };
        self.jump_with(done, v);
        self.switch_to(done);
        self.b.block_params(done)[0]
    }

    /// Emits a jump to `done` with the quotient or the remainder if both operands have 32 bits and
    /// are not negative: processors divide these in about half the time, older ones in a quarter.
    fn narrow_division(
        &mut self,
        operator: Operator,
        x: Value,
        y: Value,
        slow: Block,
        done: Block,
    ) {
        let bits = self.b.ins().bor(x, y);
        let upper = self.b.ins().ushr_imm_u(bits, 32);
        let (narrow, wide) = (self.block(), self.block());
        self.branch(upper, wide, narrow);
        self.switch_to(narrow);
        self.guard(y, slow);
        let (x, y) = (self.b.ins().ireduce(I32, x), self.b.ins().ireduce(I32, y));
        let v = match operator {
            Operator::Mod => self.b.ins().urem(x, y),
            _ => self.b.ins().udiv(x, y),
        };
        let v = self.b.ins().uextend(I64, v);
        self.jump_with(done, v);
        self.switch_to(wide);
    }

    /// Emits [`Emitter::floor_division`] by a positive constant, without a division.
    fn floor_division_by(&mut self, operator: Operator, x: Value, divisor: u64) -> Value {
        let is_mod = operator == Operator::Mod;
        if divisor.is_power_of_two() {
            return if is_mod {
                self.b.ins().band_imm_u(x, divisor as i64 - 1)
            } else {
                self.b.ins().sshr_imm_u(x, i64::from(divisor.trailing_zeros()))
            };
        }
        // The complement of a negative dividend is not negative, and its quotient is the complement
        // of the one that is rounded down.
        let sign = self.b.ins().sshr_imm_u(x, 63);
        let magnitude = self.b.ins().bxor(x, sign);
        let quotient = self.quotient(magnitude, divisor);
        let quotient = self.b.ins().bxor(quotient, sign);
        if is_mod { self.rest(x, quotient, divisor) } else { quotient }
    }

    /// Emits the division of an integer below 2^63 that is not negative by a constant that is no
    /// power of two: a multiplication by the divisor's inverse (Granlund and Montgomery, *Division
    /// by Invariant Integers using Multiplication*, 1994). With 63 bits in the dividend, 64 bits of
    /// the inverse suffice.
    fn quotient(&mut self, x: Value, divisor: u64) -> Value {
        debug_assert!(!divisor.is_power_of_two(), "its inverse takes 65 bits");
        let bits = u64::BITS - divisor.leading_zeros();
        let inverse = (1_u128 << (63 + bits)).div_ceil(u128::from(divisor));
        let inverse = self.int(inverse as u64 as i64);
        let high = self.b.ins().umulhi(x, inverse);
        self.b.ins().ushr_imm_u(high, i64::from(bits) - 1)
    }

    /// Emits `math.floor(x / divisor)` of an integer. The quotient of an integer up to 2^53 is the
    /// same as that of an integer division: it is at least `1 / divisor` below the next integer,
    /// unless it is one, and is rounded by less than that; or by as much if the divisor is a power
    /// of two, but then the division is exact.
    pub(crate) fn floor_quotient(&mut self, x: Value, divisor: u64) -> Value {
        const EXACT: i64 = 1 << f64::MANTISSA_DIGITS;
        let (whole, wide) = (self.block(), self.cold_block());
        let (done, result) = self.block_of_word();
        let near = self.b.ins().iadd_imm_s(x, EXACT);
        let is_exact = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, near, 2 * EXACT);
        self.branch(is_exact, whole, wide);
        self.switch_to(whole);
        let v = self.floor_division_by(Operator::IDiv, x, divisor);
        self.jump_with(done, v);
        self.switch_to(wide);
        let x = self.int_to_float(x);
        let divisor = self.b.ins().f64const(divisor as f64);
        let quotient = self.b.ins().fdiv(x, divisor);
        let floor = self.b.ins().floor(quotient);
        let v = self.b.ins().fcvt_to_sint_sat(I64, floor);
        self.jump_with(done, v);
        self.switch_to(done);
        result
    }

    /// Emits the remainder of a division by a constant.
    fn rest(&mut self, x: Value, quotient: Value, divisor: u64) -> Value {
        let divisor = self.int(divisor as i64);
        let product = self.b.ins().imul(quotient, divisor);
        self.b.ins().isub(x, product)
    }

    fn shift(&mut self, operator: Operator, x: Value, y: Value, constant: Option<i64>) -> Value {
        if let Some(n) = constant {
            let left = if operator == Operator::Shl { n } else { n.wrapping_neg() };
            return match left {
                0..64 => self.b.ins().ishl_imm_u(x, left),
                -63..0 => self.b.ins().ushr_imm_u(x, -left),
                _ => self.int(0),
            };
        }
        // the other direction, by the negated distance
        let back = self.b.ins().ineg(y);
        let (left, right) = if operator == Operator::Shl { (y, back) } else { (back, y) };
        let zero = self.int(0);
        let is_left = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, left, 64);
        let is_right = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, right, 64);
        let shifted_left = self.b.ins().ishl(x, left);
        let shifted_right = self.b.ins().ushr(x, right);
        let otherwise = self.b.ins().select(is_right, shifted_right, zero);
        self.b.ins().select(is_left, shifted_left, otherwise)
    }

    /// Emits an operator on floats.
    pub(crate) fn float_operator(&mut self, operator: Operator, x: Value, y: Value) -> Value {
        match operator {
            Operator::Add => self.b.ins().fadd(x, y),
            Operator::Sub => self.b.ins().fsub(x, y),
            Operator::Mul => self.b.ins().fmul(x, y),
            Operator::Div => self.b.ins().fdiv(x, y),
            Operator::Neg => self.b.ins().fneg(x),
            Operator::IDiv => {
                let q = self.b.ins().fdiv(x, y);
                self.b.ins().floor(q)
            }
            Operator::Pow => self.call_float_function(self.body.calls.pow as usize, &[x, y]),
            Operator::Mod => self.float_mod(x, y),
            _ => unreachable!("only of integers"),
        }
    }

    /// Emits the remainder of floats. A dividend below 2^53 that is not negative is divided inline
    /// if both operands are integral, or if the divisor is a constant power of two. All others are
    /// left to the runtime.
    fn float_mod(&mut self, x: Value, y: Value) -> Value {
        let constant = self.float_constant(y);
        let (done, result) = self.block_of(&[F64]);
        let slow = self.cold_block();
        let divides_exactly = |y: &f64| (1e-9..LIMIT).contains(y) && y.to_bits() << 12 == 0;
        if let Some(divisor) = constant.filter(divides_exactly) {
            // Neither the division by a power of two nor the product is rounded.
            self.guard_small_float(x, slow);
            let inverse = self.b.ins().f64const(divisor.recip());
            let quotient = self.b.ins().fmul(x, inverse);
            let whole = self.b.ins().floor(quotient);
            let product = self.b.ins().fmul(whole, y);
            let rest = self.b.ins().fsub(x, product);
            self.jump_with(done, rest);
        } else if constant.is_none_or(|y| (1.0..LIMIT).contains(&y) && y.fract() == 0.0) {
            let dividend = self.small_integral_float(x, slow);
            let rest = match constant {
                Some(y) => {
                    let quotient = self.quotient(dividend, y as u64);
                    self.rest(dividend, quotient, y as u64)
                }
                None => {
                    let divisor = self.small_integral_float(y, slow);
                    self.guard(divisor, slow);
                    self.b.ins().urem(dividend, divisor)
                }
            };
            let rest = self.b.ins().fcvt_from_sint(F64, rest);
            self.jump_with(done, rest);
        } else {
            self.jump(slow);
        }
        self.switch_to(slow);
        let float_mod = self.body.calls.float_mod as usize;
        let (x, y) = (self.float_bits(x), self.float_bits(y));
        let (rest, _) = self.quiet_leaf(float_mod, &[x, y]);
        let rest = self.bits_float(rest);
        self.jump_with(done, rest);
        self.switch_to(done);
        result[0]
    }

    /// Branches to `other` unless a float is at least 0, not -0, and less than 2^53.
    fn guard_small_float(&mut self, x: Value, other: Block) {
        let bits = self.float_bits(x);
        let limit = self.int(LIMIT.to_bits() as i64);
        let small = self.b.ins().icmp(IntCC::UnsignedLessThan, bits, limit);
        self.guard(small, other);
    }

    /// Converts a float to the equal integer; branches to `other` unless there is one, and it is at
    /// least 0 and less than 2^53.
    fn small_integral_float(&mut self, x: Value, other: Block) -> Value {
        self.guard_small_float(x, other);
        let int = self.b.ins().fcvt_to_sint_sat(I64, x);
        let float = self.b.ins().fcvt_from_sint(F64, int);
        let integral = self.b.ins().fcmp(FloatCC::Equal, float, x);
        self.guard(integral, other);
        int
    }

    /// Returns the float that a value is, if it is a constant.
    fn float_constant(&self, v: Value) -> Option<f64> {
        let inst = self.b.func.dfg.value_def(v).inst()?;
        match self.b.func.dfg.insts[inst] {
            InstructionData::UnaryIeee64 { imm, .. } => Some(f64::from_bits(imm.bits())),
            _ => None,
        }
    }

    /// Converts an integer.
    pub(crate) fn int_to_float(&mut self, int: Value) -> Value {
        match constant(self.b.func, int) {
            Some(n) => self.b.ins().f64const(n as f64),
            None => self.b.ins().fcvt_from_sint(F64, int),
        }
    }

    /// Returns a number as a float, given its payload as an integer and as a float; branches to
    /// `slow` if it is not a number, or returns `None` if it never is.
    pub(crate) fn number_to_float(
        &mut self,
        tag: Known,
        bits: Value,
        float: Value,
        slow: Block,
    ) -> Option<Value> {
        self.float_or(tag, float, slow, |e| e.int_to_float(bits))
    }

    /// As [`Emitter::number_to_float`], but branches to `slow` also if an integer is so large that
    /// a float may not be equal to it.
    pub(crate) fn number_to_equal_float(
        &mut self,
        tag: Known,
        bits: Value,
        float: Value,
        slow: Block,
    ) -> Option<Value> {
        self.number_to_small_float(tag, bits, float, 1 << f64::MANTISSA_DIGITS, slow)
    }

    /// As [`Emitter::number_to_float`], but branches to `slow` also if an integer has a larger
    /// magnitude than `largest`.
    pub(crate) fn number_to_small_float(
        &mut self,
        tag: Known,
        bits: Value,
        float: Value,
        largest: i64,
        slow: Block,
    ) -> Option<Value> {
        self.float_or(tag, float, slow, |e| {
            let near = e.b.ins().iadd_imm_s(bits, largest);
            let limit = e.int(2 * largest);
            let fits = e.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, near, limit);
            e.guard(fits, slow);
            e.int_to_float(bits)
        })
    }

    /// Returns a float, or the result of `convert` for an integer; branches to `slow` for other
    /// values, or returns `None` if the value is never a number.
    fn float_or(
        &mut self,
        tag: Known,
        float: Value,
        slow: Block,
        convert: impl FnOnce(&mut Self) -> Value,
    ) -> Option<Value> {
        match tag {
            Known::Tag(Tag::FLOAT) => Some(float),
            Known::Tag(Tag::INTEGER) => Some(convert(self)),
            Known::Tag(_) => None,
            Known::Value(t) => {
                let (integer, on) = (self.block(), self.block());
                let check = self.block();
                self.b.append_block_param(on, F64);
                let is_float = self.is_tag(t, Tag::FLOAT);
                self.b.ins().brif(is_float, on, &[BlockArg::from(float)], check, &[]);
                self.switch_to(check);
                let is_int = self.is_tag(t, Tag::INTEGER);
                self.branch(is_int, integer, slow);
                self.switch_to(integer);
                let v = convert(self);
                self.jump_with(on, v);
                self.switch_to(on);
                Some(self.b.block_params(on)[0])
            }
        }
    }

    /// Returns a number as the integer that is equal to it, given its payload as an integer and as
    /// a float; branches to `slow` if there is none, or returns `None` if there never is.
    pub(crate) fn number_to_int(
        &mut self,
        tag: Known,
        bits: Value,
        float: Value,
        slow: Block,
    ) -> Option<Value> {
        self.integer_of(tag, bits, slow, |e| e.float_to_int(float, slow))
    }

    /// Returns the limit of a loop over integers as an integer, clipped as FORPREP does. Branches
    /// to `slow` if it is not a number, if it is NaN, or if it is beyond all indexes of such a
    /// loop, which then does not run. `None` if it is never a number.
    pub(crate) fn loop_limit(
        &mut self,
        tag: Known,
        bits: Value,
        float: Value,
        ascends: bool,
        slow: Block,
    ) -> Option<Value> {
        /// The least integer, and the negative of the first float that is too large.
        const LEAST: f64 = -9_223_372_036_854_775_808.0;
        self.integer_of(tag, bits, slow, |e| {
            let (cc, bound) = match ascends {
                true => (FloatCC::GreaterThanOrEqual, LEAST),
                false => (FloatCC::LessThan, -LEAST),
            };
            let bound = e.b.ins().f64const(bound);
            let is_inside = e.b.ins().fcmp(cc, float, bound);
            e.guard(is_inside, slow);
            let whole = if ascends { e.b.ins().floor(float) } else { e.b.ins().ceil(float) };
            e.b.ins().fcvt_to_sint_sat(I64, whole)
        })
    }

    /// Returns a number as an integer, given its tag and its payload: the integer itself, or the
    /// result of `convert` for a float. Branches to `slow` if it is not a number; returns `None` if
    /// it never is a number.
    fn integer_of(
        &mut self,
        tag: Known,
        bits: Value,
        slow: Block,
        convert: impl FnOnce(&mut Self) -> Value,
    ) -> Option<Value> {
        match tag {
            Known::Tag(Tag::INTEGER) => Some(bits),
            Known::Tag(Tag::FLOAT) => Some(convert(self)),
            Known::Tag(_) => None,
            Known::Value(t) => {
                let (float, on) = (self.block(), self.block());
                let check = self.block();
                self.b.append_block_param(on, I64);
                let is_int = self.is_tag(t, Tag::INTEGER);
                self.b.ins().brif(is_int, on, &[BlockArg::from(bits)], check, &[]);
                self.switch_to(check);
                let is_float = self.is_tag(t, Tag::FLOAT);
                self.branch(is_float, float, slow);
                self.switch_to(float);
                let v = convert(self);
                self.jump_with(on, v);
                self.switch_to(on);
                Some(self.b.block_params(on)[0])
            }
        }
    }

    /// Returns the integer that is equal to a float; branches to `slow` if there is none.
    pub(crate) fn float_to_int(&mut self, float: Value, slow: Block) -> Value {
        let int = self.b.ins().fcvt_to_sint_sat(I64, float);
        let back = self.b.ins().fcvt_from_sint(F64, int);
        let is_same = self.b.ins().fcmp(FloatCC::Equal, back, float);
        self.guard(is_same, slow);
        // 2^63 becomes the greatest integer, which becomes 2^63 again
        let is_small = self.b.ins().icmp_imm_s(IntCC::NotEqual, int, i64::MAX);
        self.guard(is_small, slow);
        int
    }

    /// Returns the number of iterations after the first of a loop over integers; goes to `skip` if
    /// the loop has no iterations, and to `slow` if its step is 0.
    pub(crate) fn loop_rounds(
        &mut self,
        init: Value,
        limit: Value,
        step: Value,
        skip: Block,
        slow: Block,
    ) -> Value {
        match self.constant_of(step) {
            Some(1) => return self.distance_up(init, limit, skip),
            Some(-1) => return self.distance_down(init, limit, skip),
            Some(n) if n > 0 => {
                let distance = self.distance_up(init, limit, skip);
                return self.b.ins().udiv(distance, step);
            }
            _ => {}
        }
        let (some, upwards, downwards) = (self.block(), self.block(), self.block());
        let (done, rounds) = self.block_of_word();
        self.branch(step, some, slow);
        self.switch_to(some);
        let positive = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThan, step, 0);
        self.branch(positive, upwards, downwards);
        self.switch_to(upwards);
        let distance = self.distance_up(init, limit, skip);
        let count = self.b.ins().udiv(distance, step);
        self.jump_with(done, count);
        self.switch_to(downwards);
        let distance = self.distance_down(init, limit, skip);
        // as an unsigned number, this is correct for the least integer too
        let size = self.b.ins().ineg(step);
        let count = self.b.ins().udiv(distance, size);
        self.jump_with(done, count);
        self.switch_to(done);
        rounds
    }

    fn distance_up(&mut self, init: Value, limit: Value, skip: Block) -> Value {
        let go = self.block();
        let none = self.b.ins().icmp(IntCC::SignedGreaterThan, init, limit);
        self.branch(none, skip, go);
        self.switch_to(go);
        self.b.ins().isub(limit, init)
    }

    fn distance_down(&mut self, init: Value, limit: Value, skip: Block) -> Value {
        let go = self.block();
        let none = self.b.ins().icmp(IntCC::SignedLessThan, init, limit);
        self.branch(none, skip, go);
        self.switch_to(go);
        self.b.ins().isub(init, limit)
    }

    /// Advances a loop over floats; returns the next index, and whether there is a next iteration.
    pub(crate) fn float_step(&mut self, index: Value, limit: Value, step: Value) -> (Value, Value) {
        let next = self.b.ins().fadd(index, step);
        let zero = self.b.ins().f64const(0.0);
        let up = self.b.ins().fcmp(FloatCC::GreaterThan, step, zero);
        let below = self.b.ins().fcmp(FloatCC::LessThanOrEqual, next, limit);
        let above = self.b.ins().fcmp(FloatCC::LessThanOrEqual, limit, next);
        (next, self.b.ins().select(up, below, above))
    }

    /// Returns the constant that a value is, if `iconst` defines it.
    pub(super) fn constant_of(&self, v: Value) -> Option<i64> {
        constant(self.b.func, v)
    }
}
