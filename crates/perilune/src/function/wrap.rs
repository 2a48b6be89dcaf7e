//! Rust functions that convert to Lua functions.

use crate::traits::{FromLuaMulti, IntoLua, IntoLuaMulti};
use crate::types::MaybeSend;
use crate::{ExternalError, Function, Lua, LuaNativeFn, LuaNativeFnMut, Result, Value};

impl Function {
    /// Wraps a Rust function that returns a `Result` in a value that converts to a Lua function.
    pub fn wrap<F, A, R, E>(func: F) -> impl IntoLua
    where
        F: LuaNativeFn<A, Output = std::result::Result<R, E>> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti,
        E: ExternalError,
    {
        Wrapped(move |lua: &Lua| {
            lua.create_function(move |_, args: A| {
                func.call(args).map_err(ExternalError::into_lua_err)
            })
        })
    }

    /// Like [`Function::wrap`], for `FnMut` closures.
    pub fn wrap_mut<F, A, R, E>(func: F) -> impl IntoLua
    where
        F: LuaNativeFnMut<A, Output = std::result::Result<R, E>> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti,
        E: ExternalError,
    {
        let mut func = func;
        Wrapped(move |lua: &Lua| {
            lua.create_function_mut(move |_, args: A| {
                func.call(args).map_err(ExternalError::into_lua_err)
            })
        })
    }

    /// Like [`Function::wrap`], for functions that do not fail. A `Result` that they return becomes
    /// two results in Lua.
    pub fn wrap_raw<F, A>(func: F) -> impl IntoLua
    where
        F: LuaNativeFn<A> + MaybeSend + 'static,
        F::Output: IntoLuaMulti,
        A: FromLuaMulti,
    {
        Wrapped(move |lua: &Lua| lua.create_function(move |_, args: A| Ok(func.call(args))))
    }

    /// Like [`Function::wrap_raw`], for `FnMut` closures.
    pub fn wrap_raw_mut<F, A>(func: F) -> impl IntoLua
    where
        F: LuaNativeFnMut<A> + MaybeSend + 'static,
        F::Output: IntoLuaMulti,
        A: FromLuaMulti,
    {
        let mut func = func;
        Wrapped(move |lua: &Lua| lua.create_function_mut(move |_, args: A| Ok(func.call(args))))
    }
}

/// A value that converts to a function.
pub(crate) struct Wrapped<M>(pub(crate) M);

impl<M: FnOnce(&Lua) -> Result<Function>> IntoLua for Wrapped<M> {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        (self.0)(lua).map(Value::Function)
    }
}
