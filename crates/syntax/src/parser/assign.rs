//! Assignments (manual 3.3.3).

use super::{Parser, Result};
use crate::ast::{ExprId, ExprKind, StmtKind};
use crate::lexer::Token;

impl<'a> Parser<'_, 'a> {
    /// Parses `first, … = …`, where `first` has already been parsed.
    pub(super) fn assignment(&mut self, first: ExprId) -> Result<StmtKind<'a>> {
        let mut targets = self.list(1);
        let mut target = first;
        loop {
            if !is_assignable(self.kind(target)) {
                return Err(self.error("syntax error"));
            }
            self.check_writable(target)?;
            targets.push(target);
            if !self.accept(&Token::Comma)? {
                break;
            }
            target = self.suffixed_expr()?;
            // PUC parses the rest recursively: each further target takes a level until the end.
            self.enter_level()?;
        }
        self.expect(&Token::Assign)?;
        let values = self.expr_list()?;
        for _ in 1..targets.len() {
            self.leave_level();
        }
        Ok(StmtKind::Assign { targets: targets.into_bump_slice(), values })
    }
}

fn is_assignable(kind: &ExprKind<'_>) -> bool {
    matches!(
        kind,
        ExprKind::Local(_)
            | ExprKind::Upvalue(_)
            | ExprKind::Global { .. }
            | ExprKind::Index { .. }
    )
}
