//! Serialization: from Rust to Lua.

mod options;
mod writer;

use ::serde::{Serialize, ser};

pub use options::Options;
pub(super) use writer::Writer;

use super::Cut;
use crate::{Error, Lua, Result, Value};
use writer::{Compound, Part, Pushed, compounds};

/// A serializer that produces a [`Value`], for APIs that require one. Other code calls
/// [`to_value`](super::LuaSerdeExt::to_value).
#[derive(Debug)]
pub struct Serializer<'a> {
    lua: &'a Lua,
    options: Options,
}

impl<'a> Serializer<'a> {
    /// Creates a serializer with the default options.
    pub fn new(lua: &'a Lua) -> Serializer<'a> {
        Serializer::new_with_options(lua, Options::new())
    }

    /// Creates a serializer with options.
    pub fn new_with_options(lua: &'a Lua, options: Options) -> Serializer<'a> {
        Serializer { lua, options }
    }

    /// Returns the value that a writer pushes.
    fn write(self, f: impl FnOnce(Writer<'_>) -> Result<Pushed>) -> Result<Value> {
        let entry = self.lua.enter();
        let s = entry.stack();
        s.reserve(8)?;
        let _cut = Cut::new(s);
        f(Writer::new(s, &self.options))?;
        // SAFETY: the value was pushed.
        Ok(s.value(unsafe { s.get(s.top() - 1) }))
    }

    /// Returns the table that a writer begins.
    fn begin(
        self,
        f: impl FnOnce(Writer<'_>) -> Result<Compound<'_>>,
    ) -> Result<SerializeTable<'a>> {
        let entry = self.lua.enter();
        let s = entry.stack();
        s.reserve(8)?;
        let _cut = Cut::new(s);
        let c = f(Writer::new(s, &self.options))?;
        // SAFETY: the value was pushed.
        let table = s.value(unsafe { s.get(c.at) });
        let (lua, part, left) = (self.lua, c.part, c.w.left);
        let options = Options { recursion_limit: left, ..self.options };
        Ok(SerializeTable { lua, options, table, part, key: None })
    }
}

macro_rules! writes {
    ($($f:ident ($($a:ident: $t:ty),*);)*) => {$(
        fn $f(self, $($a: $t),*) -> Result<Value> {
            self.write(|w| w.$f($($a),*))
        }
    )*};
}

macro_rules! begins {
    ($($f:ident ($($a:ident: $t:ty),*);)*) => {$(
        fn $f(self, $($a: $t),*) -> Result<SerializeTable<'a>> {
            self.begin(|w| w.$f($($a),*))
        }
    )*};
}

impl<'a> ser::Serializer for Serializer<'a> {
    type Ok = Value;
    type Error = Error;
    type SerializeSeq = SerializeTable<'a>;
    type SerializeTuple = SerializeTable<'a>;
    type SerializeTupleStruct = SerializeTable<'a>;
    type SerializeTupleVariant = SerializeTable<'a>;
    type SerializeMap = SerializeTable<'a>;
    type SerializeStruct = SerializeTable<'a>;
    type SerializeStructVariant = SerializeTable<'a>;

    writes! {
        serialize_bool(v: bool);
        serialize_i8(v: i8);
        serialize_i16(v: i16);
        serialize_i32(v: i32);
        serialize_i64(v: i64);
        serialize_i128(v: i128);
        serialize_u8(v: u8);
        serialize_u16(v: u16);
        serialize_u32(v: u32);
        serialize_u64(v: u64);
        serialize_u128(v: u128);
        serialize_f32(v: f32);
        serialize_f64(v: f64);
        serialize_char(v: char);
        serialize_str(v: &str);
        serialize_bytes(v: &[u8]);
        serialize_none();
        serialize_unit();
        serialize_unit_struct(name: &'static str);
        serialize_unit_variant(name: &'static str, index: u32, variant: &'static str);
    }

    begins! {
        serialize_seq(len: Option<usize>);
        serialize_tuple(len: usize);
        serialize_tuple_struct(name: &'static str, len: usize);
        serialize_tuple_variant(name: &'static str, index: u32, variant: &'static str, len: usize);
        serialize_map(len: Option<usize>);
        serialize_struct(name: &'static str, len: usize);
        serialize_struct_variant(name: &'static str, index: u32, variant: &'static str, len: usize);
    }

    fn serialize_some<T: Serialize + ?Sized>(self, v: &T) -> Result<Value> {
        self.write(|w| w.serialize_some(v))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        v: &T,
    ) -> Result<Value> {
        self.write(|w| w.serialize_newtype_struct(name, v))
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        v: &T,
    ) -> Result<Value> {
        self.write(|w| w.serialize_newtype_variant(name, index, variant, v))
    }
}

/// The target of the elements that a [`Serializer`] writes. Between two elements a handle holds the
/// table, as several targets may be used in any order.
pub struct SerializeTable<'a> {
    lua: &'a Lua,
    options: Options,
    table: Value,
    part: Part,
    key: Option<Value>,
}

impl SerializeTable<'_> {
    fn with<R>(&mut self, f: impl FnOnce(&mut Compound<'_>) -> Result<R>) -> Result<R> {
        let entry = self.lua.enter();
        let s = entry.stack();
        s.reserve(8)?;
        let cut = Cut::new(s);
        let table = s.raw(&self.table)?;
        s.push(table);
        let w = Writer::new(s, &self.options);
        let mut c = Compound { w, at: cut.top, part: self.part };
        let r = f(&mut c)?;
        self.part = c.part;
        if self.part.number {
            // SAFETY: the value was pushed.
            self.table = s.value(unsafe { s.get(c.at) });
        }
        Ok(r)
    }

    fn element<T: Serialize + ?Sized>(&mut self, v: &T) -> Result<()> {
        self.with(|c| c.element(v))
    }

    fn field<T: Serialize + ?Sized>(&mut self, name: &'static str, v: &T) -> Result<()> {
        self.with(|c| c.field(name, v))
    }

    fn finish(mut self) -> Result<Value> {
        self.with(|c| {
            let s = c.w.s;
            let whole = Compound { w: c.w, at: c.at, part: c.part };
            whole.finish()?;
            // SAFETY: the result is in this slot.
            Ok(s.value(unsafe { s.get(c.at) }))
        })
    }
}

compounds! { Value, SerializeTable:
    SerializeSeq serialize_element element ();
    SerializeTuple serialize_element element ();
    SerializeTupleStruct serialize_field element ();
    SerializeTupleVariant serialize_field element ();
    SerializeStruct serialize_field field (key: &'static str);
    SerializeStructVariant serialize_field field (key: &'static str);
}

impl ser::SerializeMap for SerializeTable<'_> {
    type Ok = Value;
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<()> {
        let writer = Serializer::new_with_options(self.lua, self.options);
        self.key = Some(key.serialize(writer)?);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, v: &T) -> Result<()> {
        let key = self.key.take().expect("serialize_value called before serialize_key");
        self.with(|c| {
            let key = c.w.s.raw(&key)?;
            c.w.s.push(key);
            c.entry(v)
        })
    }

    fn end(self) -> Result<Value> {
        self.finish()
    }
}
