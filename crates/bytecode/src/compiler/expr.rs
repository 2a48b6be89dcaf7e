//! Expressions: the walk over the syntax tree.
//!
//! Operators associate to the left, so the left spine of an expression may be as deep as the source
//! is long. It is walked with an explicit stack. Everything else is nested at most as deeply as the
//! parser allows.

use perilune_syntax::ast::{BinaryOp, Expr, ExprId, ExprKind, FuncId, LocalId};

use super::Compiler;
use super::desc::{Desc, Kind, Place, UpvalPlace};
use super::error::{Reached, Result};
use crate::instr::Instr;
use crate::opcode::Op;

impl<'c> Compiler<'c> {
    pub(super) fn node(&self, id: ExprId) -> &'c Expr<'c> {
        &self.chunk.exprs[id]
    }

    /// Compiles an expression, except for what depends on the use of its value.
    pub(super) fn expr(&mut self, id: ExprId) -> Result<Desc<'c>> {
        self.look()?;
        let bottom = self.spine.len();
        let mut id = id;
        loop {
            let inner = match self.node(id).kind {
                ExprKind::Binary { op: BinaryOp::Concat, .. } => break,
                ExprKind::Binary { left, .. } => left,
                ExprKind::Index { object, .. } | ExprKind::MethodCall { object, .. } => object,
                ExprKind::Call { callee, .. } => callee,
                ExprKind::Paren(inner) => inner,
                _ => break,
            };
            self.spine.push(id);
            id = inner;
        }
        let mut e = self.leaf(id)?;
        while self.spine.len() > bottom {
            let outer = self.spine.pop().expect("longer than its bottom");
            self.fs.line = self.node(id).value_line;
            let past_separator = matches!(self.node(outer).kind, ExprKind::Binary { .. });
            self.fs.reached = Reached { at: self.node(id).span.end, past_separator };
            self.apply(outer, &mut e)?;
            id = outer;
        }
        // Its value is needed on this line.
        self.fs.line = self.node(id).value_line;
        self.fs.reached = Reached { at: self.node(id).span.end, past_separator: true };
        Ok(e)
    }

    /// Compiles the node `id`, whose leftmost operand is `e`.
    fn apply(&mut self, id: ExprId, e: &mut Desc<'c>) -> Result<()> {
        let node = self.node(id);
        match &node.kind {
            ExprKind::Binary { op, right, .. } => {
                self.fs.infix(*op, e)?;
                let right = self.expr(*right)?;
                self.fs.postfix(*op, e, right, node.line)
            }
            ExprKind::Index { key, .. } => {
                self.fs.put_in_any_or_upvalue(e)?;
                let mut key = self.expr(*key)?;
                self.fs.make_value(&mut key)?;
                // A constant key is loaded after the bracket.
                self.fs.line = node.line;
                self.fs.index(e, &mut key)
            }
            ExprKind::Paren(_) => self.fs.discharge_variable(e),
            ExprKind::Call { callee, args } => self.call(id, e, *callee, args),
            ExprKind::MethodCall { call, .. } => self.method_call(id, e, call.name, call.args),
            _ => unreachable!("no such node on a left spine"),
        }
    }

    /// Compiles a node without a left operand.
    fn leaf(&mut self, id: ExprId) -> Result<Desc<'c>> {
        let node = self.node(id);
        let at = match node.kind {
            ExprKind::Table { .. } => node.span.start,
            _ => node.span.end,
        };
        self.fs.reached = Reached { at, past_separator: false };
        let kind = match &node.kind {
            ExprKind::Nil => Kind::Nil,
            ExprKind::True => Kind::True,
            ExprKind::False => Kind::False,
            ExprKind::Integer(i) => Kind::Integer(*i),
            ExprKind::Float(f) => Kind::Float(*f),
            ExprKind::Str(text) => Kind::Str(text),
            ExprKind::Vararg => {
                self.fs.line = node.line;
                Kind::Vararg(self.fs.emit_abc(Op::VarArg, 0, 0, 1)?)
            }
            ExprKind::Function(func) => return self.closure(*func, None),
            ExprKind::Local(local) => match self.fs.places[local.0 as usize] {
                Place::Register(register) => Kind::Local(register),
                Place::Constant(value) => value,
                Place::None => unreachable!("a variable is used in its scope"),
            },
            ExprKind::Upvalue(index) => match self.fs.upval_places[*index as usize] {
                UpvalPlace::Index(index) => Kind::Upvalue(index),
                UpvalPlace::Constant(value) => value,
            },
            ExprKind::Global { env, name } => {
                let mut table = self.expr(*env)?;
                self.fs.put_in_any_or_upvalue(&mut table)?;
                let mut key = Desc::new(Kind::Str(self.name(*name)));
                self.fs.index(&mut table, &mut key)?;
                return Ok(table);
            }
            ExprKind::Unary { op, operand } => {
                let mut e = self.expr(*operand)?;
                self.fs.prefix(*op, &mut e, node.line)?;
                return Ok(e);
            }
            ExprKind::Binary { .. } => return self.concat(id),
            ExprKind::Table { items, end_line } => {
                return self.table(node.line, items, *end_line);
            }
            ExprKind::Index { .. }
            | ExprKind::Call { .. }
            | ExprKind::MethodCall { .. }
            | ExprKind::Paren(_) => unreachable!("part of a spine"),
        };
        Ok(Desc::new(kind))
    }

    /// Compiles `a .. b .. c`, right-associative, as one CONCAT.
    fn concat(&mut self, id: ExprId) -> Result<Desc<'c>> {
        let mut id = id;
        let mut first = None;
        let mut count: usize = 1;
        let line = loop {
            let node = self.node(id);
            let ExprKind::Binary { op: BinaryOp::Concat, left, right } = node.kind else {
                unreachable!("only entered at a concatenation")
            };
            let mut e = self.expr(left)?;
            let register = self.fs.put_in_next(&mut e)?;
            first.get_or_insert(register);
            count += 1;
            id = right;
            if !matches!(self.node(id).kind, ExprKind::Binary { op: BinaryOp::Concat, .. }) {
                break node.line;
            }
        };
        let mut e = self.expr(id)?;
        let last = self.fs.put_in_next(&mut e)?;
        let first = first.unwrap_or(last);
        self.fs.emit_abc(Op::Concat, first, count as u8, 0)?;
        self.fs.fix_line(line);
        self.fs.free = first + 1;
        Ok(Desc::new(Kind::Register(first)))
    }

    /// Compiles a list of expressions, all but the last into consecutive registers.
    pub(super) fn expr_list(&mut self, list: &[ExprId]) -> Result<Option<Desc<'c>>> {
        let Some((&last, init)) = list.split_last() else { return Ok(None) };
        for &id in init {
            let mut e = self.expr(id)?;
            self.fs.put_in_next(&mut e)?;
        }
        Ok(Some(self.expr(last)?))
    }

    /// Compiles an expression into the next register.
    pub(super) fn expr_in_next(&mut self, id: ExprId) -> Result<u8> {
        let mut e = self.expr(id)?;
        self.fs.put_in_next(&mut e)
    }

    /// Emits CLOSURE at the first free register.
    pub(super) fn closure(&mut self, func: FuncId, of: Option<LocalId>) -> Result<Desc<'c>> {
        let index = self.function(func, of)?;
        self.fs.line = self.chunk.functions[func.0 as usize].last_line;
        let pc = self.fs.emit(Instr::abx(Op::Closure, 0, index))?;
        let mut e = Desc::new(Kind::Relocatable(pc));
        self.fs.put_in_next(&mut e)?;
        Ok(e)
    }
}
