//! Chains of names, fields, indices and calls (manual 3.2 and 3.4.10).

use super::{Parser, Result};
use crate::ast::{ExprId, ExprKind, MethodCall};
use crate::lexer::Token;

impl<'a> Parser<'_, 'a> {
    /// Parses a primary expression and the suffixes applied to it.
    pub(super) fn suffixed_expr(&mut self) -> Result<ExprId> {
        let start = self.span.start;
        let mut value = self.primary_expr()?;
        loop {
            value = match self.token {
                Token::Dot => self.field_access(value)?,
                Token::LeftBracket => {
                    self.settle(value);
                    let key = self.bracketed_key()?;
                    self.add(ExprKind::Index { object: value, key }, self.last_line, start)
                }
                Token::Colon => {
                    self.advance()?;
                    let name = self.name()?;
                    self.settle(value);
                    let line = self.line();
                    let args = self.arguments()?;
                    let call = self.arena.alloc(MethodCall { name, args });
                    self.add(ExprKind::MethodCall { object: value, call }, line, start)
                }
                Token::LeftParen | Token::String | Token::LeftBrace => {
                    self.settle(value);
                    let line = self.line();
                    let args = self.arguments()?;
                    self.add(ExprKind::Call { callee: value, args }, line, start)
                }
                _ => return Ok(value),
            };
        }
    }

    /// Parses `'.' name`, or `':' name` in the name of a function.
    pub(super) fn field_access(&mut self, object: ExprId) -> Result<ExprId> {
        self.settle(object);
        let start = self.exprs[object].span.start;
        self.advance()?;
        let key = self.name_key()?;
        Ok(self.add(ExprKind::Index { object, key }, self.last_line, start))
    }

    /// Parses a name as a string.
    pub(super) fn name_key(&mut self) -> Result<ExprId> {
        let start = self.span.start;
        let text = self.name_text()?;
        Ok(self.add(ExprKind::Str(self.arena.alloc_slice_copy(text)), self.last_line, start))
    }

    /// Returns the current token, which is a string, as an expression.
    pub(super) fn literal_string(&self) -> ExprKind<'a> {
        ExprKind::Str(self.arena.alloc_slice_copy(self.lexer.extras.string()))
    }

    /// Parses `'[' expr ']'`.
    pub(super) fn bracketed_key(&mut self) -> Result<ExprId> {
        self.advance()?;
        let key = self.expr()?;
        self.settle(key);
        self.expect(&Token::RightBracket)?;
        Ok(key)
    }

    fn primary_expr(&mut self) -> Result<ExprId> {
        match self.token {
            Token::LeftParen => self.parenthesised(),
            Token::Name => self.variable(),
            _ => Err(self.error("unexpected symbol")),
        }
    }

    fn parenthesised(&mut self) -> Result<ExprId> {
        let start = self.span.start;
        let line = self.line();
        self.advance()?;
        let inner = self.expr()?;
        self.expect_match(&Token::RightParen, &Token::LeftParen, line)?;
        self.settle(inner);
        // Around other expressions, parentheses add no information to the tree.
        let is_kept = matches!(
            self.kind(inner),
            ExprKind::Call { .. }
                | ExprKind::MethodCall { .. }
                | ExprKind::Vararg
                | ExprKind::Local(_)
                | ExprKind::Upvalue(_)
                | ExprKind::Global { .. }
                | ExprKind::Index { .. }
        );
        if !is_kept {
            return Ok(inner);
        }
        let line = self.exprs[inner].line;
        Ok(self.add(ExprKind::Paren(inner), line, start))
    }

    fn arguments(&mut self) -> Result<&'a [ExprId]> {
        let start = self.span.start;
        let line = self.line();
        match self.token {
            Token::LeftParen => {
                self.advance()?;
                let mut args = &[][..];
                if self.token != Token::RightParen {
                    args = self.expr_list()?;
                }
                self.expect_match(&Token::RightParen, &Token::LeftParen, line)?;
                if let Some(&last) = args.last() {
                    self.settle(last);
                }
                Ok(args)
            }
            Token::LeftBrace => Ok(std::slice::from_ref(self.arena.alloc(self.table()?))),
            Token::String => {
                let kind = self.literal_string();
                self.advance()?;
                let argument = self.add(kind, self.last_line, start);
                Ok(std::slice::from_ref(self.arena.alloc(argument)))
            }
            _ => Err(self.error("function arguments expected")),
        }
    }
}
