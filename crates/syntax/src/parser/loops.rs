//! Loops (manual 3.3.4 and 3.3.5).

use super::{Parser, Result};
use crate::ast::{Block, ExprId, GenericFor, LabelId, Name, NumericFor, StmtKind};
use crate::lexer::Token;

impl<'a> Parser<'_, 'a> {
    pub(super) fn while_statement(&mut self, line: u32) -> Result<StmtKind<'a>> {
        self.advance()?;
        let cond = self.settled_expr()?;
        self.enter_block(true);
        self.expect(&Token::Do)?;
        let body = self.block()?;
        self.expect_match(&Token::End, &Token::While, line)?;
        let end = self.leave_loop()?;
        Ok(StmtKind::While { cond, body, end })
    }

    pub(super) fn repeat_statement(&mut self, line: u32) -> Result<StmtKind<'a>> {
        self.enter_block(true);
        self.enter_block(false);
        self.advance()?;
        let stmts = self.statements()?;
        self.expect_match(&Token::Until, &Token::Repeat, line)?;
        let until_line = self.last_line;
        let cond = self.settled_expr()?;
        self.leave_block()?;
        let end = self.leave_loop()?;
        Ok(StmtKind::Repeat { body: Block { stmts }, cond, end, until_line })
    }

    pub(super) fn for_statement(&mut self, line: u32) -> Result<StmtKind<'a>> {
        self.enter_block(true);
        self.advance()?;
        let name = self.name()?;
        match self.token {
            Token::Assign => self.numeric_for(name, line),
            Token::Comma | Token::In => self.generic_for(name, line),
            _ => Err(self.error("'=' or 'in' expected")),
        }
    }

    fn numeric_for(&mut self, name: Name, line: u32) -> Result<StmtKind<'a>> {
        let state = [self.declare_state()?, self.declare_state()?, self.declare_state()?];
        let var = self.declare(name)?;
        self.expect(&Token::Assign)?;
        let start = self.settled_expr()?;
        self.expect(&Token::Comma)?;
        let limit = self.settled_expr()?;
        let step = if self.accept(&Token::Comma)? { Some(self.settled_expr()?) } else { None };
        self.activate(3);
        let (body, do_line, end_start, end) = self.for_body(1, line)?;
        let numeric = NumericFor { state, var, start, limit, step, do_line, body, end_start, end };
        Ok(StmtKind::NumericFor(self.arena.alloc(numeric)))
    }

    fn generic_for(&mut self, name: Name, line: u32) -> Result<StmtKind<'a>> {
        let state = [
            self.declare_state()?,
            self.declare_state()?,
            self.declare_state()?,
            self.declare_state()?,
        ];
        let mut vars = self.list(2);
        vars.push(self.declare(name)?);
        while self.accept(&Token::Comma)? {
            let name = self.name()?;
            vars.push(self.declare(name)?);
        }
        self.expect(&Token::In)?;
        let call_line = self.line();
        let values = self.expr_list()?;
        self.activate(4);
        let (body, do_line, end_start, end) = self.for_body(vars.len(), line)?;
        let vars = vars.into_bump_slice();
        let generic = GenericFor { state, vars, values, call_line, do_line, body, end_start, end };
        Ok(StmtKind::GenericFor(self.arena.alloc(generic)))
    }

    /// Parses `do block end`, with `var_count` declared variables in scope.
    fn for_body(&mut self, var_count: usize, line: u32) -> Result<(Block<'a>, u32, u32, LabelId)> {
        self.expect(&Token::Do)?;
        let do_line = self.last_line;
        self.enter_block(false);
        self.activate(var_count);
        let body = self.block()?;
        self.leave_block()?;
        let end_start = self.span.start;
        self.expect_match(&Token::End, &Token::For, line)?;
        Ok((body, do_line, end_start, self.leave_loop()?))
    }

    fn leave_loop(&mut self) -> Result<LabelId> {
        Ok(self.leave_block()?.expect("the block is a loop"))
    }

    /// Parses an expression whose value is needed at once.
    fn settled_expr(&mut self) -> Result<ExprId> {
        let id = self.expr()?;
        self.settle(id);
        Ok(id)
    }
}
