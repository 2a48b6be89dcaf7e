//! Operators and simple expressions (manual 3.4).

use super::{FEW, Parser, Result};
use crate::ast::{BinaryOp, ExprId, ExprKind, UnaryOp};
use crate::lexer::Token;
use crate::number::Number;

const UNARY_PRIORITY: u8 = 12;

impl<'a> Parser<'_, 'a> {
    pub(super) fn expr(&mut self) -> Result<ExprId> {
        self.operation(0)
    }

    /// Parses `expr {',' expr}`; every value is settled.
    pub(super) fn expr_list(&mut self) -> Result<&'a [ExprId]> {
        let mut list = self.list(FEW);
        loop {
            let id = self.expr()?;
            self.settle(id);
            list.push(id);
            if !self.accept(&Token::Comma)? {
                return Ok(list.into_bump_slice());
            }
            // The values of all but the last expression are needed after the comma.
            self.settle(id);
        }
    }

    /// Parses an expression with operators that bind tighter than `limit`.
    fn operation(&mut self, limit: u8) -> Result<ExprId> {
        self.enter_level()?;
        let start = self.span.start;
        let mut left = match unary_op(&self.token) {
            Some(op) => {
                let line = self.line();
                self.advance()?;
                let operand = self.operation(UNARY_PRIORITY)?;
                self.settle(operand);
                self.add(ExprKind::Unary { op, operand }, line, start)
            }
            None => self.simple_expr()?,
        };
        while let Some((op, left_priority, right_priority)) = binary_op(&self.token)
            && left_priority > limit
        {
            let line = self.line();
            self.advance()?;
            self.settle(left);
            let right = self.operation(right_priority)?;
            self.settle(right);
            // PUC attributes the instruction to the operator's line, except that of a comparison.
            let line = if is_comparison(op) { self.last_line } else { line };
            left = self.add(ExprKind::Binary { op, left, right }, line, start);
        }
        self.leave_level();
        Ok(left)
    }

    fn simple_expr(&mut self) -> Result<ExprId> {
        let start = self.span.start;
        let mut line = self.line();
        let kind = match self.token {
            Token::Number => match self.lexer.extras.number {
                Number::Integer(value) => ExprKind::Integer(value),
                Number::Float(value) => ExprKind::Float(value),
            },
            Token::String => self.literal_string(),
            Token::Nil => ExprKind::Nil,
            Token::True => ExprKind::True,
            Token::False => ExprKind::False,
            Token::Dots => {
                if !self.current().function.is_vararg {
                    return Err(self.error("cannot use '...' outside a vararg function"));
                }
                line = self.last_line;
                ExprKind::Vararg
            }
            Token::LeftBrace => return self.table(),
            Token::Function => {
                self.advance()?;
                let function = self.function_body(false, self.line())?;
                return Ok(self.function_expr(function, start));
            }
            _ => return self.suffixed_expr(),
        };
        self.advance()?;
        Ok(self.add(kind, line, start))
    }
}

fn is_comparison(op: BinaryOp) -> bool {
    matches!(
        op,
        BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge
    )
}

fn unary_op(token: &Token) -> Option<UnaryOp> {
    match token {
        Token::Not => Some(UnaryOp::Not),
        Token::Minus => Some(UnaryOp::Neg),
        Token::Tilde => Some(UnaryOp::BNot),
        Token::Hash => Some(UnaryOp::Len),
        _ => None,
    }
}

pub(super) fn is_binary_operator(token: &Token) -> bool {
    binary_op(token).is_some()
}

/// Returns the operator with its left and its right priority. For right-associative operators the
/// right one is lower.
fn binary_op(token: &Token) -> Option<(BinaryOp, u8, u8)> {
    Some(match token {
        Token::Or => (BinaryOp::Or, 1, 1),
        Token::And => (BinaryOp::And, 2, 2),
        Token::Equal => (BinaryOp::Eq, 3, 3),
        Token::NotEqual => (BinaryOp::Ne, 3, 3),
        Token::Less => (BinaryOp::Lt, 3, 3),
        Token::LessEqual => (BinaryOp::Le, 3, 3),
        Token::Greater => (BinaryOp::Gt, 3, 3),
        Token::GreaterEqual => (BinaryOp::Ge, 3, 3),
        Token::Pipe => (BinaryOp::BOr, 4, 4),
        Token::Tilde => (BinaryOp::BXor, 5, 5),
        Token::Ampersand => (BinaryOp::BAnd, 6, 6),
        Token::ShiftLeft => (BinaryOp::Shl, 7, 7),
        Token::ShiftRight => (BinaryOp::Shr, 7, 7),
        Token::Concat => (BinaryOp::Concat, 9, 8),
        Token::Plus => (BinaryOp::Add, 10, 10),
        Token::Minus => (BinaryOp::Sub, 10, 10),
        Token::Star => (BinaryOp::Mul, 11, 11),
        Token::Slash => (BinaryOp::Div, 11, 11),
        Token::DoubleSlash => (BinaryOp::IDiv, 11, 11),
        Token::Percent => (BinaryOp::Mod, 11, 11),
        Token::Caret => (BinaryOp::Pow, 14, 13),
        _ => return None,
    })
}
