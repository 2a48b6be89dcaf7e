//! Unary and binary operators: constant folding, selection of operand forms, and tests.

use perilune_syntax::ast::{BinaryOp, UnaryOp};

use super::constants::Key;
use super::desc::{Desc, Kind};
use super::error::Result;
use super::fold;
use super::func_state::FuncState;
use super::jump_list::JumpList;
use crate::opcode::Op;

/// The opcodes of an arithmetic operator: for operands in registers, for a constant on the right,
/// and for a constant on the left.
struct Forms {
    registers: Op,
    constant_right: Option<Op>,
    constant_left: Option<Op>,
    /// Whether constants must be integers.
    integers: bool,
}

fn forms(op: BinaryOp) -> Forms {
    use BinaryOp::*;
    let (registers, constant_right, constant_left, integers) = match op {
        Add => (Op::Add, Some(Op::AddK), Some(Op::KAdd), false),
        Sub => (Op::Sub, Some(Op::SubK), Some(Op::KSub), false),
        Mul => (Op::Mul, Some(Op::MulK), Some(Op::KMul), false),
        Mod => (Op::Mod, Some(Op::ModK), None, false),
        Pow => (Op::Pow, Some(Op::PowK), None, false),
        Div => (Op::Div, Some(Op::DivK), Some(Op::KDiv), false),
        IDiv => (Op::IDiv, Some(Op::IDivK), None, false),
        BAnd => (Op::BAnd, Some(Op::BAndK), None, true),
        BOr => (Op::BOr, Some(Op::BOrK), None, true),
        BXor => (Op::BXor, Some(Op::BXorK), None, true),
        Shl => (Op::Shl, None, None, true),
        Shr => (Op::Shr, None, None, true),
        Concat | Eq | Ne | Lt | Le | Gt | Ge | And | Or => unreachable!("not arithmetic"),
    };
    Forms { registers, constant_right, constant_left, integers }
}

impl<'c> FuncState<'c> {
    /// Applies a unary operator.
    pub(super) fn prefix(&mut self, op: UnaryOp, e: &mut Desc<'c>, line: u32) -> Result<()> {
        self.discharge_variable(e)?;
        let folded = match (op, e.numeral()) {
            (UnaryOp::Neg, Some(n)) => fold::negate(n),
            (UnaryOp::BNot, Some(n)) => fold::complement(n),
            _ => None,
        };
        if let Some(n) = folded {
            e.kind = number_kind(n);
            return Ok(());
        }
        let op = match op {
            UnaryOp::Neg => Op::Unm,
            UnaryOp::BNot => Op::BNot,
            UnaryOp::Len => Op::Len,
            UnaryOp::Not => return self.not(e),
        };
        let operand = self.put_in_any(e)?;
        self.release_desc(e);
        let pc = self.emit_abc(op, 0, operand, 0)?;
        *e = Desc::new(Kind::Relocatable(pc));
        self.fix_line(line);
        Ok(())
    }

    fn not(&mut self, e: &mut Desc<'c>) -> Result<()> {
        match e.kind {
            Kind::Nil | Kind::False => e.kind = Kind::True,
            Kind::True | Kind::Integer(_) | Kind::Float(_) | Kind::Str(_) | Kind::K(_) => {
                e.kind = Kind::False;
            }
            Kind::Jump(pc) => self.negate_condition(pc),
            _ => {
                let operand = self.discharge_to_any(e)?;
                self.release_desc(e);
                e.kind = Kind::Relocatable(self.emit_abc(Op::Not, 0, operand, 0)?);
            }
        }
        std::mem::swap(&mut e.t, &mut e.f);
        self.drop_values(e.f);
        self.drop_values(e.t);
        Ok(())
    }

    fn negate_condition(&mut self, jump: u32) {
        let test = self.jump_control(jump);
        *test = test.with_c(test.c() as u8 ^ 1);
    }

    /// Emits a jump that is taken if the truth of `e` is `condition`.
    fn jump_if(&mut self, e: &mut Desc<'c>, condition: bool) -> Result<u32> {
        if let Kind::Relocatable(pc) = e.kind
            && self.at(pc).op() == Op::Not
        {
            let operand = self.at(pc).b() as u8;
            self.remove_last();
            return self.conditional_jump(Op::Test, operand, 0, (!condition).into());
        }
        let register = self.discharge_to_any(e)?;
        self.release_desc(e);
        self.test_set(register, condition)
    }

