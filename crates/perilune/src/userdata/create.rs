//! Creation of userdata.

use std::any::TypeId;
use std::marker::PhantomData;

use super::registry::{Proxy, UserDataRegistry};
use super::target::Target;
use super::traits::UserData;
use crate::cell::HostCell;
use crate::control::AnyBox;
use crate::stack::{Raw, Stack};
use crate::traits::IntoLua;
use crate::types::{MaybeSend, MaybeSync};
use crate::{AnyUserData, Lua, Result, Value};

impl Lua {
    /// Registers the fields and methods of a type that does not implement [`UserData`]. Existing
    /// userdata keep the fields and methods that they have.
    ///
    /// # Errors
    /// Returns an error when the metatable cannot be created.
    pub fn register_userdata_type<T: 'static>(
        &self,
        f: impl FnOnce(&mut UserDataRegistry<T>),
    ) -> Result<()> {
        self.make_metatable::<T>(TypeId::of::<T>(), f).map(drop)
    }

    /// Creates and stores the metatable of the type `key`.
    fn make_metatable<T: 'static>(
        &self,
        key: TypeId,
        f: impl FnOnce(&mut UserDataRegistry<T>),
    ) -> Result<u32> {
        let mut registry = UserDataRegistry::new(self, Target::Type(TypeId::of::<T>()));
        f(&mut registry);
        let entry = self.enter();
        let s = entry.stack();
        let metatables = &self.control.metatables;
        let mut slots = None;
        let built = registry.build(self, |meta| {
            let meta = s.word(&meta.0);
            // SAFETY: P4; the table is rooted by its handle, and then by its own slot.
            let slot = unsafe { (*s.st).add_host_root(meta.0) };
            slots = Some((slot, metatables.borrow_mut().insert(key, slot)));
        });
        let Some((slot, before)) = slots else {
            return Err(built.expect_err("it has failed before it was published"));
        };
        if built.is_err() {
            // a field cannot be converted
            match before {
                Some(before) => metatables.borrow_mut().insert(key, before),
                None => metatables.borrow_mut().remove(&key),
            };
        }
        let unused = if built.is_err() { Some(slot) } else { before };
        if let Some(unused) = unused {
            // SAFETY: P4; the slot is in use nowhere else.
            unsafe { (*s.st).host_roots.release(unused) };
        }
        built.map(|_| slot)
    }

    /// Returns the metatable of a type, which `f` creates if there is none.
    #[inline]
    fn metatable_of<T: 'static>(
        &self,
        s: Stack<'_>,
        f: impl FnOnce(&mut UserDataRegistry<T>),
    ) -> Result<Raw> {
        let known = self.control.metatables.borrow().get(&TypeId::of::<T>()).copied();
        let slot = match known {
            Some(slot) => slot,
            None => self.make_metatable(TypeId::of::<T>(), f)?,
        };
        // SAFETY: P4.
        Ok(Raw(unsafe { (*s.st).host_roots.get(slot) }))
    }

    /// Creates a userdata from a cell that holds a `T` or a proxy of that type.
    pub(crate) fn userdata_of<T: 'static>(
        &self,
        s: Stack<'_>,
        cell: AnyBox,
        f: impl FnOnce(&mut UserDataRegistry<T>),
    ) -> Result<Raw> {
        s.poll()?;
        let meta = self.metatable_of::<T>(s, f)?;
        let u = s.udata(cell);
        s.set_udata_meta(u, meta);
        Ok(u)
    }

    /// Creates a userdata with this value. The value is treated as not `Send`; see
    /// [`Lua::create_send_userdata`].
    ///
    /// # Errors
    /// Returns an error when the metatable of the type cannot be created or the memory limit is
    /// reached.
    pub fn create_userdata<T: UserData + MaybeSend + MaybeSync + 'static>(
        &self,
        data: T,
    ) -> Result<AnyUserData> {
        let entry = self.enter();
        let s = entry.stack();
        let cell = HostCell::boxed(data, Some(&self.control));
        self.userdata_of::<T>(s, cell, T::register).map(|u| AnyUserData(s.handle(u)))
    }

    /// Like [`Lua::create_userdata`], for values that may change threads: the state can be detached
    /// ([`Lua::detach`]) while the userdata exists, unless its type has methods or computed fields,
    /// whose functions are not known to be `Send`.
    ///
    /// # Errors
    /// See [`Lua::create_userdata`].
    pub fn create_send_userdata<T: UserData + Send + MaybeSync + 'static>(
        &self,
        data: T,
    ) -> Result<AnyUserData> {
        let entry = self.enter();
        let s = entry.stack();
        let cell = HostCell::boxed(data, None);
        self.userdata_of::<T>(s, cell, T::register).map(|u| AnyUserData(s.handle(u)))
    }

    /// Creates a userdata with a value of any type. The userdata has the fields and methods that
    /// were registered with [`Lua::register_userdata_type`].
    ///
    /// # Errors
    /// See [`Lua::create_userdata`].
    pub fn create_any_userdata<T: MaybeSend + MaybeSync + 'static>(
        &self,
        data: T,
    ) -> Result<AnyUserData> {
        let entry = self.enter();
        let s = entry.stack();
        let cell = HostCell::boxed(data, Some(&self.control));
        self.userdata_of::<T>(s, cell, |_| ()).map(|u| AnyUserData(s.handle(u)))
    }

    /// Creates a userdata that has the functions and fields of a type but does not contain a value
    /// of the type.
    ///
    /// # Errors
    /// See [`Lua::create_userdata`].
    pub fn create_proxy<T: UserData + 'static>(&self) -> Result<AnyUserData> {
        let entry = self.enter();
        let s = entry.stack();
        let cell = HostCell::boxed(Proxy::<T>(PhantomData), Some(&self.control));
        self.userdata_of::<T>(s, cell, T::register).map(|u| AnyUserData(s.handle(u)))
    }
}

impl<T: UserData + MaybeSend + MaybeSync + 'static> IntoLua for T {
    #[inline]
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        lua.create_userdata(self).map(Value::UserData)
    }

    #[inline]
    unsafe fn into_lua_raw(self, s: Stack<'_>) -> Result<Raw> {
        let cell = HostCell::boxed(self, Some(&s.lua.control));
        s.lua.userdata_of::<T>(s, cell, T::register)
    }
}

impl AnyUserData {
    /// Wraps a value in a type that converts to a userdata.
    pub fn wrap<T: MaybeSend + MaybeSync + 'static>(data: T) -> impl IntoLua {
        Wrapped(data)
    }
}

struct Wrapped<T>(T);

impl<T: MaybeSend + MaybeSync + 'static> IntoLua for Wrapped<T> {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        lua.create_any_userdata(self.0).map(Value::UserData)
    }
}
