//! Assignments.

use perilune_syntax::ast::ExprId;

use super::Compiler;
use super::desc::{Desc, Kind};
use super::error::Result;
use super::list::List;
use crate::opcode::Op;

impl<'c> Compiler<'c> {
    /// Compiles `targets = values`. Targets are evaluated from left to right, and stored to from
    /// right to left.
    pub(super) fn assign(&mut self, targets: &[ExprId], values: &[ExprId]) -> Result<()> {
        let mut variables = List::with_capacity_in(targets.len(), self.chunk.arena);
        for &target in targets {
            let variable = self.expr(target)?;
            if !variable.is_indexed() {
                self.save_conflicts(&mut variables, &variable)?;
            }
            variables.push(variable);
        }
        let last = self.expr_list(values)?;
        if targets.len() == values.len()
            && let Some(mut last) = last
        {
            self.fs.one_result(&mut last);
            let variable = variables.pop().expect("an assignment has targets");
            self.fs.store(&variable, &mut last)?;
        } else {
            self.adjust(targets.len(), values.len(), last)?;
        }
        while let Some(variable) = variables.pop() {
            let mut value = Desc::new(Kind::Register(self.fs.free - 1));
            self.fs.store(&variable, &mut value)?;
        }
        Ok(())
    }

    /// Makes each earlier target that uses `variable`, which is about to be assigned, as its table
    /// or key use a copy.
    fn save_conflicts(&mut self, earlier: &mut [Desc<'c>], variable: &Desc<'c>) -> Result<()> {
        let copy = self.fs.free;
        let mut conflict = false;
        for target in earlier {
            match (&mut target.kind, variable.kind) {
                (&mut Kind::IndexedUp { table, key }, Kind::Upvalue(index)) if table == index => {
                    target.kind = Kind::IndexedStr { table: copy, key };
                    conflict = true;
                }
                (
                    Kind::IndexedInt { table, .. } | Kind::IndexedStr { table, .. },
                    Kind::Local(register),
                ) if *table == register => {
                    *table = copy;
                    conflict = true;
                }
                (Kind::Indexed { table, key }, Kind::Local(register)) => {
                    for operand in [table, key] {
                        if *operand == register {
                            *operand = copy;
                            conflict = true;
                        }
                    }
                }
                _ => {}
            }
        }
        if conflict {
            match variable.kind {
                Kind::Local(register) => self.fs.emit_abc(Op::Move, copy, register, 0)?,
                Kind::Upvalue(index) => self.fs.emit_abc(Op::GetUpval, copy, index, 0)?,
                _ => unreachable!("only variables conflict"),
            };
            self.fs.reserve(1)?;
        }
        Ok(())
    }
}
