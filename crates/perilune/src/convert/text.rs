//! Conversions of Rust strings and strings of the system.

use std::borrow::Cow;
use std::ffi::{CStr, CString, OsStr, OsString};
use std::path::{Path, PathBuf};

use bstr::{BStr, BString, ByteSlice};

use perilune_runtime::string::LuaString as StrObject;
use perilune_runtime::value::Value as Word;

use crate::stack::{Raw, Stack, type_name};
use crate::traits::{FromLua, IntoLua};
use crate::{Error, Lua, LuaString, Result, Value};

/// Conversions of types with bytes to strings.
macro_rules! from_bytes {
    ($([$($life:lifetime)?] $t:ty: $bytes:expr;)*) => {$(
        impl<$($life)?> IntoLua for $t {
            #[inline]
            fn into_lua(self, lua: &Lua) -> Result<Value> {
                #[allow(clippy::redundant_closure_call)]
                lua.create_string(($bytes as fn(&Self) -> &[u8])(&self)).map(Value::String)
            }

            #[inline(always)]
            unsafe fn into_lua_raw(self, s: Stack<'_>) -> Result<Raw> {
                #[allow(clippy::redundant_closure_call)]
                s.string(($bytes as fn(&Self) -> &[u8])(&self))
            }
        }
    )*};
}

from_bytes! {
    ['a] &'a str: |s| s.as_bytes();
    [] String: |s| s.as_bytes();
    ['a] &'a String: |s| s.as_bytes();
    [] Box<str>: |s| s.as_bytes();
    ['a] Cow<'a, str>: |s| s.as_bytes();
    [] CString: |s| s.as_bytes();
    ['a] &'a CStr: |s| s.to_bytes();
    ['a] Cow<'a, CStr>: |s| s.to_bytes();
    [] BString: |s| s.as_slice();
    ['a] &'a BStr: |s| s;
}

/// Conversions of strings of the system: any bytes on Unix, UTF-8 elsewhere.
macro_rules! from_os {
    ($($t:ty)*) => {$(
        impl IntoLua for $t {
            fn into_lua(self, lua: &Lua) -> Result<Value> {
                let bytes = <[u8]>::from_os_str(self.as_ref()).ok_or_else(|| {
                    Error::runtime(format!(
                        "error converting Rust {} to Lua string (invalid utf-8 encoding)",
                        stringify!($t)
                    ))
                })?;
                lua.create_string(bytes).map(Value::String)
            }
        }
    )*};
}

from_os!(OsString &OsStr PathBuf &Path);

/// Passes the bytes of a string, or of a number as `tostring` shows it, to `f`.
fn with_text<R>(v: Word, to: &str, f: impl FnOnce(&[u8]) -> Result<R>) -> Result<R> {
    if v.is_string() {
        // SAFETY: N2: the string is alive, and `f` cannot cause a collection.
        return f(unsafe { StrObject::bytes(v.as_string()) });
    }
    if v.is_number() {
        let mut text = Vec::new();
        perilune_runtime::convert::write_number(&mut text, v);
        return f(&text);
    }
    Err(Error::from_lua_conversion(type_name(v), to, "expected string or number".to_owned()))
}

fn utf8<'a>(bytes: &'a [u8], to: &str) -> Result<&'a str> {
    std::str::from_utf8(bytes).map_err(|e| Error::from_lua_conversion("string", to, e.to_string()))
}

/// Returns bytes as a string of the system: any bytes on Unix, UTF-8 elsewhere.
fn os<'a>(bytes: &'a [u8], to: &str) -> Result<&'a OsStr> {
    bytes.to_os_str().map_err(|e| Error::from_lua_conversion("string", to, e.to_string()))
}

macro_rules! to_text {
    ($($t:ident $(<$p:ty>)?: $name:literal, $make:expr;)*) => {$(
        impl FromLua for $t $(<$p>)? {
            fn from_lua(value: Value, lua: &Lua) -> Result<Self> {
                let entry = lua.enter();
                let s = entry.stack();
                // SAFETY: the value is held by a handle or is not a heap object.
                unsafe { Self::from_lua_raw(s.raw(&value)?, s) }
            }

            #[inline]
            unsafe fn from_lua_raw(raw: Raw, _: Stack<'_>) -> Result<Self> {
                with_text(raw.0, $name, $make)
            }
        }
    )*};
}

to_text! {
    BString: "BString", |b| Ok(BString::from(b));
    String: "String", |b| utf8(b, "String").map(str::to_owned);
    Box<str>: "Box<str>", |b| utf8(b, "Box<str>").map(Box::from);
    OsString: "OsString", |b| os(b, "OsString").map(OsString::from);
    PathBuf: "PathBuf", |b| os(b, "PathBuf").map(PathBuf::from);
    CString: "CString", |b| {
        CString::new(b).map_err(|e| Error::from_lua_conversion("string", "CString", e.to_string()))
    };
}

impl IntoLua for char {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        (&*self.encode_utf8(&mut [0; 4])).into_lua(lua)
    }
}

/// Converts a string of one character, or the character's number.
impl FromLua for char {
    fn from_lua(value: Value, _: &Lua) -> Result<char> {
        let fail = |m: &str| Error::from_lua_conversion(value.type_name(), "char", m.to_owned());
        match &value {
            Value::Integer(i) => u32::try_from(*i)
                .ok()
                .and_then(char::from_u32)
                .ok_or_else(|| fail("integer out of range when converting to char")),
            Value::String(s) => {
                let text = s.to_str()?;
                let mut chars = text.chars();
                match (chars.next(), chars.next()) {
                    (Some(c), None) => Ok(c),
                    _ => Err(fail(
                        "expected string to have exactly one char when converting to char",
                    )),
                }
            }
            _ => Err(fail("expected string or integer")),
        }
    }
}

impl LuaString {
    /// Wraps bytes in a value that converts to a string, for code that has no access to a state.
    ///
    /// ```
    /// use perilune::{Lua, LuaString};
    /// let lua = Lua::new();
    /// lua.globals().set("magic", LuaString::wrap([0x7f, 0xff]))?;
    /// assert!(lua.load(r"magic == '\127\255'").eval::<bool>()?);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn wrap(data: impl AsRef<[u8]>) -> impl IntoLua {
        Wrapped(data)
    }
}

struct Wrapped<T>(T);

impl<T: AsRef<[u8]>> IntoLua for Wrapped<T> {
    fn into_lua(self, lua: &Lua) -> Result<Value> {
        lua.create_string(self.0).map(Value::String)
    }

    unsafe fn into_lua_raw(self, s: Stack<'_>) -> Result<Raw> {
        s.string(self.0.as_ref())
    }
}
