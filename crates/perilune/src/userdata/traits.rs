//! Definition of the fields and methods of host types.

use super::UserDataRegistry;
use crate::traits::{FromLua, FromLuaMulti, IntoLua, IntoLuaMulti};
use crate::types::{MaybeSend, short_type_name};
use crate::{AnyUserData, Lua, Result};
#[cfg(feature = "async")]
use crate::{UserDataRef, UserDataRefMut};

/// Methods, functions and metamethods of a type.
pub trait UserDataMethods<T> {
    /// Adds a method, called as `value:name(args)`, that borrows the value.
    fn add_method<M, A, R>(&mut self, name: impl Into<String>, method: M)
    where
        M: Fn(&Lua, &T, A) -> Result<R> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti;

    /// Adds a method that mutably borrows the value.
    fn add_method_mut<M, A, R>(&mut self, name: impl Into<String>, method: M)
    where
        M: FnMut(&Lua, &mut T, A) -> Result<R> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti;

    /// Adds a method that takes the value out of the userdata.
    fn add_method_once<M, A, R>(&mut self, name: impl Into<String>, method: M)
    where
        T: 'static,
        M: Fn(&Lua, T, A) -> Result<R> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti,
    {
        let name = name.into();
        let full = format!("{}.{name}", short_type_name::<T>());
        self.add_function(name, move |lua, (u, args): (AnyUserData, A)| {
            let this = u.take().map_err(|e| e.bad_self(&full))?;
            method(lua, this, args)
        });
    }

    /// Adds a function, called as `value.name(args)`, that does not receive the value.
    fn add_function<F, A, R>(&mut self, name: impl Into<String>, function: F)
    where
        F: Fn(&Lua, A) -> Result<R> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti;

    /// Like [`UserDataMethods::add_function`], for `FnMut` closures.
    fn add_function_mut<F, A, R>(&mut self, name: impl Into<String>, function: F)
    where
        F: FnMut(&Lua, A) -> Result<R> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti;

    /// Adds a metamethod whose first argument is the value. For operators whose second argument may
    /// be the value, use [`UserDataMethods::add_meta_function`]. `__gc` and `__metatable` cannot be
    /// set: creating a userdata of the type then fails with
    /// [`MetaMethodRestricted`](crate::Error::MetaMethodRestricted).
    fn add_meta_method<M, A, R>(&mut self, name: impl Into<String>, method: M)
    where
        M: Fn(&Lua, &T, A) -> Result<R> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti;

    /// Like [`UserDataMethods::add_meta_method`], with a mutable borrow.
    fn add_meta_method_mut<M, A, R>(&mut self, name: impl Into<String>, method: M)
    where
        M: FnMut(&Lua, &mut T, A) -> Result<R> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti;

    /// Adds a metamethod that receives its arguments unchanged. The restriction of
    /// [`UserDataMethods::add_meta_method`] on names applies.
    fn add_meta_function<F, A, R>(&mut self, name: impl Into<String>, function: F)
    where
        F: Fn(&Lua, A) -> Result<R> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti;

    /// Like [`UserDataMethods::add_meta_function`], for `FnMut` closures.
    fn add_meta_function_mut<F, A, R>(&mut self, name: impl Into<String>, function: F)
    where
        F: FnMut(&Lua, A) -> Result<R> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti;

    /// Like [`UserDataMethods::add_method`], for async methods. The value stays borrowed as long as
    /// the future holds the reference.
    #[cfg(feature = "async")]
    fn add_async_method<M, A, MR, R>(&mut self, name: impl Into<String>, method: M)
    where
        T: 'static,
        M: Fn(Lua, UserDataRef<T>, A) -> MR + MaybeSend + 'static,
        A: FromLuaMulti,
        MR: Future<Output = Result<R>> + MaybeSend + 'static,
        R: IntoLuaMulti;

    /// Like [`UserDataMethods::add_async_method`], with a mutable borrow.
    #[cfg(feature = "async")]
    fn add_async_method_mut<M, A, MR, R>(&mut self, name: impl Into<String>, method: M)
    where
        T: 'static,
        M: Fn(Lua, UserDataRefMut<T>, A) -> MR + MaybeSend + 'static,
        A: FromLuaMulti,
        MR: Future<Output = Result<R>> + MaybeSend + 'static,
        R: IntoLuaMulti;

    /// Like [`UserDataMethods::add_async_method`]; takes the value out of the userdata.
    #[cfg(feature = "async")]
    fn add_async_method_once<M, A, MR, R>(&mut self, name: impl Into<String>, method: M)
    where
        T: 'static,
        M: Fn(Lua, T, A) -> MR + MaybeSend + 'static,
        A: FromLuaMulti,
        MR: Future<Output = Result<R>> + MaybeSend + 'static,
        R: IntoLuaMulti,
    {
        let name = name.into();
        let full = format!("{}.{name}", short_type_name::<T>());
        self.add_async_function(name, move |lua, (u, args): (AnyUserData, A)| {
            let future =
                u.take().map_err(|e| e.bad_self(&full)).map(|this| method(lua, this, args));
            async move { future?.await }
        });
    }

