//! Statements other than loops.

use perilune_syntax::ast::{
    Arm, Attrib, Block, ExprId, FuncId, GenericFor, LocalId, NumericFor, Stmt, StmtKind,
};

use super::Compiler;
use super::desc::{Desc, Kind, Place};
use super::error::Result;
use super::jump_list::JumpList;
use crate::opcode::Op;

impl<'c> Compiler<'c> {
    /// Compiles statements in the current scope.
    pub(super) fn statements(&mut self, block: &'c Block<'c>) -> Result<()> {
        for stmt in block.stmts {
            self.statement(stmt)?;
            self.fs.line = stmt.end_line;
            self.fs.free = self.fs.variable_registers();
        }
        Ok(())
    }

    /// Compiles a block with a scope of its own.
    pub(super) fn block(&mut self, block: &'c Block<'c>) -> Result<()> {
        self.fs.enter_block(None);
        self.statements(block)?;
        self.fs.leave_block()?;
        Ok(())
    }

    fn statement(&mut self, stmt: &'c Stmt<'c>) -> Result<()> {
        self.fs.line = stmt.line;
        self.look()?;
        match &stmt.kind {
            StmtKind::Local { locals, values } => {
                if values.is_empty() {
                    self.fs.line = stmt.end_line;
                }
                self.local(locals, values)
            }
            StmtKind::Assign { targets, values } => self.assign(targets, values),
            StmtKind::Call(call) => {
                let e = self.expr(*call)?;
                self.fs.set_results(&e, Some(0))
            }
            StmtKind::Do(block) => self.block(block),
            StmtKind::While { cond, body, end } => {
                self.while_loop(*cond, body, *end, stmt.end_line)
            }
            StmtKind::Repeat { body, cond, end, until_line } => {
                self.repeat_loop(body, *cond, *end, *until_line)
            }
            StmtKind::If { arms, otherwise } => self.if_statement(arms, otherwise.as_ref()),
            StmtKind::NumericFor(numeric) => {
                let NumericFor { state, var, start, limit, step, .. } = numeric;
                self.fs.enter_block(Some(numeric.end));
                let base = self.fs.free;
                self.expr_in_next(*start)?;
                self.expr_in_next(*limit)?;
                match step {
                    Some(step) => _ = self.expr_in_next(*step)?,
                    None => {
                        let register = self.fs.free;
                        self.fs.load_integer(register, 1)?;
                        self.fs.reserve(1)?;
                    }
                }
                self.fs.activate(state)?;
                self.fs.line = numeric.do_line;
                let (body, end_start) = (&numeric.body, numeric.end_start);
                self.for_body(base, stmt.line, &[*var], body, end_start, false)?;
                self.fs.line = stmt.end_line;
                self.fs.leave_block()?;
                Ok(())
            }
            StmtKind::GenericFor(generic) => {
                let GenericFor { state, vars, values, .. } = generic;
                self.fs.enter_block(Some(generic.end));
                let base = self.fs.free;
                let last = self.expr_list(values)?;
                self.adjust(state.len(), values.len(), last)?;
                self.fs.activate(state)?;
                self.fs.mark_last_to_be_closed();
                self.fs.line = generic.do_line;
                let (body, end_start) = (&generic.body, generic.end_start);
                self.for_body(base, generic.call_line, vars, body, end_start, true)?;
                self.fs.line = stmt.end_line;
                self.fs.leave_block()?;
                Ok(())
            }
            StmtKind::Function { target, value } => {
                let variable = self.expr(*target)?;
                let mut value = self.expr(*value)?;
                self.fs.store(&variable, &mut value)?;
                // The definition is attributed to its first line.
                self.fs.fix_line(stmt.line);
                Ok(())
            }
            StmtKind::LocalFunction { local, func } => self.local_function(*local, *func),
            StmtKind::Return { values } => self.return_statement(values),
            StmtKind::Goto(goto) => {
                self.fs.line = stmt.end_line;
                self.fs.goto(*goto)
            }
            StmtKind::Label { label, at_block_end } => {
                self.fs.place_label(*label, *at_block_end)?;
                Ok(())
            }
        }
    }

    fn local_function(&mut self, local: LocalId, func: FuncId) -> Result<()> {
        self.fs.activate(&[local])?;
        self.closure(func, Some(local))?;
        // The variable has no value before this point.
        self.fs.restart_last_local();
        Ok(())
    }

    fn local(&mut self, locals: &'c [LocalId], values: &[ExprId]) -> Result<()> {
        let mut last = self.expr_list(values)?;
        if let (Some(&id), Some(e)) = (locals.last(), &last)
            && locals.len() == values.len()
            && self.fs.function().locals[id.0 as usize].attrib == Attrib::Const
            && is_constant(e)
        {
            self.fs.activate(&locals[..locals.len() - 1])?;
            self.fs.activate_constant(id, e.kind);
            return self.mark_to_be_closed(&locals[..locals.len() - 1]);
        }
        self.adjust(locals.len(), values.len(), last.take())?;
        self.fs.activate(locals)?;
        self.mark_to_be_closed(locals)
    }

    fn mark_to_be_closed(&mut self, locals: &[LocalId]) -> Result<()> {
        for id in locals {
            if self.fs.function().locals[id.0 as usize].attrib == Attrib::Close
                && let Place::Register(register) = self.fs.places[id.0 as usize]
            {
                self.fs.emit_abc(Op::Tbc, register, 0, 0)?;
            }
        }
        Ok(())
    }

