//! Table constructors (manual 3.4.9).

use super::{FEW, Parser, Result};
use crate::ast::{ExprId, ExprKind, TableItem};
use crate::lexer::Token;

impl<'a> Parser<'_, 'a> {
    pub(super) fn table(&mut self) -> Result<ExprId> {
        let start = self.span.start;
        let (open_line, line) = (self.line(), self.last_line);
        let mut items = self.list(FEW);
        // The last positional value: needed when the next item starts, or after the closing brace.
        let mut waiting = None;
        self.expect(&Token::LeftBrace)?;
        while self.token != Token::RightBrace {
            if let Some(value) = waiting.take() {
                self.settle(value);
            }
            let item = self.table_item()?;
            if let TableItem::Positional(value) = item {
                waiting = Some(value);
            }
            items.push(item);
            if !self.accept(&Token::Comma)? && !self.accept(&Token::Semicolon)? {
                break;
            }
        }
        self.expect_match(&Token::RightBrace, &Token::LeftBrace, open_line)?;
        if let Some(value) = waiting {
            self.settle(value);
        }
        Ok(self.add(ExprKind::Table(items.into_bump_slice()), line, start))
    }

    fn table_item(&mut self) -> Result<TableItem> {
        let is_keyed = match self.token {
            Token::Name => *self.peek()? == Token::Assign,
            Token::LeftBracket => true,
            _ => false,
        };
        if !is_keyed {
            return Ok(TableItem::Positional(self.expr()?));
        }
        let key = if self.token == Token::Name { self.name_key()? } else { self.bracketed_key()? };
        self.expect(&Token::Assign)?;
        let value = self.expr()?;
        self.settle(value);
        Ok(TableItem::Keyed { key, value })
    }
}
