//! Traversals of tables.

use std::marker::PhantomData;

use perilune_runtime::table::Table as TableObject;

use crate::stack::Raw;
use crate::traits::FromLua;
use crate::{Result, Table};

impl Table {
    /// Returns an iterator over the entries in the order of `next`, without metamethods. Existing
    /// entries may be changed and removed during the traversal.
    pub fn pairs<K: FromLua, V: FromLua>(&self) -> TablePairs<'_, K, V> {
        TablePairs::new(self)
    }

    /// Calls `f` for each entry, without metamethods. Faster than [`Table::pairs`].
    ///
    /// # Errors
    /// Returns the error of `f` or of a conversion.
    pub fn for_each<K: FromLua, V: FromLua>(
        &self,
        mut f: impl FnMut(K, V) -> Result<()>,
    ) -> Result<()> {
        let entry = self.0.enter();
        let s = entry.stack();
        let top = s.top();
        s.reserve(2)?;
        s.push(Raw(self.0.word()));
        // SAFETY: P1: the table is rooted by the handle.
        let mut at = unsafe { TableObject::start(entry.st, self.object()) };
        let r = loop {
            // SAFETY: P1: the table is rooted by the handle.
            let Some((next, k, v)) = (unsafe { TableObject::next_index(self.object(), at) }) else {
                break Ok(());
            };
            at = next;
            // while one is converted the other stays on the stack
            s.push(Raw(v));
            // SAFETY: the key is in the table; the value was pushed.
            let r = unsafe { K::from_lua_raw(Raw(k), s) }
                .and_then(|k| Ok((k, unsafe { V::from_lua_raw(s.get(top + 1), s)? })))
                .and_then(|(k, v)| f(k, v));
            s.cut(top + 1);
            if r.is_err() {
                break r;
            }
        };
        s.cut(top);
        r
    }

    /// Returns an iterator over the elements from 1 to the first nil, without metamethods.
    pub fn sequence_values<V: FromLua>(&self) -> TableSequence<'_, V> {
        TableSequence::new(self)
    }

    /// Calls `f` for each element from 1 to the first nil, without metamethods.
    ///
    /// # Errors
    /// Returns the error of `f` or of a conversion.
    pub fn for_each_value<V: FromLua>(&self, f: impl FnMut(V) -> Result<()>) -> Result<()> {
        self.each_value(i64::MAX, true, f)
    }

    /// Like [`Table::for_each_value`], but up to the border, holes included.
    pub(crate) fn for_each_to_border<V: FromLua>(
        &self,
        f: impl FnMut(V) -> Result<()>,
    ) -> Result<()> {
        self.each_value(self.raw_len() as i64, false, f)
    }

    fn each_value<V: FromLua>(
        &self,
        last: i64,
        up_to_nil: bool,
        mut f: impl FnMut(V) -> Result<()>,
    ) -> Result<()> {
        let entry = self.0.enter();
        let s = entry.stack();
        for i in 1..=last {
            // SAFETY: P1: the table is rooted by the handle; the value is passed on at once.
            let v = unsafe {
                let v = TableObject::get_int(self.object(), i);
                if up_to_nil && v.is_nil() {
                    break;
                }
                V::from_lua_raw(Raw(v), s)?
            };
            f(v)?;
        }
        Ok(())
    }
}

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
        // SAFETY: P1: the table is rooted by the handle; the value is passed on at once.
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
