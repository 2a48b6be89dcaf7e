//! Readers of values on the VM stack.

use ::serde::de::{self, DeserializeSeed, Unexpected, Visitor};
use ::serde::forward_to_deserialize_any;
use perilune_runtime::table::Table as TableObject;
use perilune_runtime::value::Tag;

use super::options::Options;
use crate::serde::path::{self, NIL, Path, is_null};
use crate::serde::ser::Writer;
use crate::serde::serializable::sorted_pairs;
use crate::serde::{Cut, SerializeOptions, userdata};
use crate::stack::{Raw, Stack};
use crate::{Error, Result, Table, Value};

/// Reads one value, which the creator of the reader keeps rooted.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    /// `None` only for values that are not heap objects.
    s: Option<Stack<'a>>,
    v: Raw,
    options: &'a Options,
    path: Option<&'a Path<'a>>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(s: Option<Stack<'a>>, v: Raw, options: &'a Options) -> Reader<'a> {
        Reader { s, v, options, path: None }
    }

    #[inline(always)]
    fn stack(&self) -> Stack<'a> {
        self.s.expect("an object has a state")
    }

    /// Returns the contents of a string.
    ///
    /// # Safety
    /// The value is a string, and stays rooted while the result is used.
    #[inline(always)]
    unsafe fn bytes<'b>(self) -> &'b [u8] {
        perilune_runtime::string::LuaString::bytes(self.v.0.as_string())
    }

    fn type_name(self) -> &'static str {
        match self.s {
            Some(s) => s.type_name(self.v),
            None if self.v.0.tag() == Tag::INTEGER => "integer",
            None => self.v.0.type_name(),
        }
    }

    #[inline(always)]
    fn is_table(self) -> bool {
        self.v.0.tag() == Tag::TABLE
    }

    #[cold]
    fn no_table(self) -> Error {
        de::Error::invalid_type(Unexpected::Other(self.type_name()), &"table")
    }

    /// Reads the serialized form of a userdata.
    #[cold]
    fn userdata<R>(self, f: impl FnOnce(Reader<'_>) -> Result<R>) -> Option<Result<R>> {
        let s = self.s.filter(|_| self.v.0.tag() == Tag::USERDATA)?;
        let value = match userdata::borrow(s, self.v) {
            Ok(value) => value?,
            Err(e) => return Some(Err(Error::SerializeError(e.to_string()))),
        };
        if let Err(e) = s.reserve(8) {
            return Some(Err(e));
        }
        let cut = Cut::new(s);
        let options = SerializeOptions::new();
        if let Err(e) = erased_serde::serialize(value.get(), Writer::new(s, &options)) {
            return Some(Err(e));
        }
        // SAFETY: a writer pushes one value.
        let v = unsafe { s.get(s.top() - 1) };
        let r = f(Reader { v, ..self });
        drop((cut, value));
        Some(r)
    }

    fn read_any<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.v.0.tag() {
            Tag::NIL => visitor.visit_unit(),
            Tag::FALSE => visitor.visit_bool(false),
            Tag::TRUE => visitor.visit_bool(true),
            Tag::INTEGER => visitor.visit_i64(self.v.0.as_int()),
            Tag::FLOAT => visitor.visit_f64(self.v.0.as_float()),
            Tag::STRING => {
                // SAFETY: the value is rooted meanwhile.
                let bytes = unsafe { self.bytes() };
                match std::str::from_utf8(bytes) {
                    Ok(text) => visitor.visit_str(text),
                    Err(_) => visitor.visit_bytes(bytes),
                }
            }
            Tag::TABLE => {
                // SAFETY: the table is rooted.
                let len =
                    unsafe { path::list_len(self.stack(), self.v.0.as_table(), self.options) };
                match len {
                    Some(len) => self.list(len, visitor),
                    None => self.map(visitor),
                }
            }
            _ if is_null(self.v) => visitor.visit_none(),
            _ => self.rare(visitor),
        }
    }

    #[cold]
    fn rare<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let mut visitor = Some(visitor);
        let r = self.userdata(|r| match visitor.take() {
            Some(visitor) => r.read_any(visitor),
            None => unreachable!("called once"),
        });
        match (r, visitor) {
            (Some(r), _) => r,
            (None, Some(v)) if !self.options.deny_unsupported_types => v.visit_unit(),
            _ => Err(de::Error::custom(format!("unsupported value type `{}`", self.type_name()))),
        }
    }

    fn list<'de, V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value> {
        let s = self.stack();
        let path = Path::enter(self.v.0.as_table(), self.path, self.options.recursion_limit)?;
        s.reserve(8)?;
        let at = s.top();
        s.push(self.v);
        s.push(NIL);
        let mut list = List { s, at, next: 1, len, options: self.options, path: &path };
        let r = visitor.visit_seq(&mut list)?;
        let left = list.next <= len;
        s.cut(at);
        if left {
            return Err(de::Error::invalid_length(len, &"fewer elements in the table"));
        }
        Ok(r)
    }

    fn map<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let s = self.stack();
        let path = Path::enter(self.v.0.as_table(), self.path, self.options.recursion_limit)?;
        s.reserve(8)?;
        let at = s.top();
        s.push(self.v);
        s.push(NIL);
        s.push(NIL);
        let sorted = if self.options.sort_keys {
            let mut pairs = sorted_pairs(&Table(s.handle(self.v)))?;
            pairs.reverse();
            Some(pairs)
        } else {
            None
        };
        // SAFETY: P1: the table is in its slot.
        let next = unsafe { TableObject::start(s.st, s.get(at).0.as_table()) };
        let mut map = Map { s, at, next, sorted, read: 0, options: self.options, path: &path };
        let r = visitor.visit_map(&mut map)?;
        let left = map.left();
        let read = map.read;
        s.cut(at);
        if left > 0 {
            return Err(de::Error::invalid_length(read + left, &"fewer elements in the table"));
        }
        Ok(r)
    }

    /// Returns the only entry of a table that represents an enum variant.
    fn variant<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let s = self.stack();
        let path = Path::enter(self.v.0.as_table(), self.path, self.options.recursion_limit)?;
        let one = || de::Error::invalid_value(Unexpected::Map, &"map with a single key");
        // SAFETY: P1: the table is rooted by the reader's creator.
        let (k, v) = unsafe {
            let t = self.v.0.as_table();
            let (next, k, v) = TableObject::next_index(t, TableObject::FIRST).ok_or_else(one)?;
            if TableObject::next_index(t, next).is_some() {
                return Err(one());
            }
            (Raw(k), Raw(v))
        };
        s.reserve(8)?;
        let cut = Cut::new(s);
        s.push(k);
        s.push(v);
        if path::skips(s, v, self.options, &path)? {
            return Err(de::Error::custom("bad enum value"));
        }
        let name = match k.0.tag() {
            Tag::STRING => {
                let key = Reader { v: k, path: None, ..self };
                // SAFETY: the key is on the stack.
                let text = std::str::from_utf8(unsafe { key.bytes() });
                text.map_err(|e| Error::from_lua_conversion("string", "String", e.to_string()))?
            }
            _ => return Err(de::Error::custom("bad enum value")),
        };
        let value = Some(Reader { v, path: Some(&path), ..self });
        let r = visitor.visit_enum(Enum { name, value });
        drop(cut);
        r
    }
}