    /// Like [`UserDataMethods::add_function`], for async functions.
    #[cfg(feature = "async")]
    fn add_async_function<F, A, FR, R>(&mut self, name: impl Into<String>, function: F)
    where
        F: Fn(Lua, A) -> FR + MaybeSend + 'static,
        A: FromLuaMulti,
        FR: Future<Output = Result<R>> + MaybeSend + 'static,
        R: IntoLuaMulti;

    /// Like [`UserDataMethods::add_meta_method`], for async methods.
    #[cfg(feature = "async")]
    fn add_async_meta_method<M, A, MR, R>(&mut self, name: impl Into<String>, method: M)
    where
        T: 'static,
        M: Fn(Lua, UserDataRef<T>, A) -> MR + MaybeSend + 'static,
        A: FromLuaMulti,
        MR: Future<Output = Result<R>> + MaybeSend + 'static,
        R: IntoLuaMulti;

    /// Like [`UserDataMethods::add_async_meta_method`], with a mutable borrow.
    #[cfg(feature = "async")]
    fn add_async_meta_method_mut<M, A, MR, R>(&mut self, name: impl Into<String>, method: M)
    where
        T: 'static,
        M: Fn(Lua, UserDataRefMut<T>, A) -> MR + MaybeSend + 'static,
        A: FromLuaMulti,
        MR: Future<Output = Result<R>> + MaybeSend + 'static,
        R: IntoLuaMulti;

    /// Like [`UserDataMethods::add_meta_function`], for async functions.
    #[cfg(feature = "async")]
    fn add_async_meta_function<F, A, FR, R>(&mut self, name: impl Into<String>, function: F)
    where
        F: Fn(Lua, A) -> FR + MaybeSend + 'static,
        A: FromLuaMulti,
        FR: Future<Output = Result<R>> + MaybeSend + 'static,
        R: IntoLuaMulti;
}

/// Fields of a type.
pub trait UserDataFields<T> {
    /// Adds a field whose value is shared by all userdata of the type.
    fn add_field<V: IntoLua + 'static>(&mut self, name: impl Into<String>, value: V);

    /// Adds a getter for a field.
    fn add_field_method_get<M, R>(&mut self, name: impl Into<String>, method: M)
    where
        M: Fn(&Lua, &T) -> Result<R> + MaybeSend + 'static,
        R: IntoLua;

    /// Adds a setter for a field.
    fn add_field_method_set<M, A>(&mut self, name: impl Into<String>, method: M)
    where
        M: FnMut(&Lua, &mut T, A) -> Result<()> + MaybeSend + 'static,
        A: FromLua;

    /// Adds a getter that receives the userdata instead of a borrow.
    fn add_field_function_get<F, R>(&mut self, name: impl Into<String>, function: F)
    where
        F: Fn(&Lua, AnyUserData) -> Result<R> + MaybeSend + 'static,
        R: IntoLua;

    /// Adds a setter that receives the userdata instead of a borrow.
    fn add_field_function_set<F, A>(&mut self, name: impl Into<String>, function: F)
    where
        F: FnMut(&Lua, AnyUserData, A) -> Result<()> + MaybeSend + 'static,
        A: FromLua;

    /// Adds a field of the metatable. The restriction of [`UserDataMethods::add_meta_method`] on
    /// names applies; `__index` and `__newindex` must be nil, a table or a function.
    fn add_meta_field<V: IntoLua + 'static>(&mut self, name: impl Into<String>, value: V);

    /// Adds a field of the metatable, computed when the type is first used.
    fn add_meta_field_with<F, R>(&mut self, name: impl Into<String>, f: F)
    where
        F: FnOnce(&Lua) -> Result<R> + 'static,
        R: IntoLua;
}

/// A host type whose values can be userdata. Its fields and methods are collected once per state.
///
/// ```
/// use perilune::{Lua, MetaMethod, Result, UserData, UserDataFields, UserDataMethods};
///
/// struct Counter { n: i64 }
///
/// impl UserData for Counter {
///     fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
///         fields.add_field_method_get("n", |_, this| Ok(this.n));
///     }
///     fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
///         methods.add_method_mut("add", |_, this, k: i64| { this.n += k; Ok(this.n) });
///         methods.add_meta_method(MetaMethod::ToString, |_, this, ()| {
///             Ok(format!("Counter({})", this.n))
///         });
///     }
/// }
///
/// # fn main() -> Result<()> {
/// let lua = Lua::new();
/// lua.globals().set("c", Counter { n: 40 })?;
/// assert_eq!(lua.load("c:add(2) == c.n and tostring(c)").eval::<String>()?, "Counter(42)");
/// # Ok(())
/// # }
/// ```
pub trait UserData: Sized {
    /// Adds the fields of the type.
    #[allow(unused_variables)]
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {}

    /// Adds the methods of the type.
    #[allow(unused_variables)]
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {}

    /// Adds fields and methods.
    fn register(registry: &mut UserDataRegistry<Self>) {
        Self::add_fields(registry);
        Self::add_methods(registry);
    }
}
