//! The common operations of tables and userdata.

#[cfg(feature = "async")]
use crate::futures::AsyncCallFuture;
use crate::path;
use crate::traits::{FromLua, FromLuaMulti, IntoLua, IntoLuaMulti};
use crate::{AnyUserData, Error, Function, Lua, Result, Table, Value};

mod sealed {
    pub trait Sealed {}
    impl Sealed for crate::Table {}
    impl Sealed for crate::AnyUserData {}
}

/// Values that have fields and methods.
pub trait ObjectLike: sealed::Sealed {
    /// Returns `object[key]`, honoring `__index`.
    ///
    /// # Errors
    /// Returns the error of a conversion or metamethod.
    fn get<V: FromLua>(&self, key: impl IntoLua) -> Result<V>;

    /// Assigns `object[key] = value`, honoring `__newindex`.
    ///
    /// # Errors
    /// Returns the error of a conversion or metamethod.
    fn set(&self, key: impl IntoLua, value: impl IntoLua) -> Result<()>;

    /// Calls the object (`__call`).
    ///
    /// # Errors
    /// See [`Function::call`].
    fn call<R: FromLuaMulti>(&self, args: impl IntoLuaMulti) -> Result<R>;

    /// Calls `object:name(args)`.
    ///
    /// # Errors
    /// Fails like [`Function::call`], and also when there is no such function.
    fn call_method<R: FromLuaMulti>(&self, name: &str, args: impl IntoLuaMulti) -> Result<R>;

    /// Calls `object.name(args)`.
    ///
    /// # Errors
    /// Fails like [`Function::call`], and also when there is no such function.
    fn call_function<R: FromLuaMulti>(&self, name: &str, args: impl IntoLuaMulti) -> Result<R>;

    /// Like [`ObjectLike::call`], as a future.
    #[cfg(feature = "async")]
    fn call_async<R: FromLuaMulti>(&self, args: impl IntoLuaMulti) -> AsyncCallFuture<R>;

    /// Like [`ObjectLike::call_method`], as a future.
    #[cfg(feature = "async")]
    fn call_async_method<R: FromLuaMulti>(
        &self,
        name: &str,
        args: impl IntoLuaMulti,
    ) -> AsyncCallFuture<R>;

    /// Like [`ObjectLike::call_function`], as a future.
    #[cfg(feature = "async")]
    fn call_async_function<R: FromLuaMulti>(
        &self,
        name: &str,
        args: impl IntoLuaMulti,
    ) -> AsyncCallFuture<R>;

    /// Returns the value at the end of a path such as `a[1].b?.c["d e"]`. A `?` ends the lookup
    /// with nil if the value before it is nil.
    ///
    /// # Errors
    /// Returns the error of a conversion or metamethod, or an error for a malformed path.
    fn get_path<V: FromLua>(&self, path: &str) -> Result<V> {
        let mut current = self.to_value();
        for (key, optional) in path::parse(path)? {
            current = match current {
                Value::Table(t) => t.get::<Value>(&key)?,
                Value::UserData(u) => ObjectLike::get::<Value>(&u, &key)?,
                v => {
                    let message =
                        format!("attempt to index a {} value with key '{key}'", v.type_name());
                    return Err(Error::runtime(message));
                }
            };
            if optional && (current.is_nil() || current.is_null()) {
                break;
            }
        }
        V::from_lua(current, self.lua())
    }

    /// Returns the text that `tostring` produces, honoring `__tostring`.
    ///
    /// # Errors
    /// Returns the error that `__tostring` raises.
    fn to_string(&self) -> Result<String>;

    /// Returns the object as a value.
    fn to_value(&self) -> Value;

    /// Returns the object's state.
    #[doc(hidden)]
    fn lua(&self) -> &Lua;
}

macro_rules! objects {
    ($($t:ident $value:expr;)*) => {$(
        impl ObjectLike for $t {
            fn get<V: FromLua>(&self, key: impl IntoLua) -> Result<V> {
                self.get_any(key)
            }

            fn set(&self, key: impl IntoLua, value: impl IntoLua) -> Result<()> {
                self.set_any(key, value)
            }

            fn call<R: FromLuaMulti>(&self, args: impl IntoLuaMulti) -> Result<R> {
                // a call checks the type of its callee by itself
                Function(self.0.clone()).call(args)
            }

            fn call_method<R: FromLuaMulti>(
                &self,
                name: &str,
                args: impl IntoLuaMulti,
            ) -> Result<R> {
                self.call_function(name, (self, args))
            }

            fn call_function<R: FromLuaMulti>(
                &self,
                name: &str,
                args: impl IntoLuaMulti,
            ) -> Result<R> {
                match self.get_any(name)? {
                    Value::Function(f) => f.call(args),
                    Value::Table(t) => ObjectLike::call(&t, args),
                    Value::UserData(u) => ObjectLike::call(&u, args),
                    v => Err(Error::runtime(format!(
                        "attempt to call a {} value (function '{name}')",
                        v.type_name()
                    ))),
                }
            }

            #[cfg(feature = "async")]
            fn call_async<R: FromLuaMulti>(&self, args: impl IntoLuaMulti) -> AsyncCallFuture<R> {
                Function(self.0.clone()).call_async(args)
            }

            #[cfg(feature = "async")]
            fn call_async_method<R: FromLuaMulti>(
                &self,
                name: &str,
                args: impl IntoLuaMulti,
            ) -> AsyncCallFuture<R> {
                self.call_async_function(name, (self, args))
            }

            #[cfg(feature = "async")]
            fn call_async_function<R: FromLuaMulti>(
                &self,
                name: &str,
                args: impl IntoLuaMulti,
            ) -> AsyncCallFuture<R> {
                match self.get_any(name) {
                    Ok(Value::Function(f)) => f.call_async(args),
                    Ok(Value::Table(t)) => ObjectLike::call_async(&t, args),
                    Ok(Value::UserData(u)) => ObjectLike::call_async(&u, args),
                    Ok(v) => AsyncCallFuture::error(Error::runtime(format!(
                        "attempt to call a {} value (function '{name}')",
                        v.type_name()
                    ))),
                    Err(e) => AsyncCallFuture::error(e),
                }
            }

            fn to_string(&self) -> Result<String> {
                self.to_value().to_string()
            }

            fn to_value(&self) -> Value {
                $value(self.clone())
            }

            fn lua(&self) -> &Lua {
                Lua::of(&self.0.control)
            }
        }
    )*};
}

objects! {
    Table Value::Table;
    AnyUserData Value::UserData;
}