impl<'de> de::Deserializer<'de> for Reader<'_> {
    type Error = Error;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.read_any(visitor)
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if self.v.0.is_nil() || is_null(self.v) {
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match self.v.0.tag() {
            Tag::TABLE => self.variant(visitor),
            Tag::STRING => {
                // SAFETY: the value is rooted meanwhile.
                let text = std::str::from_utf8(unsafe { self.bytes() });
                let name =
                    text.map_err(|e| Error::from_lua_conversion("string", "&str", e.to_string()))?;
                visitor.visit_enum(Enum { name, value: None })
            }
            _ => self
                .userdata(|r| r.deserialize_enum(name, variants, visitor))
                .unwrap_or_else(|| Err(de::Error::custom("bad enum value"))),
        }
    }

    #[inline]
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if self.is_table() {
            // SAFETY: P1: the table is rooted by the reader's creator.
            let len = unsafe { TableObject::length(self.v.0.as_table()) as usize };
            return self.list(len, visitor);
        }
        self.userdata(|r| r.deserialize_seq(visitor)).unwrap_or_else(|| Err(self.no_table()))
    }

    #[inline]
    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value> {
        self.deserialize_seq(visitor)
    }

    #[inline]
    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_seq(visitor)
    }

    #[inline]
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if self.is_table() {
            return self.map(visitor);
        }
        self.userdata(|r| r.deserialize_map(visitor)).unwrap_or_else(|| Err(self.no_table()))
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_map(visitor)
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    #[inline]
    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if is_null(self.v) {
            return visitor.visit_unit();
        }
        let mut visitor = Some(visitor);
        let r = self.userdata(|r| match visitor.take() {
            Some(visitor) => r.deserialize_unit(visitor),
            None => unreachable!("called once"),
        });
        match (r, visitor) {
            (Some(r), _) => r,
            (None, Some(visitor)) => self.read_any(visitor),
            (None, None) => unreachable!("called without result"),
        }
    }

    #[inline]
    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_unit(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64
        char str string bytes byte_buf identifier ignored_any
    }
}

/// The elements of a list. Value `at` of the stack is the table, the next one the current element.
struct List<'a> {
    s: Stack<'a>,
    at: usize,
    next: usize,
    len: usize,
    options: &'a Options,
    path: &'a Path<'a>,
}

