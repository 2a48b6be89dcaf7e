//! Loops: FORPREP, FORLOOP, TFORCALL, TFORLOOP.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{BlockArg, InstBuilder};
use perilune_bytecode::feedback::operands as seen;
use perilune_runtime::layout;
use perilune_runtime::value::Tag;

use crate::emitter::Emitter;
use crate::form::{Field, Form, Jump, Place};
use crate::runtime::Runtime;

impl<F: Form> Emitter<'_, F> {
    /// Returns the place of the register `n` after `R[A]`.
    fn after_a(&mut self, n: usize) -> Place {
        self.register(Field::A).plus(layout::value::nth(n))
    }

    /// Emits FORPREP for integers with the step 1 or -1.
    pub(super) fn prepare_loop(&mut self) {
        let (index, limit, step) = (self.after_a(0), self.after_a(1), self.after_a(2));
        for at in [index, limit, step] {
            let tag = self.tag(at);
            self.guard_tag(tag, Tag::INTEGER);
        }
        let by = self.bits(step);
        let (first, last) = (self.bits(index), self.bits(limit));
        let (down, runs, skipped) = (self.cold(), self.block(), self.block());
        let rounds = self.b.append_block_param(runs, I64);
        let one = self.b.ins().icmp_imm_s(IntCC::Equal, by, 1);
        self.check(one, down);
        self.note(seen::INT);
        let c = self.b.ins().icmp(IntCC::SignedLessThanOrEqual, first, last);
        let upwards = self.b.ins().isub(last, first);
        self.b.ins().brif(c, runs, &[BlockArg::from(upwards)], skipped, &[]);
        self.switch(down);
        let one = self.b.ins().icmp_imm_s(IntCC::Equal, by, -1);
        self.guard(one);
        self.note(seen::INT);
        let c = self.b.ins().icmp(IntCC::SignedGreaterThanOrEqual, first, last);
        let downwards = self.b.ins().isub(first, last);
        self.b.ins().brif(c, runs, &[BlockArg::from(downwards)], skipped, &[]);
        self.switch(runs);
        self.store(rounds, limit.plus(layout::value::BITS as i32));
        let variable = self.after_a(3);
        self.put_tagged(variable, first, Tag::INTEGER);
        self.next();
        self.switch(skipped);
        self.go(Jump::Past);
    }

    /// Emits FORLOOP.
    pub(super) fn numeric_round(&mut self) {
        // The operand is decoded once: Cranelift does not merge loads across stores.
        let index = self.register(Field::A);
        let nth = |n| index.plus(layout::value::nth(n));
        let (limit, step, variable) = (nth(1), nth(2), nth(3));
        let tag = self.tag(index);
        let floats = self.cold();
        let integer = self.has_tag(tag, Tag::INTEGER);
        self.check(integer, floats);
        let left = self.bits(limit);
        let (round, end) = (self.block(), self.block());
        self.b.ins().brif(left, round, &[], end, &[]);
        self.switch(end);
        self.next();
        self.switch(round);
        self.round(Jump::Back, |e| {
            let (n, by) = (e.bits(index), e.bits(step));
            let n = e.b.ins().iadd(n, by);
            let left = e.b.ins().iadd_imm_s(left, -1);
            e.store(left, limit.plus(layout::value::BITS as i32));
            e.store(n, index.plus(layout::value::BITS as i32));
            e.put_tagged(variable, n, Tag::INTEGER);
        });

        self.switch(floats);
        let (by, last) = (self.float(step), self.float(limit));
        let n = self.float(index);
        let n = self.b.ins().fadd(n, by);
        let (upwards, downwards) = (self.cold(), self.cold());
        let (round, end) = (self.cold(), self.cold());
        // A step that is not a number ends the loop in either case.
        let sign = self.bits(step);
        let up = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThan, sign, 0);
        self.b.ins().brif(up, upwards, &[], downwards, &[]);
        self.switch(upwards);
        let runs = self.b.ins().fcmp(FloatCC::LessThanOrEqual, n, last);
        self.b.ins().brif(runs, round, &[], end, &[]);
        self.switch(downwards);
        let runs = self.b.ins().fcmp(FloatCC::LessThanOrEqual, last, n);
        self.b.ins().brif(runs, round, &[], end, &[]);
        self.switch(end);
        self.next();
        self.switch(round);
        self.round(Jump::Back, |e| {
            e.store(n, index.plus(layout::value::BITS as i32));
            e.put_tagged(variable, n, Tag::FLOAT);
        });
    }

    /// Emits TFORPREP without a value to be closed.
    pub(super) fn start_generic(&mut self) {
        let closing = self.after_a(3);
        let tag = self.tag(closing);
        let truthy =
            self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, tag, i64::from(Tag::TRUE.0));
        self.guard_not(truthy);
        let first = self.first();
        self.call(Runtime::ForStart, &[first]);
        self.go(Jump::Ahead);
    }

    /// Emits TFORCALL: part 0 is for an iterator that is a Lua function, and part 1 for a loop over
    /// a table that runs inline.
    pub(super) fn generic_call(&mut self, part: usize) {
        if part == 0 {
            let iterator = self.register(Field::A);
            let tag = self.tag(iterator);
            let lua = self.cold();
            let is_lua = self.has_tag(tag, Tag::FUNCTION);
            self.check_not(is_lua, lua);
            let object = self.tag(iterator.plus(layout::value::nth(1)));
            self.guard_tag(object, Tag::TABLE);
            self.part(1);
            self.switch(lua);
            return self.call_iterator(iterator);
        }
        let first = self.first();
        let count = self.number(Field::C);
        let done = self.call(Runtime::ForNext, &[first, count])[0];
        self.guard(done);
        self.next();
    }

    /// Emits TFORLOOP.
    pub(super) fn generic_round(&mut self) {
        let first = self.register(Field::A);
        let (control, key) = (first.plus(layout::value::nth(2)), first.plus(layout::value::nth(4)));
        let tag = self.tag(key);
        let (round, end) = (self.block(), self.block());
        self.b.ins().brif(tag, round, &[], end, &[]);
        self.switch(end);
        self.next();
        self.switch(round);
        self.round(Jump::Back, |e| {
            e.copy(control, key);
        });
    }
}
