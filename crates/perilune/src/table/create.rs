//! Creation of tables.

use perilune_runtime::table::Table as TableObject;

use crate::stack::Raw;
use crate::traits::IntoLua;
use crate::{Lua, Result, Table};

/// The number of list elements that are stored together.
const BATCH: usize = 32;

/// Returns the number of elements for which a table initially has room. It is limited, since the
/// size hint of an iterator may exceed the available memory.
fn expected(iter: &impl Iterator) -> usize {
    const MOST: usize = 1 << 16;
    iter.size_hint().0.min(MOST)
}

impl Lua {
    /// Creates an empty table.
    ///
    /// # Errors
    /// Returns [`Error::MemoryError`](crate::Error::MemoryError) when the memory limit is reached.
    #[inline]
    pub fn create_table(&self) -> Result<Table> {
        self.create_table_with_capacity(0, 0)
    }

    /// Creates an empty table with room for this number of elements and fields.
    ///
    /// # Errors
    /// Returns [`Error::MemoryError`](crate::Error::MemoryError) when the memory limit is reached.
    #[inline]
    pub fn create_table_with_capacity(&self, elements: usize, fields: usize) -> Result<Table> {
        let entry = self.enter();
        let s = entry.stack();
        s.poll()?;
        s.check_room(elements.saturating_mul(16))?;
        let t = s.cx().table(elements, fields).val().raw();
        Ok(Table(s.handle(Raw(t))))
    }

    /// Creates a table with these entries.
    ///
    /// # Errors
    /// Returns an error for keys that are nil or NaN, the error of a conversion, or
    /// [`Error::MemoryError`](crate::Error::MemoryError) when the memory limit is reached.
    pub fn create_table_from<K: IntoLua, V: IntoLua>(
        &self,
        iter: impl IntoIterator<Item = (K, V)>,
    ) -> Result<Table> {
        let iter = iter.into_iter();
        let t = self.create_table_with_capacity(0, expected(&iter))?;
        for (k, v) in iter {
            t.raw_set(k, v)?;
        }
        Ok(t)
    }

    /// Creates a list of these elements. A nil element leaves a hole.
    ///
    /// # Errors
    /// Returns the error of a conversion, or [`Error::MemoryError`](crate::Error::MemoryError) when
    /// the memory limit is reached.
    pub fn create_sequence_from<T: IntoLua>(
        &self,
        iter: impl IntoIterator<Item = T>,
    ) -> Result<Table> {
        let iter = iter.into_iter();
        let entry = self.enter();
        let s = entry.stack();
        let t = self.create_table_with_capacity(expected(&iter), 0)?;
        s.reserve(2 * BATCH)?;
        let top = s.top();
        // moves this many elements at a time from the stack to the table
        let put = |done: usize| {
            let n = s.top() - top;
            // SAFETY: P1: the values are on the stack, and the table is rooted by the handle.
            unsafe {
                let from = (*s.st).base.add(top);
                TableObject::append_list(s.st, t.0.word().as_table(), done as u32, from, n);
            }
            s.cut(top);
            done + n
        };
        let mut done = 0;
        for v in iter {
            if s.top() - top == BATCH {
                done = put(done);
            }
            s.poll()?;
            // SAFETY: the value is pushed at once.
            match unsafe { v.into_lua_raw(s) } {
                Ok(v) => s.push(v),
                Err(e) => {
                    s.cut(top);
                    return Err(e);
                }
            }
        }
        put(done);
        s.check_stored()?;
        Ok(t)
    }
}