/// Stores a value in a slot of the stack.
///
/// # Safety
/// The slot exists.
#[inline(always)]
unsafe fn put(s: Stack<'_>, at: usize, v: Raw) {
    use perilune_runtime::value::SlotExt;
    (*s.st).base.add(at).put(v.0);
}

impl<'de> de::SeqAccess<'de> for List<'_> {
    type Error = Error;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        while self.next <= self.len {
            let s = self.s;
            // remove the values of an element that failed
            s.cut(self.at + 2);
            // SAFETY: P1: the table is in its slot, and the element is stored in its own.
            let v = unsafe {
                let v = Raw(TableObject::get_int(s.get(self.at).0.as_table(), self.next as i64));
                put(s, self.at + 1, v);
                v
            };
            self.next += 1;
            if path::skips(s, v, self.options, self.path)? {
                continue;
            }
            let reader = Reader { s: Some(s), v, options: self.options, path: Some(self.path) };
            return seed.deserialize(reader).map(Some);
        }
        Ok(None)
    }

    #[inline]
    fn size_hint(&self) -> Option<usize> {
        Some(self.len + 1 - self.next)
    }
}

/// The entries of a map. Value `at` of the stack is the table, the next ones are the current value
/// and key.
struct Map<'a> {
    s: Stack<'a>,
    at: usize,
    next: u32,
    /// The entries in descending order of their keys, if sorting was requested.
    sorted: Option<Vec<(Value, Value)>>,
    /// The number of entries read so far.
    read: usize,
    options: &'a Options,
    path: &'a Path<'a>,
}

impl Map<'_> {
    #[inline]
    fn pair(&mut self) -> Result<Option<(Raw, Raw)>> {
        if let Some(pairs) = &mut self.sorted {
            let Some((k, v)) = pairs.pop() else { return Ok(None) };
            return Ok(Some((self.s.raw(&k)?, self.s.raw(&v)?)));
        }
        // SAFETY: P1: the table is in its slot.
        let next = unsafe { TableObject::next_index(self.s.get(self.at).0.as_table(), self.next) };
        Ok(next.map(|(next, k, v)| {
            self.next = next;
            (Raw(k), Raw(v))
        }))
    }

    /// Returns the number of unread entries.
    fn left(&mut self) -> usize {
        let mut n = 0;
        while let Ok(Some(_)) = self.pair() {
            n += 1;
        }
        n
    }
}

impl<'de> de::MapAccess<'de> for Map<'_> {
    type Error = Error;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        while let Some((k, v)) = self.pair()? {
            let s = self.s;
            s.cut(self.at + 3);
            // SAFETY: P1: the slots were pushed.
            unsafe {
                put(s, self.at + 1, v);
                put(s, self.at + 2, k);
            }
            if path::skips_key(s, k, self.options, self.path)?
                || path::skips(s, v, self.options, self.path)?
            {
                continue;
            }
            self.read += 1;
            let reader = Reader { s: Some(s), v: k, options: self.options, path: Some(self.path) };
            return seed.deserialize(reader).map(Some);
        }
        Ok(None)
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value> {
        self.s.cut(self.at + 3);
        // SAFETY: P1: the slot was pushed.
        let v = unsafe { self.s.get(self.at + 1) };
        seed.deserialize(Reader {
            s: Some(self.s),
            v,
            options: self.options,
            path: Some(self.path),
        })
    }
}

/// An enum variant with its contents.
struct Enum<'a, 'n> {
    name: &'n str,
    value: Option<Reader<'a>>,
}

impl<'de, 'a> de::EnumAccess<'de> for Enum<'a, '_> {
    type Error = Error;
    type Variant = Contents<'a>;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Contents<'a>)> {
        let name = ::serde::de::value::StrDeserializer::<Error>::new(self.name);
        Ok((seed.deserialize(name)?, Contents(self.value)))
    }
}

/// The contents of an enum variant.
struct Contents<'a>(Option<Reader<'a>>);

impl<'a> Contents<'a> {
    fn expect(self, what: &'static str) -> Result<Reader<'a>> {
        self.0.ok_or_else(|| de::Error::invalid_type(Unexpected::UnitVariant, &what))
    }
}

impl<'de> de::VariantAccess<'de> for Contents<'_> {
    type Error = Error;

    fn unit_variant(self) -> Result<()> {
        match self.0 {
            Some(_) => Err(de::Error::invalid_type(Unexpected::NewtypeVariant, &"unit variant")),
            None => Ok(()),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value> {
        seed.deserialize(self.expect("newtype variant")?)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value> {
        de::Deserializer::deserialize_seq(self.expect("tuple variant")?, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        de::Deserializer::deserialize_map(self.expect("struct variant")?, visitor)
    }
}
