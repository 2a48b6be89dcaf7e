//! Table constructors (manual 3.4.9).

use super::{Parser, Result};
use crate::ast::{ExprId, ExprKind, TableItem};
use crate::lexer::Token;

impl<'a> Parser<'_, 'a> {
    pub(super) fn table(&mut self) -> Result<ExprId> {
        let start = self.span.start;
        let (open_line, line) = (self.line(), self.last_line);
        let first = self.items.len();
        // The last positional value. It is needed when the next item starts, or after the closing
        // brace.
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
            self.items.push(item);
            if !self.accept(&Token::Comma)? && !self.accept(&Token::Semicolon)? {
                break;
            }
        }
        self.expect_match(&Token::RightBrace, &Token::LeftBrace, open_line)?;
        if let Some(value) = waiting {
            self.settle(value);
        }
        let items = self.arena.alloc_slice_copy(&self.items[first..]);
        self.items.truncate(first);
        Ok(self.add(ExprKind::Table { items, end_line: self.last_line }, line, start))
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
