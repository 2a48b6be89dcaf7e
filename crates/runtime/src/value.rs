//! A Lua value: 8 bytes of payload and a tag byte.
//!
//! The conversions between [`Value`] and each type of object other than strings are defined with
//! that type, so that this file does not depend on the types.

use std::marker::PhantomData;
use std::mem::offset_of;
use std::ptr;

use crate::header::GcHeader;
use crate::string::LuaString;

/// The kind of a [`Value`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(transparent)]
pub struct Tag(pub u8);

impl Tag {
    /// nil
    pub const NIL: Tag = Tag(0);
    /// false
    pub const FALSE: Tag = Tag(1);
    /// true; every tag from here on is truthy
    pub const TRUE: Tag = Tag(2);
    /// 64-bit integer
    pub const INTEGER: Tag = Tag(3);
    /// double
    pub const FLOAT: Tag = Tag(4);
    /// light userdata: an address
    pub const LIGHT: Tag = Tag(5);
    /// not a Lua value: the position of a loop with `next` that runs inline, in the register of its
    /// closing value
    pub const ITER: Tag = Tag(6);
    /// not a Lua value: the header of a frame
    pub const FRAME: Tag = Tag(7);
    /// the bit that all collectable tags have
    pub const COLLECTABLE: u8 = 0x40;
    /// string
    pub const STRING: Tag = Tag(0x40);
    /// table
    pub const TABLE: Tag = Tag(0x41);
    /// Lua closure
    pub const FUNCTION: Tag = Tag(0x42);
    /// native closure
    pub const NATIVE: Tag = Tag(0x43);
    /// full userdata
    pub const USERDATA: Tag = Tag(0x44);
    /// coroutine
    pub const THREAD: Tag = Tag(0x45);
    /// not a Lua value: a cell of a global, in the hash part of an environment table
    pub const CELL: Tag = Tag(0x46);

    /// The tags of Lua values.
    pub const ALL: [Tag; 12] = [
        Tag::NIL,
        Tag::FALSE,
        Tag::TRUE,
        Tag::INTEGER,
        Tag::FLOAT,
        Tag::LIGHT,
        Tag::STRING,
        Tag::TABLE,
        Tag::FUNCTION,
        Tag::NATIVE,
        Tag::USERDATA,
        Tag::THREAD,
    ];
    /// An upper bound of all results of [`Tag::index`].
    pub const INDICES: usize = 16;

    /// Returns how many of `tags` are not those of nil.
    pub fn count_live(tags: &[Tag]) -> usize {
        // As many as a byte can count, so that vector instructions count in bytes.
        let live = |chunk: &[Tag]| chunk.iter().map(|&tag| (tag != Tag::NIL) as u8).sum::<u8>();
        tags.chunks(u8::MAX as usize).map(|chunk| live(chunk) as usize).sum()
    }

    /// Returns a small number that identifies the tag.
    #[inline(always)]
    pub const fn index(self) -> usize {
        (self.0 & 7 | self.0 >> 3 & 8) as usize
    }

    /// Returns whether values with this tag point into the heap.
    #[inline(always)]
    pub const fn is_collectable(self) -> bool {
        self.0 & Tag::COLLECTABLE != 0
    }
}

/// A Lua value. A heap pointer is valid only while the collector can reach it: the module
/// [`crate::heap`] documents when a value must be in a root.
///
/// The two fields are always read and written separately, never as one 16-byte move: a wide load
/// soon after two narrow stores would stall on store forwarding.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Value {
    bits: u64,
    tag: Tag,
    not_send: PhantomData<*mut ()>,
}

const _: () = assert!(size_of::<Value>() == 16 && align_of::<Value>() == 8);

impl Value {
    /// Offset of the payload.
    pub(crate) const BITS_OFFSET: usize = offset_of!(Value, bits);
    /// Offset of the tag.
    pub(crate) const TAG_OFFSET: usize = offset_of!(Value, tag);