    /// Falls through if `e` is true, and takes the jumps of `e.f` otherwise.
    pub(super) fn go_if_true(&mut self, e: &mut Desc<'c>) -> Result<()> {
        self.discharge_variable(e)?;
        let jump = match e.kind {
            Kind::Jump(pc) => {
                self.negate_condition(pc);
                JumpList::one(pc)
            }
            Kind::True | Kind::Integer(_) | Kind::Float(_) | Kind::Str(_) | Kind::K(_) => {
                JumpList::EMPTY
            }
            Kind::False => JumpList::one(self.jump()?),
            _ => JumpList::one(self.jump_if(e, false)?),
        };
        self.join(&mut e.f, jump)?;
        self.patch_to_here(e.t)?;
        e.t = JumpList::EMPTY;
        Ok(())
    }

    /// Falls through if `e` is false, and takes the jumps of `e.t` otherwise.
    pub(super) fn go_if_false(&mut self, e: &mut Desc<'c>) -> Result<()> {
        self.discharge_variable(e)?;
        let jump = match e.kind {
            Kind::Jump(pc) => JumpList::one(pc),
            Kind::Nil | Kind::False => JumpList::EMPTY,
            Kind::True => JumpList::one(self.jump()?),
            _ => JumpList::one(self.jump_if(e, true)?),
        };
        self.join(&mut e.t, jump)?;
        self.patch_to_here(e.f)?;
        e.f = JumpList::EMPTY;
        Ok(())
    }

    /// Prepares the left operand before the right one is compiled.
    pub(super) fn infix(&mut self, op: BinaryOp, e: &mut Desc<'c>) -> Result<()> {
        use BinaryOp::*;
        self.discharge_variable(e)?;
        match op {
            And => self.go_if_true(e)?,
            Or => self.go_if_false(e)?,
            Concat => _ = self.put_in_next(e)?,
            Eq | Ne => {
                if e.numeral().is_none() && self.constant_operand(e)?.is_none() {
                    self.put_in_any(e)?;
                }
            }
            Lt | Le | Gt | Ge => {
                if e.comparison_immediate().is_none() {
                    self.put_in_any(e)?;
                }
            }
            _ => {
                if e.numeral().is_none() {
                    self.put_in_any(e)?;
                }
            }
        }
        Ok(())
    }

    /// Finishes a binary operation (other than `..`) after its right operand.
    pub(super) fn postfix(
        &mut self,
        op: BinaryOp,
        left: &mut Desc<'c>,
        mut right: Desc<'c>,
        line: u32,
    ) -> Result<()> {
        use BinaryOp::*;
        self.discharge_variable(&mut right)?;
        match op {
            And => {
                let own = std::mem::replace(&mut right.f, left.f);
                self.join(&mut right.f, own)?;
                *left = right;
            }
            Or => {
                let own = std::mem::replace(&mut right.t, left.t);
                self.join(&mut right.t, own)?;
                *left = right;
            }
            Eq | Ne => self.equality(op == Eq, left, right)?,
            Lt => self.order(Op::Lt, left, right)?,
            Le => self.order(Op::Le, left, right)?,
            // `a > b` is `b < a`, but its operands are evaluated in source order.
            Gt => {
                let mut swapped = right;
                self.order(Op::Lt, &mut swapped, *left)?;
                *left = swapped;
            }
            Ge => {
                let mut swapped = right;
                self.order(Op::Le, &mut swapped, *left)?;
                *left = swapped;
            }
            Concat => unreachable!("compiled as a whole chain"),
            _ => {
                if let (Some(a), Some(b)) = (left.numeral(), right.numeral())
                    && let Some(n) = fold::binary(op, a, b)
                {
                    left.kind = number_kind(n);
                    return Ok(());
                }
                self.arithmetic(op, left, right, line)?;
            }
        }
        Ok(())
    }

