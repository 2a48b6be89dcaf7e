//! Translates arithmetic and bit operations.

use cranelift_codegen::ir::types::{F64, I64};
use cranelift_codegen::ir::{Block, InstBuilder, Value};
use perilune_bytecode::feedback::operands as seen;
use perilune_runtime::value::Tag;

use super::Translator;
use crate::analysis::facts::{Speculation, speculation};
use crate::analysis::operation::{Operand, operation};
use crate::codegen::number::Operator;
use crate::codegen::value::Known;
use crate::entity::{Pc, Reg, RegisterOperands};

impl Translator<'_> {
    pub(super) fn operand_tag(&mut self, o: Operand) -> Known {
        match o {
            Operand::Reg(r) => self.tag(r),
            Operand::Int(_) => Known::Tag(Tag::INTEGER),
            Operand::Float(_) => Known::Tag(Tag::FLOAT),
        }
    }

    /// Like [`Translator::operand_int`], in a side block: the payload is not cached.
    pub(super) fn peek_int(&mut self, o: Operand) -> Value {
        match o {
            Operand::Reg(r) => self.peek_bits(r),
            Operand::Int(_) | Operand::Float(_) => self.operand_int(o),
        }
    }

    /// Returns the payload of an operand as an integer. Loads the payload of a register regardless
    /// of its tag.
    pub(super) fn operand_int(&mut self, o: Operand) -> Value {
        match o {
            Operand::Reg(r) => self.bits(r),
            Operand::Int(i) => self.emit.int(i),
            Operand::Float(f) => self.emit.int(f.to_bits() as i64),
        }
    }

    /// Returns the payload of an operand as a float.
    pub(super) fn operand_float(&mut self, o: Operand) -> Value {
        match o {
            Operand::Reg(r) => self.float(r),
            Operand::Int(i) => self.emit.ins().f64const(i as f64),
            Operand::Float(f) => self.emit.ins().f64const(f),
        }
    }

    pub(super) fn arithmetic(&mut self, pc: Pc) {
        let i = self.instr(pc);
        let Some((operator, x, y)) = operation(self.proto, i) else {
            unreachable!("{:?} is no operator", i.op())
        };
        self.operator(pc, i.ra(), operator, x, y);
    }

    fn operator(&mut self, pc: Pc, dst: Reg, operator: Operator, x: Operand, y: Operand) {
        let speculation = speculation(self.snapshot, pc, self.instr(pc));
        if speculation != Speculation::Any {
            return self.speculative_operator(pc, dst, operator, (x, y), speculation);
        }
        let mask = self.snapshot.cell(pc);
        let mask = if mask & 7 == 0 { seen::INT | seen::FLOAT } else { mask };
        let (tx, ty) = (self.operand_tag(x), self.operand_tag(y));
        // the path for mixed operands accepts any two numbers, so it needs a check for two integers
        // before
        let ints =
            operator.has_int() && (mask & (seen::INT | seen::MIXED) != 0 || !operator.has_float());
        let floats = operator.has_float() && (mask & (seen::FLOAT | seen::MIXED) != 0 || !ints);
        let mixed = mask & seen::MIXED != 0 || !operator.has_int();
        // payloads are loaded before the guards, so that they are known afterwards
        let int_payloads = (ints || mixed).then(|| (self.operand_int(x), self.operand_int(y)));
        let float_payloads = floats.then(|| (self.operand_float(x), self.operand_float(y)));
        let result = if ints { I64 } else { F64 };
        let done = self.emit.join_block(result);
        let slow = self.emit.cold_block();
        let mut open = true;
        if let Some((vx, vy)) = int_payloads.filter(|_| ints) {
            let other = self.emit.block();
            let guarded = self.emit.require(&[tx, ty], Tag::INTEGER, other);
            if guarded {
                let v = self.emit.int_operator(operator, vx, vy, y.constant_int(), slow);
                self.store_home(dst, v, Known::Tag(Tag::INTEGER));
                let tag = self.emit.tag(Tag::INTEGER);
                self.emit.join(done, v, tag);
                self.emit.switch_to(other);
            } else {
                self.emit.jump(other);
                self.emit.switch_to(other);
            }
        }
        if let Some((fx, fy)) = float_payloads {
            let known = if mixed {
                let (vx, vy) = int_payloads.expect("loaded for mixed operands");
                match self.as_float(x, tx, vx, fx, slow) {
                    Some(fx) => self.as_float(y, ty, vy, fy, slow).map(|fy| (fx, fy)),
                    None => None,
                }
            } else {
                let unknown: Vec<Known> = [(x, tx), (y, ty)]
                    .into_iter()
                    .filter(|(o, _)| !matches!(o, Operand::Int(_)))
                    .map(|(_, t)| t)
                    .collect();
                self.emit.require(&unknown, Tag::FLOAT, slow).then_some((fx, fy))
            };
            if let Some((fx, fy)) = known {
                let v = self.emit.float_operator(operator, fx, fy);
                self.store_home(dst, v, Known::Tag(Tag::FLOAT));
                let tag = self.emit.tag(Tag::FLOAT);
                let v = if result == I64 { self.emit.float_bits(v) } else { v };
                self.emit.join(done, v, tag);
                open = false;
            }
        }
        if open {
            self.emit.jump(slow);
        }
        self.emit.switch_to(slow);
        if self.has_handlers(pc) {
            self.operator_handler(pc, (operator.event(), dst), (x, y), result, done);
        }
        // the register of the result may still have its tag from before the guards
        self.generic_result(pc, dst, result, done);
        self.take_value(done, dst);
    }

    /// Translates an operator whose operands are speculated to be numbers of some kind. If it is
    /// one kind, registers have already been guarded ([`Translator::speculate`]).
    fn speculative_operator(
        &mut self,
        pc: Pc,
        dst: Reg,
        operator: Operator,
        (x, y): (Operand, Operand),
        speculation: Speculation,
    ) {
        let (tx, ty) = (self.operand_tag(x), self.operand_tag(y));
        let wrong = self.emit.cold_block();
        if speculation == Speculation::Int {
            let (vx, vy) = (self.operand_int(x), self.operand_int(y));
            if self.emit.require(&[tx, ty], Tag::INTEGER, wrong) {
                let v = self.emit.int_operator(operator, vx, vy, y.constant_int(), wrong);
                self.set(dst, v, Known::Tag(Tag::INTEGER));
            } else {
                self.never(wrong, dst);
            }
        } else if let Some((fx, fy)) =
            self.float_operands(operator, (x, tx), (y, ty), speculation, wrong)
        {
            let v = self.emit.float_operator(operator, fx, fy);
            self.set_float(dst, v);
        } else {
            self.never(wrong, dst);
        }
        self.deoptimize_at(wrong, pc);
    }

    /// Goes to `wrong`, because the speculation is known to fail, and continues in an unreachable
    /// block.
    fn never(&mut self, wrong: Block, dst: Reg) {
        self.emit.jump(wrong);
        let rest = self.emit.block();
        self.emit.switch_to(rest);
        self.regs.forget(dst);
    }

    fn float_operands(
        &mut self,
        operator: Operator,
        (x, tx): (Operand, Known),
        (y, ty): (Operand, Known),
        speculation: Speculation,
        wrong: Block,
    ) -> Option<(Value, Value)> {
        let (fx, fy) = (self.operand_float(x), self.operand_float(y));
        if speculation == Speculation::Float {
            let unknown: Vec<Known> = [(x, tx), (y, ty)]
                .into_iter()
                .filter(|(o, _)| matches!(o, Operand::Reg(_)))
                .map(|(_, t)| t)
                .collect();
            return self.emit.require(&unknown, Tag::FLOAT, wrong).then_some((fx, fy));
        }
        let (vx, vy) = (self.operand_int(x), self.operand_int(y));
        if operator.has_int() {
            // two integers give an integer
            let others = self.emit.block();
            if self.emit.require(&[tx, ty], Tag::INTEGER, others) {
                self.emit.jump(wrong);
            } else {
                self.emit.jump(others);
            }
            self.emit.switch_to(others);
        }
        let fx = self.as_float(x, tx, vx, fx, wrong)?;
        let fy = self.as_float(y, ty, vy, fy, wrong)?;
        Some((fx, fy))
    }

    /// Returns an operand of a float operation, converted if it is an integer. Goes to `slow` if it
    /// is not a number, or returns `None` if it never is.
    fn as_float(
        &mut self,
        o: Operand,
        tag: Known,
        bits: Value,
        float: Value,
        slow: Block,
    ) -> Option<Value> {
        match o {
            Operand::Int(_) | Operand::Float(_) => Some(float),
            Operand::Reg(_) => self.emit.number_to_float(tag, bits, float, slow),
        }
    }
}