    /// nil
    pub const NIL: Value = Value::from_parts(0, Tag::NIL);
    /// false
    pub const FALSE: Value = Value::from_parts(0, Tag::FALSE);
    /// true
    pub const TRUE: Value = Value::from_parts(0, Tag::TRUE);

    /// Makes a value from raw parts. A collectable `tag` requires the address of a live object of
    /// that kind. The payload of nil and of booleans is 0: comparisons with constants compare it.
    #[inline(always)]
    pub const fn from_parts(bits: u64, tag: Tag) -> Value {
        debug_assert!(tag.0 > Tag::TRUE.0 || bits == 0, "nil and booleans have no payload");
        Value { bits, tag, not_send: PhantomData }
    }
    /// Makes a boolean.
    #[inline(always)]
    pub const fn bool(b: bool) -> Value {
        Value::from_parts(0, Tag(1 + b as u8))
    }
    /// Makes an integer.
    #[inline(always)]
    pub const fn int(i: i64) -> Value {
        Value::from_parts(i as u64, Tag::INTEGER)
    }
    /// Makes a float.
    #[inline(always)]
    pub const fn float(f: f64) -> Value {
        Value::from_parts(f.to_bits(), Tag::FLOAT)
    }
    /// Makes a light userdata.
    #[inline(always)]
    pub const fn light(address: u64) -> Value {
        Value::from_parts(address, Tag::LIGHT)
    }
    /// Makes a value of an object, whose kind matches the collectable tag `tag`.
    #[inline(always)]
    pub(crate) fn object<T>(p: *mut T, tag: Tag) -> Value {
        Value::from_parts(p.expose_provenance() as u64, tag)
    }
    /// Makes the value that refers to a string.
    #[inline(always)]
    pub fn string(p: *mut LuaString) -> Value {
        Value::object(p, Tag::STRING)
    }

    /// Returns the tag.
    #[inline(always)]
    pub const fn tag(self) -> Tag {
        self.tag
    }
    /// Returns the payload.
    #[inline(always)]
    pub const fn bits(self) -> u64 {
        self.bits
    }
    /// Returns the payload as an integer; meaningful for `INTEGER`.
    #[inline(always)]
    pub const fn as_int(self) -> i64 {
        self.bits as i64
    }
    /// Returns the payload as a float; meaningful for `FLOAT`.
    #[inline(always)]
    pub const fn as_float(self) -> f64 {
        f64::from_bits(self.bits)
    }
    /// Returns the payload as the address of a `T`; meaningful only for a tag of such values.
    #[inline(always)]
    pub fn as_ptr<T>(self) -> *mut T {
        ptr::with_exposed_provenance_mut(self.bits as usize)
    }
    /// Returns the payload as a string.
    #[inline(always)]
    pub fn as_string(self) -> *mut LuaString {
        self.as_ptr()
    }
    /// Returns the payload as a heap object; meaningful for collectable tags.
    #[inline(always)]
    pub fn as_header(self) -> *mut GcHeader {
        self.as_ptr()
    }

