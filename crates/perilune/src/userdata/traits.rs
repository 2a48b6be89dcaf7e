//! How a type of the host says what it is in Lua.

use super::UserDataRegistry;
use crate::traits::{FromLua, FromLuaMulti, IntoLua, IntoLuaMulti};
use crate::types::{MaybeSend, short_type_name};
use crate::{AnyUserData, Lua, Result};
#[cfg(feature = "async")]
use crate::{UserDataRef, UserDataRefMut};

/// Methods, functions and metamethods of a type.
pub trait UserDataMethods<T> {
    /// `value:name(args)` with the value borrowed.
    fn add_method<M, A, R>(&mut self, name: impl Into<String>, method: M)
    where
        M: Fn(&Lua, &T, A) -> Result<R> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti;

    /// `value:name(args)` with the value borrowed for writing.
    fn add_method_mut<M, A, R>(&mut self, name: impl Into<String>, method: M)
    where
        M: FnMut(&Lua, &mut T, A) -> Result<R> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti;

    /// `value:name(args)` with the value taken out of the userdata.
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

    /// `value.name(args)`, without the value.
    fn add_function<F, A, R>(&mut self, name: impl Into<String>, function: F)
    where
        F: Fn(&Lua, A) -> Result<R> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti;

    /// As [`UserDataMethods::add_function`], for closures that change what they hold.
    fn add_function_mut<F, A, R>(&mut self, name: impl Into<String>, function: F)
    where
        F: FnMut(&Lua, A) -> Result<R> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti;

    /// A metamethod whose first argument is the value. (For operators where it may be the second: [`UserDataMethods::add_meta_function`].)
    fn add_meta_method<M, A, R>(&mut self, name: impl Into<String>, method: M)
    where
        M: Fn(&Lua, &T, A) -> Result<R> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti;

    /// As [`UserDataMethods::add_meta_method`], with the value borrowed for writing.
    fn add_meta_method_mut<M, A, R>(&mut self, name: impl Into<String>, method: M)
    where
        M: FnMut(&Lua, &mut T, A) -> Result<R> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti;

    /// A metamethod that gets its arguments as they are.
    fn add_meta_function<F, A, R>(&mut self, name: impl Into<String>, function: F)
    where
        F: Fn(&Lua, A) -> Result<R> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti;

    /// As [`UserDataMethods::add_meta_function`], for closures that change what they hold.
    fn add_meta_function_mut<F, A, R>(&mut self, name: impl Into<String>, function: F)
    where
        F: FnMut(&Lua, A) -> Result<R> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti;

    /// As [`UserDataMethods::add_method`], for methods that make futures. The value is borrowed as long as the future holds the borrow.
    #[cfg(feature = "async")]
    fn add_async_method<M, A, MR, R>(&mut self, name: impl Into<String>, method: M)
    where
        T: 'static,
        M: Fn(Lua, UserDataRef<T>, A) -> MR + MaybeSend + 'static,
        A: FromLuaMulti,
        MR: Future<Output = Result<R>> + MaybeSend + 'static,
        R: IntoLuaMulti;

    /// As [`UserDataMethods::add_async_method`], with the value borrowed for writing.
    #[cfg(feature = "async")]
    fn add_async_method_mut<M, A, MR, R>(&mut self, name: impl Into<String>, method: M)
    where
        T: 'static,
        M: Fn(Lua, UserDataRefMut<T>, A) -> MR + MaybeSend + 'static,
        A: FromLuaMulti,
        MR: Future<Output = Result<R>> + MaybeSend + 'static,
        R: IntoLuaMulti;

    /// As [`UserDataMethods::add_async_method`], with the value taken out of the userdata.
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

    /// As [`UserDataMethods::add_function`], for functions that make futures.
    #[cfg(feature = "async")]
    fn add_async_function<F, A, FR, R>(&mut self, name: impl Into<String>, function: F)
    where
        F: Fn(Lua, A) -> FR + MaybeSend + 'static,
        A: FromLuaMulti,
        FR: Future<Output = Result<R>> + MaybeSend + 'static,
        R: IntoLuaMulti;

    /// As [`UserDataMethods::add_meta_method`], for methods that make futures.
    #[cfg(feature = "async")]
    fn add_async_meta_method<M, A, MR, R>(&mut self, name: impl Into<String>, method: M)
    where
        T: 'static,
        M: Fn(Lua, UserDataRef<T>, A) -> MR + MaybeSend + 'static,
        A: FromLuaMulti,
        MR: Future<Output = Result<R>> + MaybeSend + 'static,
        R: IntoLuaMulti;

    /// As [`UserDataMethods::add_async_meta_method`], with the value borrowed for writing.
    #[cfg(feature = "async")]
    fn add_async_meta_method_mut<M, A, MR, R>(&mut self, name: impl Into<String>, method: M)
    where
        T: 'static,
        M: Fn(Lua, UserDataRefMut<T>, A) -> MR + MaybeSend + 'static,
        A: FromLuaMulti,
        MR: Future<Output = Result<R>> + MaybeSend + 'static,
        R: IntoLuaMulti;

    /// As [`UserDataMethods::add_meta_function`], for functions that make futures.
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
    /// A value that all userdata of the type share.
    fn add_field<V: IntoLua + 'static>(&mut self, name: impl Into<String>, value: V);

    /// What reading a field gives.
    fn add_field_method_get<M, R>(&mut self, name: impl Into<String>, method: M)
    where
        M: Fn(&Lua, &T) -> Result<R> + MaybeSend + 'static,
        R: IntoLua;

    /// What writing a field does.
    fn add_field_method_set<M, A>(&mut self, name: impl Into<String>, method: M)
    where
        M: FnMut(&Lua, &mut T, A) -> Result<()> + MaybeSend + 'static,
        A: FromLua;

    /// What reading a field gives, without a borrow.
    fn add_field_function_get<F, R>(&mut self, name: impl Into<String>, function: F)
    where
        F: Fn(&Lua, AnyUserData) -> Result<R> + MaybeSend + 'static,
        R: IntoLua;

    /// What writing a field does, without a borrow.
    fn add_field_function_set<F, A>(&mut self, name: impl Into<String>, function: F)
    where
        F: FnMut(&Lua, AnyUserData, A) -> Result<()> + MaybeSend + 'static,
        A: FromLua;

    /// A field of the metatable.
    fn add_meta_field<V: IntoLua + 'static>(&mut self, name: impl Into<String>, value: V);

    /// A field of the metatable, made when the type is first used.
    fn add_meta_field_with<F, R>(&mut self, name: impl Into<String>, f: F)
    where
        F: FnOnce(&Lua) -> Result<R> + 'static,
        R: IntoLua;
}

/// A type of the host whose values can be userdata. Its fields and methods are asked for once per state.
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
///         methods.add_meta_method(MetaMethod::ToString, |_, this, ()| Ok(format!("Counter({})", this.n)));
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
    /// Adds the fields.
    #[allow(unused_variables)]
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {}

    /// Adds the methods.
    #[allow(unused_variables)]
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {}

    /// Adds both.
    fn register(registry: &mut UserDataRegistry<Self>) {
        Self::add_fields(registry);
        Self::add_methods(registry);
    }
}
