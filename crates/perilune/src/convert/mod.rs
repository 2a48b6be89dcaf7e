//! Conversions between Rust and Lua for the types of this crate and of the standard library.

mod collections;
mod handles;
mod multi;
mod numbers;
mod text;

use crate::traits::{FromLua, FromLuaMulti, IntoLua, IntoLuaMulti};
use crate::{Lua, LuaString, MultiValue, Result, Value};

impl Lua {
    /// Converts a string or number to a string; other values give `None`.
    ///
    /// # Errors
    /// Returns [`Error::MemoryError`](crate::Error::MemoryError) when the memory limit is reached.
    pub fn coerce_string(&self, v: Value) -> Result<Option<LuaString>> {
        let text = match v {
            Value::String(s) => return Ok(Some(s)),
            Value::Integer(_) | Value::Number(_) => v.to_string()?,
            _ => return Ok(None),
        };
        self.create_string(text).map(Some)
    }

    /// Converts a number with an integral value, or a string that represents one, to an integer;
    /// other values give `None`.
    ///
    /// # Errors
    /// Does not fail at present.
    pub fn coerce_integer(&self, v: Value) -> Result<Option<i64>> {
        let entry = self.enter();
        let raw = entry.stack().raw(&v)?;
        // SAFETY: the value is held by a handle or is not a heap object.
        Ok(unsafe { perilune_runtime::convert::to_integer(raw.0) })
    }

    /// Converts a number, or a string that represents one, to a float; other values give `None`.
    ///
    /// # Errors
    /// Does not fail at present.
    pub fn coerce_number(&self, v: Value) -> Result<Option<f64>> {
        let entry = self.enter();
        let raw = entry.stack().raw(&v)?;
        // SAFETY: the value is held by a handle or is not a heap object.
        let n = unsafe { perilune_runtime::convert::to_number(raw.0) };
        Ok(n.map(|n| if n.is_int() { n.as_int() as f64 } else { n.as_float() }))
    }

    /// Converts a Rust value to a Lua value.
    ///
    /// # Errors
    /// Returns the error of the conversion.
    pub fn pack(&self, t: impl IntoLua) -> Result<Value> {
        t.into_lua(self)
    }

    /// Converts a Lua value to a Rust value.
    ///
    /// # Errors
    /// Returns the error of the conversion.
    pub fn unpack<T: FromLua>(&self, value: Value) -> Result<T> {
        T::from_lua(value, self)
    }

    /// Converts a Rust value to Lua and the result to another Rust type.
    ///
    /// # Errors
    /// Returns the error of a conversion.
    pub fn convert<U: FromLua>(&self, value: impl IntoLua) -> Result<U> {
        U::from_lua(value.into_lua(self)?, self)
    }

    /// Converts Rust values to Lua values.
    ///
    /// # Errors
    /// Returns the error of the conversion.
    pub fn pack_multi(&self, t: impl IntoLuaMulti) -> Result<MultiValue> {
        t.into_lua_multi(self)
    }

    /// Converts Lua values to Rust values.
    ///
    /// # Errors
    /// Returns the error of the conversion.
    pub fn unpack_multi<T: FromLuaMulti>(&self, value: MultiValue) -> Result<T> {
        T::from_lua_multi(value, self)
    }
}
