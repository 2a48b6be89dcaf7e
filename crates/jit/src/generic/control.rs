//! Translates tests, comparisons and loops.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{Block, InstBuilder, Value};
use perilune_bytecode::{Constant, Op};
use perilune_runtime::meta::Event;
use perilune_runtime::value::Tag;

use super::Translator;
use crate::analysis::facts::{Speculation, speculation};
use crate::analysis::operation::Operand;
use crate::codegen::value::Known;
use crate::entity::{Pc, RegisterOperands};
use crate::exits::state::{FrameState, Point};

/// The blocks where a test continues: at the jump after it, or past that.
pub(super) struct Ends {
    jump: Block,
    skip: Block,
}

impl Ends {
    /// Returns the blocks where a comparison that tests for `wanted` continues if it holds, and if
    /// it does not.
    fn of(&self, wanted: bool) -> (Block, Block) {
        if wanted { (self.jump, self.skip) } else { (self.skip, self.jump) }
    }
}

impl Translator<'_> {
    fn ends(&mut self) -> Ends {
        Ends { jump: self.emit.block(), skip: self.emit.block() }
    }

    /// Ends a test at `pc` on both paths. Returns whether control continues after it (always).
    fn finish_test(&mut self, pc: Pc, ends: &Ends) -> bool {
        self.emit.switch_to(ends.jump);
        self.go((pc + 1).jump_target(self.proto));
        self.emit.switch_to(ends.skip);
        // the JMP is translated with the test
        self.past_jump(pc)
    }

    fn past_jump(&mut self, pc: Pc) -> bool {
        if self.flow.reached[pc + 1] {
            self.go(pc + 2);
            return false;
        }
        true
    }

    /// Runs the test at `pc` in the runtime.
    fn slow_test(&mut self, pc: Pc, ends: &Ends) {
        self.emit.generic(pc);
        let skipped = self.emit.has_continued_at(pc + 2);
        self.emit.branch(skipped, ends.skip, ends.jump);
    }

    /// Branches on the result of a comparison that tests for `wanted`.
    pub(super) fn decide(&mut self, condition: Value, wanted: bool, ends: &Ends) {
        let (yes, no) = ends.of(wanted);
        self.emit.branch(condition, yes, no);
    }

    fn decided(&mut self, truth: bool, wanted: bool, ends: &Ends) {
        let to = if truth == wanted { ends.jump } else { ends.skip };
        self.emit.jump(to);
    }

    pub(super) fn order(&mut self, pc: Pc) -> bool {
        let i = self.instr(pc);
        let imm = Operand::Int(i.sb());
        let reg = Operand::Reg;
        let (cc, fcc, x, y) = match i.op() {
            Op::Lt => (IntCC::SignedLessThan, FloatCC::LessThan, reg(i.ra()), reg(i.rb())),
            Op::Le => {
                (IntCC::SignedLessThanOrEqual, FloatCC::LessThanOrEqual, reg(i.ra()), reg(i.rb()))
            }
            Op::LtI => (IntCC::SignedLessThan, FloatCC::LessThan, reg(i.ra()), imm),
            Op::LeI => (IntCC::SignedLessThanOrEqual, FloatCC::LessThanOrEqual, reg(i.ra()), imm),
            Op::GtI => (IntCC::SignedGreaterThan, FloatCC::GreaterThan, reg(i.ra()), imm),
            _ => (IntCC::SignedGreaterThanOrEqual, FloatCC::GreaterThanOrEqual, reg(i.ra()), imm),
        };
        let wanted = i.c() & 1 != 0;
        let (tx, ty) = (self.operand_tag(x), self.operand_tag(y));
        // register operands have already been guarded
        match speculation(self.snapshot, pc, i) {
            Speculation::Int => {
                let (vx, vy) = (self.operand_int(x), self.operand_int(y));
                let c = self.emit.ins().icmp(cc, vx, vy);
                let ends = self.ends();
                self.decide(c, wanted, &ends);
                return self.finish_test(pc, &ends);
            }
            Speculation::Float => {
                let (fx, fy) = (self.operand_float(x), self.operand_float(y));
                let c = self.emit.ins().fcmp(fcc, fx, fy);
                let ends = self.ends();
                self.decide(c, wanted, &ends);
                return self.finish_test(pc, &ends);
            }
            Speculation::Number | Speculation::Any => {}
        }
        let mask = self.snapshot.cell(pc);
        let mask = if mask & 3 == 0 { 3 } else { mask };
        let ints = (mask & 1 != 0).then(|| (self.operand_int(x), self.operand_int(y)));
        let floats = (mask & 2 != 0).then(|| (self.operand_float(x), self.operand_float(y)));
        let ends = self.ends();
        let slow = self.emit.cold_block();
        if let Some((vx, vy)) = ints {
            let other = self.emit.block();
            if self.emit.require(&[tx, ty], Tag::INTEGER, other) {
                let c = self.emit.ins().icmp(cc, vx, vy);
                self.decide(c, wanted, &ends);
            } else {
                self.emit.jump(other);
            }
            self.emit.switch_to(other);
        }
        let float_tags: &[Known] = if matches!(y, Operand::Int(_)) { &[tx] } else { &[tx, ty] };
        let strings = if matches!(y, Operand::Reg(_)) { self.emit.cold_block() } else { slow };
        match floats {
            Some((fx, fy)) if self.emit.require(float_tags, Tag::FLOAT, strings) => {
                let c = self.emit.ins().fcmp(fcc, fx, fy);
                self.decide(c, wanted, &ends);
            }
            _ => {
                self.emit.jump(strings);
            }
        }
        if strings != slow {
            self.emit.switch_to(strings);
            if self.emit.require(&[tx, ty], Tag::STRING, slow) {
                // this block dominates no later one, so the payloads are not cached
                let (vx, vy) = (self.peek_int(x), self.peek_int(y));
                let order = self.emit.runtime_word(self.calls.compare_strings as usize, &[vx, vy]);
                let c = self.emit.ins().icmp_imm_s(cc, order, 0);
                self.decide(c, wanted, &ends);
            } else {
                self.emit.jump(slow);
            }
        }
        self.emit.switch_to(slow);
        if matches!(i.op(), Op::Lt | Op::Le) && self.has_handlers(pc) {
            let event = if i.op() == Op::Lt { Event::Lt } else { Event::Le };
            self.test_handler(pc, event, (i.ra(), i.rb()), wanted, &ends);
        }
        self.slow_test(pc, &ends);
        self.finish_test(pc, &ends)
    }

    pub(super) fn equality(&mut self, pc: Pc) -> bool {
        let i = self.instr(pc);
        let wanted = i.c() & 1 != 0;
        let ends = self.ends();
        let slow = self.emit.cold_block();
        let ta = self.tag(i.ra());
        match i.op() {
            Op::EqK => {
                let v = self.bits(i.ra());
                let no = self.emit.block();
                if let Constant::Integer(n) = self.proto.constants[i.b()] {
                    let other = self.emit.block();
                    if self.emit.require(&[ta], Tag::INTEGER, other) {
                        let k = self.emit.int(n);
                        let c = self.emit.ins().icmp(IntCC::Equal, v, k);
                        self.decide(c, wanted, &ends);
                    } else {
                        self.emit.jump(other);
                    }
                    self.emit.switch_to(other);
                    if self.emit.require(&[ta], Tag::FLOAT, no) {
                        self.emit.jump(slow);
                    } else {
                        self.emit.jump(no);
                    }
                    self.emit.switch_to(no);
                    self.decided(false, wanted, &ends);
                } else {
                    self.emit.jump(slow);
                }
                self.emit.switch_to(slow);
                self.slow_test(pc, &ends);
            }
            _ => {
                let tb = self.tag(i.rb());
                let (va, vb) = (self.bits(i.ra()), self.bits(i.rb()));
                let (ta, tb) = (self.emit.tag_value(ta), self.emit.tag_value(tb));
                let (x, y) = ((va, ta), (vb, tb));
                self.emit.equal_values(x, y, ends.of(wanted), slow, slow);
                self.emit.switch_to(slow);
                if self.has_handlers(pc) {
                    self.test_handler(pc, Event::Eq, (i.ra(), i.rb()), wanted, &ends);
                }
                self.slow_test(pc, &ends);
            }
        }
        self.finish_test(pc, &ends)
    }

    pub(super) fn for_prep(&mut self, pc: Pc) -> bool {
        let i = self.instr(pc);
        let a = i.ra();
        let tags = [self.tag(a), self.tag(a + 1), self.tag(a + 2)];
        let (init, limit, step) = (self.bits(a), self.bits(a + 1), self.bits(a + 2));
        let slow = self.emit.cold_block();
        let (run, skip) = (self.emit.block(), self.emit.block());
        if self.emit.require(&tags, Tag::INTEGER, slow) {
            let count = self.emit.loop_rounds(init, limit, step, skip, slow);
            self.store_home(a + 1, count, Known::Tag(Tag::INTEGER));
            self.store_home(a + 3, init, Known::Tag(Tag::INTEGER));
            self.emit.jump(run);
        } else {
            self.emit.jump(slow);
        }
        self.emit.switch_to(slow);
        let ra = self.emit.address(a);
        let (answer, _) = self.emit.preserving_leaf(self.calls.for_prep as usize, &[ra]);
        let (wrong, right) = (self.emit.cold_block(), self.emit.block());
        self.emit.branch(answer, right, wrong);
        self.emit.switch_to(right);
        let runs = self.emit.ins().icmp_imm_u(IntCC::Equal, answer, 1);
        self.emit.branch(runs, run, skip);
        self.emit.switch_to(wrong);
        self.emit.generic(pc);
        let runs = self.emit.has_continued_at(pc + 1);
        self.emit.branch(runs, run, skip);
        self.emit.switch_to(run);
        let wanted = speculation(self.snapshot, pc, i).result();
        let entered = self.emit.block();
        match wanted {
            Some(tag) => {
                let t = self.emit.load_tag(a);
                let right = self.emit.is_tag(t, tag);
                let wrong = self.emit.cold_block();
                self.emit.branch(right, entered, wrong);
                self.emit.deoptimize_in(wrong, FrameState::home(pc, Point::Prepared));
            }
            None => self.emit.jump(entered),
        }
        self.emit.switch_to(skip);
        for r in a.range(4) {
            self.regs.forget(r);
        }
        self.go(pc + 2 + i.bx());
        self.emit.switch_to(entered);
        true
    }

    pub(super) fn for_loop(&mut self, pc: Pc) -> bool {
        let i = self.instr(pc);
        let a = i.ra();
        let tag = self.tag(a);
        let target = pc + 1 - i.bx();
        let end = self.emit.block();
        let float = self.emit.block();
        let known = self.regs.clone();
        let index = self.bits(a);
        if self.emit.require(&[tag], Tag::INTEGER, float) {
            let (left, step) = (self.bits(a + 1), self.bits(a + 2));
            let on = self.emit.block();
            self.emit.branch(left, on, end);
            self.emit.switch_to(on);
            let next = self.emit.ins().iadd(index, step);
            let left = self.emit.ins().iadd_imm_s(left, -1);
            for (r, v) in [(a + 1, left), (a, next), (a + 3, next)] {
                self.store_home(r, v, Known::Tag(Tag::INTEGER));
                self.regs.note(r, v, Known::Tag(Tag::INTEGER));
            }
            self.go(target);
        } else {
            self.emit.jump(float);
        }
        self.emit.switch_to(float);
        self.regs = known;
        let (index, limit, step) = (self.float(a), self.float(a + 1), self.float(a + 2));
        let (next, runs) = self.emit.float_step(index, limit, step);
        let on = self.emit.block();
        self.emit.branch(runs, on, end);
        self.emit.switch_to(on);
        for r in [a, a + 3] {
            self.set_float(r, next);
        }
        self.go(target);
        self.emit.switch_to(end);
        self.regs.begin();
        true
    }
}
