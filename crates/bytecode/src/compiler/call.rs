//! Calls.

use perilune_syntax::ast::{ExprId, ExprKind, Name, TableItem};

use super::Compiler;
use super::desc::{Desc, Kind};
use super::error::{Reached, Result};
use crate::opcode::Op;

/// Number of registers of a call before its arguments: those of the function and of the header of
/// its frame.
const CALL_HEAD: usize = 2;

impl<'c> Compiler<'c> {
    /// Compiles `callee(args)`; `e` is the callee.
    pub(super) fn call(
        &mut self,
        id: ExprId,
        e: &mut Desc<'c>,
        callee: ExprId,
        args: &[ExprId],
    ) -> Result<()> {
        let base = self.fs.put_in_next(e)?;
        self.fs.reserve(CALL_HEAD - 1)?;
        match self.metatable_idiom(callee, args) {
            Some(value) => self.call_meta(id, e, base, args[0], value),
            None => self.arguments(id, e, base, args),
        }
    }

    /// Compiles `object:name(args)`; `e` is the object.
    pub(super) fn method_call(
        &mut self,
        id: ExprId,
        e: &mut Desc<'c>,
        name: Name,
        args: &[ExprId],
    ) -> Result<()> {
        let name = self.name(name);
        let base = self.fs.method(e, name)?;
        self.arguments(id, e, base, args)
    }

    fn arguments(&mut self, id: ExprId, e: &mut Desc<'c>, base: u8, args: &[ExprId]) -> Result<()> {
        let line = self.node(id).line;
        let last = self.expr_list(args)?;
        let b = match last {
            Some(last) if last.is_multi() => {
                self.fs.set_results(&last, None)?;
                0
            }
            Some(mut last) => {
                // PUC has read past the parenthesis.
                self.fs.reached = Reached { at: self.node(id).span.end, past_separator: false };
                self.fs.put_in_next(&mut last)?;
                self.fs.free - base - 1
            }
            None => self.fs.free - base - 1,
        };
        let pc = self.fs.emit_abc(Op::Call, base, b, 2)?;
        self.finish_call(e, pc, base, line);
        Ok(())
    }

    fn finish_call(&mut self, e: &mut Desc<'c>, pc: u32, base: u8, line: u32) {
        self.fs.fix_line(line);
        self.fs.free = base + 1;
        *e = Desc::new(Kind::Call(pc));
    }

    /// Returns the `i` of `setmetatable(o, {__index = i})`, where `setmetatable` is a global name.
    ///
    /// Such a call is recognized before its value is known to be used, and is no tail call even in
    /// a `return`: CALLMETA has no such form, since the library's function takes no frame. A
    /// function of the program with this name that calls itself so needs stack for each call.
    fn metatable_idiom(&self, callee: ExprId, args: &[ExprId]) -> Option<ExprId> {
        let ExprKind::Global { name, .. } = self.node(callee).kind else { return None };
        let &[_, table] = args else { return None };
        let ExprKind::Table { items, .. } = &self.node(table).kind else { return None };
        let [TableItem::Keyed { key, value }] = items else { return None };
        let ExprKind::Str(text) = &self.node(*key).kind else { return None };
        (self.chunk.names.text(name) == "setmetatable" && *text == b"__index").then_some(*value)
    }

    fn call_meta(
        &mut self,
        id: ExprId,
        e: &mut Desc<'c>,
        base: u8,
        object: ExprId,
        value: ExprId,
    ) -> Result<()> {
        let line = self.node(id).line;
        self.expr_in_next(object)?;
        self.expr_in_next(value)?;
        let pc = self.fs.emit_abc(Op::CallMeta, base, 3, 2)?;
        self.finish_call(e, pc, base, line);
        Ok(())
    }
}
