//! The offsets at which machine code accesses the runtime's objects, all defined here and computed
//! from the types.
//!
//! Sizes and offsets from which code generators build addressing modes (scaled indices, element
//! sizes) are asserted.

use std::mem::offset_of;

use crate::closure::{LuaClosure, NativeClosure};
use crate::header::GcHeader;
use crate::heap::Heap;
use crate::instance::{
    CalleeCache, FieldCache, FieldEntry, FurtherEntries, GlobalCache, HandlerCache, Instance, Site,
};
use crate::state::State;
use crate::string::LuaString;
use crate::table::{
    ArrayKind, Cell, InheritedEntry, LocalShape, MegamorphicEntry, Node, Order, Table,
};
use crate::thread::Thread;
use crate::upvalue::Upvalue;
use crate::userdata::Userdata;
use crate::value::{Tag, Value};

macro_rules! offsets {
    ($($(#[$doc:meta])* $name:ident = $type:ty, $($field:ident).+ $(+ $more:expr)?;)*) => {
        $($(#[$doc])* pub const $name: usize = offset_of!($type, $($field).+) $(+ $more)?;)*

        /// All offsets, by name.
        pub const NAMES: &[(&str, usize)] = &[$((stringify!($name), $name)),*];
    };
}

/// Offsets in a heap object's header.
pub mod header {
    use super::*;
    offsets! {
        /// The kind.
        KIND = GcHeader, kind;
        /// The flags.
        FLAGS = GcHeader, flags;
        /// A byte whose meaning depends on the kind: array kind, number of upvalues, string class.
        AUX = GcHeader, aux;
        /// A word whose meaning depends on the kind: shape id, hash.
        WORD = GcHeader, word;
    }
    const _: () =
        assert!(size_of::<GcHeader>() == 8 && KIND == 0 && FLAGS == 2 && AUX == 3 && WORD == 4);
}

/// Offsets in a value.
pub mod value {
    use super::*;
    /// The payload.
    pub const BITS: usize = Value::BITS_OFFSET;
    /// The tag.
    pub const TAG: usize = Value::TAG_OFFSET;
    /// The size.
    pub const SIZE: usize = size_of::<Value>();
    /// Logarithm to base 2 of the size.
    pub const LOG_SIZE: u32 = SIZE.trailing_zeros();

    /// Returns the offset of the value after `n` others.
    pub const fn nth(n: usize) -> i32 {
        (n * SIZE) as i32
    }
    /// The number of bits by which the tag of a collectable value is shifted right so that the bit
    /// that marks collectable tags coincides with the flag UNLOGGED, which matters only for stores
    /// of such values.
    pub const UNLOGGED_SHIFT: u32 =
        Tag::COLLECTABLE.trailing_zeros() - GcHeader::UNLOGGED.trailing_zeros();

    const _: () = assert!(Tag::COLLECTABLE >> UNLOGGED_SHIFT == GcHeader::UNLOGGED);
    const _: () = assert!(SIZE == 1 << LOG_SIZE && SIZE == 16 && size_of::<Tag>() == 1);
    // Machine code tests truth by comparing the order of tags, numbers by a range and collectable
    // values by a bit.
    const _: () = assert!(Tag::NIL.0 == 0 && Tag::FALSE.0 == 1 && Tag::TRUE.0 == 2);
    const _: () = assert!(Tag::FLOAT.0 == Tag::INTEGER.0 + 1 && Tag::INTEGER.0 == 3);
    const _: () = assert!(Tag::STRING.0 == Tag::COLLECTABLE && Tag::CELL.0 < 0x80);
}

/// Offsets in a frame, from its base.
pub mod frame {
    use super::*;
    use crate::frame::{Frame, FrameWord, Link};
    /// The payload of the callee.
    pub const CALLEE: i32 = -value::nth(Frame::RESERVED);
    /// The frame word, which is the first word of the header.
    pub const WORD: i32 = -value::nth(1);
    /// The pc in the frame word.
    pub const PC: i32 = WORD + if cfg!(target_endian = "big") { 4 } else { 0 };
    /// The link, which is the second word of the header.
    pub const LINK: i32 = WORD + size_of::<FrameWord>() as i32;

    /// Returns the offset of register `r`, which is that of its payload.
    pub const fn slot(r: usize) -> i32 {
        value::nth(r) + value::BITS as i32
    }
    /// Returns the offset of the tag of register `r`.
    pub const fn tag(r: usize) -> i32 {
        value::nth(r) + value::TAG as i32
    }

    const _: () = assert!(size_of::<FrameWord>() + size_of::<Link>() == value::SIZE);
    const _: () = assert!(FrameWord::new(0, u32::MAX).0 == u32::MAX as u64, "the pc is below");
}

/// Offsets in a table.
pub mod table {
    use super::*;
    offsets! {
        /// The shape object.
        SHAPE = Table, shape;
        /// The field slots.
        FIELDS = Table, fields;
        /// The metatable word.
        META = Table, meta;
        /// The elements of the array.
        ARRAY = Table, array;
        /// Number of elements in use.
        ARRAY_LEN = Table, array_len;
        /// Number of elements allocated.
        ARRAY_CAP = Table, array_cap;
        /// The hash nodes.
        NODES = Table, nodes;
        /// Number of nodes in use.
        NODES_USED = Table, nodes_used;
        /// Logarithm to base 2 of the number of nodes allocated.
        NODE_BITS = Table, node_bits;
        /// Number of field slots allocated.
        FIELDS_CAP = Table, fields_cap;
        /// Number of field slots that are inline.
        FIELDS_INLINE = Table, fields_inline;
        /// The events known to be absent.
        ABSENT = Table, absent;
    }
    /// Where inline field slots begin.
    pub const INLINE_FIELDS: usize = size_of::<Table>();
    const _: () =
        assert!(size_of::<Table>() == 64 && INLINE_FIELDS.is_multiple_of(size_of::<Value>()));
    const _: () = assert!(
        ArrayKind::Int as u8 == 1
            && ArrayKind::Float as u8 == 2
            && ArrayKind::Any as u8 == 3
            && ArrayKind::Bool as u8 == 4
    );
}

/// Offsets in a userdata.
pub mod userdata {
    use super::*;
    offsets! {
        /// The metatable.
        META = Userdata, meta;
    }
}

/// Offsets in a hash node.
pub mod node {
    use super::*;
    offsets! {
        /// The payload of the value.
        VALUE_BITS = Node, value_bits;
        /// The tag of the value.
        VALUE_TAG = Node, value_tag;
        /// The tag of the key.
        KEY_TAG = Node, key_tag;
        /// The number of the next node of the chain.
        NEXT = Node, next;
        /// The payload of the key.
        KEY_BITS = Node, key_bits;
    }
    const _: () = assert!(size_of::<Node>() == 24);
    const _: () = assert!(VALUE_BITS == 0 && VALUE_TAG == 8, "a node's value reads like a Value");
}

/// Offsets in the record of the order of hash nodes.
pub mod order {
    use super::*;
    offsets! {
        /// A lower bound of the integer keys above 0.
        LEAST = Order, least;
    }
}

/// Offsets in a cell.
pub mod cell {
    use super::*;
    offsets! {
        /// Whether the value has changed.
        STATE = Cell, header.aux;
        /// The value.
        VALUE = Cell, value;
        /// The environment.
        OWNER = Cell, owner;
    }
    const _: () = assert!(VALUE == 8);
}

/// Offsets in a shape object.
pub mod shape {
    use super::*;
    offsets! {
        /// Number of fields.
        COUNT = LocalShape, count;
        /// The address of the names of the fields.
        FIRST_KEY = LocalShape, first_key;
        /// The shape with a metatable.
        WITH_META = LocalShape, with_meta;
    }
    const _: () = assert!(offset_of!(LocalShape, header) == 0);
}

/// Offsets in a string.
pub mod string {
    use super::*;
    offsets! {
        /// The length in bytes.
        LEN = LuaString, len;
    }
    /// Where the bytes begin.
    pub const BYTES: usize = size_of::<LuaString>();
    const _: () = assert!(BYTES == 16);
}

/// Offsets in functions and upvalues.
pub mod closure {
    use super::*;
    offsets! {
        /// A Lua function's instance.
        INSTANCE = LuaClosure, instance;
        /// A native function's code.
        FUNC = NativeClosure, func;
        /// The address of an upvalue's value.
        PLACE = Upvalue, place;
        /// The value of a closed upvalue.
        CLOSED = Upvalue, closed;
    }
    /// Where a Lua function's upvalues begin.
    pub const UPVALUES: usize = size_of::<LuaClosure>();
    /// Where a native function's bound values begin.
    pub const BOUND: usize = size_of::<NativeClosure>();
    const _: () = assert!(UPVALUES == 16 && BOUND == 24 && size_of::<Upvalue>() == 32);
}

/// Offsets in a coroutine.
pub mod thread {
    use super::*;
    offsets! {
        /// The head of the list of open upvalues.
        OPEN = Thread, open;
        /// The native depth at the last resumption.
        DEPTH = Thread, depth;
    }
}

/// Offsets in an instance.
pub mod instance {
    use super::*;
    offsets! {
        /// The instructions.
        CODE = Instance, code;
        /// The constants.
        CONSTANTS = Instance, constants;
        /// The feedback cells.
        CELLS = Instance, cells;
        /// The field caches.
        FIELDS = Instance, fields;
        /// The global caches.
        GLOBALS = Instance, globals;
        /// The callee caches.
        CALLEES = Instance, callees;
        /// The records of allocation sites.
        SITES = Instance, sites;
        /// The records of metamethods, or null.
        HANDLERS = Instance, handlers;
        /// Number of entries so far.
        ENTRIES = Instance, entries;
        /// The entry slot.
        SLOT = Instance, slot;
        /// The offsets of the stitched code.
        STITCHED = Instance, stitched;
        /// Number of registers of a frame.
        MAX_STACK = Instance, max_stack;
        /// Number of named parameters.
        NUM_PARAMS = Instance, num_params;
        /// Whether the function takes extra arguments.
        IS_VARARG = Instance, is_vararg;
    }
}

/// Offsets in an inline cache of a field.
pub mod field_cache {
    use super::*;
    offsets! {
        /// First entry: the shape of tables that have the field.
        OWN_SHAPE = FieldCache, first.own_shape;
        /// First entry: the slot.
        SLOT = FieldCache, first.slot;
        /// First entry: the shape of tables that do not have the field.
        CHAIN_SHAPE = FieldCache, first.chain_shape;
        /// First entry: the epoch.
        EPOCH = FieldCache, first.epoch;
        /// First entry: the metatable word.
        META = FieldCache, first.meta;
        /// First entry: the holder.
        HOLDER = FieldCache, first.holder;
        /// First entry: the shape of the holder.
        HOLDER_SHAPE = FieldCache, first.holder_shape;
        /// First entry: the shape after the store, or the Lua function in the holder.
        OUTCOME = FieldCache, first.outcome;
        /// Further entries, or null.
        MORE = FieldCache, more;
        /// Number of misses.
        MISSES = FieldCache, misses;
    }
    // An optional box is a pointer that may be null.
    const _: () = assert!(size_of::<Option<Box<FurtherEntries>>>() == size_of::<usize>());
    const _: () = assert!(offset_of!(FurtherEntries, entries) == 0);
    const _: () = assert!(offset_of!(FieldCache, first) == 0 && size_of::<FieldEntry>() == 48);
    const _: () = assert!(size_of::<FieldCache>() == 64);
    // Code uses the record of a metamethod as an entry.
    const _: () = assert!(offset_of!(HandlerCache, entry) == 0);
    const _: () = assert!(size_of::<Option<Box<HandlerCache>>>() == size_of::<usize>());
}

/// Offsets in the further entries of an inline cache of a field.
pub mod further_entries {
    use super::*;
    offsets! {
        /// The name of the field.
        NAME = FurtherEntries, name;
    }
}

/// Offsets in an entry of the cache of megamorphic accesses.
pub mod megamorphic {
    use super::*;
    offsets! {
        /// The name, or null.
        NAME = MegamorphicEntry, name;
        /// The id of the shape.
        SHAPE = MegamorphicEntry, shape;
        /// The slot.
        SLOT = MegamorphicEntry, slot;
    }
    /// Logarithm to base 2 of the size.
    pub const LOG_SIZE: u32 = size_of::<MegamorphicEntry>().trailing_zeros();
    const _: () = assert!(size_of::<MegamorphicEntry>() == 1 << LOG_SIZE);
}

/// Offsets in an entry of the cache of inherited fields.
pub mod inherited {
    use super::*;
    offsets! {
        /// The metatable word, or 0.
        META = InheritedEntry, meta;
        /// The name.
        NAME = InheritedEntry, name;
        /// The epoch for which the entry is valid.
        EPOCH = InheritedEntry, epoch;
        /// The address of the value, or null.
        PLACE = InheritedEntry, place;
    }
    /// Logarithm to base 2 of the size.
    pub const LOG_SIZE: u32 = size_of::<InheritedEntry>().trailing_zeros();
    const _: () = assert!(size_of::<InheritedEntry>() == 1 << LOG_SIZE);
}

/// Offsets in an inline cache of a global.
pub mod global_cache {
    use super::*;
    offsets! {
        /// The environment.
        ENV = GlobalCache, env;
        /// The cell.
        CELL = GlobalCache, cell;
    }
    const _: () = assert!(size_of::<GlobalCache>() == 16);
}

/// Offsets in an inline cache of a callee.
pub mod callee_cache {
    use super::*;
    offsets! {
        /// Identifies the first callee.
        CALLEE = CalleeCache, callee;
        /// Number of calls of other callees.
        OTHERS = CalleeCache, others;
    }
    const _: () = assert!(size_of::<CalleeCache>() == 16);
}

/// Offsets in the record of an allocation site.
pub mod site {
    use super::*;
    offsets! {
        /// The shape of new tables, or null.
        SHAPE = Site, shape;
    }
    const _: () = assert!(size_of::<Site>() == 8);
}

/// Offsets in a state.
pub mod state {
    use super::*;
    offsets! {
        /// Allocation: the next free byte.
        CURSOR = State, heap.cursor;
        /// Allocation: the end of the hole.
        HOLE_END = State, heap.hole_end;
        /// Allocation: the mark of new objects.
        NEWBORN = State, heap.newborn;
        /// The poll word.
        POLL = State, poll;
        /// The base of the top frame.
        BASE = State, base;
        /// Number of instructions that may still be executed.
        FUEL = State, fuel;
        /// Number of guards until one is made to fail.
        GUARDS_LEFT = State, exit_stress.guards_left;
        /// The end of the top frame's values.
        TOP = State, top;
        /// The end of the stack for frames.
        LIMIT = State, limit;
        /// The running coroutine.
        THREAD = State, thread;
        /// The depth of calls from native code.
        NATIVE_DEPTH = State, native_depth;
        /// The lowest address of the native stack for machine code.
        NATIVE_LIMIT = State, native_limit;
        /// The threshold for entries: the bits of the count that are compared.
        ENTRY_MASK = State, entry_threshold.mask;
        /// The threshold for entries: the value of these bits at which it is reached.
        ENTRY_PHASE = State, entry_threshold.phase;
        /// The threshold for iterations of a loop: the bits of the count that are compared.
        LOOP_MASK = State, loop_threshold.mask;
        /// The threshold for iterations of a loop: the value of these bits at which it is reached.
        LOOP_PHASE = State, loop_threshold.phase;
        /// The number of entries at which code is stitched.
        STITCH_THRESHOLD = State, stitch_threshold;
        /// First result of a return to machine code: the payload. Also the result of a function
        /// that preserves all registers.
        RETURNED_BITS = State, returned.bits;
        /// First result of a return to machine code: the tag.
        RETURNED_TAG = State, returned.tag;
        /// The arguments of a function, and its address, for a call that preserves all registers.
        PASSED = State, passed;
        /// Whether constant variables have been changed.
        CONSTANTS_CHANGED = State, constants_changed;
        /// The epoch of metatable chains.
        META_EPOCH = State, meta_epoch;
        /// The entries of the cache of megamorphic accesses, or null.
        MEGAMORPHIC = State, megamorphic.entries;
        /// The entries of the cache of inherited fields, or null.
        INHERITED = State, inherited.entries;
        /// The shape of a new table.
        EMPTY_SHAPE = State, empty_shape;
        /// The names of the types.
        TYPE_NAMES = State, type_names;
        /// The strings of one byte.
        BYTE_STRINGS = State, byte_strings;
        /// The generator of random numbers.
        RANDOM = State, random;
        /// The metatable of strings.
        STRING_METATABLE = State, type_metas + crate::state::STRING_META * size_of::<usize>();
    }
    const _: () = assert!(offset_of!(State, heap) == 0 && offset_of!(Heap, cursor) == 0);
}
