//! Writers of values on the VM stack.

use ::serde::{Serialize, ser};
use perilune_runtime::table::Table as TableObject;
use perilune_runtime::value::Value as Word;

use super::options::Options;
use crate::serde::{array_metatable, path};
use crate::stack::{Raw, Stack};
use crate::traits::IntoLua;
use crate::{Error, Result};

/// A proof that one value was pushed. Only writers create it.
pub(crate) struct Pushed(());

/// Writes one value by pushing it on the VM stack.
#[derive(Clone, Copy)]
pub(crate) struct Writer<'a> {
    pub(super) s: Stack<'a>,
    options: &'a Options,
    /// The remaining levels of nesting.
    pub(super) left: usize,
}

/// The name by which serde sees the private struct of `serde_json` for numbers.
const JSON_NUMBER: &str = "$serde_json::private::Number";

impl<'a> Writer<'a> {
    pub(crate) fn new(s: Stack<'a>, options: &'a Options) -> Writer<'a> {
        Writer { s, options, left: options.recursion_limit }
    }

    #[inline]
    fn descend(mut self) -> Result<Writer<'a>> {
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                Ok(self)
            }
            None => Err(Error::SerializeError("recursion limit exceeded".to_owned())),
        }
    }

    #[inline]
    fn push(self, v: Raw) -> Result<Pushed> {
        self.s.push(v);
        Ok(Pushed(()))
    }

    #[inline]
    fn push_string(self, bytes: &[u8]) -> Result<Pushed> {
        let v = self.s.string(bytes)?;
        self.push(v)
    }

    fn push_null(self, null: bool) -> Result<Pushed> {
        self.push(if null { Raw(Word::light(0)) } else { path::NIL })
    }

    /// Pushes a table for elements.
    #[inline]
    fn compound(self, elements: usize, fields: usize, part: Part) -> Result<Compound<'a>> {
        let w = self.descend()?;
        let s = w.s;
        s.poll()?;
        s.reserve(8)?;
        s.check_room(elements.saturating_mul(16))?;
        s.check_room(fields.saturating_mul(32))?;
        let t = Raw(s.cx().table(elements, fields).val().raw());
        let at = s.top();
        s.push(t);
        Ok(Compound { w, at, part })
    }

    #[inline]
    fn list(self, len: usize, part: Part) -> Result<Compound<'a>> {
        self.compound(len, 0, part)
    }
}

macro_rules! scalars {
    ($($f:ident $t:ty;)*) => {$(
        #[inline]
        fn $f(self, v: $t) -> Result<Pushed> {
            // SAFETY: the value is pushed at once.
            let v = unsafe { v.into_lua_raw(self.s)? };
            self.push(v)
        }
    )*};
}

impl<'a> ser::Serializer for Writer<'a> {
    type Ok = Pushed;
    type Error = Error;
    type SerializeSeq = Compound<'a>;
    type SerializeTuple = Compound<'a>;
    type SerializeTupleStruct = Compound<'a>;
    type SerializeTupleVariant = Compound<'a>;
    type SerializeMap = Compound<'a>;
    type SerializeStruct = Compound<'a>;
    type SerializeStructVariant = Compound<'a>;

    scalars! {
        serialize_bool bool;
        serialize_i8 i8;
        serialize_i16 i16;
        serialize_i32 i32;
        serialize_i64 i64;
        serialize_i128 i128;
        serialize_u8 u8;
        serialize_u16 u16;
        serialize_u32 u32;
        serialize_u64 u64;
        serialize_u128 u128;
        serialize_f32 f32;
        serialize_f64 f64;
    }

    #[inline]
    fn serialize_char(self, v: char) -> Result<Pushed> {
        self.push_string(v.encode_utf8(&mut [0; 4]).as_bytes())
    }

    #[inline]
    fn serialize_str(self, v: &str) -> Result<Pushed> {
        self.push_string(v.as_bytes())
    }

    #[inline]
    fn serialize_bytes(self, v: &[u8]) -> Result<Pushed> {
        self.push_string(v)
    }

    #[inline]
    fn serialize_none(self) -> Result<Pushed> {
        self.push_null(self.options.serialize_none_to_null)
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, v: &T) -> Result<Pushed> {
        v.serialize(self.descend()?)
    }

