//! Deserialization: from Lua to Rust.

mod options;
mod reader;

use ::serde::de::{self, Visitor};
use ::serde::forward_to_deserialize_any;
use perilune_runtime::value::Value as Word;

pub use options::Options;
pub(super) use reader::Reader;

use super::Cut;
use crate::control::Handle;
use crate::stack::Raw;
use crate::{AnyUserData, Error, Function, LuaString, Result, Table, Thread, Value};

/// A deserializer of a [`Value`], for APIs that require one. Other code calls
/// [`from_value`](super::LuaSerdeExt::from_value).
#[derive(Debug, Default)]
pub struct Deserializer {
    value: Value,
    options: Options,
}

impl Deserializer {
    /// Creates a deserializer with the default options.
    pub fn new(value: Value) -> Deserializer {
        Deserializer { value, options: Options::new() }
    }

    /// Creates a deserializer with options.
    pub fn new_with_options(value: Value, options: Options) -> Deserializer {
        Deserializer { value, options }
    }

    /// Calls `f` with a reader of the value.
    fn read<R>(self, f: impl FnOnce(Reader<'_>) -> Result<R>) -> Result<R> {
        let handle: &Handle = match &self.value {
            Value::String(LuaString(h))
            | Value::Table(Table(h))
            | Value::Function(Function(h))
            | Value::Thread(Thread(h))
            | Value::UserData(AnyUserData(h)) => h,
            Value::Error(_) => {
                return Err(de::Error::custom("unsupported value type `error`"));
            }
            v => {
                let word = match v {
                    Value::Boolean(b) => Word::bool(*b),
                    Value::Integer(i) => Word::int(*i),
                    Value::Number(n) => Word::float(*n),
                    Value::LightUserData(p) => Word::light(p.bits()),
                    _ => Word::NIL,
                };
                return f(Reader::new(None, Raw(word), &self.options));
            }
        };
        let entry = handle.enter();
        let s = entry.stack();
        s.reserve(8)?;
        let _cut = Cut::new(s);
        f(Reader::new(Some(s), s.word(handle), &self.options))
    }
}

macro_rules! reads {
    ($($f:ident ($($a:ident: $t:ty),*);)*) => {$(
        fn $f<V: Visitor<'de>>(self, $($a: $t,)* visitor: V) -> Result<V::Value> {
            self.read(|r| r.$f($($a,)* visitor))
        }
    )*};
}

impl<'de> de::Deserializer<'de> for Deserializer {
    type Error = Error;

    reads! {
        deserialize_any();
        deserialize_option();
        deserialize_enum(name: &'static str, variants: &'static [&'static str]);
        deserialize_seq();
        deserialize_tuple(len: usize);
        deserialize_tuple_struct(name: &'static str, len: usize);
        deserialize_map();
        deserialize_struct(name: &'static str, fields: &'static [&'static str]);
        deserialize_newtype_struct(name: &'static str);
        deserialize_unit();
        deserialize_unit_struct(name: &'static str);
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64
        char str string bytes byte_buf identifier ignored_any
    }
}
