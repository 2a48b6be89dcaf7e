//! Conversions of numbers and booleans.

use perilune_runtime::convert;
use perilune_runtime::value::{Tag, Value as Word};

use crate::stack::{Raw, Stack, type_name};
use crate::traits::{FromLua, IntoLua};
use crate::{Error, LightUserData, Lua, Result, Value};

const EXPECTED: &str = "expected number or string coercible to number";

/// Converts to a number, strings included.
fn number_of(v: Word, to: &str) -> Result<Word> {
    // SAFETY: N2: the value is alive.
    unsafe { convert::to_number(v) }
        .ok_or_else(|| Error::from_lua_conversion(type_name(v), to, EXPECTED.to_owned()))
}

macro_rules! integers {
    ($($t:ident)*) => {$(
        impl IntoLua for $t {
            #[inline]
            fn into_lua(self, _: &Lua) -> Result<Value> {
                Ok(match i64::try_from(self) {
                    Ok(i) => Value::Integer(i),
                    Err(_) => Value::Number(self as f64),
                })
            }

            #[inline(always)]
            #[allow(irrefutable_let_patterns)]
            unsafe fn into_lua_raw(self, _: Stack<'_>) -> Result<Raw> {
                Ok(Raw(match i64::try_from(self) {
                    Ok(i) => Word::int(i),
                    Err(_) => Word::float(self as f64),
                }))
            }
        }

        impl FromLua for $t {
            #[inline]
            fn from_lua(value: Value, lua: &Lua) -> Result<$t> {
                if let Value::Integer(i) = value
                    && let Ok(n) = $t::try_from(i)
                {
                    return Ok(n);
                }
                let entry = lua.enter();
                let s = entry.stack();
                // SAFETY: the value is held by a handle or is not a heap object.
                unsafe { $t::from_lua_raw(s.raw(&value)?, s) }
            }

            #[inline(always)]
            unsafe fn from_lua_raw(raw: Raw, _: Stack<'_>) -> Result<$t> {
                /// The error for a value that is not an integer of the type's range.
                #[cold]
                fn other(v: Word) -> Result<$t> {
                    let from = type_name(v);
                    let n = number_of(v, stringify!($t))?;
                    let converted = if n.is_int() {
                        $t::try_from(n.as_int()).ok()
                    } else {
                        // Casts saturate, so a value that has a fraction or is out of range does
                        // not convert back to itself, except that the maximum of a wide type
                        // becomes the next power of two, which is no value of the type.
                        let (f, i) = (n.as_float(), n.as_float() as $t);
                        let is_wide = $t::BITS > f64::MANTISSA_DIGITS;
                        (i as f64 == f && !(is_wide && i == $t::MAX)).then_some(i)
                    };
                    converted.ok_or_else(|| {
                        Error::from_lua_conversion(from, stringify!($t), "out of range".to_owned())
                    })
                }
                if raw.0.is_int()
                    && let Ok(n) = $t::try_from(raw.0.as_int())
                {
                    return Ok(n);
                }
                other(raw.0)
            }
        }
    )*};
}

integers!(i8 u8 i16 u16 i32 u32 i64 u64 i128 u128 isize usize);

macro_rules! floats {
    ($($t:ident)*) => {$(
        impl IntoLua for $t {
            #[inline]
            fn into_lua(self, _: &Lua) -> Result<Value> {
                Ok(Value::Number(self.into()))
            }

            #[inline(always)]
            unsafe fn into_lua_raw(self, _: Stack<'_>) -> Result<Raw> {
                Ok(Raw(Word::float(self.into())))
            }
        }

        impl FromLua for $t {
            #[inline]
            fn from_lua(value: Value, lua: &Lua) -> Result<$t> {
                let entry = lua.enter();
                let s = entry.stack();
                // SAFETY: the value is held by a handle or is not a heap object.
                unsafe { $t::from_lua_raw(s.raw(&value)?, s) }
            }

            #[inline(always)]
            unsafe fn from_lua_raw(raw: Raw, _: Stack<'_>) -> Result<$t> {
                let v = raw.0;
                if v.is_float() {
                    return Ok(v.as_float() as $t);
                }
                if v.is_int() {
                    return Ok(v.as_int() as $t);
                }
                number_of(v, stringify!($t))
                    .map(|n| if n.is_int() { n.as_int() as $t } else { n.as_float() as $t })
            }
        }
    )*};
}

floats!(f32 f64);

impl IntoLua for bool {
    #[inline]
    fn into_lua(self, _: &Lua) -> Result<Value> {
        Ok(Value::Boolean(self))
    }

    #[inline(always)]
    unsafe fn into_lua_raw(self, _: Stack<'_>) -> Result<Raw> {
        Ok(Raw(Word::bool(self)))
    }
}

/// Converts any value: false and nil are false.
impl FromLua for bool {
    #[inline]
    fn from_lua(value: Value, _: &Lua) -> Result<bool> {
        Ok(!matches!(value, Value::Nil | Value::Boolean(false)))
    }

    #[inline(always)]
    unsafe fn from_lua_raw(raw: Raw, _: Stack<'_>) -> Result<bool> {
        Ok(raw.0.truthy())
    }
}

impl IntoLua for LightUserData {
    #[inline]
    fn into_lua(self, _: &Lua) -> Result<Value> {
        Ok(Value::LightUserData(self))
    }
}

impl FromLua for LightUserData {
    #[inline]
    fn from_lua(value: Value, _: &Lua) -> Result<LightUserData> {
        match value {
            Value::LightUserData(p) => Ok(p),
            v => Err(Error::from_lua_conversion(v.type_name(), "lightuserdata", None)),
        }
    }
}

impl<T: IntoLua> IntoLua for Option<T> {
    #[inline]
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        self.map_or(Ok(Value::Nil), |v| v.into_lua(lua))
    }

    #[inline(always)]
    unsafe fn into_lua_raw(self, s: Stack<'_>) -> Result<Raw> {
        match self {
            // SAFETY: the caller upholds the same contract.
            Some(v) => unsafe { v.into_lua_raw(s) },
            None => Ok(Raw(Word::NIL)),
        }
    }
}

impl<T: FromLua> FromLua for Option<T> {
    #[inline]
    fn from_lua(value: Value, lua: &Lua) -> Result<Option<T>> {
        if value.is_nil() { Ok(None) } else { T::from_lua(value, lua).map(Some) }
    }

    #[inline(always)]
    unsafe fn from_lua_raw(raw: Raw, s: Stack<'_>) -> Result<Option<T>> {
        if raw.0.tag() == Tag::NIL {
            return Ok(None);
        }
        // SAFETY: the caller upholds the same contract.
        unsafe { T::from_lua_raw(raw, s).map(Some) }
    }
}
