//! Conversions between Lua values and types that serde supports (feature `serde`).
//!
//! Conversions work on the VM stack: values under construction stay there while code of other types
//! runs, so a conversion creates no handle except for its result.

pub mod de;
mod path;
pub mod ser;
mod serializable;
mod userdata;

use ::serde::Serialize;
use ::serde::de::DeserializeOwned;

pub use de::{Deserializer, Options as DeserializeOptions};
pub use ser::{Options as SerializeOptions, Serializer};
pub use serializable::SerializableValue;

use crate::stack::{Raw, Stack};
use crate::{Error, Lua, Result, Table, Value};

/// The default maximum nesting.
const DEFAULT_RECURSION_LIMIT: usize = 128;

mod sealed {
    pub trait Sealed {}
    impl Sealed for crate::Lua {}
}

/// Conversions between Rust and Lua with serde.
pub trait LuaSerdeExt: sealed::Sealed {
    /// Returns the value that represents `null`: a light userdata, since a table cannot contain
    /// nil.
    ///
    /// ```
    /// use std::collections::HashMap;
    /// use perilune::{Lua, LuaSerdeExt};
    ///
    /// let lua = Lua::new();
    /// lua.globals().set("null", lua.null())?;
    /// let v = lua.load("{a = null}").eval()?;
    /// let map: HashMap<String, Option<String>> = lua.from_value(v)?;
    /// assert_eq!(map["a"], None);
    /// # Ok::<(), perilune::Error>(())
    /// ```
    fn null(&self) -> Value;

    /// Returns a metatable that makes serde treat a table as a list, even if it is empty or has
    /// other keys.
    ///
    /// ```
    /// use perilune::{Lua, LuaSerdeExt};
    ///
    /// let lua = Lua::new();
    /// lua.globals().set("array", lua.array_metatable())?;
    /// let v = lua.load("setmetatable({a = 5}, array)").eval()?;
    /// let json: serde_json::Value = lua.from_value(v)?;
    /// assert_eq!(json.to_string(), "[]");
    /// # Ok::<(), perilune::Error>(())
    /// ```
    fn array_metatable(&self) -> Table;

    /// Converts a value to Lua.
    ///
    /// ```
    /// use perilune::{Lua, LuaSerdeExt};
    ///
    /// #[derive(serde::Serialize)]
    /// struct User { name: String, age: u8 }
    ///
    /// let lua = Lua::new();
    /// lua.globals().set("user", lua.to_value(&User { name: "Ada".into(), age: 36 })?)?;
    /// lua.load("assert(user.name == 'Ada' and user.age == 36)").exec()?;
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Error::SerializeError`] for more than 128 levels of nesting, the error of the
    /// type, or [`Error::MemoryError`] when the memory limit is reached.
    fn to_value<T: Serialize + ?Sized>(&self, t: &T) -> Result<Value>;

    /// Like [`LuaSerdeExt::to_value`], with options.
    ///
    /// # Errors
    /// See [`LuaSerdeExt::to_value`].
    fn to_value_with<T: Serialize + ?Sized>(
        &self,
        t: &T,
        options: SerializeOptions,
    ) -> Result<Value>;

    /// Converts a Lua value.
    ///
    /// ```
    /// use perilune::{Lua, LuaSerdeExt};
    ///
    /// #[derive(serde::Deserialize, Debug, PartialEq)]
    /// struct User { name: String, age: u8 }
    ///
    /// let lua = Lua::new();
    /// let user: User = lua.from_value(lua.load("{name = 'Ada', age = 36}").eval()?)?;
    /// assert_eq!(user, User { name: "Ada".into(), age: 36 });
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Error::DeserializeError`] if the value cannot be converted, in particular for
    /// tables that contain themselves and for more than 128 levels of nesting.
    #[allow(clippy::wrong_self_convention)]
    fn from_value<T: DeserializeOwned>(&self, value: Value) -> Result<T>;

    /// Like [`LuaSerdeExt::from_value`], with options.
    ///
    /// # Errors
    /// See [`LuaSerdeExt::from_value`].
    #[allow(clippy::wrong_self_convention)]
    fn from_value_with<T: DeserializeOwned>(
        &self,
        value: Value,
        options: DeserializeOptions,
    ) -> Result<T>;
}

impl LuaSerdeExt for Lua {
    fn null(&self) -> Value {
        Value::NULL
    }

    fn array_metatable(&self) -> Table {
        let entry = self.enter();
        let s = entry.stack();
        Table(s.handle(array_metatable(s)))
    }

    fn to_value<T: Serialize + ?Sized>(&self, t: &T) -> Result<Value> {
        self.to_value_with(t, SerializeOptions::new())
    }

    fn to_value_with<T: Serialize + ?Sized>(
        &self,
        t: &T,
        options: SerializeOptions,
    ) -> Result<Value> {
        let entry = self.enter();
        let s = entry.stack();
        s.reserve(8)?;
        let cut = Cut::new(s);
        t.serialize(ser::Writer::new(s, &options))?;
        // SAFETY: a writer pushes one value.
        let v = s.value(unsafe { s.get(s.top() - 1) });
        drop(cut);
        Ok(v)
    }

    fn from_value<T: DeserializeOwned>(&self, value: Value) -> Result<T> {
        self.from_value_with(value, DeserializeOptions::new())
    }

    fn from_value_with<T: DeserializeOwned>(
        &self,
        value: Value,
        options: DeserializeOptions,
    ) -> Result<T> {
        let entry = self.enter();
        let s = entry.stack();
        s.reserve(8)?;
        let _cut = Cut::new(s);
        let raw = s.raw(&value)?;
        s.push(raw);
        T::deserialize(de::Reader::new(Some(s), raw, &options))
    }
}

/// Removes the pushed values when it is dropped, even during a panic.
struct Cut<'a> {
    s: Stack<'a>,
    top: usize,
}

impl<'a> Cut<'a> {
    fn new(s: Stack<'a>) -> Cut<'a> {
        Cut { s, top: s.top() }
    }
}

impl Drop for Cut<'_> {
    fn drop(&mut self) {
        self.s.cut(self.top);
    }
}

/// Returns the metatable of lists.
fn array_metatable(s: Stack<'_>) -> Raw {
    let place = &s.lua.control.array_meta;
    if let Some(slot) = place.get() {
        // SAFETY: P4.
        return Raw(unsafe { (*s.st).host_roots.get(slot) });
    }
    let cx = &*s.cx();
    let meta = cx.table(0, 1);
    meta.set_name(cx, "__metatable", perilune_runtime::native::Val::bool(false));
    let raw = meta.val().raw();
    // SAFETY: P4.
    place.set(Some(unsafe { (*s.st).add_host_root(raw) }));
    Raw(raw)
}

impl ::serde::ser::Error for Error {
    fn custom<T: std::fmt::Display>(msg: T) -> Error {
        Error::SerializeError(msg.to_string())
    }
}

impl ::serde::de::Error for Error {
    fn custom<T: std::fmt::Display>(msg: T) -> Error {
        Error::DeserializeError(msg.to_string())
    }
}
