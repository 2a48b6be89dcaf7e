//! Tables as lists.

use perilune_runtime::native::Val;
use perilune_runtime::table::Table as TableObject;
use perilune_runtime::value::Value as Word;

use crate::stack::Raw;
use crate::traits::{FromLua, IntoLua};
use crate::types::Integer;
use crate::{Error, Result, Table, Value};

impl Table {
    /// Appends a value, honoring metamethods.
    ///
    /// # Errors
    /// See [`Table::set`].
    pub fn push(&self, value: impl IntoLua) -> Result<()> {
        let entry = self.0.enter();
        let s = entry.stack();
        s.poll()?;
        // SAFETY: P1: the value is stored or given to a handle at once; the table is rooted by the
        // handle.
        let value = unsafe {
            let value = value.into_lua_raw(s)?;
            let t = self.object();
            if (*t).meta == 0 {
                TableObject::set_int(&mut *s.st, t, TableObject::length(t) + 1, value.0);
                return s.check_stored();
            }
            s.value(value)
        };
        let n = self.len()?.checked_add(1);
        self.set(n.ok_or_else(|| Error::runtime("table length overflow"))?, value)
    }

    /// Removes and returns the last element, honoring metamethods; nil for an empty list.
    ///
    /// # Errors
    /// See [`Table::get`].
    pub fn pop<V: FromLua>(&self) -> Result<V> {
        if !self.has_metatable() {
            return self.raw_pop();
        }
        let n = self.len()?;
        if n < 1 {
            return V::from_lua(Value::Nil, self.0.enter().lua);
        }
        let value: Value = self.get(n)?;
        self.set(n, Value::Nil)?;
        let entry = self.0.enter();
        V::from_lua(value, entry.lua)
    }

    /// Removes a key, honoring metamethods. An integer key removes an element of the list and moves
    /// the following ones down.
    ///
    /// # Errors
    /// Fails like [`Table::set`], and also for an index outside the list.
    pub fn remove(&self, key: impl IntoLua) -> Result<()> {
        let entry = self.0.enter();
        let i = match key.into_lua(entry.lua)? {
            key if !self.has_metatable() => return self.raw_remove(key),
            Value::Integer(i) => i,
            key => return self.set(key, Value::Nil),
        };
        let n = self.len()?;
        if i < 1 || i > n {
            return Err(Error::runtime("index out of bounds"));
        }
        for k in i..n {
            self.set(k, self.get::<Value>(k + 1)?)?;
        }
        self.set(n, Value::Nil)
    }

    /// Inserts an element at `index`, at most one past the end, without metamethods.
    ///
    /// # Errors
    /// Returns an error for any other index, the error of the conversion, or
    /// [`Error::MemoryError`] when the memory limit is reached.
    pub fn raw_insert(&self, index: Integer, value: impl IntoLua) -> Result<()> {
        let entry = self.0.enter();
        let s = entry.stack();
        s.poll()?;
        // SAFETY: the value is pushed at once.
        let value = unsafe { value.into_lua_raw(s)? };
        s.push(value);
        let top = s.top() - 1;
        let n = self.raw_len() as i64;
        let r = if index < 1 || index > n + 1 {
            Err(Error::runtime("index out of bounds"))
        } else {
            let cx = &*s.cx();
            let (Some(t), v) = (self.tab(s), cx.get(top)) else { unreachable!("a table") };
            if index == n + 1 || !t.insert_element(cx, index, v) {
                for i in (index..=n).rev() {
                    t.set_int(cx, i + 1, t.get_int(i));
                }
                t.set_int(cx, index, v);
            }
            s.check_stored()
        };
        s.cut(top);
        r
    }

    /// Appends an element without metamethods.
    ///
    /// # Errors
    /// Returns the error of the conversion, or [`Error::MemoryError`] when the memory limit is
    /// reached.
    #[inline]
    pub fn raw_push(&self, value: impl IntoLua) -> Result<()> {
        let entry = self.0.enter();
        let s = entry.stack();
        s.poll()?;
        // SAFETY: P1: the value is stored at once, in a table rooted by the handle.
        unsafe {
            let value = value.into_lua_raw(s)?;
            let t = self.object();
            TableObject::set_int(&mut *s.st, t, TableObject::length(t) + 1, value.0);
        }
        s.check_stored()
    }

    /// Removes and returns the last element without metamethods.
    ///
    /// # Errors
    /// Returns the error of the conversion.
    pub fn raw_pop<V: FromLua>(&self) -> Result<V> {
        let entry = self.0.enter();
        let s = entry.stack();
        // SAFETY: P1: the table is rooted by the handle; the value is passed on at once.
        unsafe {
            let t = self.object();
            let n = TableObject::length(t);
            if n == 0 {
                return V::from_lua_raw(Raw(Word::NIL), s);
            }
            let value = TableObject::get_int(t, n);
            TableObject::set_int(&mut *s.st, t, n, Word::NIL);
            V::from_lua_raw(Raw(value), s)
        }
    }

    /// Removes a key without metamethods. An integer key removes an element of the list and moves
    /// the following ones down.
    ///
    /// # Errors
    /// Returns the error of the conversion, or an error for an index outside the list.
    pub fn raw_remove(&self, key: impl IntoLua) -> Result<()> {
        let entry = self.0.enter();
        let s = entry.stack();
        match key.into_lua(s.lua)? {
            Value::Integer(i) => {
                let n = self.raw_len() as i64;
                if i < 1 || i > n {
                    return Err(Error::runtime("index out of bounds"));
                }
                let cx = &*s.cx();
                let Some(t) = self.tab(s) else { unreachable!("a table") };
                if t.remove_element(cx, i).is_none() {
                    for k in i..n {
                        t.set_int(cx, k, t.get_int(k + 1));
                    }
                    t.set_int(cx, n, Val::NIL);
                }
                Ok(())
            }
            key => self.raw_set(key, Value::Nil),
        }
    }
}

/// Compares the elements up to the first nil.
impl<T> PartialEq<[T]> for Table
where
    T: IntoLua + Clone,
{
    fn eq(&self, other: &[T]) -> bool {
        let entry = self.0.enter();
        let mut mine = self.sequence_values::<Value>();
        other.iter().all(|v| {
            let theirs = v.clone().into_lua(entry.lua);
            matches!((mine.next(), theirs), (Some(Ok(a)), Ok(b)) if a == b)
        }) && mine.next().is_none()
    }
}

impl<T: IntoLua + Clone> PartialEq<&[T]> for Table {
    fn eq(&self, other: &&[T]) -> bool {
        self == *other
    }
}

impl<T: IntoLua + Clone, const N: usize> PartialEq<[T; N]> for Table {
    fn eq(&self, other: &[T; N]) -> bool {
        self == &other[..]
    }
}
