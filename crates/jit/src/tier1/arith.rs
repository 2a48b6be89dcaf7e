//! Arithmetic and bit operations.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F64, I64};
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, MemFlagsData, Value};
use perilune_bytecode::{Constant, Op};
use perilune_runtime::layout;
use perilune_runtime::meta::Event;
use perilune_runtime::value::Tag;

use super::regs::Known;
use super::{MEM, Translator};
use crate::analysis::types::{Speculation, seen, speculation};

/// An operand.
#[derive(Clone, Copy)]
pub(super) enum Operand {
    Reg(usize),
    Int(i64),
    Float(f64),
}

/// What is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
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

impl Kind {
    fn event(self) -> Event {
        match self {
            Kind::Add => Event::Add,
            Kind::Sub => Event::Sub,
            Kind::Mul => Event::Mul,
            Kind::Mod => Event::Mod,
            Kind::Pow => Event::Pow,
            Kind::Div => Event::Div,
            Kind::IDiv => Event::IDiv,
            Kind::And => Event::BAnd,
            Kind::Or => Event::BOr,
            Kind::Xor => Event::BXor,
            Kind::Shl => Event::Shl,
            Kind::Shr => Event::Shr,
            Kind::Neg => Event::Unm,
            Kind::Not => Event::BNot,
        }
    }

    fn has_int(self) -> bool {
        !matches!(self, Kind::Pow | Kind::Div)
    }

    fn has_float(self) -> bool {
        matches!(
            self,
            Kind::Add
                | Kind::Sub
                | Kind::Mul
                | Kind::Mod
                | Kind::Pow
                | Kind::Div
                | Kind::IDiv
                | Kind::Neg
        )
    }
}

