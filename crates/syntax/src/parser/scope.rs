//! Blocks, local variables and the resolution of names.

use super::function::UpvalueOrigin;
use super::{Parser, Result};
use crate::ast::{Attrib, ExprId, ExprKind, LocalId, LocalVar, Name, Upvalue, UpvalueSource};

/// The largest number of local variables in scope in one function.
const MAX_LOCALS: usize = 200;
/// The largest number of upvalues of one function, except for variables with the attribute `const`.
/// The compiler folds most of these, and counts those that it does not fold.
const MAX_UPVALUES: usize = 255;
/// The largest number of outer variables that one function uses. PUC does not limit the number of
/// constants; they are searched by name, so there must not be too many.
const MAX_OUTER_VARIABLES: usize = 2000;

/// An open block.
pub(super) struct BlockScope {
    /// Whether `break` may leave it.
    pub(super) is_loop: bool,
    /// Number of visible local variables outside it.
    pub(super) active_count: usize,
    /// The index of its first label in [`Parser::labels`], and of its first pending goto in
    /// [`Parser::gotos`].
    pub(super) first_label: usize,
    pub(super) first_goto: usize,
}

/// A name found in an open function.
enum Variable {
    Local(LocalId),
    Upvalue(u16),
}

impl<'a> Parser<'_, 'a> {
    pub(super) fn enter_block(&mut self, is_loop: bool) {
        let (first_label, first_goto) = (self.labels.len(), self.gotos.len());
        let state = self.current();
        let active_count = state.active_count;
        state.blocks.push(BlockScope { is_loop, active_count, first_label, first_goto });
    }

    /// Declares a local variable of the current function, which is not visible before
    /// [`Self::activate`].
    pub(super) fn declare(&mut self, name: Name) -> Result<LocalId> {
        let state = self.current();
        let (count, line) = (state.declared.len() + 1, state.function.line_defined);
        self.check_limit(count, MAX_LOCALS, "local variables", line)?;
        let state = self.current();
        let id = LocalId(state.function.locals.len() as u32);
        state.function.locals.push(LocalVar {
            name,
            attrib: Attrib::Regular,
            captured: false,
            reassigned: false,
        });
        state.declared.push(id);
        Ok(id)
    }

    /// Makes the next `count` declared variables visible.
    pub(super) fn activate(&mut self, count: usize) {
        self.current().active_count += count;
    }

    /// Reads a name and resolves it (manual 3.2).
    pub(super) fn variable(&mut self) -> Result<ExprId> {
        let start = self.span.start;
        let name = self.name()?;
        let level = self.open.len() - 1;
        if let Some(variable) = self.resolve(level, name, true)? {
            return Ok(self.variable_expr(variable, start));
        }
        let env = self.known.env;
        let Some(variable) = self.resolve(level, env, true)? else {
            unreachable!("the main function has an upvalue _ENV");
        };
        let env = self.variable_expr(variable, start);
        Ok(self.add(ExprKind::Global { env, name }, self.last_line, start))
    }

    fn variable_expr(&mut self, variable: Variable, start: u32) -> ExprId {
        let kind = match variable {
            Variable::Local(local) => ExprKind::Local(local),
            Variable::Upvalue(index) => ExprKind::Upvalue(index),
        };
        self.add(kind, self.last_line, start)
    }

    /// Finds the variable that `name` refers to in open function number `level`, and makes it an
    /// upvalue of every function from there out to the variable's own.
    fn resolve(&mut self, level: usize, name: Name, from_inside: bool) -> Result<Option<Variable>> {
        let state = &mut self.open[level];
        if let Some(local) = state.find_local(name) {
            state.function.locals[local.0 as usize].captured |= !from_inside;
            return Ok(Some(Variable::Local(local)));
        }
        if let Some(index) = state.find_upvalue(name) {
            return Ok(Some(Variable::Upvalue(index)));
        }
        let Some(outer) = level.checked_sub(1) else {
            return Ok(None);
        };
        let (source, origin) = match self.resolve(outer, name, false)? {
            None => return Ok(None),
            Some(Variable::Local(local)) => {
                let attrib = self.open[outer].function.locals[local.0 as usize].attrib;
                (
                    UpvalueSource::ParentLocal(local),
                    UpvalueOrigin { attrib, variable: Some((outer, local)) },
                )
            }
            Some(Variable::Upvalue(index)) => (
                UpvalueSource::ParentUpvalue(index),
                self.open[outer].upvalue_origins[usize::from(index)],
            ),
        };
        let state = &mut self.open[level];
        state.constant_upvalues += usize::from(origin.attrib == Attrib::Const);
        let (count, line) = (state.function.upvalues.len(), state.function.line_defined);
        let others = count + 1 - state.constant_upvalues;
        self.check_limit(others, MAX_UPVALUES, "upvalues", line)?;
        self.check_limit(count + 1, MAX_OUTER_VARIABLES, "upvalues", line)?;
        let state = &mut self.open[level];
        state.function.upvalues.push(Upvalue { name, source });
        state.upvalue_origins.push(origin);
        Ok(Some(Variable::Upvalue(count as u16)))
    }

    /// Records that `target` is assigned.
    ///
    /// # Errors
    /// Returns an error if it is a variable that must not be assigned.
    pub(super) fn check_writable(&mut self, target: ExprId) -> Result<()> {
        let level = self.open.len() - 1;
        let origin = match *self.kind(target) {
            ExprKind::Local(local) => {
                let attrib = self.open[level].function.locals[local.0 as usize].attrib;
                UpvalueOrigin { attrib, variable: Some((level, local)) }
            }
            ExprKind::Upvalue(index) => self.open[level].upvalue_origins[usize::from(index)],
            _ => return Ok(()),
        };
        let Some((level, local)) = origin.variable else {
            self.assigns_env = true;
            return Ok(());
        };
        let variable = &mut self.open[level].function.locals[local.0 as usize];
        variable.reassigned = true;
        if origin.attrib == Attrib::Regular {
            return Ok(());
        }
        let name = self.names.text(variable.name);
        Err(self.semantic_error(&format!("attempt to assign to const variable '{name}'")))
    }
}