    #[inline]
    fn serialize_unit(self) -> Result<Pushed> {
        self.push_null(self.options.serialize_unit_to_null)
    }

    #[inline]
    fn serialize_unit_struct(self, _: &'static str) -> Result<Pushed> {
        self.serialize_unit()
    }

    #[inline]
    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<Pushed> {
        self.serialize_str(variant)
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        v: &T,
    ) -> Result<Pushed> {
        v.serialize(self.descend()?)
    }

    #[inline]
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        v: &T,
    ) -> Result<Pushed> {
        let mut c = self.compound(0, 1, Part::default())?;
        c.field(variant, v)?;
        c.finish()
    }

    #[inline]
    fn serialize_seq(self, len: Option<usize>) -> Result<Compound<'a>> {
        let c = self.list(len.unwrap_or(0), Part::default())?;
        if self.options.set_array_metatable {
            let meta = array_metatable(self.s);
            // SAFETY: P1: the table is on the stack, the metatable in a slot.
            let done = unsafe {
                TableObject::set_metatable(&mut *self.s.st, c.table(), meta.0.as_table())
            };
            if !done {
                return Err(Error::not_enough_memory());
            }
        }
        Ok(c)
    }

    #[inline]
    fn serialize_tuple(self, len: usize) -> Result<Compound<'a>> {
        self.serialize_seq(Some(len))
    }

    #[inline]
    fn serialize_tuple_struct(self, _: &'static str, len: usize) -> Result<Compound<'a>> {
        self.serialize_seq(Some(len))
    }

    #[inline]
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Compound<'a>> {
        self.list(len, Part { variant: Some(variant), ..Part::default() })
    }

    #[inline]
    fn serialize_map(self, len: Option<usize>) -> Result<Compound<'a>> {
        self.compound(0, len.unwrap_or(0), Part::default())
    }

    #[inline]
    fn serialize_struct(self, name: &'static str, len: usize) -> Result<Compound<'a>> {
        if self.options.detect_serde_json_arbitrary_precision && name == JSON_NUMBER && len == 1 {
            let w = self.descend()?;
            let at = w.s.top();
            w.s.push(path::NIL);
            return Ok(Compound { w, at, part: Part { number: true, ..Part::default() } });
        }
        self.compound(0, len, Part::default())
    }

    #[inline]
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Compound<'a>> {
        self.compound(0, len, Part { variant: Some(variant), ..Part::default() })
    }
}

/// The progress of a table, and the form of the result.
#[derive(Clone, Copy, Default)]
pub(crate) struct Part {
    /// The number of elements so far.
    next: i64,
    /// If set, the result is a table whose only field, with this name, is the table.
    variant: Option<&'static str>,
    /// Whether the table is a number in the form of `serde_json`: the result is then the text of
    /// the number and not a table.
    pub(super) number: bool,
}

/// Writes the elements of a table. The table is value `at` of the stack, and the topmost one
/// between two elements.
pub(crate) struct Compound<'a> {
    pub(super) w: Writer<'a>,
    pub(super) at: usize,
    pub(super) part: Part,
}

