//! Conversions of values and handles of this crate.

use perilune_runtime::value::{Tag, Value as Word};

use crate::failure::Failure;
use crate::stack::{Raw, Stack};
use crate::string::{BorrowedBytes, BorrowedStr};
use crate::traits::{FromLua, IntoLua};
use crate::{
    AnyUserData, Error, Function, Lua, LuaString, RegistryKey, Result, Table, Thread, Value,
};

impl IntoLua for Value {
    fn into_lua(self, _: &Lua) -> Result<Value> {
        Ok(self)
    }

    #[inline]
    unsafe fn into_lua_raw(self, s: Stack<'_>) -> Result<Raw> {
        s.raw(&self)
    }
}

impl IntoLua for &Value {
    fn into_lua(self, _: &Lua) -> Result<Value> {
        Ok(self.clone())
    }

    #[inline]
    unsafe fn into_lua_raw(self, s: Stack<'_>) -> Result<Raw> {
        s.raw(self)
    }
}

impl FromLua for Value {
    fn from_lua(value: Value, _: &Lua) -> Result<Value> {
        Ok(value)
    }

    #[inline]
    unsafe fn from_lua_raw(raw: Raw, s: Stack<'_>) -> Result<Value> {
        Ok(s.value(raw))
    }
}

macro_rules! handles {
    ($($t:ident, $variant:ident, $name:literal, $is:expr;)*) => {$(
        impl IntoLua for $t {
            fn into_lua(self, _: &Lua) -> Result<Value> {
                Ok(Value::$variant(self))
            }

            #[inline]
            unsafe fn into_lua_raw(self, s: Stack<'_>) -> Result<Raw> {
                Ok(s.word(&self.0))
            }
        }

        impl IntoLua for &$t {
            fn into_lua(self, _: &Lua) -> Result<Value> {
                Ok(Value::$variant(self.clone()))
            }

            #[inline]
            unsafe fn into_lua_raw(self, s: Stack<'_>) -> Result<Raw> {
                Ok(s.word(&self.0))
            }
        }

        impl FromLua for $t {
            fn from_lua(value: Value, lua: &Lua) -> Result<$t> {
                if let Value::$variant(h) = value {
                    return Ok(h);
                }
                let entry = lua.enter();
                let s = entry.stack();
                // SAFETY: the value is held by a handle or is not a heap object.
                unsafe { $t::from_lua_raw(s.raw(&value)?, s) }
            }

            #[inline]
            unsafe fn from_lua_raw(raw: Raw, s: Stack<'_>) -> Result<$t> {
                let is: fn(Word) -> bool = $is;
                if is(raw.0) {
                    return Ok($t(s.handle(raw)));
                }
                Err(Error::from_lua_conversion(s.type_name(raw), $name, None))
            }
        }
    )*};
}

handles! {
    Table, Table, "table", |v| v.is_table();
    Function, Function, "function", |v| v.is_function();
    Thread, Thread, "thread", |v| v.tag() == Tag::THREAD;
}

impl IntoLua for AnyUserData {
    fn into_lua(self, _: &Lua) -> Result<Value> {
        Ok(Value::UserData(self))
    }

    #[inline]
    unsafe fn into_lua_raw(self, s: Stack<'_>) -> Result<Raw> {
        Ok(s.word(&self.0))
    }
}

impl IntoLua for &AnyUserData {
    fn into_lua(self, _: &Lua) -> Result<Value> {
        Ok(Value::UserData(self.clone()))
    }

    #[inline]
    unsafe fn into_lua_raw(self, s: Stack<'_>) -> Result<Raw> {
        Ok(s.word(&self.0))
    }
}

impl FromLua for AnyUserData {
    fn from_lua(value: Value, _: &Lua) -> Result<AnyUserData> {
        match value {
            Value::UserData(u) => Ok(u),
            v => Err(Error::from_lua_conversion(v.type_name(), "userdata", None)),
        }
    }
}

impl IntoLua for LuaString {
    fn into_lua(self, _: &Lua) -> Result<Value> {
        Ok(Value::String(self))
    }

    #[inline]
    unsafe fn into_lua_raw(self, s: Stack<'_>) -> Result<Raw> {
        Ok(s.word(&self.0))
    }
}

impl IntoLua for &LuaString {
    fn into_lua(self, _: &Lua) -> Result<Value> {
        Ok(Value::String(self.clone()))
    }

    #[inline]
    unsafe fn into_lua_raw(self, s: Stack<'_>) -> Result<Raw> {
        Ok(s.word(&self.0))
    }
}

/// Converts a string, or a number to its text.
impl FromLua for LuaString {
    fn from_lua(value: Value, lua: &Lua) -> Result<LuaString> {
        let from = value.type_name();
        lua.coerce_string(value)?.ok_or_else(|| {
            Error::from_lua_conversion(from, "string", "expected string or number".to_owned())
        })
    }

    #[inline]
    unsafe fn from_lua_raw(raw: Raw, s: Stack<'_>) -> Result<LuaString> {
        if raw.0.is_string() {
            return Ok(LuaString(s.handle(raw)));
        }
        LuaString::from_lua(s.value(raw), s.lua)
    }
}

macro_rules! borrowed {
    ($($t:ident, $make:ident;)*) => {$(
        impl IntoLua for $t {
            fn into_lua(self, _: &Lua) -> Result<Value> {
                Ok(Value::String(self.string().clone()))
            }
        }

        impl IntoLua for &$t {
            fn into_lua(self, _: &Lua) -> Result<Value> {
                Ok(Value::String(self.string().clone()))
            }
        }
    )*};
}

borrowed! {
    BorrowedStr, to_str;
    BorrowedBytes, as_bytes;
}

impl FromLua for BorrowedStr {
    fn from_lua(value: Value, lua: &Lua) -> Result<BorrowedStr> {
        LuaString::from_lua(value, lua)?.to_str()
    }
}

impl FromLua for BorrowedBytes {
    fn from_lua(value: Value, lua: &Lua) -> Result<BorrowedBytes> {
        Ok(LuaString::from_lua(value, lua)?.as_bytes())
    }
}

impl IntoLua for Error {
    fn into_lua(self, _: &Lua) -> Result<Value> {
        Ok(Value::Error(Box::new(self)))
    }

    #[inline]
    unsafe fn into_lua_raw(self, s: Stack<'_>) -> Result<Raw> {
        Failure::Error(self).into_raw(s)
    }
}

#[cfg(feature = "anyhow")]
impl IntoLua for anyhow::Error {
    fn into_lua(self, _: &Lua) -> Result<Value> {
        Ok(Value::Error(Box::new(self.into())))
    }
}

/// Converts an error. Any other value becomes an [`Error::RuntimeError`] with its text.
impl FromLua for Error {
    fn from_lua(value: Value, _: &Lua) -> Result<Error> {
        match value {
            Value::Error(e) => Ok(*e),
            Value::String(s) => Ok(Error::RuntimeError(s.to_string_lossy())),
            v => v.to_string().map(Error::RuntimeError),
        }
    }
}

impl IntoLua for &RegistryKey {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        lua.registry_value(self)
    }
}

impl IntoLua for RegistryKey {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        lua.registry_value(&self)
    }
}

impl FromLua for RegistryKey {
    fn from_lua(value: Value, lua: &Lua) -> Result<RegistryKey> {
        lua.create_registry_value(value)
    }
}