    /// Returns whether the value is nil.
    #[inline(always)]
    pub const fn is_nil(self) -> bool {
        self.tag.0 == Tag::NIL.0
    }
    /// Returns whether the value is neither nil nor false.
    #[inline(always)]
    pub const fn truthy(self) -> bool {
        self.tag.0 >= Tag::TRUE.0
    }
    /// Returns whether the value is false or true.
    #[inline(always)]
    pub const fn is_bool(self) -> bool {
        self.tag.0.wrapping_sub(Tag::FALSE.0) < 2
    }
    /// Returns whether the value is an integer.
    #[inline(always)]
    pub const fn is_int(self) -> bool {
        self.tag.0 == Tag::INTEGER.0
    }
    /// Returns whether the value is a float.
    #[inline(always)]
    pub const fn is_float(self) -> bool {
        self.tag.0 == Tag::FLOAT.0
    }
    /// Returns whether the value is an integer or a float.
    #[inline(always)]
    pub const fn is_number(self) -> bool {
        self.tag.0.wrapping_sub(Tag::INTEGER.0) < 2
    }
    /// Returns whether the value is a string.
    #[inline(always)]
    pub const fn is_string(self) -> bool {
        self.tag.0 == Tag::STRING.0
    }
    /// Returns whether the value is a table.
    #[inline(always)]
    pub const fn is_table(self) -> bool {
        self.tag.0 == Tag::TABLE.0
    }
    /// Returns whether the value is a function of either kind.
    #[inline(always)]
    pub const fn is_function(self) -> bool {
        self.tag.0 & !1 == Tag::FUNCTION.0
    }
    /// Returns whether the value points into the heap.
    #[inline(always)]
    pub const fn is_collectable(self) -> bool {
        self.tag.is_collectable()
    }

    /// Returns whether payload and tag are equal. This is equality except for numbers of different
    /// kinds, NaN, long strings and `__eq`.
    #[inline(always)]
    pub const fn same_bits(self, other: Value) -> bool {
        self.bits == other.bits && self.tag.0 == other.tag.0
    }

    /// Compares with primitive equality (manual 3.4.4, without metamethods).
    #[inline]
    pub fn raw_equals(self, other: Value) -> bool {
        if self.tag.0 != other.tag.0 {
            return match (self.tag, other.tag) {
                (Tag::INTEGER, Tag::FLOAT) => {
                    self.as_int() as f64 == other.as_float()
                        && float_is_exact(other.as_float(), self.as_int())
                }
                (Tag::FLOAT, Tag::INTEGER) => {
                    other.as_int() as f64 == self.as_float()
                        && float_is_exact(self.as_float(), other.as_int())
                }
                _ => false,
            };
        }
        match self.tag {
            Tag::NIL | Tag::FALSE | Tag::TRUE => true,
            Tag::FLOAT => self.as_float() == other.as_float(),
            Tag::STRING => {
                self.bits == other.bits
                    // SAFETY: V1 (tags are correct): both are strings, alive while their values
                    // are.
                    || unsafe { LuaString::eq_long(self.as_string(), other.as_string()) }
            }
            _ => self.bits == other.bits,
        }
    }

    /// Returns the type's name as `type` shows it.
    pub const fn type_name(self) -> &'static str {
        match self.tag {
            Tag::NIL => "nil",
            Tag::FALSE | Tag::TRUE => "boolean",
            Tag::INTEGER | Tag::FLOAT => "number",
            Tag::STRING => "string",
            Tag::TABLE => "table",
            Tag::FUNCTION | Tag::NATIVE => "function",
            Tag::USERDATA | Tag::LIGHT => "userdata",
            Tag::THREAD => "thread",
            _ => "nil",
        }
    }
}

/// Returns whether `i` and `f`, its conversion to a float, are equal as real numbers.
fn float_is_exact(f: f64, i: i64) -> bool {
    f < 9_223_372_036_854_775_808.0 && f as i64 == i
}

/// A memory location that holds a value; its two fields are read and written separately.
pub trait SlotExt: Copy {
    /// Reads the value.
    ///
    /// # Safety
    /// The pointer is valid for reads of a `Value`'s 9 meaningful bytes.
    unsafe fn get(self) -> Value;
    /// Writes the value and leaves the 7 padding bytes alone. There is no write barrier.
    ///
    /// # Safety
    /// The pointer is valid for writes of a `Value`'s 9 meaningful bytes.
    unsafe fn put(self, v: Value);
}

impl SlotExt for *mut Value {
    #[inline(always)]
    unsafe fn get(self) -> Value {
        Value::from_parts((*self).bits, (*self).tag)
    }
    #[inline(always)]
    unsafe fn put(self, v: Value) {
        (*self).bits = v.bits;
        (*self).tag = v.tag;
    }
}