impl Compound<'_> {
    #[inline(always)]
    fn table(&self) -> *mut TableObject {
        // SAFETY: the value was pushed, and stays until the end: `debug.setlocal` does not change
        // the values of native functions.
        unsafe { self.w.s.get(self.at).0.as_table() }
    }

    /// Writes a value above the table.
    #[inline]
    fn value<T: Serialize + ?Sized>(&self, v: &T) -> Result<Raw> {
        self.w.s.poll()?;
        let Pushed(()) = v.serialize(self.w)?;
        // SAFETY: the value was pushed.
        Ok(unsafe { self.w.s.get(self.w.s.top() - 1) })
    }

    #[inline]
    pub(super) fn element<T: Serialize + ?Sized>(&mut self, v: &T) -> Result<()> {
        let v = self.value(v)?;
        let s = self.w.s;
        // nil elements of variants are dropped, as in a list that is appended to
        self.part.next += i64::from(self.part.variant.is_none() || !v.0.is_nil());
        if !v.0.is_nil() {
            // SAFETY: P1: table and value are on the stack.
            unsafe { TableObject::set_int(&mut *s.st, self.table(), self.part.next, v.0) };
        }
        s.cut(self.at + 1);
        Ok(())
    }

    /// Writes the value of a key above the table.
    #[inline]
    pub(super) fn entry<T: Serialize + ?Sized>(&mut self, v: &T) -> Result<()> {
        let v = self.value(v)?;
        let s = self.w.s;
        // SAFETY: P1: table, key and value are on the stack; the key is just below the value.
        unsafe {
            let key = s.get(self.at + 1);
            TableObject::set(&mut *s.st, self.table(), key.0, v.0)
                .map_err(crate::table::key_error)?;
        }
        s.cut(self.at + 1);
        Ok(())
    }

    #[inline]
    pub(super) fn field<T: Serialize + ?Sized>(&mut self, name: &'static str, v: &T) -> Result<()> {
        let v = self.value(v)?;
        let s = self.w.s;
        if self.part.number {
            debug_assert_eq!(name, JSON_NUMBER);
            s.cut(self.at);
            s.push(v);
            return Ok(());
        }
        // SAFETY: P1: table and value are on the stack; creating the name does not collect.
        unsafe {
            let name = (*s.st).intern(name.as_bytes());
            TableObject::set_str_const(&mut *s.st, self.table(), name, v.0);
        }
        s.cut(self.at + 1);
        Ok(())
    }

    /// Replaces the table by the result.
    #[inline]
    pub(super) fn finish(self) -> Result<Pushed> {
        self.w.s.cut(self.at + 1);
        // the last element may not have been stored for lack of memory
        self.w.s.poll()?;
        if self.part.variant.is_some() || self.part.number {
            self.finish_slow()
        } else {
            Ok(Pushed(()))
        }
    }

    fn finish_slow(self) -> Result<Pushed> {
        let s = self.w.s;
        if self.part.number {
            // SAFETY: the value was pushed.
            let text = s.value(unsafe { s.get(self.at) }).to_string()?;
            let integer = || text.parse().ok().map(Word::int);
            let v = if text.contains(['.', 'e', 'E']) { None } else { integer() };
            if let Some(v) = v.or_else(|| text.parse().ok().map(Word::float)) {
                s.cut(self.at);
                s.push(Raw(v));
            }
            return Ok(Pushed(()));
        }
        let outer = self.w.left + 1;
        let mut c = Writer { left: outer, ..self.w }.compound(0, 1, Part::default())?;
        c.at = s.top() - 1;
        let name = self.part.variant.unwrap_or_default();
        // SAFETY: P1: both tables are on the stack; creating the name does not collect.
        unsafe {
            let name = (*s.st).intern(name.as_bytes());
            TableObject::set_str_const(&mut *s.st, c.table(), name, s.get(self.at).0);
            let result = s.get(c.at);
            s.cut(self.at);
            s.push(result);
        }
        Ok(Pushed(()))
    }
}

macro_rules! compounds {
    ($ok:ty, $t:ident: $($trait:ident $f:ident $to:ident ($($key:ident: $kt:ty)?);)*) => {$(
        impl ser::$trait for $t<'_> {
            type Ok = $ok;
            type Error = Error;

            #[inline]
            fn $f<T: Serialize + ?Sized>(&mut self, $($key: $kt,)? v: &T) -> Result<()> {
                self.$to($($key,)? v)
            }

            #[inline]
            fn end(self) -> Result<$ok> {
                self.finish()
            }
        }
    )*};
}

pub(super) use compounds;

compounds! { Pushed, Compound:
    SerializeSeq serialize_element element ();
    SerializeTuple serialize_element element ();
    SerializeTupleStruct serialize_field element ();
    SerializeTupleVariant serialize_field element ();
    SerializeStruct serialize_field field (key: &'static str);
    SerializeStructVariant serialize_field field (key: &'static str);
}

impl ser::SerializeMap for Compound<'_> {
    type Ok = Pushed;
    type Error = Error;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<()> {
        self.w.s.cut(self.at + 1);
        self.value(key).map(drop)
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, v: &T) -> Result<()> {
        assert!(self.w.s.top() > self.at + 1, "serialize_value called before serialize_key");
        self.w.s.cut(self.at + 2);
        self.entry(v)
    }

    #[inline]
    fn end(self) -> Result<Pushed> {
        self.finish()
    }
}