    /// Adjusts `values` values, the last of which is `last`, to `wanted` values in consecutive
    /// registers.
    pub(super) fn adjust(
        &mut self,
        wanted: usize,
        values: usize,
        last: Option<Desc<'c>>,
    ) -> Result<()> {
        let missing = wanted.saturating_sub(values);
        match last {
            Some(last) if last.is_multi() => {
                let results = (wanted + 1).saturating_sub(values);
                self.fs.set_results(&last, Some(results))?;
                // The call itself holds one register already.
            }
            last => {
                if let Some(mut last) = last {
                    self.fs.put_in_next(&mut last)?;
                }
                if missing > 0 {
                    let from = self.fs.free;
                    self.fs.check_stack(missing)?;
                    self.fs.load_nil(from, missing)?;
                }
            }
        }
        self.fs.reserve(missing)?;
        self.fs.free -= values.saturating_sub(wanted) as u8;
        Ok(())
    }

    fn return_statement(&mut self, values: &[ExprId]) -> Result<()> {
        let first = self.fs.variable_registers();
        let last = self.expr_list(values)?;
        match last {
            None => self.emit_return(first, Some(0)),
            Some(last) if last.is_multi() => {
                self.fs.set_results(&last, None)?;
                if let Kind::Call(pc) = last.kind
                    && values.len() == 1
                    && self.fs.at(pc).op() == Op::Call
                    && !self.fs.in_to_be_closed_scope()
                {
                    let close = self.fs.return_needs_close();
                    let call = self.fs.at(pc).with_op(Op::TailCall).with_c(close.into());
                    self.fs.set(pc, call);
                }
                self.emit_return(first, None)
            }
            Some(mut last) if values.len() == 1 => {
                let register = self.fs.put_in_any(&mut last)?;
                self.emit_return(register, Some(1))
            }
            Some(mut last) => {
                self.fs.put_in_next(&mut last)?;
                self.emit_return(first, Some(values.len()))
            }
        }
    }

    /// Emits a return of `count` values (`None`: up to top).
    pub(super) fn emit_return(&mut self, first: u8, count: Option<usize>) -> Result<()> {
        let close = self.fs.return_needs_close();
        match (count, close) {
            (Some(0), false) => self.fs.emit_abc(Op::Return0, 0, 0, 0)?,
            (Some(1), false) => self.fs.emit_abc(Op::Return1, first, 0, 0)?,
            _ => {
                let b = count.map_or(0, |n| n + 1) as u8;
                self.fs.emit_abc(Op::Return, first, b, close.into())?
            }
        };
        Ok(())
    }

    fn if_statement(
        &mut self,
        arms: &'c [Arm<'c>],
        otherwise: Option<&'c Block<'c>>,
    ) -> Result<()> {
        let mut escapes = JumpList::EMPTY;
        for (i, arm) in arms.iter().enumerate() {
            let follows = i + 1 < arms.len() || otherwise.is_some();
            self.if_arm(arm, follows, &mut escapes)?;
        }
        if let Some(body) = otherwise {
            self.block(body)?;
        }
        self.fs.patch_to_here(escapes)
    }

    fn if_arm(&mut self, arm: &'c Arm<'c>, follows: bool, escapes: &mut JumpList) -> Result<()> {
        let body = &arm.body;
        let mut e = self.expr(arm.cond)?;
        self.fs.line = arm.then_line;
        let skip;
        let mut rest = body.stmts;
        if let Some(label) = self.leading_break(body) {
            // The condition itself jumps out of the loop.
            self.fs.go_if_false(&mut e)?;
            self.fs.enter_block(None);
            self.fs.line = body.stmts[0].line;
            self.fs.pend(label, e.t);
            rest = &body.stmts[1..];
            if rest.is_empty() {
                self.fs.leave_block()?;
                return Ok(());
            }
            skip = JumpList::one(self.fs.jump()?);
        } else {
            if e.kind == Kind::Nil {
                e.kind = Kind::False;
            }
            self.fs.go_if_true(&mut e)?;
            self.fs.enter_block(None);
            skip = e.f;
        }
        for stmt in rest {
            self.statement(stmt)?;
            self.fs.line = stmt.end_line;
            self.fs.free = self.fs.variable_registers();
        }
        self.fs.leave_block()?;
        if follows {
            let jump = JumpList::one(self.fs.jump()?);
            self.fs.join(escapes, jump)?;
        }
        self.fs.patch_to_here(skip)
    }

    /// Returns the target of the `break` with which a block begins.
    fn leading_break(&self, body: &Block<'_>) -> Option<perilune_syntax::ast::LabelId> {
        let StmtKind::Goto(goto) = body.stmts.first()?.kind else { return None };
        let function = self.fs.function();
        let label = function.gotos[goto.0 as usize].label;
        let name = function.labels[label.0 as usize].name;
        // `break` is a reserved word, so no label of the program has this name.
        (self.chunk.names.text(name) == "break").then_some(label)
    }
}

/// Returns whether a `<const>` variable with this value can be folded into its uses.
fn is_constant(e: &Desc<'_>) -> bool {
    !e.has_jumps()
        && matches!(
            e.kind,
            Kind::Nil | Kind::True | Kind::False | Kind::Integer(_) | Kind::Float(_) | Kind::Str(_)
        )
}
