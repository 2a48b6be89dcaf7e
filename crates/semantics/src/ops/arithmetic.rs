//! Arithmetic and bitwise operators.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F64, I64};
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, MemFlagsData, Value};
use perilune_bytecode::feedback::operands as seen;
use perilune_runtime::layout;
use perilune_runtime::value::Tag;

use crate::emitter::Emitter;
use crate::form::{Field, Form, Place};
use crate::runtime::Runtime;
use crate::speculation::Speculation;

/// The location of an operand.
#[derive(Clone, Copy)]
pub(super) enum Operand {
    /// In a register.
    Register(Field),
    /// Among the constants.
    Constant(Field),
    /// An integer in the instruction.
    Immediate(Field),
}

/// An operator with an integer and a float version.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Numeric {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
}

/// An operator on integers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Bitwise {
    /// `&`
    And,
    /// `|`
    Or,
    /// `~`
    Xor,
    /// `<<`
    ShiftLeft,
    /// `>>`
    ShiftRight,
}

/// An operand that has been read.
#[derive(Clone, Copy)]
enum Read {
    /// A value in memory, and its tag.
    Value(Place, Value),
    /// An integer.
    Integer(Value),
}

impl<F: Form> Emitter<'_, F> {
    /// Returns an operand that is assumed to be an integer.
    fn assumed_integer(&mut self, operand: Operand) -> Value {
        match operand {
            Operand::Register(field) => {
                let at = self.register(field);
                let tag = self.tag(at);
                self.guard_tag(tag, Tag::INTEGER);
                self.bits(at)
            }
            // A constant of another kind has no such variant.
            Operand::Constant(field) => {
                let at = self.constant(field);
                self.bits(at)
            }
            Operand::Immediate(field) => self.form.immediate(&mut self.b, field),
        }
    }

    /// Returns an operand that is assumed to be a float, or an integer constant.
    pub(super) fn assumed_float(&mut self, operand: Operand) -> Value {
        match operand {
            Operand::Register(field) => {
                if let Some(f) = self.form.carried(field) {
                    return f;
                }
                let at = self.register(field);
                let tag = self.tag(at);
                self.guard_tag(tag, Tag::FLOAT);
                self.float(at)
            }
            Operand::Constant(field) => {
                let at = self.constant(field);
                if self.form.speculation() == Speculation::Floats {
                    return self.float(at);
                }
                let n = self.bits(at);
                self.b.ins().fcvt_from_sint(F64, n)
            }
            Operand::Immediate(field) => {
                let n = self.number(field);
                self.b.ins().fcvt_from_sint(F64, n)
            }
        }
    }

    /// Ends an instruction whose operands are assumed to be floats.
    fn float_result(&mut self, f: Value) {
        let to = self.register(Field::A);
        self.put_tagged(to, f, Tag::FLOAT);
        self.form.carry(&mut self.b, f);
    }

    fn read(&mut self, operand: Operand) -> Read {
        let place = match operand {
            Operand::Register(field) => self.register(field),
            Operand::Constant(field) => self.constant(field),
            Operand::Immediate(field) => return Read::Integer(self.number(field)),
        };
        let tag = self.tag(place);
        Read::Value(place, tag)
    }

    /// Continues in a new block if the operand is an integer, and in `other` if not.
    fn check_integer(&mut self, v: Read, other: cranelift_codegen::ir::Block) {
        if let Read::Value(_, tag) = v {
            let c = self.has_tag(tag, Tag::INTEGER);
            self.check(c, other);
        }
    }

    fn integer(&mut self, v: Read) -> Value {
        match v {
            Read::Value(place, _) => self.bits(place),
            Read::Integer(n) => n,
        }
    }

    /// Returns an integer operand as a float.
    fn converted(&mut self, v: Read) -> Value {
        let n = self.integer(v);
        self.b.ins().fcvt_from_sint(F64, n)
    }

    /// Continues in a new block with two numbers as floats, after recording their kinds. For other
    /// operands the runtime executes the instruction. `integers` says whether both may be integers.
    fn floats(&mut self, x: Read, y: Read, integers: bool) -> (Value, Value) {
        let joined = self.block();
        let (a, b) =
            (self.b.append_block_param(joined, F64), self.b.append_block_param(joined, F64));
        // Here x is a float.
        if let Read::Value(px, tx) = x {
            let not = self.cold();
            let c = self.has_tag(tx, Tag::FLOAT);
            self.check(c, not);
            match y {
                Read::Value(py, ty) => {
                    let mixed = self.cold();
                    let c = self.has_tag(ty, Tag::FLOAT);
                    self.check(c, mixed);
                    self.note(seen::FLOAT);
                    let (fx, fy) = (self.float(px), self.float(py));
                    self.b.ins().jump(joined, &[BlockArg::from(fx), BlockArg::from(fy)]);
                    self.switch(mixed);
                    self.guard_tag(ty, Tag::INTEGER);
                }
                Read::Integer(_) => {}
            }
            self.note(seen::MIXED);
            let (fx, fy) = (self.float(px), self.converted(y));
            self.b.ins().jump(joined, &[BlockArg::from(fx), BlockArg::from(fy)]);
            self.switch(not);
            self.guard_tag(tx, Tag::INTEGER);
        }
        // Here x is an integer.
        match y {
            Read::Value(py, ty) => {
                let other = self.cold();
                let c = self.has_tag(ty, Tag::FLOAT);
                self.check(c, other);
                self.note(seen::MIXED);
                let (fx, fy) = (self.converted(x), self.float(py));
                self.b.ins().jump(joined, &[BlockArg::from(fx), BlockArg::from(fy)]);
                self.switch(other);
                if integers {
                    self.guard_tag(ty, Tag::INTEGER);
                    self.note(seen::MIXED);
                    let (fx, fy) = (self.converted(x), self.converted(y));
                    self.b.ins().jump(joined, &[BlockArg::from(fx), BlockArg::from(fy)]);
                } else {
                    self.leave();
                }
            }
            Read::Integer(_) => self.leave(),
        }
        self.switch(joined);
        (a, b)
    }

    fn result(&mut self, bits: Value, tag: Tag) {
        let to = self.register(Field::A);
        self.put_tagged(to, bits, tag);
        self.next();
    }

    /// Returns the values of two integers; goes to `other` if one of them is not an integer.
    fn integers(&mut self, x: Read, y: Read, other: Block) -> (Value, Value) {
        self.check_integer(x, other);
        self.check_integer(y, other);
        self.note(seen::INT);
        (self.integer(x), self.integer(y))
    }

    /// Emits `R[A]` := x op y.
    pub(super) fn arithmetic(&mut self, op: Numeric, x: Operand, y: Operand) {
        match self.form.speculation() {
            Speculation::Nothing => {}
            Speculation::Integers => {
                let (a, b) = (self.assumed_integer(x), self.assumed_integer(y));
                let n = self.integer_operation(op, a, b);
                return self.result(n, Tag::INTEGER);
            }
            _ => {
                let (a, b) = (self.assumed_float(x), self.assumed_float(y));
                let f = self.float_operation(op, a, b);
                return self.float_result(f);
            }
        }
        let (x, y) = (self.read(x), self.read(y));
        let other = self.alternative();
        let (a, b) = self.integers(x, y, other);
        let n = self.integer_operation(op, a, b);
        self.result(n, Tag::INTEGER);
        self.switch(other);
        let (a, b) = self.floats(x, y, false);
        let f = self.float_operation(op, a, b);
        self.result(f, Tag::FLOAT);
    }

    fn integer_operation(&mut self, op: Numeric, a: Value, b: Value) -> Value {
        match op {
            Numeric::Add => self.b.ins().iadd(a, b),
            Numeric::Sub => self.b.ins().isub(a, b),
            Numeric::Mul => self.b.ins().imul(a, b),
        }
    }

    fn float_operation(&mut self, op: Numeric, a: Value, b: Value) -> Value {
        match op {
            Numeric::Add => self.b.ins().fadd(a, b),
            Numeric::Sub => self.b.ins().fsub(a, b),
            Numeric::Mul => self.b.ins().fmul(a, b),
        }
    }

    /// Emits `R[A]` := x / y.
    pub(super) fn divide(&mut self, x: Operand, y: Operand) {
        if self.speculates() {
            let (a, b) = (self.assumed_float(x), self.assumed_float(y));
            let f = self.b.ins().fdiv(a, b);
            return self.float_result(f);
        }
        let (x, y) = (self.read(x), self.read(y));
        let (a, b) = self.floats(x, y, true);
        let f = self.b.ins().fdiv(a, b);
        self.result(f, Tag::FLOAT);
    }

    /// Emits `R[A]` := the result of a function of the runtime for two floats.
    fn computed(&mut self, function: Runtime, a: Value, b: Value) {
        let f = self.call(function, &[a, b])[0];
        self.result(f, Tag::FLOAT);
    }

    /// Emits `R[A]` := x ^ y.
    pub(super) fn power(&mut self, x: Operand, y: Operand) {
        let (x, y) = (self.read(x), self.read(y));
        let (a, b) = self.floats(x, y, true);
        let (a, b) = (self.payload_of(a), self.payload_of(b));
        self.computed(Runtime::Pow, a, b);
    }

    fn payload_of(&mut self, float: Value) -> Value {
        self.b.ins().bitcast(I64, MemFlagsData::new(), float)
    }

    /// Emits `R[A]` := x % y, or x // y, for integers of which the second is not 0. Part 1 is for
    /// floats, for which the assumed instruction set has no instructions.
    pub(super) fn floor_divide(&mut self, part: usize, modulo: bool, x: Operand, y: Operand) {
        let (x, y) = (self.read(x), self.read(y));
        if part == 1 {
            for v in [x, y] {
                let Read::Value(_, tag) = v else { unreachable!("no operand is immediate") };
                self.guard_tag(tag, Tag::FLOAT);
            }
            self.note(seen::FLOAT);
            let (a, b) = (self.integer(x), self.integer(y));
            let function = if modulo { Runtime::FloatMod } else { Runtime::FloatFloor };
            return self.computed(function, a, b);
        }
        let other = self.cold();
        self.check_integer(x, other);
        self.check_integer(y, other);
        let (a, b) = (self.integer(x), self.integer(y));
        // The processor cannot divide the least integer by -1.
        let after = self.b.ins().iadd_imm_s(b, 1);
        let plain = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, after, 1);
        self.guard(plain);
        self.note(seen::INT);
        let quotient = self.b.ins().sdiv(a, b);
        let product = self.b.ins().imul(quotient, b);
        let rest = self.b.ins().isub(a, product);
        // Division rounds towards 0, but the quotient has to be rounded down.
        let signs = self.b.ins().bxor(rest, b);
        let differ = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, signs, 0);
        let zero = self.int(0);
        let inexact = self.b.ins().icmp_imm_u(IntCC::NotEqual, rest, 0);
        let n = if modulo {
            let correction = self.b.ins().select(differ, b, zero);
            let correction = self.b.ins().select(inexact, correction, zero);
            self.b.ins().iadd(rest, correction)
        } else {
            let one = self.int(1);
            let correction = self.b.ins().select(differ, one, zero);
            let correction = self.b.ins().select(inexact, correction, zero);
            self.b.ins().isub(quotient, correction)
        };
        self.result(n, Tag::INTEGER);
        self.switch(other);
        self.part(1);
    }

    /// Emits `R[A]` := x op y, for integers.
    pub(super) fn bitwise(&mut self, op: Bitwise, x: Operand, y: Operand) {
        let (x, y) = (self.read(x), self.read(y));
        let slow = self.slow();
        let (a, b) = self.integers(x, y, slow);
        let n = match op {
            Bitwise::And => self.b.ins().band(a, b),
            Bitwise::Or => self.b.ins().bor(a, b),
            Bitwise::Xor => self.b.ins().bxor(a, b),
            Bitwise::ShiftLeft => self.shift(a, b),
            Bitwise::ShiftRight => {
                let n = self.b.ins().ineg(b);
                self.shift(a, n)
            }
        };
        self.result(n, Tag::INTEGER);
    }

    /// Shifts left by `n` bits, or right if `n` is negative (manual 3.4.2).
    fn shift(&mut self, a: Value, n: Value) -> Value {
        let right_by = self.b.ins().ineg(n);
        let left = self.b.ins().ishl(a, n);
        let right = self.b.ins().ushr(a, right_by);
        let bits = i64::from(I64.bits());
        let is_left = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, n, bits);
        let is_right = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, right_by, bits);
        let zero = self.int(0);
        let right = self.b.ins().select(is_right, right, zero);
        self.b.ins().select(is_left, left, right)
    }

    /// Emits `R[A]` := -`R[B]`.
    pub(super) fn negate(&mut self) {
        if self.form.speculation() == Speculation::Floats {
            let f = self.assumed_float(Operand::Register(Field::B));
            let f = self.b.ins().fneg(f);
            return self.float_result(f);
        }
        let v = self.register(Field::B);
        let tag = self.tag(v);
        let other = self.alternative();
        let c = self.has_tag(tag, Tag::INTEGER);
        self.check(c, other);
        self.note(seen::INT);
        let n = self.bits(v);
        let n = self.b.ins().ineg(n);
        self.result(n, Tag::INTEGER);
        self.switch(other);
        if self.speculates() {
            return self.leave();
        }
        self.guard_tag(tag, Tag::FLOAT);
        self.note(seen::FLOAT);
        let f = self.float(v);
        let f = self.b.ins().fneg(f);
        self.result(f, Tag::FLOAT);
    }

    /// Emits `R[A]` := ~`R[B]`.
    pub(super) fn invert(&mut self) {
        let v = self.register(Field::B);
        let tag = self.tag(v);
        self.guard_tag(tag, Tag::INTEGER);
        self.note(seen::INT);
        let n = self.bits(v);
        let n = self.b.ins().bnot(n);
        self.result(n, Tag::INTEGER);
    }

    /// Emits `R[A]` := #`R[B]`, for a string or a table without a metatable.
    pub(super) fn length(&mut self) {
        let v = self.register(Field::B);
        let tag = self.tag(v);
        let other = self.alternative();
        let c = self.has_tag(tag, Tag::TABLE);
        self.check(c, other);
        let t = self.bits(v);
        let meta = self.load64(t, layout::table::META);
        self.guard_not(meta);
        let n = self.load32(t, layout::table::ARRAY_LEN);
        self.result(n, Tag::INTEGER);
        self.switch(other);
        self.guard_tag(tag, Tag::STRING);
        let s = self.bits(v);
        let n = self.load32(s, layout::string::LEN);
        self.result(n, Tag::INTEGER);
    }
}
