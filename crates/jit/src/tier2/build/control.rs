//! Builds tests, comparisons and loops over numbers.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use perilune_bytecode::feedback::operands as seen;
use perilune_bytecode::{Constant, Op as Bytecode};
use perilune_runtime::string::MAX_SHORT;
use perilune_runtime::value::Tag;

use super::Builder;
use super::inline::Handler;
use crate::analysis::facts::{Speculation, speculation};
use crate::codegen::number::Operator;
use crate::entity::{Pc, Reg, RegisterOperands};
use crate::tier2::ir::{Block, BlockData, End, Op, Target, Type, Value};

/// The largest step of a loop that counts ([`Op::Counts`]).
const MAX_STEP: i64 = 1 << 20;

impl Builder<'_> {
    /// Builds a test with the JMP that follows it; returns whether control continues after them.
    pub(super) fn test(&mut self) -> bool {
        let i = self.instr(self.pc);
        let wanted = self.jumps_if();
        let condition = match i.op() {
            Bytecode::Eq | Bytecode::Lt | Bytecode::Le if self.has_handler() => {
                let operands = [self.read(i.ra()), self.read(i.rb())];
                match self.handler_to_inline(&operands) {
                    Some(handler) => match self.compare_by_handler(handler, operands) {
                        Some(v) => self.truth_of(v),
                        None => return false,
                    },
                    None => None,
                }
            }
            _ => self.condition(),
        };
        let Some(condition) = condition else { return self.generic_end() };
        match condition {
            Ok(condition) => {
                let (yes, no) = self.branch(condition);
                let (jump, skip) = if wanted { (yes, no) } else { (no, yes) };
                let before = (self.registers.clone(), self.known.clone());
                self.take_jump(jump);
                (self.registers, self.known) = before;
                self.switch_to(skip);
                self.past_jump()
            }
            Err(truth) if truth == wanted => {
                let block = self.f.blocks.push(BlockData::default());
                let target = Target { block, args: Vec::new() };
                self.end(End::Jump(target));
                self.take_jump(block);
                false
            }
            Err(_) => self.past_jump(),
        }
    }

    /// Returns the result with which a test takes the jump after it.
    pub(super) fn jumps_if(&self) -> bool {
        let i = self.instr(self.pc);
        match i.op() {
            Bytecode::Test | Bytecode::TestSet => i.c() != 0,
            _ => i.c() & 1 != 0,
        }
    }

    /// Returns the condition of a test, which calls no metamethod; `None` if generic code has to
    /// evaluate it.
    pub(super) fn condition(&mut self) -> Condition {
        let i = self.instr(self.pc);
        match i.op() {
            Bytecode::Test => self.truth(i.ra()),
            Bytecode::TestSet => self.truth(i.rb()),
            Bytecode::Eq | Bytecode::EqK | Bytecode::EqI => self.equality(),
            _ => self.order(),
        }
    }

    /// Builds the path on which a test takes the jump after it.
    fn take_jump(&mut self, block: Block) {
        self.switch_to(block);
        let (pc, i) = (self.pc, self.instr(self.pc));
        if i.op() == Bytecode::TestSet {
            let v = self.read(i.rb());
            self.write(i.ra(), v);
        }
        // the JMP is a separate instruction, and its pc determines whether this is a back edge
        self.pc = pc + 1;
        self.goto((pc + 1).jump_target(self.source.proto));
        self.pc = pc;
    }

    /// Continues after the JMP, on the path on which the test does not take it. Returns false if
    /// the JMP is also reached by another path; it is then built next, and the block has ended.
    pub(super) fn past_jump(&mut self) -> bool {
        let pc = self.pc;
        if self.source.flow.reached[pc + 1] {
            self.fall(pc + 2);
            return false;
        }
        true
    }

    /// Returns the condition that the value of a register counts as true, or the result if it is
    /// known.
    fn truth(&mut self, r: Reg) -> Condition {
        let v = self.read(r);
        self.truth_of(v)
    }

    /// Returns the condition that a value counts as true, or the result if it is known.
    fn truth_of(&mut self, v: Value) -> Condition {
        Some(match self.f.consult(v) {
            Type::Is(tag) => Err(tag.0 >= Tag::TRUE.0),
            _ => Ok(self.value(Type::Condition, Op::IsTrue(v))),
        })
    }

    /// Builds a comparison by a metamethod, whose result counts as true if it holds; returns the
    /// result, or `None` if the metamethod does not return.
    fn compare_by_handler(&mut self, handler: Handler, operands: [Value; 2]) -> Option<Value> {
        if self.instr(self.pc).op() != Bytecode::Eq {
            return self.inline_handler(handler, &operands, None);
        }
        let operands = operands.map(|v| self.guard(v, Tag::TABLE));
        let [x, y] = operands;
        let same = self.value(Type::Condition, Op::Same(x, y));
        let (yes, no) = self.branch(same);
        self.switch_to(yes);
        let result = self.value(Type::Is(Tag::TRUE), Op::Primitive(Tag::TRUE));
        let early = self.early_results(vec![result]);
        self.switch_to(no);
        self.inline_handler(handler, &operands, Some(early))
    }

    /// Returns the result of an order comparison; `None` if generic code has to compare.
    fn order(&mut self) -> Condition {
        use Bytecode::{GeI, GtI, Le, LeI, Lt, LtI};
        let i = self.instr(self.pc);
        let (cc, float_cc) = match i.op() {
            Lt | LtI => (IntCC::SignedLessThan, FloatCC::LessThan),
            Le | LeI => (IntCC::SignedLessThanOrEqual, FloatCC::LessThanOrEqual),
            GtI => (IntCC::SignedGreaterThan, FloatCC::GreaterThan),
            GeI => (IntCC::SignedGreaterThanOrEqual, FloatCC::GreaterThanOrEqual),
            _ => return None,
        };
        let is_register = matches!(i.op(), Lt | Le);
        let tag = match speculation(self.source.snapshot, self.pc, i) {
            Speculation::Int => Tag::INTEGER,
            Speculation::Float => Tag::FLOAT,
            Speculation::Any if self.has_met_only_numbers() => {
                return self.order_of_numbers((cc, float_cc), is_register);
            }
            Speculation::Number | Speculation::Any => return None,
        };
        let x = self.read(i.ra());
        let y = if is_register { self.read(i.rb()) } else { x };
        if self.is_never(x, tag) || self.is_never(y, tag) {
            return None;
        }
        let x = self.guard(x, tag);
        let y = if is_register {
            let y = self.read(i.rb());
            self.guard(y, tag)
        } else if tag == Tag::INTEGER {
            self.integer(i.sb())
        } else {
            self.float(i.sb() as f64)
        };
        let op = match tag {
            Tag::INTEGER => Op::CompareInt(cc, x, y),
            _ => Op::CompareFloat(float_cc, x, y),
        };
        Some(Ok(self.value(Type::Condition, op)))
    }

    /// As [`Builder::order`], for numbers of both kinds.
    fn order_of_numbers(
        &mut self,
        (cc, float_cc): (IntCC, FloatCC),
        is_register: bool,
    ) -> Condition {
        let i = self.instr(self.pc);
        let x = self.read(i.ra());
        let y = if is_register { self.read(i.rb()) } else { self.integer(i.sb()) };
        if ![x, y].into_iter().all(|v| self.may_be_number(v)) {
            return None;
        }
        let (x, y) = (self.refined(x), self.refined(y));
        // the immediate operand of an instruction is exact as a float
        let is_float = self.f.consult(x) == Type::Is(Tag::FLOAT);
        let y = if !is_register && is_float { self.as_float(y) } else { y };
        let op = match [self.f.consult(x), self.f.consult(y)] {
            [Type::Is(Tag::INTEGER), Type::Is(Tag::INTEGER)] => Op::CompareInt(cc, x, y),
            [Type::Is(Tag::FLOAT), Type::Is(Tag::FLOAT)] => Op::CompareFloat(float_cc, x, y),
            _ => Op::CompareNumber(cc, float_cc, x, y, self.state()),
        };
        Some(Ok(self.value(Type::Condition, op)))
    }

    /// Returns the result of an equality comparison; `None` if generic code has to compare.
    fn equality(&mut self) -> Condition {
        let i = self.instr(self.pc);
        let x = self.read(i.ra());
        match i.op() {
            Bytecode::EqI => match self.f.consult(x) {
                Type::Is(Tag::INTEGER) => {
                    let y = self.integer(i.sb());
                    Some(Ok(self.value(Type::Condition, Op::CompareInt(IntCC::Equal, x, y))))
                }
                Type::Is(Tag::FLOAT) => {
                    let y = self.float(i.sb() as f64);
                    let op = Op::CompareFloat(FloatCC::Equal, x, y);
                    Some(Ok(self.value(Type::Condition, op)))
                }
                Type::Is(_) => Some(Err(false)),
                _ => Some(Ok(self.value(Type::Condition, Op::IsInteger(x, i.sb())))),
            },
            Bytecode::EqK => {
                let primitive = match &self.source.proto.constants[i.b()] {
                    Constant::Nil => Tag::NIL,
                    Constant::Bool(false) => Tag::FALSE,
                    Constant::Bool(true) => Tag::TRUE,
                    Constant::Str(s) if s.len() <= MAX_SHORT => {
                        return match self.f.consult(x) {
                            Type::Is(Tag::STRING) => {
                                if let Some(text) = self.text(x) {
                                    return Some(Err(text == self.source.proto.str(*s)));
                                }
                                let y = self.constant(i.b());
                                Some(Ok(self.value(Type::Condition, Op::Same(x, y))))
                            }
                            Type::Is(_) => Some(Err(false)),
                            _ => {
                                let y = self.constant(i.b());
                                Some(Ok(self.value(Type::Condition, Op::IsString(x, y))))
                            }
                        };
                    }
                    _ => return None,
                };
                Some(match self.f.consult(x) {
                    Type::Is(tag) => Err(tag == primitive),
                    _ => Ok(self.value(Type::Condition, Op::HasTag(x, primitive))),
                })
            }
            _ => {
                let y = self.read(i.rb());
                match (self.f.consult(x), self.f.consult(y)) {
                    (Type::Is(Tag::INTEGER), Type::Is(Tag::INTEGER)) => {
                        let op = Op::CompareInt(IntCC::Equal, x, y);
                        Some(Ok(self.value(Type::Condition, op)))
                    }
                    (Type::Is(Tag::FLOAT), Type::Is(Tag::FLOAT)) => {
                        let op = Op::CompareFloat(FloatCC::Equal, x, y);
                        Some(Ok(self.value(Type::Condition, op)))
                    }
                    (Type::Is(tag), _) if tag.0 < Tag::INTEGER.0 => {
                        Some(Ok(self.value(Type::Condition, Op::HasTag(y, tag))))
                    }
                    (_, Type::Is(tag)) if tag.0 < Tag::INTEGER.0 => {
                        Some(Ok(self.value(Type::Condition, Op::HasTag(x, tag))))
                    }
                    // metamethods have been seen
                    _ if self.source.snapshot.general => None,
                    _ if self.source.snapshot.cell(self.pc) & seen::OTHER != 0 => None,
                    _ => {
                        let state = self.state();
                        Some(Ok(self.value(Type::Condition, Op::Equal(x, y, state))))
                    }
                }
            }
        }
    }

    /// Jumps to the instruction at `to` if the condition holds, and continues otherwise.
    fn jump_if(&mut self, condition: Value, to: Pc) {
        let (jump, on) = self.branch(condition);
        let before = (self.registers.clone(), self.known.clone());
        self.switch_to(jump);
        self.goto(to);
        (self.registers, self.known) = before;
        self.switch_to(on);
    }

    /// Builds FORPREP; returns whether control continues after it. A step that is not a constant is
    /// likely to be positive.
    pub(super) fn for_prep(&mut self) -> bool {
        let (pc, i) = (self.pc, self.instr(self.pc));
        let a = i.ra();
        let is_int = speculation(self.source.snapshot, pc, i) == Speculation::Int;
        let values = [a, a + 1, a + 2].map(|r| self.read(r));
        if !is_int {
            return self.float_prep(values);
        }
        let step = self.constants.integer(values[2]);
        if [values[0], values[2]].iter().any(|&v| self.is_never(v, Tag::INTEGER))
            || !self.may_be_number(values[1])
            || step == Some(0)
            || step.is_none() && self.source.snapshot.failed.contains(&pc.as_u32())
        {
            return self.generic_end();
        }
        let by = self.guard(values[2], Tag::INTEGER);
        let ascends = step.is_none_or(|n| n > 0);
        if step.is_none() {
            self.exit_unless_positive(by);
        }
        let init = self.guard(values[0], Tag::INTEGER);
        let limit = self.loop_limit(values[1], ascends);
        let cc = if ascends { IntCC::SignedGreaterThan } else { IntCC::SignedLessThan };
        let none = self.value(Type::Condition, Op::CompareInt(cc, init, limit));
        self.jump_if(none, pc + 2 + i.bx());
        let state = self.state();
        let int = Type::Is(Tag::INTEGER);
        let (from, to) = if ascends { (init, limit) } else { (limit, init) };
        let mut rounds = self.value(int, Op::IntArith(Operator::Sub, to, from, state));
        let size = match step.map(i64::unsigned_abs) {
            Some(1) => None,
            Some(n) => Some(self.integer(n as i64)),
            None => Some(by),
        };
        if let Some(size) = size {
            rounds = self.value(int, Op::Rounds(rounds, size));
        }
        self.write(a, init);
        self.write(a + 1, rounds);
        self.write(a + 2, by);
        self.write(a + 3, init);
        true
    }

    /// Exits unless an integer is positive.
    fn exit_unless_positive(&mut self, n: Value) {
        let zero = self.integer(0);
        let op = Op::CompareInt(IntCC::SignedGreaterThan, n, zero);
        let is_positive = self.value(Type::Condition, op);
        let state = self.state();
        let (on, exit) = self.branch(is_positive);
        self.switch_to(exit);
        self.end(End::Exit(state));
        self.switch_to(on);
    }

    /// Returns the limit of a loop over integers as an integer.
    fn loop_limit(&mut self, limit: Value, ascends: bool) -> Value {
        let has_met_floats = self.source.snapshot.cell(self.pc) & seen::MIXED != 0;
        let is_float = self.f.consult(limit) == Type::Is(Tag::FLOAT);
        if !is_float && (!has_met_floats || self.f.consult(limit) == Type::Is(Tag::INTEGER)) {
            return self.guard(limit, Tag::INTEGER);
        }
        let state = self.state();
        self.value(Type::Is(Tag::INTEGER), Op::LoopLimit(limit, ascends, state))
    }

    /// Builds FORPREP of a loop over floats; returns whether control continues after it. A loop is
    /// over floats if its first value or its step is a float (manual 3.3.5).
    fn float_prep(&mut self, values: [Value; 3]) -> bool {
        let (pc, i) = (self.pc, self.instr(self.pc));
        let a = i.ra();
        let [init, _, step] = values.map(|v| self.refined(v));
        let is_float = [init, step].iter().any(|&v| self.f.consult(v) == Type::Is(Tag::FLOAT));
        let are_numbers = values.iter().all(|&v| self.may_be_number(v));
        let sign = self.constants.number(step).filter(|&n| n != 0.0).map(|n| n > 0.0);
        let (Some(ascends), true, true) = (sign, is_float, are_numbers) else {
            return self.generic_end();
        };
        let [init, limit, step] = values.map(|v| self.as_float(v));
        let cc = if ascends { FloatCC::GreaterThan } else { FloatCC::LessThan };
        let none = self.value(Type::Condition, Op::CompareFloat(cc, init, limit));
        self.jump_if(none, pc + 2 + i.bx());
        for (n, v) in [init, limit, step, init].into_iter().enumerate() {
            self.write(a + n, v);
        }
        true
    }

    /// Builds FORLOOP; returns whether control continues after it.
    pub(super) fn for_loop(&mut self) -> bool {
        let (pc, i) = (self.pc, self.instr(self.pc));
        let a = i.ra();
        let values = [a, a + 1, a + 2].map(|r| self.read(r));
        let (int, float) = (Type::Is(Tag::INTEGER), Type::Is(Tag::FLOAT));
        if values.iter().all(|&v| self.f.consult(v) == float) {
            if self.source.snapshot.failed.contains(&pc.as_u32()) {
                return self.generic_end();
            }
            self.float_loop(values);
            return true;
        }
        if values.iter().any(|&v| self.f.consult(v) != int) {
            return self.generic_end();
        }
        let has_failed = self.source.snapshot.failed.contains(&pc.as_u32());
        let [index, left, step] = values;
        let by = self.constants.integer(step).filter(|by| (1..=MAX_STEP).contains(by));
        let head = pc + 1 - i.bx();
        let zero = self.integer(0);
        let more = self.value(Type::Condition, Op::CompareInt(IntCC::NotEqual, left, zero));
        let (on, end) = self.branch(more);
        let before = (self.registers.clone(), self.known.clone());
        self.switch_to(on);
        let state = self.state();
        let next = self.value(int, Op::IntArith(Operator::Add, index, step, state));
        let one = self.integer(1);
        let left = self.value(int, Op::IntArith(Operator::Sub, left, one, state));
        self.write(a, next);
        self.write(a + 1, left);
        self.write(a + 3, next);
        if let Some(by) = by.filter(|_| !has_failed && self.ends_peeled_round(head)) {
            self.push(Op::Counts(a + self.offset, by, state));
        }
        self.goto(head);
        (self.registers, self.known) = before;
        self.switch_to(end);
        true
    }

    /// Builds FORLOOP of a loop over floats, and exits if the step is neither a constant nor
    /// positive.
    fn float_loop(&mut self, [index, limit, step]: [Value; 3]) {
        let (pc, i) = (self.pc, self.instr(self.pc));
        let a = i.ra();
        let constant = self.constants.number(step);
        if constant.is_none() {
            let zero = self.float(0.0);
            let op = Op::CompareFloat(FloatCC::GreaterThan, step, zero);
            let ascends = self.value(Type::Condition, op);
            let state = self.state();
            let (up, down) = self.branch(ascends);
            self.switch_to(down);
            self.end(End::Exit(state));
            self.switch_to(up);
        }
        let cc = match constant {
            Some(step) if step < 0.0 => FloatCC::GreaterThanOrEqual,
            _ => FloatCC::LessThanOrEqual,
        };
        let next = self.value(Type::Is(Tag::FLOAT), Op::FloatArith(Operator::Add, index, step));
        let more = self.value(Type::Condition, Op::CompareFloat(cc, next, limit));
        let (on, end) = self.branch(more);
        let before = (self.registers.clone(), self.known.clone());
        self.switch_to(on);
        self.write(a, next);
        self.write(a + 3, next);
        self.goto(pc + 1 - i.bx());
        (self.registers, self.known) = before;
        self.switch_to(end);
    }
}

/// The result of a comparison: a condition, or the result if it is known; `None` if only generic
/// code can compare.
pub(super) type Condition = Option<Result<Value, bool>>;
