//! Comparisons and tests, each of which is followed by a JMP.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F64, I8};
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value};
use perilune_bytecode::feedback::operands as seen;
use perilune_runtime::layout;
use perilune_runtime::meta::Event;
use perilune_runtime::string::LuaString;
use perilune_runtime::table::TAGGED;
use perilune_runtime::value::Tag;

use crate::emitter::Emitter;
use crate::form::{Field, Form, Jump, Place};
use crate::runtime::Runtime;
use crate::speculation::Speculation;

use super::arithmetic::Operand;

/// An order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
}

impl Order {
    fn of_integers(self) -> IntCC {
        match self {
            Order::Less => IntCC::SignedLessThan,
            Order::LessEqual => IntCC::SignedLessThanOrEqual,
            Order::Greater => IntCC::SignedGreaterThan,
            Order::GreaterEqual => IntCC::SignedGreaterThanOrEqual,
        }
    }

    fn of_floats(self) -> FloatCC {
        match self {
            Order::Less => FloatCC::LessThan,
            Order::LessEqual => FloatCC::LessThanOrEqual,
            Order::Greater => FloatCC::GreaterThan,
            Order::GreaterEqual => FloatCC::GreaterThanOrEqual,
        }
    }
}

impl<F: Form> Emitter<'_, F> {
    /// Takes the jump that follows if `c`, a byte that is 0 or 1, equals the lowest bit of operand
    /// C; if not, continues after it.
    fn test_is(&mut self, c: Value) {
        if let Some(wanted) = self.form.wanted() {
            let (skip, take) = (self.block(), self.block());
            let (yes, no) = if wanted { (take, skip) } else { (skip, take) };
            self.b.ins().brif(c, yes, &[], no, &[]);
            return self.tested(skip, take);
        }
        let wanted = self.number(Field::C);
        let wanted = self.b.ins().ireduce(I8, wanted);
        let differs = self.b.ins().bxor(c, wanted);
        let differs = self.b.ins().band_imm_u(differs, 1);
        let (skip, take) = (self.block(), self.block());
        self.b.ins().brif(differs, skip, &[], take, &[]);
        self.tested(skip, take);
    }

    /// Ends a test in one of several cases, whose results `test` joins. Where only a branch remains
    /// to be done, each case has its own.
    fn decide(&mut self, c: Value, test: Block) {
        if self.form.wanted().is_some() {
            self.test_is(c);
        } else {
            self.b.ins().jump(test, &[BlockArg::from(c)]);
        }
    }

    /// Ends a test: continues after the jump that follows in one block, and takes it in the other.
    fn tested(&mut self, skip: Block, take: Block) {
        self.switch(skip);
        self.go(Jump::Skip);
        self.switch(take);
        self.take(Jump::Following, |_| {});
    }

    /// Emits `R[A] op R[B]`; part 1 is for strings.
    pub(super) fn order(&mut self, part: usize, order: Order) {
        let (x, y) = (self.register(Field::A), self.register(Field::B));
        if part == 1 {
            self.note(seen::STRING);
            let (a, b) = (self.bits(x), self.bits(y));
            let function = match order {
                Order::Less => Runtime::StringLess,
                _ => Runtime::StringLessEqual,
            };
            let c = self.call(function, &[a, b])[0];
            let c = self.b.ins().ireduce(I8, c);
            return self.test_is(c);
        }
        match self.form.speculation() {
            Speculation::Integers => {
                let (tx, ty) = (self.tag(x), self.tag(y));
                self.guard_tag(tx, Tag::INTEGER);
                self.guard_tag(ty, Tag::INTEGER);
                let (a, b) = (self.bits(x), self.bits(y));
                let c = self.b.ins().icmp(order.of_integers(), a, b);
                return self.test_is(c);
            }
            Speculation::Floats => {
                let a = self.assumed_float(Operand::Register(Field::A));
                let b = self.assumed_float(Operand::Register(Field::B));
                let c = self.b.ins().fcmp(order.of_floats(), a, b);
                return self.test_is(c);
            }
            _ => {}
        }
        let (tx, ty) = (self.tag(x), self.tag(y));
        let (floats, test) = (self.alternative(), self.block());
        let result = self.b.append_block_param(test, I8);
        let c = self.has_tag(tx, Tag::INTEGER);
        self.check(c, floats);
        self.guard_tag(ty, Tag::INTEGER);
        self.note(seen::INT);
        let (a, b) = (self.bits(x), self.bits(y));
        let c = self.b.ins().icmp(order.of_integers(), a, b);
        self.decide(c, test);
        self.switch(floats);
        let strings = self.cold();
        let is_float = self.has_tag(tx, Tag::FLOAT);
        self.check(is_float, strings);
        self.guard_tag(ty, Tag::FLOAT);
        self.note(seen::FLOAT);
        let (a, b) = (self.float(x), self.float(y));
        let c = self.b.ins().fcmp(order.of_floats(), a, b);
        self.decide(c, test);
        self.switch(strings);
        self.guard_tag(tx, Tag::STRING);
        self.guard_tag(ty, Tag::STRING);
        self.part(1);
        self.switch(test);
        self.test_is(result);
    }

    /// Emits `R[A] op sB`.
    pub(super) fn order_immediate(&mut self, order: Order) {
        if self.form.speculation() == Speculation::Floats {
            let a = self.assumed_float(Operand::Register(Field::A));
            let n = self.number(Field::SignedB);
            let f = self.b.ins().fcvt_from_sint(F64, n);
            let c = self.b.ins().fcmp(order.of_floats(), a, f);
            return self.test_is(c);
        }
        let x = self.register(Field::A);
        let tag = self.tag(x);
        if self.speculates() {
            self.guard_tag(tag, Tag::INTEGER);
            let a = self.bits(x);
            let n = self.form.immediate(&mut self.b, Field::SignedB);
            let c = self.b.ins().icmp(order.of_integers(), a, n);
            return self.test_is(c);
        }
        let n = self.number(Field::SignedB);
        let (floats, test) = (self.alternative(), self.block());
        let result = self.b.append_block_param(test, I8);
        let c = self.has_tag(tag, Tag::INTEGER);
        self.check(c, floats);
        self.note(seen::INT);
        let a = self.bits(x);
        let c = self.b.ins().icmp(order.of_integers(), a, n);
        self.decide(c, test);
        self.switch(floats);
        self.guard_tag(tag, Tag::FLOAT);
        self.note(seen::FLOAT);
        let a = self.float(x);
        let f = self.b.ins().fcvt_from_sint(F64, n);
        let c = self.b.ins().fcmp(order.of_floats(), a, f);
        self.decide(c, test);
        self.switch(test);
        self.test_is(result);
    }

    /// Returns whether a tag is that of a number.
    fn is_number(&mut self, tag: Value) -> Value {
        let distance = self.b.ins().iadd_imm_s(tag, -i64::from(Tag::INTEGER.0));
        self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, distance, 2)
    }

    /// Emits `R[A] == R[B]`.
    pub(super) fn equal(&mut self) {
        let (x, y) = (self.register(Field::A), self.register(Field::B));
        let (tx, ty) = (self.tag(x), self.tag(y));
        let (kinds_differ, objects, test) = (self.alternative(), self.alternative(), self.block());
        let result = self.b.append_block_param(test, I8);
        let same = self.b.ins().icmp(IntCC::Equal, tx, ty);
        self.check(same, kinds_differ);
        let float = i64::from(Tag::FLOAT.0);
        let plain = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, tx, float);
        self.check(plain, objects);
        // Both are nil, booleans or integers.
        self.note(seen::INT);
        let (a, b) = (self.bits(x), self.bits(y));
        let equal = self.b.ins().icmp(IntCC::Equal, a, b);
        let integer = self.has_tag(tx, Tag::INTEGER);
        let other = self.b.ins().bxor_imm_u(integer, 1);
        let c = self.b.ins().bor(equal, other);
        self.decide(c, test);
        self.switch(objects);
        let floats = self.block();
        let is_float = self.has_tag(tx, Tag::FLOAT);
        self.check_not(is_float, floats);
        let (a, b) = (self.bits(x), self.bits(y));
        let c = self.b.ins().icmp(IntCC::Equal, a, b);
        let differ = self.cold();
        self.check(c, differ);
        self.decide(c, test);
        // Strings of which one is short are different, and so are tables without `__eq`.
        self.switch(differ);
        let (tables, unequal) = (self.cold(), self.cold());
        let strings = self.has_tag(tx, Tag::STRING);
        self.check(strings, tables);
        self.guard_short(a);
        self.b.ins().jump(unequal, &[]);
        self.switch(tables);
        self.guard_tag(tx, Tag::TABLE);
        for table in [a, b] {
            self.guard_no_eq(table);
        }
        self.b.ins().jump(unequal, &[]);
        self.switch(unequal);
        self.decide(c, test);
        self.switch(floats);
        let (fx, fy) = (self.float(x), self.float(y));
        let c = self.b.ins().fcmp(FloatCC::Equal, fx, fy);
        self.decide(c, test);
        self.switch(kinds_differ);
        self.different_kinds((tx, ty), test);
        self.switch(test);
        self.test_is(result);
    }

    /// Jumps to `test` for values with different tags. They are unequal unless both are numbers,
    /// which the runtime compares.
    fn different_kinds(&mut self, (tx, ty): (Value, Value), test: Block) {
        let (nx, ny) = (self.is_number(tx), self.is_number(ty));
        let both = self.b.ins().band(nx, ny);
        self.guard_not(both);
        self.decide(both, test);
    }

    /// Continues if a table is known to have no `__eq`; if not, the runtime executes the
    /// instruction.
    fn guard_no_eq(&mut self, table: Value) {
        let (has_meta, materialized, known) = (self.cold(), self.cold(), self.cold());
        let meta = self.load64(table, layout::table::META);
        self.b.ins().brif(meta, has_meta, &[], known, &[]);
        self.switch(has_meta);
        // A metatable with nothing but `__index`.
        let tagged = self.b.ins().band_imm_u(meta, TAGGED as i64);
        self.b.ins().brif(tagged, known, &[], materialized, &[]);
        self.switch(materialized);
        let absent = self.load8(meta, layout::table::ABSENT);
        let bit = self.b.ins().band_imm_u(absent, 1 << Event::Eq as u8);
        self.guard(bit);
        self.b.ins().jump(known, &[]);
        self.switch(known);
    }

    /// Continues if a string is short; if not, the runtime executes the instruction.
    fn guard_short(&mut self, string: Value) {
        let class = self.at(string, layout::header::AUX);
        let class = self.load(I8, class);
        let short = self.b.ins().icmp_imm_u(IntCC::Equal, class, i64::from(LuaString::SHORT));
        self.guard(short);
    }

    /// Emits `R[A] == K[B]`.
    pub(super) fn equal_constant(&mut self) {
        let (x, y) = (self.register(Field::A), self.constant(Field::B));
        let (tx, ty) = (self.tag(x), self.tag(y));
        let (kinds_differ, differ, test) = (self.alternative(), self.alternative(), self.block());
        let (no_string, floats, numbers) = (self.cold(), self.cold(), self.cold());
        let result = self.b.append_block_param(test, I8);
        let same = self.b.ins().icmp(IntCC::Equal, tx, ty);
        self.check(same, kinds_differ);
        let (a, b) = (self.bits(x), self.bits(y));
        // In most cases it is a string.
        let string = self.has_tag(tx, Tag::STRING);
        self.check(string, no_string);
        let c = self.b.ins().icmp(IntCC::Equal, a, b);
        self.check(c, differ);
        let yes = self.b.ins().iconst(I8, 1);
        self.decide(yes, test);
        self.switch(differ);
        self.guard_short(b);
        let no = self.b.ins().iconst(I8, 0);
        self.decide(no, test);
        // Nil, a boolean or an integer: the payload of nil and of booleans is 0.
        self.switch(no_string);
        let is_float = self.has_tag(tx, Tag::FLOAT);
        self.check_not(is_float, floats);
        let c = self.b.ins().icmp(IntCC::Equal, a, b);
        self.decide(c, test);
        self.switch(floats);
        let (fx, fy) = (self.float(x), self.float(y));
        let c = self.b.ins().fcmp(FloatCC::Equal, fx, fy);
        self.decide(c, test);
        self.switch(kinds_differ);
        let number = self.is_number(ty);
        self.check_not(number, numbers);
        let no = self.b.ins().iconst(I8, 0);
        self.decide(no, test);
        self.switch(numbers);
        self.different_kinds((tx, ty), test);
        self.switch(test);
        self.test_is(result);
    }

    /// Emits `R[A] == sB`.
    pub(super) fn equal_immediate(&mut self) {
        let x = self.register(Field::A);
        let tag = self.tag(x);
        let (not, floats, test) = (self.alternative(), self.cold(), self.block());
        let result = self.b.append_block_param(test, I8);
        let integer = self.has_tag(tag, Tag::INTEGER);
        self.check(integer, not);
        let a = self.bits(x);
        let n = self.form.immediate(&mut self.b, Field::SignedB);
        let c = self.b.ins().icmp(IntCC::Equal, a, n);
        self.decide(c, test);
        self.switch(not);
        let is_float = self.has_tag(tag, Tag::FLOAT);
        self.check_not(is_float, floats);
        self.decide(integer, test);
        self.switch(floats);
        let a = self.float(x);
        let n = self.number(Field::SignedB);
        let f = self.b.ins().fcvt_from_sint(F64, n);
        let c = self.b.ins().fcmp(FloatCC::Equal, a, f);
        self.decide(c, test);
        self.switch(test);
        self.test_is(result);
    }

    /// Emits TEST and TESTSET: jumps if the truth of the value equals operand C, after moving the
    /// value to `to`, if there is one.
    pub(super) fn test(&mut self, field: Field, to: Option<Field>) {
        let from = self.register(field);
        let tag = self.tag(from);
        let least = i64::from(Tag::TRUE.0);
        let truth = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, tag, least);
        let (skip, take) = (self.block(), self.block());
        if let Some(wanted) = self.form.wanted() {
            let (yes, no) = if wanted { (take, skip) } else { (skip, take) };
            self.b.ins().brif(truth, yes, &[], no, &[]);
        } else {
            let wanted = self.number(Field::C);
            let wanted = self.b.ins().icmp_imm_u(IntCC::NotEqual, wanted, 0);
            let differs = self.b.ins().bxor(truth, wanted);
            self.b.ins().brif(differs, skip, &[], take, &[]);
        }
        self.switch(skip);
        self.go(Jump::Skip);
        self.switch(take);
        self.take(Jump::Following, |e| {
            if let Some(to) = to {
                let to: Place = e.register(to);
                e.copy(to, from);
            }
        });
    }
}
