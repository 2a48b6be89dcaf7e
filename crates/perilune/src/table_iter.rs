//! Iterators over tables.

use std::marker::PhantomData;

use perilune_runtime::table::Table as TableObject;

use crate::stack::Raw;
use crate::traits::FromLua;
use crate::{Result, Table};

/// An iterator over the entries of a table ([`Table::pairs`]).
pub struct TablePairs<'a, K, V> {
    table: &'a Table,
    /// The position of the traversal; `None` at the end.
    at: Option<u32>,
    types: PhantomData<fn() -> (K, V)>,
}

impl<'a, K, V> TablePairs<'a, K, V> {
    pub(crate) fn new(table: &'a Table) -> TablePairs<'a, K, V> {
        TablePairs { table, at: Some(TableObject::FIRST), types: PhantomData }
    }
}

impl<K: FromLua, V: FromLua> Iterator for TablePairs<'_, K, V> {
    type Item = Result<(K, V)>;

    fn next(&mut self) -> Option<Result<(K, V)>> {
        let at = self.at.take()?;
        let entry = self.table.0.enter();
        let s = entry.stack();
        // SAFETY: P1: the table is rooted by the handle.
        let (next, k, v) = unsafe {
            let t = self.table.0.word().as_table();
            let at = if at == TableObject::FIRST { TableObject::start(entry.st, t) } else { at };
            TableObject::next_index(t, at)?
        };
        let top = s.top();
        if let Err(e) = s.reserve(2) {
            return Some(Err(e));
        }
        s.push(Raw(k));
        s.push(Raw(v));
        // SAFETY: both were pushed.
        let r = unsafe { K::from_lua_raw(s.get(top), s) }
            .and_then(|k| Ok((k, unsafe { V::from_lua_raw(s.get(top + 1), s)? })));
        s.cut(top);
        if r.is_ok() {
            self.at = Some(next);
        }
        Some(r)
    }
}

/// An iterator over the elements of a list ([`Table::sequence_values`]).
pub struct TableSequence<'a, V> {
    table: &'a Table,
    index: i64,
    types: PhantomData<fn() -> V>,
}

impl<'a, V> TableSequence<'a, V> {
    pub(crate) fn new(table: &'a Table) -> TableSequence<'a, V> {
        TableSequence { table, index: 1, types: PhantomData }
    }
}

impl<V: FromLua> Iterator for TableSequence<'_, V> {
    type Item = Result<V>;

    fn next(&mut self) -> Option<Result<V>> {
        let entry = self.table.0.enter();
        let s = entry.stack();
        // SAFETY: P1: the table is rooted by the handle; the value is given away at once.
        unsafe {
            let v = TableObject::get_int(self.table.0.word().as_table(), self.index);
            if v.is_nil() {
                return None;
            }
            self.index += 1;
            Some(V::from_lua_raw(Raw(v), s))
        }
    }
}
