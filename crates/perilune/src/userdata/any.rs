//! Operations on userdata of any type.

use std::any::TypeId;

use perilune_runtime::native::Val;
use perilune_runtime::userdata::CellHead;

use super::borrow::{UserDataRef, UserDataRefMut, cell_of};
use super::held::hold_any;
use super::registry::Proxy;
use super::scoped::Scoped;
use super::target::Guard;
use crate::cell::{HostCell, unavailable};
use crate::stack::{Raw, Stack};
use crate::traits::{FromLua, IntoLua};
use crate::{
    AnyUserData, Error, Function, LuaString, MetaMethod, Result, Table, UserDataMetatable, Value,
};

impl AnyUserData {
    /// Returns whether the value has this type; false after the value was taken.
    pub fn is<T: 'static>(&self) -> bool {
        self.type_id() == Some(TypeId::of::<T>())
    }

    /// Returns whether this is a proxy for the type ([`crate::Lua::create_proxy`]).
    pub fn is_proxy<T: 'static>(&self) -> bool {
        self.is::<Proxy<T>>()
    }

    /// Returns the type of the value; `None` after the value was taken, and for values that borrow.
    pub fn type_id(&self) -> Option<TypeId> {
        let entry = self.0.enter();
        let s = entry.stack();
        let head = s.cell(s.word(&self.0))?;
        // SAFETY: the head is alive because its userdata is.
        let head = unsafe { &*head };
        let gone = head.borrow.get() == CellHead::TAKEN || head.id == TypeId::of::<Scoped>();
        (!gone).then_some(head.id)
    }

    /// Borrows the value, or the value it points to if it is an `Rc<T>`, `Rc<RefCell<T>>`,
    /// `Arc<T>`, `Arc<Mutex<T>>` or `Arc<RwLock<T>>`. With the feature `send`, a value in a lock of
    /// the standard library can only be borrowed with [`AnyUserData::borrow_scoped`], since the
    /// guards of such locks must stay on their thread.
    ///
    /// # Errors
    /// Returns [`Error::UserDataTypeMismatch`], [`Error::UserDataBorrowError`] or
    /// [`Error::UserDataDestructed`].
    pub fn borrow<T: 'static>(&self) -> Result<UserDataRef<T>> {
        UserDataRef::new(self)
    }

    /// Mutably borrows the value, like [`AnyUserData::borrow`].
    ///
    /// # Errors
    /// Returns [`Error::UserDataTypeMismatch`], [`Error::UserDataBorrowMutError`] or
    /// [`Error::UserDataDestructed`].
    pub fn borrow_mut<T: 'static>(&self) -> Result<UserDataRefMut<T>> {
        UserDataRefMut::new(self)
    }

    /// Borrows the value for the duration of a call of `f`.
    ///
    /// # Errors
    /// See [`AnyUserData::borrow`].
    pub fn borrow_scoped<T: 'static, R>(&self, f: impl FnOnce(&T) -> R) -> Result<R> {
        let entry = self.0.enter();
        let s = entry.stack();
        match Guard::borrow::<T>(s, s.word(&self.0), false) {
            // SAFETY: the value is borrowed as long as the guard lives.
            Ok((at, _guard)) => Ok(f(unsafe { &*at })),
            Err(Error::UserDataTypeMismatch) => {
                let hold = hold_any::<T>(s, s.word(&self.0), false)?;
                // SAFETY: the value is held.
                Ok(f(unsafe { &*hold.at }))
            }
            Err(e) => Err(e),
        }
    }

    /// Mutably borrows the value for the duration of a call of `f`.
    ///
    /// # Errors
    /// See [`AnyUserData::borrow_mut`].
    pub fn borrow_mut_scoped<T: 'static, R>(&self, f: impl FnOnce(&mut T) -> R) -> Result<R> {
        let entry = self.0.enter();
        let s = entry.stack();
        match Guard::borrow::<T>(s, s.word(&self.0), true) {
            // SAFETY: the value is borrowed as long as the guard lives.
            Ok((at, _guard)) => Ok(f(unsafe { &mut *at })),
            Err(Error::UserDataTypeMismatch) => {
                let hold = hold_any::<T>(s, s.word(&self.0), true)?;
                // SAFETY: the value is held.
                Ok(f(unsafe { &mut *hold.at }))
            }
            Err(e) => Err(e),
        }
    }

    /// Takes the value out; later uses fail with [`Error::UserDataDestructed`].
    ///
    /// # Errors
    /// See [`AnyUserData::borrow_mut`].
    pub fn take<T: 'static>(&self) -> Result<T> {
        let entry = self.0.enter();
        let s = entry.stack();
        let cell = cell_of::<T>(s, s.word(&self.0))?;
        // SAFETY: the cell is alive because its userdata is.
        unsafe { HostCell::take(cell) }
    }

    /// Drops the value; later uses fail with [`Error::UserDataDestructed`].
    ///
    /// # Errors
    /// Returns [`Error::UserDataBorrowMutError`] when the value is borrowed.
    pub fn destroy(&self) -> Result<()> {
        let entry = self.0.enter();
        let s = entry.stack();
        let v = s.word(&self.0);
        let Some(head) = s.cell(v) else { return Ok(()) };
        // SAFETY: the head is alive because its userdata is.
        unsafe {
            (*head).begin_exclusive().map_err(|n| unavailable(n, true))?;
            (*head).end();
            // An empty cell replaces the old one, which is dropped when nothing here refers to it
            // any more.
            let empty = HostCell::<()>::boxed((), None);
            (*(&raw const *empty).cast::<CellHead>()).borrow.set(CellHead::TAKEN);
            let (old, growth) = (*v.0.as_userdata()).replace_data(empty);
            (*s.st).heap.note_external(growth);
            drop(old);
        }
        Ok(())
    }

    /// Sets the first user value.
    ///
    /// # Errors
    /// Returns the error of the conversion.
    pub fn set_user_value(&self, v: impl IntoLua) -> Result<()> {
        self.set_nth_user_value(1, v)
    }

    /// Returns the first user value.
    ///
    /// # Errors
    /// Returns the error of the conversion.
    pub fn user_value<V: FromLua>(&self) -> Result<V> {
        self.nth_user_value(1)
    }

    /// Sets user value `n`, counted from 1.
    ///
    /// # Errors
    /// Returns the error of the conversion, or an error for an invalid number.
    pub fn set_nth_user_value(&self, n: usize, v: impl IntoLua) -> Result<()> {
        check_user_value(n)?;
        self.user_table(true)?.map_or(Ok(()), |t| t.raw_set(n, v))
    }

    /// Returns user value `n`, counted from 1.
    ///
    /// # Errors
    /// Returns the error of the conversion, or an error for an invalid number.
    pub fn nth_user_value<V: FromLua>(&self, n: usize) -> Result<V> {
        check_user_value(n)?;
        self.user_value_at(n)
    }

    /// Sets a named user value.
    ///
    /// # Errors
    /// Returns the error of the conversion.
    pub fn set_named_user_value(&self, name: &str, v: impl IntoLua) -> Result<()> {
        self.user_table(true)?.map_or(Ok(()), |t| t.raw_set(name, v))
    }

    /// Returns a named user value.
    ///
    /// # Errors
    /// Returns the error of the conversion.
    pub fn named_user_value<V: FromLua>(&self, name: &str) -> Result<V> {
        self.user_value_at(name)
    }

    fn user_value_at<V: FromLua>(&self, key: impl IntoLua) -> Result<V> {
        match self.user_table(false)? {
            Some(t) => t.raw_get(key),
            None => V::from_lua(Value::Nil, self.0.enter().lua),
        }
    }

    /// Returns the table of user values, which is the only user value of the object itself.
    fn user_table(&self, make: bool) -> Result<Option<Table>> {
        let entry = self.0.enter();
        let s = entry.stack();
        let cx = &*s.cx();
        // SAFETY: rooted by the handle.
        let Some(u) = unsafe { Val::of(cx, s.word(&self.0).0) }.as_udata() else { return Ok(None) };
        if let Some(t) = u.user_value(0).and_then(Val::as_table) {
            return Ok(Some(Table(s.handle(Raw(t.val().raw())))));
        }
        if !make {
            return Ok(None);
        }
        let t = cx.table(1, 0);
        u.make_user_values(1);
        u.set_user_value(cx, 0, t.val());
        Ok(Some(Table(s.handle(Raw(t.val().raw())))))
    }

    /// Returns the metatable, which all userdata of the type share.
    ///
    /// # Errors
    /// Returns [`Error::UserDataTypeMismatch`] if there is none.
    pub fn metatable(&self) -> Result<UserDataMetatable> {
        let entry = self.0.enter();
        let s = entry.stack();
        let cx = &*s.cx();
        // SAFETY: rooted by the handle.
        let meta = unsafe { Val::of(cx, s.word(&self.0).0) }.as_udata().and_then(|u| u.metatable());
        let meta = meta.ok_or(Error::UserDataTypeMismatch)?;
        Ok(UserDataMetatable(Table(s.handle(Raw(meta.val().raw())))))
    }

    /// Returns the name of the type as it appears in messages.
    ///
    /// # Errors
    /// Returns [`Error::MemoryError`] when the memory limit is reached.
    pub fn type_name(&self) -> Result<LuaString> {
        let name = self.metatable().and_then(|m| m.get::<Value>(MetaMethod::Type));
        let name = name.and_then(|name| match name {
            Value::String(name) => Ok(name),
            _ => Err(Error::UserDataTypeMismatch),
        });
        name.or_else(|_| self.0.enter().lua.create_string("userdata"))
    }

    /// Returns `userdata[key]`.
    pub(crate) fn get_any<V: FromLua>(&self, key: impl IntoLua) -> Result<V> {
        let entry = self.0.enter();
        let s = entry.stack();
        s.reserve(8)?;
        let top = s.top();
        s.push(s.word(&self.0));
        let r = push_one(s, key, top).and_then(|key| {
            s.traced(top, |cx| cx.index(top, key.0))?;
            // SAFETY: index pushes one value, which stays on the stack meanwhile.
            unsafe { V::from_lua_raw(s.get(s.top() - 1), s) }
        });
        s.cut(top);
        r
    }

    /// Assigns `userdata[key] = value`.
    pub(crate) fn set_any(&self, key: impl IntoLua, value: impl IntoLua) -> Result<()> {
        let entry = self.0.enter();
        let s = entry.stack();
        s.reserve(8)?;
        let top = s.top();
        s.push(s.word(&self.0));
        push_one(s, key, top)?;
        push_one(s, value, top)?;
        // SAFETY: both were pushed.
        let key = unsafe { s.get(top + 1) };
        s.traced(top, |cx| cx.set_index(top, key.0))?;
        s.cut(top);
        Ok(())
    }
}

