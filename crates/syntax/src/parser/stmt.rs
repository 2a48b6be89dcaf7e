//! Statements other than loops and assignments (manual 3.3).

use super::{FEW, Parser, Result};
use crate::ast::{Arm, Attrib, Block, ExprKind, LocalId, Stmt, StmtKind};
use crate::lexer::Token;

impl<'a> Parser<'_, 'a> {
    /// Parses a list of statements in the block that was just entered.
    pub(super) fn statements(&mut self) -> Result<&'a [Stmt<'a>]> {
        self.statements_after(self.stmts.len())
    }

    /// Parses the rest of a list of statements that begins with number `first` of the waiting ones.
    fn statements_after(&mut self, first: usize) -> Result<&'a [Stmt<'a>]> {
        while !self.follows_block(true) {
            let is_return = self.token == Token::Return;
            self.statement()?;
            if is_return {
                break;
            }
        }
        Ok(self.take_statements(first))
    }

    /// Returns the waiting statements from number `first` on, as a list of the tree.
    fn take_statements(&mut self, first: usize) -> &'a [Stmt<'a>] {
        let stmts = self.arena.alloc_slice_copy(&self.stmts[first..]);
        self.stmts.truncate(first);
        stmts
    }

    /// Parses a list of statements with a scope of its own.
    pub(super) fn block(&mut self) -> Result<Block<'a>> {
        self.enter_block(false);
        let stmts = self.statements()?;
        self.leave_block()?;
        Ok(Block { stmts })
    }

    /// Parses one statement and adds it to the waiting ones. A void statement adds nothing; a label
    /// followed by other labels may add several.
    fn statement(&mut self) -> Result<()> {
        let line = self.line();
        self.enter_level()?;
        let kind = match self.token {
            Token::Semicolon => {
                self.advance()?;
                None
            }
            Token::If => Some(self.if_statement(line)?),
            Token::While => Some(self.while_statement(line)?),
            Token::Do => {
                self.advance()?;
                let body = self.block()?;
                self.expect_match(&Token::End, &Token::Do, line)?;
                Some(StmtKind::Do(body))
            }
            Token::For => Some(self.for_statement(line)?),
            Token::Repeat => Some(self.repeat_statement(line)?),
            Token::Function => Some(self.function_statement(line)?),
            Token::Local => {
                self.advance()?;
                if self.accept(&Token::Function)? {
                    Some(self.local_function()?)
                } else {
                    Some(self.local_statement()?)
                }
            }
            Token::DoubleColon => {
                self.advance()?;
                self.label_statement(line)?;
                None
            }
            Token::Return => {
                self.advance()?;
                Some(self.return_statement()?)
            }
            Token::Break => {
                let line = self.line();
                self.advance()?;
                Some(StmtKind::Goto(self.break_target(line)?))
            }
            Token::Goto => {
                self.advance()?;
                Some(StmtKind::Goto(self.goto_target()?))
            }
            _ => Some(self.expression_statement()?),
        };
        let end_line = self.last_line;
        self.stmts.extend(kind.map(|kind| Stmt { kind, line, end_line }));
        self.leave_level();
        Ok(())
    }

    fn if_statement(&mut self, line: u32) -> Result<StmtKind<'a>> {
        let mut arms = self.list(1);
        arms.push(self.if_arm()?);
        while self.token == Token::ElseIf {
            arms.push(self.if_arm()?);
        }
        let otherwise = if self.accept(&Token::Else)? { Some(self.block()?) } else { None };
        self.expect_match(&Token::End, &Token::If, line)?;
        Ok(StmtKind::If { arms: arms.into_bump_slice(), otherwise })
    }

    /// Parses `if cond then block`, or the same with `elseif`.
    fn if_arm(&mut self) -> Result<Arm<'a>> {
        self.advance()?;
        let cond = self.expr()?;
        self.expect(&Token::Then)?;
        let then_line = self.last_line;
        self.settle(cond);
        let first = self.stmts.len();
        self.enter_block(false);
        // PUC parses a leading `break` here and not as a statement, so it takes no level.
        if self.token == Token::Break {
            let line = self.line();
            self.advance()?;
            let kind = StmtKind::Goto(self.break_target(line)?);
            self.stmts.push(Stmt { kind, line, end_line: self.last_line });
            while self.accept(&Token::Semicolon)? {}
            if self.follows_block(false) {
                self.leave_block()?;
                let body = Block { stmts: self.take_statements(first) };
                return Ok(Arm { cond, then_line, body });
            }
        }
        let stmts = self.statements_after(first)?;
        self.leave_block()?;
        Ok(Arm { cond, then_line, body: Block { stmts } })
    }

    /// Parses `function a.b:c() … end`.
    fn function_statement(&mut self, line: u32) -> Result<StmtKind<'a>> {
        let start = self.span.start;
        self.advance()?;
        let mut target = self.variable()?;
        let mut is_method = false;
        while !is_method && matches!(self.token, Token::Dot | Token::Colon) {
            is_method = self.token == Token::Colon;
            target = self.field_access(target)?;
        }
        let function = self.function_body(is_method, line)?;
        let value = self.function_expr(function, start);
        self.check_writable(target)?;
        Ok(StmtKind::Function { target, value })
    }

    /// Parses `local function f() … end` after the keywords.
    fn local_function(&mut self) -> Result<StmtKind<'a>> {
        let name = self.name()?;
        let local = self.declare(name)?;
        self.activate(1);
        let func = self.function_body(false, self.line())?;
        Ok(StmtKind::LocalFunction { local, func })
    }

    /// Parses `local a <attrib>, b = …` after the keyword.
    fn local_statement(&mut self) -> Result<StmtKind<'a>> {
        let mut locals = self.list(FEW);
        let mut has_close = false;
        loop {
            let name = self.name()?;
            let local = self.declare(name)?;
            let attrib = self.attribute()?;
            self.current().function.locals[local.0 as usize].attrib = attrib;
            if attrib == Attrib::Close {
                if has_close {
                    return Err(
                        self.semantic_error("multiple to-be-closed variables in local list")
                    );
                }
                has_close = true;
            }
            locals.push(local);
            if !self.accept(&Token::Comma)? {
                break;
            }
        }
        let values = if self.accept(&Token::Assign)? { self.expr_list()? } else { &[] };
        self.activate(locals.len());
        Ok(StmtKind::Local { locals: locals.into_bump_slice(), values })
    }

    fn attribute(&mut self) -> Result<Attrib> {
        if !self.accept(&Token::Less)? {
            return Ok(Attrib::Regular);
        }
        let text = self.name_text()?;
        self.expect(&Token::Greater)?;
        match text {
            b"const" => Ok(Attrib::Const),
            b"close" => Ok(Attrib::Close),
            _ => {
                let text = String::from_utf8_lossy(text);
                Err(self.semantic_error(&format!("unknown attribute '{text}'")))
            }
        }
    }

    /// Parses `::name::` after the first token, and the void statements after it.
    fn label_statement(&mut self, line: u32) -> Result<()> {
        let name = self.name()?;
        self.expect(&Token::DoubleColon)?;
        let place = self.stmts.len();
        while matches!(self.token, Token::Semicolon | Token::DoubleColon) {
            self.statement()?;
        }
        let at_block_end = self.follows_block(false);
        let label = self.new_label(name, line, at_block_end)?;
        let kind = StmtKind::Label { label, at_block_end };
        self.stmts.insert(place, Stmt { kind, line, end_line: self.last_line });
        Ok(())
    }

    fn return_statement(&mut self) -> Result<StmtKind<'a>> {
        let is_empty = self.follows_block(true) || self.token == Token::Semicolon;
        let values = if is_empty { &[] } else { self.expr_list()? };
        self.accept(&Token::Semicolon)?;
        Ok(StmtKind::Return { values })
    }

    /// Parses a call or an assignment.
    fn expression_statement(&mut self) -> Result<StmtKind<'a>> {
        let first = self.suffixed_expr()?;
        if matches!(self.token, Token::Assign | Token::Comma) {
            return self.assignment(first);
        }
        match self.kind(first) {
            ExprKind::Call { .. } | ExprKind::MethodCall { .. } => Ok(StmtKind::Call(first)),
            _ => Err(self.error("syntax error")),
        }
    }

    /// Declares one of the hidden variables of a loop.
    pub(super) fn declare_state(&mut self) -> Result<LocalId> {
        self.declare(self.known.for_state)
    }
}
