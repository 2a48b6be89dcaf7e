//! Entries of tables, with and without metamethods, and their metatables.

use perilune_runtime::native::Val;
use perilune_runtime::table::{KeyError, Table as TableObject};
use perilune_runtime::value::Value as Word;

use crate::stack::{Raw, Stack};
use crate::traits::{FromLua, IntoLua};
use crate::types::Integer;
use crate::value::metamethod_equals;
use crate::{Error, Result, Table, Value};

impl Table {
    pub(crate) fn get_any<V: FromLua>(&self, key: impl IntoLua) -> Result<V> {
        self.get(key)
    }

    pub(crate) fn set_any(&self, key: impl IntoLua, value: impl IntoLua) -> Result<()> {
        self.set(key, value)
    }

    /// Assigns `table[key] = value`, honoring `__newindex`.
    ///
    /// # Errors
    /// Returns an error for keys that are nil or NaN, or the error of a conversion or metamethod.
    #[inline]
    pub fn set(&self, key: impl IntoLua, value: impl IntoLua) -> Result<()> {
        let entry = self.0.enter();
        let s = entry.stack();
        let top = push_pair(s, key, value)?;
        let t = self.object();
        // SAFETY: P1: the table is rooted by the handle, key and value are on the stack.
        unsafe {
            if (*t).meta == 0 {
                let r = store(s, t, s.get(top), s.get(top + 1));
                s.cut(top);
                return r;
            }
        }
        self.set_slow(s, top)
    }

    /// Assigns to a table that has a metatable, with key and value on the stack.
    #[cold]
    fn set_slow(&self, s: Stack<'_>, top: usize) -> Result<()> {
        // SAFETY: the key was pushed.
        let key = unsafe { s.get(top) };
        // SAFETY: the value was pushed too.
        let value = unsafe { s.get(top + 1) };
        s.push(Raw(self.0.word()));
        s.push(value);
        s.traced(top, |cx| cx.set_index(top + 2, key.0))?;
        s.cut(top);
        Ok(())
    }

    /// Returns `table[key]`, honoring `__index`.
    ///
    /// # Errors
    /// Returns the error of a conversion or metamethod.
    #[inline]
    pub fn get<V: FromLua>(&self, key: impl IntoLua) -> Result<V> {
        let entry = self.0.enter();
        let s = entry.stack();
        // SAFETY: the key is used at once, and the table is rooted by the handle.
        unsafe {
            let key = key.into_lua_raw(s)?;
            let t = self.object();
            let v = TableObject::get(t, key.0);
            if v.is_nil() && (*t).meta != 0 {
                return self.get_slow(s, key);
            }
            V::from_lua_raw(Raw(v), s)
        }
    }

    /// Looks up a key that is missing from a table with a metatable.
    #[cold]
    fn get_slow<V: FromLua>(&self, s: Stack<'_>, key: Raw) -> Result<V> {
        let top = s.top();
        s.push(Raw(self.0.word()));
        s.push(key);
        // the values stay on the stack during the conversion, which may begin further operations
        s.reserve(4)?;
        s.traced(top, |cx| cx.index(top, key.0))?;
        // SAFETY: index pushes one value, which stays on the stack meanwhile.
        let r = unsafe { V::from_lua_raw(s.get(s.top() - 1), s) };
        s.cut(top);
        r
    }

    /// Returns whether `table[key]` is not nil, honoring `__index`.
    ///
    /// # Errors
    /// See [`Table::get`].
    pub fn contains_key(&self, key: impl IntoLua) -> Result<bool> {
        Ok(!self.get::<Value>(key)?.is_nil())
    }

    /// Compares two tables with `==`, honoring `__eq`.
    ///
    /// # Errors
    /// Returns the error that `__eq` raises.
    pub fn equals(&self, other: &Table) -> Result<bool> {
        metamethod_equals(&self.0, &other.0)
    }

    /// Assigns `table[key] = value` without metamethods.
    ///
    /// # Errors
    /// See [`Table::set`].
    #[inline]
    pub fn raw_set(&self, key: impl IntoLua, value: impl IntoLua) -> Result<()> {
        let entry = self.0.enter();
        let s = entry.stack();
        let top = push_pair(s, key, value)?;
        // SAFETY: P1: the table is rooted by the handle, key and value are on the stack.
        let r = unsafe { store(s, self.object(), s.get(top), s.get(top + 1)) };
        s.cut(top);
        r
    }

