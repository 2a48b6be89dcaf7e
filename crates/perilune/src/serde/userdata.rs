//! Userdata whose values can be serialized.

use std::any::TypeId;

use ::serde::{Serialize, Serializer};
use perilune_runtime::userdata::CellHead;

use crate::cell::{HostCell, unavailable};
use crate::control::SerFn;
use crate::stack::{Raw, Stack};
use crate::traits::IntoLua;
use crate::types::{MaybeSend, MaybeSync};
use crate::{AnyUserData, Error, Lua, Result, UserData, Value};

unsafe fn value_of<T: Serialize + 'static>(
    head: *mut CellHead,
) -> *const dyn erased_serde::Serialize {
    let value: *const T = HostCell::value(head.cast::<HostCell<T>>());
    value
}

/// A value that is borrowed for its serialization.
pub(super) struct Borrowed {
    head: *mut CellHead,
    value: *const dyn erased_serde::Serialize,
}

impl Borrowed {
    pub(super) fn get(&self) -> &dyn erased_serde::Serialize {
        // SAFETY: the value is borrowed, and the owner of this keeps its userdata rooted.
        unsafe { &*self.value }
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        // SAFETY: the value is borrowed, so that the cell is not freed.
        unsafe { (*self.head).end() }
    }
}

/// Returns the value of a userdata if its type can be serialized.
pub(super) fn serializer(s: Stack<'_>, v: Raw) -> Option<(*mut CellHead, SerFn)> {
    let head = s.cell(v)?;
    // SAFETY: the head is alive because its userdata is.
    let (id, borrow) = unsafe { ((*head).id, (*head).borrow.get()) };
    let f = *s.lua.control.serializers.borrow().get(&id)?;
    (borrow != CellHead::TAKEN).then_some((head, f))
}

/// Borrows the value of a userdata to serialize it.
pub(super) fn borrow(s: Stack<'_>, v: Raw) -> Result<Option<Borrowed>> {
    let Some((head, f)) = serializer(s, v) else { return Ok(None) };
    // SAFETY: the head is alive because its userdata is, and the function is that of its type.
    unsafe {
        (*head).begin_shared().map_err(|n| unavailable(n, false))?;
        Ok(Some(Borrowed { head, value: f(head) }))
    }
}

impl Lua {
    fn make_serializable<T: Serialize + 'static>(&self) {
        self.control.serializers.borrow_mut().insert(TypeId::of::<T>(), value_of::<T>);
    }

    /// Creates a userdata like [`Lua::create_userdata`] whose value can be serialized:
    /// [`LuaSerdeExt::from_value`](crate::LuaSerdeExt::from_value) and serializers use the
    /// serialized form. From then on, this holds for all userdata of the type in this state.
    ///
    /// # Errors
    /// See [`Lua::create_userdata`].
    pub fn create_ser_userdata<T: UserData + Serialize + MaybeSend + MaybeSync + 'static>(
        &self,
        data: T,
    ) -> Result<AnyUserData> {
        let entry = self.enter();
        self.make_serializable::<T>();
        entry.lua.create_userdata(data)
    }

    /// Combines [`Lua::create_any_userdata`] and [`Lua::create_ser_userdata`].
    ///
    /// # Errors
    /// See [`Lua::create_userdata`].
    pub fn create_ser_any_userdata<T: Serialize + MaybeSend + MaybeSync + 'static>(
        &self,
        data: T,
    ) -> Result<AnyUserData> {
        let entry = self.enter();
        self.make_serializable::<T>();
        entry.lua.create_any_userdata(data)
    }
}

struct Wrapped<T>(T);

impl<T: Serialize + MaybeSend + MaybeSync + 'static> IntoLua for Wrapped<T> {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        lua.create_ser_any_userdata(self.0).map(Value::UserData)
    }
}

impl AnyUserData {
    /// Wraps a value in a type that converts to a userdata that can be serialized.
    pub fn wrap_ser<T: Serialize + MaybeSend + MaybeSync + 'static>(data: T) -> impl IntoLua {
        Wrapped(data)
    }

    /// Returns whether the value can be serialized.
    pub(super) fn is_serializable(&self) -> bool {
        let entry = self.0.enter();
        let s = entry.stack();
        serializer(s, s.word(&self.0)).is_some()
    }
}

impl Serialize for AnyUserData {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let entry = self.0.enter();
        let s = entry.stack();
        match borrow(s, s.word(&self.0)) {
            Ok(Some(value)) => erased_serde::serialize(value.get(), serializer),
            Ok(None)
                if s.cell(s.word(&self.0)).is_some_and(|head| {
                    // SAFETY: the head is alive because its userdata is.
                    unsafe { (*head).borrow.get() == CellHead::TAKEN }
                }) =>
            {
                Err(::serde::ser::Error::custom(Error::UserDataDestructed))
            }
            Ok(None) => Err(::serde::ser::Error::custom("cannot serialize <userdata>")),
            Err(e) => Err(::serde::ser::Error::custom(e)),
        }
    }
}