impl Translator<'_> {
    pub(super) fn constant_operand(&self, n: usize) -> Operand {
        match self.proto.constants[n] {
            Constant::Integer(i) => Operand::Int(i),
            Constant::Float(f) => Operand::Float(f),
            _ => unreachable!("the verifier has seen a number"),
        }
    }

    pub(super) fn operand_tag(&mut self, o: Operand) -> Known {
        match o {
            Operand::Reg(r) => self.tag(r),
            Operand::Int(_) => Known::Tag(Tag::INTEGER),
            Operand::Float(_) => Known::Tag(Tag::FLOAT),
        }
    }

    /// As [`Translator::operand_int`], within a side block: the payload is not remembered.
    pub(super) fn peek_int(&mut self, o: Operand) -> Value {
        match o {
            Operand::Reg(r) => self.peek_bits(r),
            Operand::Int(_) | Operand::Float(_) => self.operand_int(o),
        }
    }

    /// Its payload as an integer. Loads a register's payload where it stands, whatever its tag.
    pub(super) fn operand_int(&mut self, o: Operand) -> Value {
        match o {
            Operand::Reg(r) => self.bits(r),
            Operand::Int(i) => self.int(i),
            Operand::Float(f) => self.int(f.to_bits() as i64),
        }
    }

    /// Its payload as a float.
    pub(super) fn operand_float(&mut self, o: Operand) -> Value {
        match o {
            Operand::Reg(r) => self.float(r),
            Operand::Int(i) => self.b.ins().f64const(i as f64),
            Operand::Float(f) => self.b.ins().f64const(f),
        }
    }

    /// Branches to `no` unless all the tags are this one; false: they never are, and nothing was
    /// emitted.
    pub(super) fn require(&mut self, tags: &[Known], wanted: Tag, no: Block) -> bool {
        let mut conditions = Vec::new();
        for &t in tags {
            match self.tag_is(t, wanted) {
                Err(true) => {}
                Err(false) => return false,
                Ok(c) => conditions.push(c),
            }
        }
        for c in conditions {
            let yes = self.b.create_block();
            self.b.ins().brif(c, yes, &[], no, &[]);
            self.b.switch_to_block(yes);
        }
        true
    }

    pub(super) fn arithmetic(&mut self, pc: usize) {
        let i = self.proto.code[pc];
        let reg = Operand::Reg;
        let (kind, x, y) = match i.op() {
            Op::AddI => (Kind::Add, reg(i.b()), Operand::Int(i.c() as i64)),
            Op::SubI => (Kind::Sub, reg(i.b()), Operand::Int(i.c() as i64)),
            Op::AddK => (Kind::Add, reg(i.b()), self.constant_operand(i.c())),
            Op::SubK => (Kind::Sub, reg(i.b()), self.constant_operand(i.c())),
            Op::MulK => (Kind::Mul, reg(i.b()), self.constant_operand(i.c())),
            Op::ModK => (Kind::Mod, reg(i.b()), self.constant_operand(i.c())),
            Op::PowK => (Kind::Pow, reg(i.b()), self.constant_operand(i.c())),
            Op::DivK => (Kind::Div, reg(i.b()), self.constant_operand(i.c())),
            Op::IDivK => (Kind::IDiv, reg(i.b()), self.constant_operand(i.c())),
            Op::BAndK => (Kind::And, reg(i.b()), self.constant_operand(i.c())),
            Op::BOrK => (Kind::Or, reg(i.b()), self.constant_operand(i.c())),
            Op::BXorK => (Kind::Xor, reg(i.b()), self.constant_operand(i.c())),
            Op::KAdd => (Kind::Add, self.constant_operand(i.b()), reg(i.c())),
            Op::KSub => (Kind::Sub, self.constant_operand(i.b()), reg(i.c())),
            Op::KMul => (Kind::Mul, self.constant_operand(i.b()), reg(i.c())),
            Op::KDiv => (Kind::Div, self.constant_operand(i.b()), reg(i.c())),
            Op::ShrI => (Kind::Shr, reg(i.b()), Operand::Int(i.c() as i64)),
            Op::ShlI => (Kind::Shl, reg(i.b()), Operand::Int(i.c() as i64)),
            Op::Add => (Kind::Add, reg(i.b()), reg(i.c())),
            Op::Sub => (Kind::Sub, reg(i.b()), reg(i.c())),
            Op::Mul => (Kind::Mul, reg(i.b()), reg(i.c())),
            Op::Mod => (Kind::Mod, reg(i.b()), reg(i.c())),
            Op::Pow => (Kind::Pow, reg(i.b()), reg(i.c())),
            Op::Div => (Kind::Div, reg(i.b()), reg(i.c())),
            Op::IDiv => (Kind::IDiv, reg(i.b()), reg(i.c())),
            Op::BAnd => (Kind::And, reg(i.b()), reg(i.c())),
            Op::BOr => (Kind::Or, reg(i.b()), reg(i.c())),
            Op::BXor => (Kind::Xor, reg(i.b()), reg(i.c())),
            Op::Shl => (Kind::Shl, reg(i.b()), reg(i.c())),
            Op::Shr => (Kind::Shr, reg(i.b()), reg(i.c())),
            Op::Unm => (Kind::Neg, reg(i.b()), reg(i.b())),
            Op::BNot => (Kind::Not, reg(i.b()), reg(i.b())),
            op => unreachable!("{op:?} is no operator"),
        };
        self.operator(pc, i.a(), kind, x, y);
    }

    fn operator(&mut self, pc: usize, dst: usize, kind: Kind, x: Operand, y: Operand) {
        let speculation = speculation(self.snapshot, pc, self.proto.code[pc]);
        if speculation != Speculation::Any {
            return self.speculative_operator(pc, dst, kind, (x, y), speculation);
        }
        let mask = self.snapshot.cells[pc];
        let mask = if mask & 7 == 0 { seen::INT | seen::FLOAT } else { mask };
        let (tx, ty) = (self.operand_tag(x), self.operand_tag(y));
        // the path of mixed operands takes any two numbers, so two integers must have been looked
        // for before
        let ints = kind.has_int() && (mask & (seen::INT | seen::MIXED) != 0 || !kind.has_float());
        let floats = kind.has_float() && (mask & (seen::FLOAT | seen::MIXED) != 0 || !ints);
        let mixed = mask & seen::MIXED != 0 || !kind.has_int();
        // payloads are loaded before the guards, so that they are known afterwards
        let int_payloads = (ints || mixed).then(|| (self.operand_int(x), self.operand_int(y)));
        let float_payloads = floats.then(|| (self.operand_float(x), self.operand_float(y)));
        let result = if ints { I64 } else { F64 };
        let done = self.join_block(result);
        let slow = self.cold_block();
        let mut open = true;
        if let Some((vx, vy)) = int_payloads.filter(|_| ints) {
            let other = self.b.create_block();
            let guarded = self.require(&[tx, ty], Tag::INTEGER, other);
            if guarded {
                let v = self.int_operation(kind, vx, vy, y, slow);
                self.store_home(dst, v, Known::Tag(Tag::INTEGER));
                let tag = self.int(Tag::INTEGER.0.into());
                self.join(done, v, tag);
                self.b.switch_to_block(other);
            } else {
                self.b.ins().jump(other, &[]);
                self.b.switch_to_block(other);
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
                self.require(&unknown, Tag::FLOAT, slow).then_some((fx, fy))
            };
            if let Some((fx, fy)) = known {
                let v = self.float_operation(kind, fx, fy);
                self.store_home(dst, v, Known::Tag(Tag::FLOAT));
                let tag = self.int(Tag::FLOAT.0.into());
                let v = if result == I64 {
                    self.b.ins().bitcast(I64, MemFlagsData::new(), v)
                } else {
                    v
                };
                self.join(done, v, tag);
                open = false;
            }
        }
        if open {
            self.b.ins().jump(slow, &[]);
        }
        self.b.switch_to_block(slow);
        if self.has_handlers(pc) {
            self.operator_handler(pc, (kind.event(), dst), (x, y), result, done);
        }
        // the result's register may still have a tag from before the guards
        self.generic_result(pc, dst, result, done);
        self.take_value(done, dst);
    }

    /// An operator whose operands are speculated to be numbers of some kind. Registers are guarded
    /// to be of one kind already ([`Translator::speculate`]).
    fn speculative_operator(
        &mut self,
        pc: usize,
        dst: usize,
        kind: Kind,
        (x, y): (Operand, Operand),
        speculation: Speculation,
    ) {
        let (tx, ty) = (self.operand_tag(x), self.operand_tag(y));
        let wrong = self.cold_block();
        if speculation == Speculation::Int {
            let (vx, vy) = (self.operand_int(x), self.operand_int(y));
            if self.require(&[tx, ty], Tag::INTEGER, wrong) {
                let v = self.int_operation(kind, vx, vy, y, wrong);
                self.set(dst, v, Known::Tag(Tag::INTEGER));
            } else {
                self.never(wrong, dst);
            }
        } else if let Some((fx, fy)) =
            self.float_operands(kind, (x, tx), (y, ty), speculation, wrong)
        {
            let v = self.float_operation(kind, fx, fy);
            self.set_float(dst, v);
        } else {
            self.never(wrong, dst);
        }
        self.deoptimize_at(wrong, pc);
    }

    /// The speculation is known to fail: goes to `wrong`, and on in a block that is
    /// not reached.
    fn never(&mut self, wrong: Block, dst: usize) {
        self.b.ins().jump(wrong, &[]);
        let rest = self.b.create_block();
        self.b.switch_to_block(rest);
        self.regs.forget(dst);
    }

    fn float_operands(
        &mut self,
        kind: Kind,
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
            return self.require(&unknown, Tag::FLOAT, wrong).then_some((fx, fy));
        }
        let (vx, vy) = (self.operand_int(x), self.operand_int(y));
        if kind.has_int() {
            // two integers have an integer as their result
            let others = self.b.create_block();
            if self.require(&[tx, ty], Tag::INTEGER, others) {
                self.b.ins().jump(wrong, &[]);
            } else {
                self.b.ins().jump(others, &[]);
            }
            self.b.switch_to_block(others);
        }
        let fx = self.as_float(x, tx, vx, fx, wrong)?;
        let fy = self.as_float(y, ty, vy, fy, wrong)?;
        Some((fx, fy))
    }

    /// An operand of a float operation, from an integer if it is one; goes to `slow` if it is no
    /// number. `None`: it never is.
    fn as_float(
        &mut self,
        o: Operand,
        tag: Known,
        bits: Value,
        float: Value,
        slow: Block,
    ) -> Option<Value> {
        match (o, tag) {
            (Operand::Int(_) | Operand::Float(_), _) | (_, Known::Tag(Tag::FLOAT)) => Some(float),
            (_, Known::Tag(Tag::INTEGER)) => Some(self.b.ins().fcvt_from_sint(F64, bits)),
            (_, Known::Tag(_)) => None,
            (_, Known::Value(t)) => {
                let (convert, on) = (self.b.create_block(), self.b.create_block());
                let check = self.b.create_block();
                self.b.append_block_param(on, F64);
                let is_float = self.b.ins().icmp_imm_u(IntCC::Equal, t, Tag::FLOAT.0 as i64);
                self.b.ins().brif(is_float, on, &[BlockArg::from(float)], check, &[]);
                self.b.switch_to_block(check);
                let is_int = self.b.ins().icmp_imm_u(IntCC::Equal, t, Tag::INTEGER.0 as i64);
                self.b.ins().brif(is_int, convert, &[], slow, &[]);
                self.b.switch_to_block(convert);
                let v = self.b.ins().fcvt_from_sint(F64, bits);
                self.b.ins().jump(on, &[BlockArg::from(v)]);
                self.b.switch_to_block(on);
                Some(self.b.block_params(on)[0])
            }
        }
    }

    fn int_operation(&mut self, kind: Kind, x: Value, y: Value, oy: Operand, slow: Block) -> Value {
        match kind {
            Kind::Add => self.b.ins().iadd(x, y),
            Kind::Sub => self.b.ins().isub(x, y),
            Kind::Mul => self.b.ins().imul(x, y),
            Kind::And => self.b.ins().band(x, y),
            Kind::Or => self.b.ins().bor(x, y),
            Kind::Xor => self.b.ins().bxor(x, y),
            Kind::Neg => self.b.ins().ineg(x),
            Kind::Not => self.b.ins().bnot(x),
            Kind::Shl | Kind::Shr => self.shift(kind, x, y, oy),
            Kind::Mod | Kind::IDiv => {
                let done = self.b.create_block();
                self.b.append_block_param(done, I64);
                if !matches!(oy, Operand::Int(n) if n != 0 && n != -1) {
                    // 0 is an error, and -1 overflows
                    let near = self.b.ins().iadd_imm_s(y, 1);
                    let special = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, near, 1);
                    let (on, one) = (self.b.create_block(), self.b.create_block());
                    let other = self.cold_block();
                    self.b.ins().brif(special, other, &[], on, &[]);
                    self.b.switch_to_block(other);
                    self.b.ins().brif(near, slow, &[], one, &[]);
                    self.b.switch_to_block(one);
                    let v = if kind == Kind::Mod { self.int(0) } else { self.b.ins().ineg(x) };
                    self.b.ins().jump(done, &[BlockArg::from(v)]);
                    self.b.switch_to_block(on);
                }
                let rest = self.b.ins().srem(x, y);
                let signs = self.b.ins().bxor(rest, y);
                let negative = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, signs, 0);
                let some = self.b.ins().icmp_imm_s(IntCC::NotEqual, rest, 0);
                let adjust = self.b.ins().band(negative, some);
                let v = if kind == Kind::Mod {
                    let other = self.b.ins().iadd(rest, y);
                    self.b.ins().select(adjust, other, rest)
                } else {
                    let quotient = self.b.ins().sdiv(x, y);
                    let other = self.b.ins().iadd_imm_s(quotient, -1);
                    self.b.ins().select(adjust, other, quotient)
                };
                self.b.ins().jump(done, &[BlockArg::from(v)]);
                self.b.switch_to_block(done);
                self.b.block_params(done)[0]
            }
            Kind::Pow | Kind::Div => unreachable!("only of floats"),
        }
    }

    fn shift(&mut self, kind: Kind, x: Value, y: Value, oy: Operand) -> Value {
        if let Operand::Int(n) = oy {
            let left = if kind == Kind::Shl { n } else { n.wrapping_neg() };
            return match left {
                0..64 => self.b.ins().ishl_imm_u(x, left),
                -63..0 => self.b.ins().ushr_imm_u(x, -left),
                _ => self.int(0),
            };
        }
        let n = if kind == Kind::Shl { y } else { self.b.ins().ineg(y) };
        let inst = self.runtime(self.calls.shift_left as usize, &[x, n], &[I64]);
        self.b.inst_results(inst)[0]
    }

    fn float_operation(&mut self, kind: Kind, x: Value, y: Value) -> Value {
        match kind {
            Kind::Add => self.b.ins().fadd(x, y),
            Kind::Sub => self.b.ins().fsub(x, y),
            Kind::Mul => self.b.ins().fmul(x, y),
            Kind::Div => self.b.ins().fdiv(x, y),
            Kind::Neg => self.b.ins().fneg(x),
            Kind::IDiv => {
                let q = self.b.ins().fdiv(x, y);
                self.b.ins().floor(q)
            }
            Kind::Pow | Kind::Mod => {
                let f = if kind == Kind::Pow {
                    self.calls.pow as usize
                } else {
                    self.calls.float_mod as usize
                };
                let inst = self.runtime(f, &[x, y], &[F64]);
                self.b.inst_results(inst)[0]
            }
            _ => unreachable!("only of integers"),
        }
    }

    /// Loads a value at an address plus offset: payload and tag.
    pub(super) fn load_value(&mut self, p: Value, offset: i32) -> (Value, Value) {
        let bits = self.b.ins().load(I64, MEM, p, offset);
        let tag = self.b.ins().uload8(I64, MEM, p, offset + layout::value::TAG as i32);
        (bits, tag)
    }
}