    /// Returns `table[key]` without metamethods.
    ///
    /// # Errors
    /// Returns the error of a conversion.
    #[inline]
    pub fn raw_get<V: FromLua>(&self, key: impl IntoLua) -> Result<V> {
        let entry = self.0.enter();
        let s = entry.stack();
        // SAFETY: the key is used at once, the table is rooted by the handle, and the value is
        // passed on at once.
        unsafe {
            let key = key.into_lua_raw(s)?;
            V::from_lua_raw(Raw(TableObject::get(self.object(), key.0)), s)
        }
    }

    /// Removes all entries and keeps the metatable.
    ///
    /// # Errors
    /// Does not fail at present.
    pub fn clear(&self) -> Result<()> {
        let entry = self.0.enter();
        let t = self.object();
        // SAFETY: P1: the table is rooted by the handle; existing keys may be set to nil during a
        // traversal.
        unsafe {
            let mut key = Word::NIL;
            while let Ok(Some((k, _))) = TableObject::next(entry.st, t, key) {
                let _ = TableObject::set(&mut *entry.st, t, k, Word::NIL);
                key = k;
            }
        }
        Ok(())
    }

    /// Returns `#table`, honoring `__len`.
    ///
    /// # Errors
    /// Returns the error that `__len` raises, or an error if its result is not an integer.
    pub fn len(&self) -> Result<Integer> {
        let entry = self.0.enter();
        let s = entry.stack();
        let t = self.object();
        // SAFETY: P1: the table is rooted by the handle.
        unsafe {
            if (*t).meta == 0 {
                return Ok(TableObject::length(t));
            }
        }
        let top = s.top();
        s.reserve(4)?;
        s.push(Raw(self.0.word()));
        let n = s.traced(top, |cx| cx.length(top))?;
        s.cut(top);
        Ok(n)
    }

    /// Returns the metatable.
    pub fn metatable(&self) -> Option<Table> {
        let entry = self.0.enter();
        let s = entry.stack();
        // SAFETY: P1: the table is rooted by the handle.
        unsafe {
            let m = TableObject::metatable(&mut *s.st, self.object());
            (!m.is_null()).then(|| Table(s.handle(Raw(Word::table(m)))))
        }
    }

    /// Sets or removes the metatable.
    ///
    /// # Errors
    /// Returns [`Error::MemoryError`] when the memory limit is reached.
    pub fn set_metatable(&self, metatable: Option<Table>) -> Result<()> {
        let entry = self.0.enter();
        let s = entry.stack();
        let m = metatable.as_ref().map(|m| s.word(&m.0));
        let cx = &*s.cx();
        if let Some(t) = self.tab(s) {
            let top = s.top();
            // SAFETY: rooted by its handle.
            let m = m.and_then(|m| unsafe { Val::of(cx, m.0) }.as_table());
            t.set_metatable(cx, m).map_err(|_| s.caught(top))?;
        }
        Ok(())
    }
}

/// Pushes key and value, and returns the key's position.
#[inline(always)]
fn push_pair(s: Stack<'_>, key: impl IntoLua, value: impl IntoLua) -> Result<usize> {
    s.poll()?;
    s.reserve(4)?;
    let top = s.top();
    // SAFETY: each is pushed at once.
    unsafe {
        let key = key.into_lua_raw(s)?;
        s.push(key);
        match value.into_lua_raw(s) {
            Ok(v) => s.push(v),
            Err(e) => {
                s.cut(top);
                return Err(e);
            }
        }
    }
    Ok(top)
}

/// Stores without metamethods.
#[inline(always)]
unsafe fn store(s: Stack<'_>, t: *mut TableObject, key: Raw, value: Raw) -> Result<()> {
    let st = &mut *s.st;
    if key.0.is_string() {
        TableObject::set_str_const(st, t, key.0.as_string(), value.0);
    } else {
        TableObject::set(st, t, key.0, value.0).map_err(key_error)?;
    }
    s.check_stored()
}

/// The message for an invalid key.
#[cold]
pub(crate) fn key_error(e: KeyError) -> Error {
    match e {
        KeyError::Nil => Error::runtime("table index is nil"),
        KeyError::Nan => Error::runtime("table index is NaN"),
    }
}