/// Pushes a value and returns it. Cuts the stack to `top` on an error.
fn push_one(s: Stack<'_>, v: impl IntoLua, top: usize) -> Result<Raw> {
    // SAFETY: the value is pushed at once.
    match unsafe { v.into_lua_raw(s) } {
        Ok(raw) => {
            s.push(raw);
            Ok(raw)
        }
        Err(e) => {
            s.cut(top);
            Err(e)
        }
    }
}

fn check_user_value(n: usize) -> Result<()> {
    if (1..=usize::from(u16::MAX)).contains(&n) {
        return Ok(());
    }
    Err(Error::runtime("user value index out of bounds"))
}

impl std::fmt::Debug for AnyUserData {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if f.alternate() && self.0.control.is_alive() {
            let text = |m: MetaMethod| {
                let m = self.metatable().ok()?.get::<Option<Function>>(m).ok()??;
                m.call::<String>(self).ok()
            };
            if let Some(text) =
                text(MetaMethod::ToDebugString).or_else(|| text(MetaMethod::ToString))
            {
                return f.write_str(&text);
            }
            if let Ok(name) = self.type_name() {
                return write!(f, "{}: {:?}", name.display(), self.to_pointer());
            }
        }
        write!(f, "AnyUserData{:?}", self.0)
    }
}
