//! Tests, comparisons and loops.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F64, I32, I64};
use cranelift_codegen::ir::{
    Block, BlockArg, InstBuilder, InstructionData, MemFlagsData, Opcode, Value,
};
use perilune_bytecode::flow::jump_target;
use perilune_bytecode::{Constant, Op};
use perilune_runtime::layout::{self, frame};
use perilune_runtime::meta::Event;
use perilune_runtime::string::{LuaString, MAX_SHORT};
use perilune_runtime::value::Tag;

use super::arith::Operand;
use super::regs::Known;
use super::{MEM, Translator};
use crate::analysis::types::{Speculation, speculation};

/// Where a test continues: at the jump after it, or past that.
pub(super) struct Ends {
    jump: Block,
    skip: Block,
}

impl Translator<'_> {
    fn ends(&mut self) -> Ends {
        Ends { jump: self.b.create_block(), skip: self.b.create_block() }
    }

    /// Ends a test at `pc` on both paths. Returns whether control continues after it (always).
    fn finish_test(&mut self, pc: usize, ends: &Ends) -> bool {
        self.b.switch_to_block(ends.jump);
        self.go(pc + 1, jump_target(&self.proto.code, pc + 1));
        self.b.switch_to_block(ends.skip);
        // the JMP is translated with the test
        self.past_jump(pc)
    }

    fn past_jump(&mut self, pc: usize) -> bool {
        if self.flow.reached[pc + 1] {
            self.fall(pc + 2);
            return false;
        }
        true
    }

    /// Runs the test at `pc` in the runtime.
    fn slow_test(&mut self, pc: usize, ends: &Ends) {
        self.generic(pc);
        let base = self.load_base();
        let at = self.b.ins().load(I32, MEM, base, frame::PC);
        let skipped = self.b.ins().icmp_imm_u(IntCC::Equal, at, pc as i64 + 2);
        self.b.ins().brif(skipped, ends.skip, &[], ends.jump, &[]);
    }

    /// Branches on the truth of a comparison that asks for `wanted`.
    pub(super) fn decide(&mut self, condition: Value, wanted: bool, ends: &Ends) {
        let (yes, no) = if wanted { (ends.jump, ends.skip) } else { (ends.skip, ends.jump) };
        self.b.ins().brif(condition, yes, &[], no, &[]);
    }

    fn decided(&mut self, truth: bool, wanted: bool, ends: &Ends) {
        let to = if truth == wanted { ends.jump } else { ends.skip };
        self.b.ins().jump(to, &[]);
    }

    pub(super) fn order(&mut self, pc: usize) -> bool {
        let i = self.proto.code[pc];
        let imm = Operand::Int(i.sb());
        let reg = Operand::Reg;
        let (cc, fcc, x, y) = match i.op() {
            Op::Lt => (IntCC::SignedLessThan, FloatCC::LessThan, reg(i.a()), reg(i.b())),
            Op::Le => {
                (IntCC::SignedLessThanOrEqual, FloatCC::LessThanOrEqual, reg(i.a()), reg(i.b()))
            }
            Op::LtI => (IntCC::SignedLessThan, FloatCC::LessThan, reg(i.a()), imm),
            Op::LeI => (IntCC::SignedLessThanOrEqual, FloatCC::LessThanOrEqual, reg(i.a()), imm),
            Op::GtI => (IntCC::SignedGreaterThan, FloatCC::GreaterThan, reg(i.a()), imm),
            _ => (IntCC::SignedGreaterThanOrEqual, FloatCC::GreaterThanOrEqual, reg(i.a()), imm),
        };
        let wanted = i.c() & 1 != 0;
        let (tx, ty) = (self.operand_tag(x), self.operand_tag(y));
        // register operands are guarded already
        match speculation(self.snapshot, pc, i) {
            Speculation::Int => {
                let (vx, vy) = (self.operand_int(x), self.operand_int(y));
                let c = self.b.ins().icmp(cc, vx, vy);
                let ends = self.ends();
                self.decide(c, wanted, &ends);
                return self.finish_test(pc, &ends);
            }
            Speculation::Float => {
                let (fx, fy) = (self.operand_float(x), self.operand_float(y));
                let c = self.b.ins().fcmp(fcc, fx, fy);
                let ends = self.ends();
                self.decide(c, wanted, &ends);
                return self.finish_test(pc, &ends);
            }
            Speculation::Number | Speculation::Any => {}
        }
        let mask = self.snapshot.cells[pc];
        let mask = if mask & 3 == 0 { 3 } else { mask };
        let ints = (mask & 1 != 0).then(|| (self.operand_int(x), self.operand_int(y)));
        let floats = (mask & 2 != 0).then(|| (self.operand_float(x), self.operand_float(y)));
        let ends = self.ends();
        let slow = self.cold_block();
        if let Some((vx, vy)) = ints {
            let other = self.b.create_block();
            if self.require(&[tx, ty], Tag::INTEGER, other) {
                let c = self.b.ins().icmp(cc, vx, vy);
                self.decide(c, wanted, &ends);
            } else {
                self.b.ins().jump(other, &[]);
            }
            self.b.switch_to_block(other);
        }
        let float_tags: &[Known] = if matches!(y, Operand::Int(_)) { &[tx] } else { &[tx, ty] };
        let strings = if matches!(y, Operand::Reg(_)) { self.cold_block() } else { slow };
        match floats {
            Some((fx, fy)) if self.require(float_tags, Tag::FLOAT, strings) => {
                let c = self.b.ins().fcmp(fcc, fx, fy);
                self.decide(c, wanted, &ends);
            }
            _ => {
                self.b.ins().jump(strings, &[]);
            }
        }
        if strings != slow {
            self.b.switch_to_block(strings);
            if self.require(&[tx, ty], Tag::STRING, slow) {
                // this block dominates nothing that follows, so the payloads are not remembered
                let (vx, vy) = (self.peek_int(x), self.peek_int(y));
                let inst = self.runtime(self.calls.compare_strings as usize, &[vx, vy], &[I64]);
                let order = self.b.inst_results(inst)[0];
                let c = self.b.ins().icmp_imm_s(cc, order, 0);
                self.decide(c, wanted, &ends);
            } else {
                self.b.ins().jump(slow, &[]);
            }
        }
        self.b.switch_to_block(slow);
        if matches!(i.op(), Op::Lt | Op::Le) && self.has_handlers(pc) {
            let event = if i.op() == Op::Lt { Event::Lt } else { Event::Le };
            self.test_handler(pc, event, (i.a(), i.b()), wanted, &ends);
        }
        self.slow_test(pc, &ends);
        self.finish_test(pc, &ends)
    }

    pub(super) fn equality(&mut self, pc: usize) -> bool {
        let i = self.proto.code[pc];
        let wanted = i.c() & 1 != 0;
        let ends = self.ends();
        let slow = self.cold_block();
        let ta = self.tag(i.a());
        match i.op() {
            Op::EqI => {
                let (v, f) = (self.bits(i.a()), self.float(i.a()));
                let other = self.b.create_block();
                if self.require(&[ta], Tag::INTEGER, other) {
                    let c = self.b.ins().icmp_imm_s(IntCC::Equal, v, i.sb());
                    self.decide(c, wanted, &ends);
                } else {
                    self.b.ins().jump(other, &[]);
                }
                self.b.switch_to_block(other);
                let no = self.b.create_block();
                if self.require(&[ta], Tag::FLOAT, no) {
                    let k = self.b.ins().f64const(i.sb() as f64);
                    let c = self.b.ins().fcmp(FloatCC::Equal, f, k);
                    self.decide(c, wanted, &ends);
                } else {
                    self.b.ins().jump(no, &[]);
                }
                self.b.switch_to_block(no);
                self.decided(false, wanted, &ends);
                return self.finish_test(pc, &ends);
            }
            Op::EqK => {
                let v = self.bits(i.a());
                let no = self.b.create_block();
                match &self.proto.constants[i.b()] {
                    Constant::Nil | Constant::Bool(_) => {
                        let (_, tag) = self.constant(i.b());
                        if self.require(&[ta], tag, no) {
                            self.decided(true, wanted, &ends);
                        } else {
                            self.b.ins().jump(no, &[]);
                        }
                    }
                    Constant::Str(s) if s.len() <= MAX_SHORT => {
                        let (k, tag) = self.constant(i.b());
                        if self.require(&[ta], tag, no) {
                            let c = self.b.ins().icmp(IntCC::Equal, v, k);
                            self.decide(c, wanted, &ends);
                        } else {
                            self.b.ins().jump(no, &[]);
                        }
                    }
                    Constant::Integer(n) => {
                        let n = *n;
                        let other = self.b.create_block();
                        if self.require(&[ta], Tag::INTEGER, other) {
                            let k = self.int(n);
                            let c = self.b.ins().icmp(IntCC::Equal, v, k);
                            self.decide(c, wanted, &ends);
                        } else {
                            self.b.ins().jump(other, &[]);
                        }
                        self.b.switch_to_block(other);
                        if self.require(&[ta], Tag::FLOAT, no) {
                            self.b.ins().jump(slow, &[]);
                        } else {
                            self.b.ins().jump(no, &[]);
                        }
                    }
                    _ => {
                        self.b.ins().jump(slow, &[]);
                    }
                }
                self.b.switch_to_block(no);
                self.decided(false, wanted, &ends);
                self.b.switch_to_block(slow);
                self.slow_test(pc, &ends);
            }
            _ => {
                let tb = self.tag(i.b());
                let (va, vb) = (self.bits(i.a()), self.bits(i.b()));
                self.equal_values((ta, va), (tb, vb), wanted, &ends, slow);
                self.b.switch_to_block(slow);
                if self.has_handlers(pc) {
                    self.test_handler(pc, Event::Eq, (i.a(), i.b()), wanted, &ends);
                }
                self.slow_test(pc, &ends);
            }
        }
        self.finish_test(pc, &ends)
    }

    fn equal_values(
        &mut self,
        (ta, va): (Known, Value),
        (tb, vb): (Known, Value),
        wanted: bool,
        ends: &Ends,
        slow: Block,
    ) {
        let (a, b) = (self.tag_value(ta), self.tag_value(tb));
        let no = self.b.create_block();
        let c = self.b.ins().icmp(IntCC::Equal, a, b);
        let differ = self.case(c);

        let c = self.b.ins().icmp_imm_u(IntCC::Equal, a, Tag::INTEGER.0 as i64);
        let more = self.case(c);
        let c = self.b.ins().icmp(IntCC::Equal, va, vb);
        self.decide(c, wanted, ends);

        self.b.switch_to_block(more);
        let c = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, a, Tag::INTEGER.0 as i64);
        let objects = self.case(c);
        self.decided(true, wanted, ends);

        self.b.switch_to_block(objects);
        let c = self.b.ins().icmp_imm_u(IntCC::Equal, a, Tag::FLOAT.0 as i64);
        let rest = self.case(c);
        let fa = self.b.ins().bitcast(F64, MemFlagsData::new(), va);
        let fb = self.b.ins().bitcast(F64, MemFlagsData::new(), vb);
        let c = self.b.ins().fcmp(FloatCC::Equal, fa, fb);
        self.decide(c, wanted, ends);

        self.b.switch_to_block(rest);
        let c = self.b.ins().icmp(IntCC::Equal, va, vb);
        let unequal = self.case(c);
        self.decided(true, wanted, ends);

        // different tags: equal only if both are numbers
        self.b.switch_to_block(differ);
        let na = self.is_number(a);
        let nb = self.is_number(b);
        let both = self.b.ins().band(na, nb);
        self.b.ins().brif(both, slow, &[], no, &[]);

        // short strings differ when their objects do
        self.b.switch_to_block(unequal);
        let c = self.b.ins().icmp_imm_u(IntCC::Equal, a, Tag::STRING.0 as i64);
        let other = self.case(c);
        let class = self.b.ins().uload8(I64, MEM, va, layout::header::AUX as i32);
        let short = self.b.ins().icmp_imm_u(IntCC::Equal, class, LuaString::SHORT as i64);
        let ask = self.b.create_block();
        self.b.ins().brif(short, no, &[], ask, &[]);
        self.b.switch_to_block(other);
        let c = self.b.ins().icmp_imm_u(IntCC::Equal, a, Tag::TABLE.0 as i64);
        self.guard(c, ask);
        let ma = self.b.ins().load(I64, MEM, va, layout::table::META as i32);
        let mb = self.b.ins().load(I64, MEM, vb, layout::table::META as i32);
        let some = self.b.ins().bor(ma, mb);
        self.b.ins().brif(some, ask, &[], no, &[]);

        self.b.switch_to_block(ask);
        let st = self.state();
        let inst = self.runtime(self.calls.equal as usize, &[st, va, vb, a], &[I64]);
        let answer = self.b.inst_results(inst)[0];
        self.guard(answer, no);
        let equal = self.b.ins().icmp_imm_u(IntCC::Equal, answer, 1);
        self.guard(equal, slow);
        self.decided(true, wanted, ends);
        self.b.switch_to_block(no);
        self.decided(false, wanted, ends);
    }

    fn is_number(&mut self, tag: Value) -> Value {
        let d = self.b.ins().iadd_imm_s(tag, -(Tag::INTEGER.0 as i64));
        self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, d, 2)
    }

    pub(super) fn test(&mut self, pc: usize) -> bool {
        let i = self.proto.code[pc];
        let (r, copies) = if i.op() == Op::Test { (i.a(), false) } else { (i.b(), true) };
        let value = copies.then(|| self.bits(r));
        let tag = self.tag(r);
        let ends = self.ends();
        // goes to the jump if the value is as C asks
        let wanted = i.c() != 0;
        match tag {
            Known::Tag(t) => self.decided(t.0 >= Tag::TRUE.0, wanted, &ends),
            Known::Value(t) => {
                let c = self.b.ins().icmp_imm_u(
                    IntCC::UnsignedGreaterThanOrEqual,
                    t,
                    Tag::TRUE.0 as i64,
                );
                self.decide(c, wanted, &ends);
            }
        }
        if let Some(bits) = value {
            // the copy is made on the way to the jump only
            let known = self.regs.clone();
            self.b.switch_to_block(ends.jump);
            self.set(i.a(), bits, tag);
            self.go(pc + 1, jump_target(&self.proto.code, pc + 1));
            self.regs = known;
            self.b.switch_to_block(ends.skip);
            return self.past_jump(pc);
        }
        self.finish_test(pc, &ends)
    }

    pub(super) fn for_prep(&mut self, pc: usize) -> bool {
        let i = self.proto.code[pc];
        let a = i.a();
        let tags = [self.tag(a), self.tag(a + 1), self.tag(a + 2)];
        let (init, limit, step) = (self.bits(a), self.bits(a + 1), self.bits(a + 2));
        let slow = self.cold_block();
        let (run, skip) = (self.b.create_block(), self.b.create_block());
        if self.require(&tags, Tag::INTEGER, slow) {
            let count = self.rounds(init, limit, step, skip, slow);
            self.store_home(a + 1, count, Known::Tag(Tag::INTEGER));
            self.store_home(a + 3, init, Known::Tag(Tag::INTEGER));
            self.b.ins().jump(run, &[]);
        } else {
            self.b.ins().jump(slow, &[]);
        }
        self.b.switch_to_block(slow);
        let ra = self.address(a);
        let st = self.state();
        let inst = self.runtime(self.calls.for_prep as usize, &[st, ra], &[I64]);
        let answer = self.b.inst_results(inst)[0];
        let (wrong, right) = (self.cold_block(), self.b.create_block());
        self.b.ins().brif(answer, right, &[], wrong, &[]);
        self.b.switch_to_block(right);
        let runs = self.b.ins().icmp_imm_u(IntCC::Equal, answer, 1);
        self.b.ins().brif(runs, run, &[], skip, &[]);
        self.b.switch_to_block(wrong);
        self.generic(pc);
        let base = self.load_base();
        let at = self.b.ins().load(I32, MEM, base, frame::PC);
        let runs = self.b.ins().icmp_imm_u(IntCC::Equal, at, pc as i64 + 1);
        self.b.ins().brif(runs, run, &[], skip, &[]);
        self.b.switch_to_block(run);
        let wanted = speculation(self.snapshot, pc, i).result();
        let entered = self.b.create_block();
        match wanted {
            Some(tag) => {
                let base = self.load_base();
                let t = self.b.ins().uload8(I64, MEM, base, frame::tag(a));
                let right = self.b.ins().icmp_imm_u(IntCC::Equal, t, tag.0 as i64);
                let wrong = self.cold_block();
                self.b.ins().brif(right, entered, &[], wrong, &[]);
                self.b.switch_to_block(wrong);
                self.save_frame(pc + 1);
                let st = self.state();
                let inst = self.runtime(self.calls.deoptimize_loop as usize, &[st], &[I64]);
                let status = self.b.inst_results(inst)[0];
                self.b.ins().jump(self.exit, &[BlockArg::from(status)]);
            }
            None => {
                self.b.ins().jump(entered, &[]);
            }
        }
        self.b.switch_to_block(skip);
        for r in a..a + 4 {
            self.regs.forget(r);
        }
        self.go(pc, pc + 2 + i.bx());
        self.b.switch_to_block(entered);
        true
    }

    /// Rounds after the first of a loop over integers; `skip`: it has none, `slow`: its step is 0.
    fn rounds(
        &mut self,
        init: Value,
        limit: Value,
        step: Value,
        skip: Block,
        slow: Block,
    ) -> Value {
        let constant = self.constant_of(step);
        let up = |t: &mut Self| {
            let go = t.b.create_block();
            let none = t.b.ins().icmp(IntCC::SignedGreaterThan, init, limit);
            t.b.ins().brif(none, skip, &[], go, &[]);
            t.b.switch_to_block(go);
            t.b.ins().isub(limit, init)
        };
        let down = |t: &mut Self| {
            let go = t.b.create_block();
            let none = t.b.ins().icmp(IntCC::SignedLessThan, init, limit);
            t.b.ins().brif(none, skip, &[], go, &[]);
            t.b.switch_to_block(go);
            t.b.ins().isub(init, limit)
        };
        match constant {
            Some(1) => return up(self),
            Some(-1) => return down(self),
            Some(n) if n > 0 => {
                let distance = up(self);
                return self.b.ins().udiv(distance, step);
            }
            _ => {}
        }
        let (some, upwards, downwards) =
            (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let done = self.b.create_block();
        self.b.append_block_param(done, I64);
        self.b.ins().brif(step, some, &[], slow, &[]);
        self.b.switch_to_block(some);
        let positive = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThan, step, 0);
        self.b.ins().brif(positive, upwards, &[], downwards, &[]);
        self.b.switch_to_block(upwards);
        let distance = up(self);
        let count = self.b.ins().udiv(distance, step);
        self.b.ins().jump(done, &[BlockArg::from(count)]);
        self.b.switch_to_block(downwards);
        let distance = down(self);
        // as an unsigned number it is right for the least integer too
        let size = self.b.ins().ineg(step);
        let count = self.b.ins().udiv(distance, size);
        self.b.ins().jump(done, &[BlockArg::from(count)]);
        self.b.switch_to_block(done);
        self.b.block_params(done)[0]
    }

    /// The number that a value is, if it was made by `iconst`.
    fn constant_of(&self, v: Value) -> Option<i64> {
        let inst = self.b.func.dfg.value_def(v).inst()?;
        match self.b.func.dfg.insts[inst] {
            InstructionData::UnaryImm { opcode: Opcode::Iconst, imm } => Some(imm.bits()),
            _ => None,
        }
    }

    pub(super) fn for_loop(&mut self, pc: usize) -> bool {
        let i = self.proto.code[pc];
        let a = i.a();
        let tag = self.tag(a);
        let target = pc + 1 - i.bx();
        let end = self.b.create_block();
        let float = self.b.create_block();
        let known = self.regs.clone();
        let index = self.bits(a);
        if self.require(&[tag], Tag::INTEGER, float) {
            let (left, step) = (self.bits(a + 1), self.bits(a + 2));
            let on = self.b.create_block();
            self.b.ins().brif(left, on, &[], end, &[]);
            self.b.switch_to_block(on);
            let next = self.b.ins().iadd(index, step);
            let left = self.b.ins().iadd_imm_s(left, -1);
            for (r, v) in [(a + 1, left), (a, next), (a + 3, next)] {
                self.store_home(r, v, Known::Tag(Tag::INTEGER));
                self.regs.note(r, v, Known::Tag(Tag::INTEGER));
            }
            self.go(pc, target);
        } else {
            self.b.ins().jump(float, &[]);
        }
        self.b.switch_to_block(float);
        self.regs = known;
        let (index, limit, step) = (self.float(a), self.float(a + 1), self.float(a + 2));
        let next = self.b.ins().fadd(index, step);
        let zero = self.b.ins().f64const(0.0);
        let up = self.b.ins().fcmp(FloatCC::GreaterThan, step, zero);
        let below = self.b.ins().fcmp(FloatCC::LessThanOrEqual, next, limit);
        let above = self.b.ins().fcmp(FloatCC::LessThanOrEqual, limit, next);
        let runs = self.b.ins().select(up, below, above);
        let on = self.b.create_block();
        self.b.ins().brif(runs, on, &[], end, &[]);
        self.b.switch_to_block(on);
        for r in [a, a + 3] {
            self.set_float(r, next);
        }
        self.go(pc, target);
        self.b.switch_to_block(end);
        self.regs.begin();
        true
    }
}
