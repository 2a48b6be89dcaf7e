//! Tables.

use std::ffi::c_void;

use perilune_runtime::native::Val;
use perilune_runtime::table::{KeyError, Table as TableObject};
use perilune_runtime::value::Value as Word;

use crate::control::Handle;
use crate::stack::{Raw, Stack};
pub use crate::table_iter::{TablePairs, TableSequence};
use crate::traits::{FromLua, IntoLua};
use crate::types::Integer;
use crate::{Error, Result, Value, WeakLua};

/// A handle to a table.
///
/// ```
/// let lua = perilune::Lua::new();
/// let t = lua.create_table()?;
/// t.set("x", 1)?;
/// t.push("first")?;
/// assert_eq!((t.get::<i64>("x")?, t.get::<String>(1)?, t.len()?), (1, "first".into(), 1));
/// assert_eq!(t.get::<Option<i64>>("y")?, None);
/// # Ok::<(), perilune::Error>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct Table(pub(crate) Handle);

impl Table {
    #[inline(always)]
    fn object(&self) -> *mut TableObject {
        self.0.word().as_table()
    }

    pub(crate) fn get_any<V: FromLua>(&self, key: impl IntoLua) -> Result<V> {
        self.get(key)
    }

    pub(crate) fn set_any(&self, key: impl IntoLua, value: impl IntoLua) -> Result<()> {
        self.set(key, value)
    }

    /// Assigns `table[key] = value`, with `__newindex`.
    ///
    /// # Errors
    /// Returns an error for keys that are nil or NaN, or that of a conversion or metamethod.
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

    /// Assigns with key and value on the stack, to a table that has a metatable.
    #[cold]
    fn set_slow(&self, s: Stack<'_>, top: usize) -> Result<()> {
        // SAFETY: the key was pushed.
        let key = unsafe { s.get(top) };
        // SAFETY: so was the value.
        let value = unsafe { s.get(top + 1) };
        s.push(Raw(self.0.word()));
        s.push(value);
        let r = s.cx().set_index(top + 2, key.0);
        if r.is_err() {
            return Err(s.caught(top));
        }
        s.cut(top);
        Ok(())
    }

    /// Returns `table[key]`, with `__index`.
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
        if s.cx().index(top, key.0).is_err() {
            return Err(s.caught(top));
        }
        // SAFETY: index pushes one value, which stays on the stack meanwhile.
        let r = unsafe { V::from_lua_raw(s.get(s.top() - 1), s) };
        s.cut(top);
        r
    }

    /// Returns whether `table[key]` is not nil, with `__index`.
    ///
    /// # Errors
    /// As for [`Table::get`].
    pub fn contains_key(&self, key: impl IntoLua) -> Result<bool> {
        Ok(!self.get::<Value>(key)?.is_nil())
    }

    /// Appends a value, with metamethods.
    ///
    /// # Errors
    /// As for [`Table::set`].
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

    /// Removes and returns the last element, with metamethods; nil for an empty list.
    ///
    /// # Errors
    /// As for [`Table::get`].
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

    /// Removes a key, with metamethods. An integer key removes an element of the list and moves the
    /// following ones down.
    ///
    /// # Errors
    /// As for [`Table::set`]; also for an index outside the list.
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

    /// Compares with `==`, with `__eq`.
    ///
    /// # Errors
    /// Returns the error that `__eq` raises.
    pub fn equals(&self, other: &Table) -> Result<bool> {
        crate::value::metamethod_equals(&self.0, &other.0)
    }

    /// Assigns `table[key] = value` without metamethods.
    ///
    /// # Errors
    /// As for [`Table::set`].
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
        // given away at once.
        unsafe {
            let key = key.into_lua_raw(s)?;
            V::from_lua_raw(Raw(TableObject::get(self.object(), key.0)), s)
        }
    }

    /// Inserts an element at `index`, at most one past the end, without metamethods.
    ///
    /// # Errors
    /// Returns an error for any other index.
    pub fn raw_insert(&self, index: Integer, value: impl IntoLua) -> Result<()> {
        let entry = self.0.enter();
        let s = entry.stack();
        s.poll()?;
        // SAFETY: it is pushed at once.
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
            Ok(())
        };
        s.cut(top);
        r
    }

    /// Appends an element without metamethods.
    ///
    /// # Errors
    /// Returns the error of the conversion.
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
        Ok(())
    }

    /// Removes and returns the last element without metamethods.
    ///
    /// # Errors
    /// Returns the error of the conversion.
    pub fn raw_pop<V: FromLua>(&self) -> Result<V> {
        let entry = self.0.enter();
        let s = entry.stack();
        // SAFETY: P1: the table is rooted by the handle; the value is given away at once.
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

    fn tab<'a>(&self, s: Stack<'a>) -> Option<perilune_runtime::native::Tab<'a>> {
        // SAFETY: the table is rooted by the handle.
        unsafe { Val::of(s.cx(), self.0.word()) }.as_table()
    }

    /// Removes all entries; the metatable stays.
    ///
    /// # Errors
    /// None at present.
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

    /// Returns `#table`, with `__len`.
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
        match s.cx().length(top) {
            Ok(n) => {
                s.cut(top);
                Ok(n)
            }
            Err(_) => Err(s.caught(top)),
        }
    }

    /// Returns a border, without metamethods.
    #[inline]
    pub fn raw_len(&self) -> usize {
        let _guard = self.0.hold();
        // SAFETY: P1: the table is rooted by the handle.
        unsafe { TableObject::length(self.object()) as usize }
    }

    /// Returns whether the table has no entry, without metamethods.
    pub fn is_empty(&self) -> bool {
        let _guard = self.0.hold();
        // SAFETY: P1: the table is rooted by the handle.
        unsafe { TableObject::next_index(self.object(), TableObject::FIRST).is_none() }
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
    /// None at present.
    pub fn set_metatable(&self, metatable: Option<Table>) -> Result<()> {
        let entry = self.0.enter();
        let s = entry.stack();
        let m = metatable.as_ref().map(|m| s.word(&m.0));
        let cx = &*s.cx();
        if let Some(t) = self.tab(s) {
            // SAFETY: rooted by its handle.
            t.set_metatable(cx, m.and_then(|m| unsafe { Val::of(cx, m.0) }.as_table()));
        }
        Ok(())
    }

    /// Returns whether there is a metatable.
    #[inline]
    pub fn has_metatable(&self) -> bool {
        let _guard = self.0.hold();
        // SAFETY: P1: the table is rooted by the handle.
        unsafe { (*self.object()).meta != 0 }
    }

    /// Returns a weak reference to the table's state.
    pub fn weak_lua(&self) -> &WeakLua {
        &self.0.control.weak
    }

    /// Returns the address that identifies the table.
    pub fn to_pointer(&self) -> *const c_void {
        std::ptr::with_exposed_provenance(self.0.word().bits() as usize)
    }

    /// Returns an iterator over the entries in the order of `next`, without metamethods. Existing
    /// entries may be changed and removed meanwhile.
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
            // SAFETY: P1: the table is rooted by the handle; the value is given away at once.
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
        KeyError::Nil => Error::runtime("index is nil"),
        KeyError::Nan => Error::runtime("index is NaN"),
    }
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if f.alternate() && self.0.control.is_alive() {
            return crate::pretty::table(self, f, 0, &mut Default::default());
        }
        write!(f, "Table{:?}", self.0)
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
