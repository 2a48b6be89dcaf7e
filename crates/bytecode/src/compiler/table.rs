//! Table constructors.

use perilune_syntax::ast::{ExprId, TableItem};

use super::Compiler;
use super::desc::{Desc, Kind};
use super::error::{Limit, Result};
use crate::instr::Instr;
use crate::opcode::Op;

/// Number of items that are collected in registers before a SETLIST.
const ITEMS_PER_FLUSH: u32 = 50;

/// Positional items of a constructor.
#[derive(Default)]
struct Items<'c> {
    /// The last item, which is not yet in its register, and the line on which it is needed.
    last: Option<(Desc<'c>, u32)>,
    pending: u32,
    stored: u32,
}

impl<'c> Compiler<'c> {
    /// Compiles `{ … }`, the last brace of which is on `end_line`, into the next register.
    pub(super) fn table(
        &mut self,
        line: u32,
        items: &[TableItem],
        end_line: u32,
    ) -> Result<Desc<'c>> {
        let table = self.fs.reserve(1)?;
        self.fs.line = line;
        let pc = self.fs.emit_abc(Op::NewTable, table, 0, 0)?;
        let mut list = Items::default();
        let mut fields = 0u32;
        for item in items {
            self.flush_full(table, &mut list)?;
            match item {
                TableItem::Positional(value) => {
                    let e = self.expr(*value)?;
                    list.last = Some((e, self.fs.line));
                    list.pending += 1;
                }
                TableItem::Keyed { key, value } => {
                    fields = fields.saturating_add(1);
                    self.field(table, *key, *value)?;
                }
            }
        }
        self.fs.line = end_line;
        self.flush_rest(table, &mut list, end_line)?;
        // the last instruction of a constructor that ends with a SETLIST
        let end = self.fs.code.len();
        if self.fs.code[end - 1].op() == Op::ExtraArg {
            while self.fs.lists.last().is_some_and(|&(first, _)| first > pc as usize) {
                self.fs.lists.pop();
            }
            self.fs.lists.push((pc as usize, end - 1));
        }
        let saturate = |n: u32| u8::try_from(n).unwrap_or(u8::MAX);
        self.fs.set(pc, Instr::abc(Op::NewTable, table, saturate(fields), saturate(list.stored)));
        Ok(Desc::new(Kind::Register(table)))
    }

    fn field(&mut self, table: u8, key: ExprId, value: ExprId) -> Result<()> {
        let free = self.fs.free;
        let mut target = Desc::new(Kind::Register(table));
        let mut key = self.expr(key)?;
        self.fs.make_value(&mut key)?;
        self.fs.index(&mut target, &mut key)?;
        let mut value = self.expr(value)?;
        self.fs.store(&target, &mut value)?;
        self.fs.free = free;
        Ok(())
    }

    /// Puts the last item into its register, and stores the pending items if there are many.
    fn flush_full(&mut self, table: u8, list: &mut Items<'c>) -> Result<()> {
        let Some((mut last, line)) = list.last.take() else { return Ok(()) };
        self.fs.line = line;
        self.fs.put_in_next(&mut last)?;
        if list.pending == ITEMS_PER_FLUSH {
            self.set_list(table, list.stored, list.pending as u8)?;
            list.stored += list.pending;
            list.pending = 0;
        }
        Ok(())
    }

    fn flush_rest(&mut self, table: u8, list: &mut Items<'c>, end_line: u32) -> Result<()> {
        if list.pending == 0 {
            return Ok(());
        }
        match list.last.take() {
            Some((last, _)) if last.is_multi() => {
                self.fs.set_results(&last, None)?;
                self.set_list(table, list.stored, 0)?;
                // The number of values is not known.
                list.pending -= 1;
            }
            last => {
                if let Some((mut last, line)) = last {
                    self.fs.line = line;
                    self.fs.put_in_next(&mut last)?;
                    self.fs.line = end_line;
                }
                self.set_list(table, list.stored, list.pending as u8)?;
            }
        }
        list.stored += list.pending;
        list.pending = 0;
        Ok(())
    }

    fn set_list(&mut self, table: u8, stored: u32, count: u8) -> Result<()> {
        if stored > Instr::MAX_AX {
            return self.fs.exceeded(Limit::ConstructorItems);
        }
        self.fs.emit_abc(Op::SetList, table, count, 0)?;
        self.fs.emit(Instr::ax(Op::ExtraArg, stored))?;
        self.fs.free = table + 1;
        Ok(())
    }
}