    fn arithmetic(
        &mut self,
        op: BinaryOp,
        left: &mut Desc<'c>,
        mut right: Desc<'c>,
        line: u32,
    ) -> Result<()> {
        let immediate = match op {
            BinaryOp::Add => Some(Op::AddI),
            BinaryOp::Sub => Some(Op::SubI),
            BinaryOp::Shl => Some(Op::ShlI),
            BinaryOp::Shr => Some(Op::ShrI),
            _ => None,
        };
        let forms = forms(op);
        if let (Some(op), Some(c)) = (immediate, right.small_integer()) {
            let b = self.put_in_any(left)?;
            return self.finish_arithmetic(op, b, c, left, &right, line);
        }
        if let Some(op) = forms.constant_right
            && let Some(c) = self.numeric_operand(&right, forms.integers)?
        {
            let b = self.put_in_any(left)?;
            return self.finish_arithmetic(op, b, c, left, &right, line);
        }
        let c = self.put_in_any(&mut right)?;
        if let Some(op) = forms.constant_left
            && let Some(b) = self.numeric_operand(left, forms.integers)?
        {
            return self.finish_arithmetic(op, b, c, left, &right, line);
        }
        let b = self.put_in_any(left)?;
        self.finish_arithmetic(forms.registers, b, c, left, &right, line)
    }

    fn finish_arithmetic(
        &mut self,
        op: Op,
        b: u8,
        c: u8,
        left: &mut Desc<'c>,
        right: &Desc<'c>,
        line: u32,
    ) -> Result<()> {
        let pc = self.emit_abc(op, 0, b, c)?;
        self.release_descs(left, right);
        *left = Desc::new(Kind::Relocatable(pc));
        self.fix_line(line);
        Ok(())
    }

    /// Returns the index of a numeric constant, if it fits an operand.
    fn numeric_operand(&mut self, e: &Desc<'c>, integers: bool) -> Result<Option<u8>> {
        let key = match e.numeral() {
            Some(fold::Number::Integer(i)) => Key::Integer(i),
            Some(fold::Number::Float(f)) if !integers => Key::Float(f.to_bits()),
            _ => return Ok(None),
        };
        Ok(u8::try_from(self.constant(key)?).ok())
    }

    fn order(&mut self, op: Op, left: &mut Desc<'c>, mut right: Desc<'c>) -> Result<()> {
        let (with_right, with_left) = match op {
            Op::Lt => (Op::LtI, Op::GtI),
            _ => (Op::LeI, Op::GeI),
        };
        let float_bit = |float: bool| u8::from(float) << 1;
        let jump = if let Some((immediate, float)) = right.comparison_immediate() {
            let a = self.put_in_any(left)?;
            self.release_descs(left, &right);
            self.conditional_jump(with_right, a, immediate, 1 | float_bit(float))?
        } else if let Some((immediate, float)) = left.comparison_immediate() {
            let a = self.put_in_any(&mut right)?;
            self.release_descs(left, &right);
            self.conditional_jump(with_left, a, immediate, 1 | float_bit(float))?
        } else {
            let a = self.put_in_any(left)?;
            let b = self.put_in_any(&mut right)?;
            self.release_descs(left, &right);
            self.conditional_jump(op, a, b, 1)?
        };
        *left = Desc::new(Kind::Jump(jump));
        Ok(())
    }

    fn equality(&mut self, equal: bool, left: &mut Desc<'c>, mut right: Desc<'c>) -> Result<()> {
        // A constant goes to the right. Comparing a constant for equality calls no metamethod, so
        // the order of operands cannot be observed.
        if !matches!(left.kind, Kind::Register(_)) {
            std::mem::swap(left, &mut right);
        }
        let a = self.put_in_any(left)?;
        let (op, b, c) = if let Some((immediate, float)) = right.comparison_immediate() {
            (Op::EqI, immediate, u8::from(equal) | u8::from(float) << 1)
        } else if let Some(k) = self.constant_operand(&mut right)? {
            (Op::EqK, k, equal.into())
        } else {
            (Op::Eq, self.put_in_any(&mut right)?, equal.into())
        };
        self.release_descs(left, &right);
        let jump = self.conditional_jump(op, a, b, c)?;
        *left = Desc::new(Kind::Jump(jump));
        Ok(())
    }
}

fn number_kind<'c>(n: fold::Number) -> Kind<'c> {
    match n {
        fold::Number::Integer(i) => Kind::Integer(i),
        fold::Number::Float(f) => Kind::Float(f),
    }
}
