//! Loops.

use perilune_syntax::ast::{Block, ExprId, LabelId, LocalId};

use super::Compiler;
use super::desc::Kind;
use super::error::{Limit, Reached, Result};
use super::jump_list::JumpList;
use crate::instr::Instr;
use crate::opcode::Op;

impl<'c> Compiler<'c> {
    /// Compiles a condition, and returns the jumps that are taken when it is false.
    fn condition(&mut self, cond: ExprId) -> Result<JumpList> {
        let mut e = self.expr(cond)?;
        // Only the truth of the condition matters here.
        if e.kind == Kind::Nil {
            e.kind = Kind::False;
        }
        self.fs.go_if_true(&mut e)?;
        Ok(e.f)
    }

    pub(super) fn while_loop(
        &mut self,
        cond: ExprId,
        body: &'c Block<'c>,
        end: LabelId,
        end_line: u32,
    ) -> Result<()> {
        let start = self.fs.label_here();
        let exit = self.condition(cond)?;
        self.fs.enter_block(Some(end));
        self.block(body)?;
        self.fs.jump_to(start)?;
        self.fs.line = end_line;
        self.fs.leave_block()?;
        self.fs.patch_to_here(exit)
    }

    pub(super) fn repeat_loop(
        &mut self,
        body: &'c Block<'c>,
        cond: ExprId,
        end: LabelId,
        until_line: u32,
    ) -> Result<()> {
        let start = self.fs.label_here();
        self.fs.enter_block(Some(end));
        // The condition belongs to the scope of the body.
        self.fs.enter_block(None);
        self.statements(body)?;
        self.fs.line = until_line;
        let mut again = self.condition(cond)?;
        let level_above_loop = self.fs.leave_block()?;
        if level_above_loop {
            // Both exits of the body close its variables.
            let level = self.fs.variable_registers();
            let exit = JumpList::one(self.fs.jump()?);
            self.fs.patch_to_here(again)?;
            self.fs.emit_abc(Op::Close, level, 0, 0)?;
            again = JumpList::one(self.fs.jump()?);
            self.fs.patch_to_here(exit)?;
        }
        self.fs.patch_list(again, start)?;
        self.fs.leave_block()?;
        Ok(())
    }

    /// Compiles the body and the loop instructions of a `for` loop. Its state begins at `base`, and
    /// its `end` at offset `end_start` of the source.
    pub(super) fn for_body(
        &mut self,
        base: u8,
        line: u32,
        vars: &[LocalId],
        body: &'c Block<'c>,
        end_start: u32,
        generic: bool,
    ) -> Result<()> {
        if generic {
            // The iterator is called in the registers after the state: function, header, two
            // arguments.
            self.fs.check_stack(4)?;
        }
        let (prep_op, loop_op) =
            if generic { (Op::TForPrep, Op::TForLoop) } else { (Op::ForPrep, Op::ForLoop) };
        let prep = self.fs.emit(Instr::abx(prep_op, base, 0))?;
        self.fs.enter_block(None);
        self.fs.activate(vars)?;
        self.fs.reserve(vars.len())?;
        self.block(body)?;
        self.fs.leave_block()?;
        self.fs.reached = Reached { at: end_start, past_separator: false };
        let end = self.fs.label_here();
        let distance = self.loop_distance(end - (prep + 1))?;
        self.fs.set(prep, Instr::abx(prep_op, base, distance));
        if generic {
            self.fs.emit_abc(Op::TForCall, base, 0, vars.len() as u8)?;
            self.fs.fix_line(line);
        }
        let distance = self.loop_distance(self.fs.pc() - prep)?;
        self.fs.emit(Instr::abx(loop_op, base, distance))?;
        self.fs.fix_line(line);
        Ok(())
    }

    fn loop_distance(&self, distance: u32) -> Result<u16> {
        match u16::try_from(distance) {
            Ok(distance) => Ok(distance),
            Err(_) => self.fs.exceeded(Limit::ControlStructure),
        }
    }
}
