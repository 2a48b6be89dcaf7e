//! Tables: fields by shape, an array part with an element kind, and a hash part.
//!
//! Where a key is stored:
//! * a short-string key that is stored by an instruction with a constant name is in a **field**
//!   slot, which the table's shape determines, as long as the table has a shape; a table with many
//!   string keys, or with computed string keys that no instruction uses as a field name, changes to
//!   dictionary mode (shape id 0) and has its string keys in the hash part;
//! * an integer key `k` with `1 <= k <= array_len` is in the **array** part;
//! * every other key is in the **hash** part.
//!
//! Invariant (border): `array_len` is 0 or element `array_len` is not nil, and the key `array_len +
//! 1` is absent. Thus `array_len` is always a border, and `#t` takes one load.
//!
//! A traversal (`next`, `pairs`) visits integer keys below 1 in ascending order, then the array
//! part, then fields in the order of their slots, and then the rest of the hash part: integers in
//! ascending order, then other keys in the order of insertion.
//!
//! Functions on tables ignore metamethods unless stated otherwise. The state is passed to functions
//! that may allocate, or that store a value and therefore need the write barrier.

mod array;
mod asking;
mod cache;
mod chain;
mod constructor;
mod direct;
mod environment;
mod get;
mod hash;
mod inherited;
mod inherited_globals;
mod local_shape;
mod megamorphic;
mod metatable;
mod new;
mod next;
mod order;
mod rehash;
mod room;
mod set;
mod shape;
mod transition;

#[cfg(test)]
mod tests;

pub use array::MIN_CAP;
pub(crate) use asking::Asking;
pub use cache::{Found, Stored};
pub use environment::FillGlobal;
pub use hash::{DEAD_KEY, HASH_FACTOR};
pub(crate) use inherited::Entry as InheritedEntry;
pub use inherited::InheritedCache;
pub use inherited_globals::InheritedGlobals;
pub use local_shape::LocalShape;
pub(crate) use megamorphic::Entry as MegamorphicEntry;
pub use megamorphic::MegamorphicCache;
pub use metatable::TAGGED;
pub use next::InvalidKey;
pub use order::{FRONT, Order};
pub use room::Refused;
pub use set::KeyError;

use crate::header::GcHeader;
use crate::value::{Tag, Value};

/// The flags of tables that inline caches of metatable chains depend on: changes of their structure
/// increment [`crate::state::State::meta_epoch`].
pub const WATCHED: u8 = GcHeader::IS_META | GcHeader::INDEX_TARGET;

/// The bit of [`Table::node_bits`] that is set once an integer key above 0, which the array part
/// could have, was inserted into the nodes.
pub const HAS_ELEMENTS: u8 = 1 << 7;

/// The bit of [`Table::node_bits`] that is set while the nodes are [direct].
pub const DIRECT: u8 = 1 << 6;

/// The kind of the elements of an array part; kept in `header.aux`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum ArrayKind {
    /// Nothing is allocated. The first element allocates room for `array_cap` elements.
    Empty = 0,
    /// `[i64; cap]`; all elements are present.
    Int,
    /// `[f64; cap]`; all elements are present.
    Float,
    /// `[u64; cap]` payloads, then `[Tag; cap]`; elements below `array_len` may be nil.
    Any,
    /// `[Tag; cap]`; each element is false or true, or nil below `array_len`.
    Bool,
}

/// A table.
#[repr(C)]
pub struct Table {
    /// `aux` is the [`ArrayKind`], and `word` the shape id (0: dictionary).
    pub header: GcHeader,
    /// The shape's object in this state; null in dictionary mode.
    pub shape: *mut LocalShape,
    /// Field slots: inline after the table, or a buffer.
    pub fields: *mut Value,
    /// The metatable word: 0 for none, or the address of the metatable, or, with bit 0 set, the
    /// address of the table `C` of a metatable `{__index = C}` that was never created.
    pub meta: usize,
    /// The array elements, or null.
    pub array: *mut u8,
    /// Number of elements in use, which is a border.
    pub array_len: u32,
    /// Number of elements allocated.
    pub array_cap: u32,
    /// The nodes of the hash part, or null.
    pub nodes: *mut Node,
    /// Number of nodes in use, which are the first ones.
    pub nodes_used: u32,
    /// Logarithm to base 2 of the number of nodes allocated, if there are any, and the bits
    /// [`HAS_ELEMENTS`] and [`DIRECT`].
    pub node_bits: u8,
    /// Number of field slots allocated.
    pub fields_cap: u8,
    /// How many of these are inline after the table.
    pub fields_inline: u8,
    /// For a metatable: if bit `e` is set, metamethod `e` (one of the first eight of
    /// [`crate::meta::Event`]) is known to be absent.
    pub absent: u8,
}

const _: () = assert!(size_of::<Table>() == 64);

impl Value {
    /// Makes a table.
    #[inline(always)]
    pub fn table(p: *mut Table) -> Value {
        Value::object(p, Tag::TABLE)
    }
    /// Returns the payload as a table.
    #[inline(always)]
    pub fn as_table(self) -> *mut Table {
        self.as_ptr()
    }
}

/// A node of the hash part: 24 bytes.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Node {
    /// Payload of the value.
    pub value_bits: u64,
    /// Tag of the value; nil when the key has none.
    pub value_tag: Tag,
    /// Tag of the key; [`DEAD_KEY`] when the key may be dead.
    pub key_tag: Tag,
    /// Number of the next node of the chain, from 1; 0 ends it.
    pub next: u32,
    /// Payload of the key.
    pub key_bits: u64,
}

const _: () = assert!(size_of::<Node>() == 24);

/// The storage of a global: the value of one string key of an environment table. It does not move
/// while the key exists, so that caches may hold its address. An orphaned cell is nil and is never
/// written again.
///
/// Most globals are never assigned after their definition, as those that hold functions and
/// modules. Machine code that loads such a global relies on it to stay the same
/// ([`GlobalCache::rely`](crate::instance::GlobalCache::rely)): the first store that changes it
/// deoptimizes all frames of machine code of the state.
#[repr(C)]
pub struct Cell {
    /// `aux` says whether the value has changed: [`Cell::CONSTANT`], [`Cell::RELIED_ON`] or
    /// [`Cell::CHANGED`].
    pub header: GcHeader,
    /// The value.
    pub value: Value,
    /// The environment. It is only compared, and may be dead.
    pub owner: *mut Table,
}
