//! Conversions between Rust and Lua.

use crate::multi::MultiValue;
use crate::stack::{Raw, Stack};
use crate::{Lua, Result, Value};

/// A type that converts to one Lua value.
pub trait IntoLua: Sized {
    /// Converts the value.
    ///
    /// # Errors
    /// Returns an error when there is not enough memory, or the type's own error.
    fn into_lua(self, lua: &Lua) -> Result<Value>;

    /// Converts the value without creating a handle. The result must be stored before any other
    /// operation.
    ///
    /// # Safety
    /// For this crate only: the result is a live value of the state.
    #[doc(hidden)]
    #[inline]
    unsafe fn into_lua_raw(self, s: Stack<'_>) -> Result<Raw> {
        let v = self.into_lua(s.lua)?;
        s.raw(&v)
    }
}

/// A type that one Lua value converts to.
pub trait FromLua: Sized {
    /// Converts the value.
    ///
    /// # Errors
    /// Returns [`Error::FromLuaConversionError`](crate::Error::FromLuaConversionError) when the
    /// value has another type.
    fn from_lua(value: Value, lua: &Lua) -> Result<Self>;

    /// Converts the value, without creating a handle where that is possible.
    ///
    /// # Safety
    /// For this crate only: `raw` is a live value of the state.
    #[doc(hidden)]
    #[inline]
    unsafe fn from_lua_raw(raw: Raw, s: Stack<'_>) -> Result<Self> {
        Self::from_lua(s.value(raw), s.lua)
    }

    /// Like [`FromLua::from_lua`], for argument `i` of the function `to`.
    ///
    /// # Errors
    /// Returns [`Error::BadArgument`](crate::Error::BadArgument) when the conversion fails.
    #[doc(hidden)]
    fn from_lua_arg(arg: Value, i: usize, to: Option<&str>, lua: &Lua) -> Result<Self> {
        Self::from_lua(arg, lua).map_err(|e| e.bad_argument(i, to))
    }
}

/// A type that converts to any number of values: results and arguments. Implemented for every
/// [`IntoLua`] type and for tuples.
pub trait IntoLuaMulti: Sized {
    /// Converts the values.
    ///
    /// # Errors
    /// See [`IntoLua::into_lua`].
    fn into_lua_multi(self, lua: &Lua) -> Result<MultiValue>;

    /// Pushes the values and returns their number.
    ///
    /// # Safety
    /// For this crate only: the returned number of values was pushed.
    #[doc(hidden)]
    #[inline]
    unsafe fn push_into_stack_multi(self, s: Stack<'_>) -> Result<usize> {
        let values = self.into_lua_multi(s.lua)?;
        s.reserve(values.len())?;
        for v in &values {
            let raw = s.raw(v)?;
            s.push(raw);
        }
        Ok(values.len())
    }
}

/// A type that any number of values converts to. Implemented for every [`FromLua`] type and for
/// tuples. Extra values are ignored, missing values are nil.
pub trait FromLuaMulti: Sized {
    /// Converts the values.
    ///
    /// # Errors
    /// See [`FromLua::from_lua`].
    fn from_lua_multi(values: MultiValue, lua: &Lua) -> Result<Self>;

    /// Converts the `n` values of the stack from number `at` on.
    ///
    /// # Safety
    /// For this crate only: the values exist.
    #[doc(hidden)]
    #[inline]
    unsafe fn from_stack_multi(at: usize, n: usize, s: Stack<'_>) -> Result<Self> {
        // SAFETY: the caller guarantees that the values exist.
        let values = (at..at + n).map(|i| s.value(unsafe { s.get(i) })).collect();
        Self::from_lua_multi(values, s.lua)
    }

    /// Like [`FromLuaMulti::from_stack_multi`], for the arguments from number `i` on of the
    /// function `to`.
    ///
    /// # Safety
    /// See [`FromLuaMulti::from_stack_multi`].
    #[doc(hidden)]
    #[inline]
    unsafe fn from_stack_args(
        at: usize,
        n: usize,
        i: usize,
        to: Option<&str>,
        s: Stack<'_>,
    ) -> Result<Self> {
        let _ = (i, to);
        // SAFETY: the caller guarantees that the values exist.
        unsafe { Self::from_stack_multi(at, n, s) }
    }

    /// Like [`FromLuaMulti::from_lua_multi`], for the arguments from number `i` on of the function
    /// `to`.
    ///
    /// # Errors
    /// See [`FromLuaMulti::from_lua_multi`].
    #[doc(hidden)]
    fn from_lua_args(args: MultiValue, i: usize, to: Option<&str>, lua: &Lua) -> Result<Self> {
        let _ = (i, to);
        Self::from_lua_multi(args, lua)
    }
}
