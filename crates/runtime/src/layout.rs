//! What machine code reads and writes of the runtime's objects: one place that lists the offsets, taken from the types.
//!
//! Sizes and offsets that code generators build addressing modes from (scaled indices, element sizes) are asserted.

use std::mem::offset_of;

use crate::closure::{LuaClosure, NativeClosure, Upvalue};
use crate::header::GcHeader;
use crate::heap::Heap;
use crate::instance::{FieldCache, FieldEntry, GlobalCache, Instance};
use crate::state::State;
use crate::string::LuaString;
use crate::table::{ArrayKind, Cell, LocalShape, Node, Table};
use crate::thread::Thread;
use crate::userdata::Userdata;
use crate::value::{Tag, Value};

macro_rules! offsets {
    ($($(#[$doc:meta])* $name:ident = $type:ty, $($field:ident).+;)*) => {
        $($(#[$doc])* pub const $name: usize = offset_of!($type, $($field).+);)*

        /// All of them by name.
        pub const NAMES: &[(&str, usize)] = &[$((stringify!($name), $name)),*];
    };
}

/// Of a heap object's header.
pub mod header {
    use super::*;
    offsets! {
        /// Kind.
        KIND = GcHeader, kind;
        /// Flags.
        FLAGS = GcHeader, flags;
        /// Kind-dependent byte: array kind, number of upvalues, string class.
        AUX = GcHeader, aux;
        /// Kind-dependent word: shape id, hash.
        WORD = GcHeader, word;
    }
    const _: () =
        assert!(size_of::<GcHeader>() == 8 && KIND == 0 && FLAGS == 2 && AUX == 3 && WORD == 4);
}

/// Of a value.
pub mod value {
    use super::*;
    /// Payload.
    pub const BITS: usize = 0;
    /// Tag.
    pub const TAG: usize = 8;
    const _: () = assert!(size_of::<Value>() == 16 && size_of::<Tag>() == 1);
    // Machine code tests truth by an order, numbers by a range and collectable values by a bit.
    const _: () = assert!(Tag::NIL.0 == 0 && Tag::FALSE.0 == 1 && Tag::TRUE.0 == 2);
    const _: () = assert!(Tag::FLOAT.0 == Tag::INTEGER.0 + 1 && Tag::INTEGER.0 == 3);
    const _: () = assert!(Tag::STRING.0 == Tag::COLLECTABLE && Tag::CELL.0 < 0x80);
}

/// Of a table.
pub mod table {
    use super::*;
    offsets! {
        /// Shape object.
        SHAPE = Table, shape;
        /// Field slots.
        FIELDS = Table, fields;
        /// Metatable word.
        META = Table, meta;
        /// Array payloads.
        ARRAY = Table, array;
        /// Elements in use.
        ARRAY_LEN = Table, array_len;
        /// Elements allocated.
        ARRAY_CAP = Table, array_cap;
        /// Hash nodes.
        NODES = Table, nodes;
        /// Number of nodes in use.
        NODES_USED = Table, nodes_used;
        /// log2 of the number of nodes allocated.
        LOG_NODES = Table, log_nodes;
        /// Field slots allocated.
        FIELDS_CAP = Table, fields_cap;
        /// Of those, how many are inline.
        FIELDS_INLINE = Table, fields_inline;
        /// Events known to be absent.
        ABSENT = Table, absent;
    }
    /// Where inline field slots begin.
    pub const INLINE_FIELDS: usize = size_of::<Table>();
    const _: () =
        assert!(size_of::<Table>() == 64 && INLINE_FIELDS.is_multiple_of(size_of::<Value>()));
    const _: () = assert!(
        ArrayKind::Int as u8 == 1 && ArrayKind::Float as u8 == 2 && ArrayKind::Any as u8 == 3
    );
}

/// Of a userdata.
pub mod userdata {
    use super::*;
    offsets! {
        /// Metatable.
        META = Userdata, meta;
    }
}

/// Of a hash node.
pub mod node {
    use super::*;
    offsets! {
        /// Payload of the value.
        VALUE_BITS = Node, value_bits;
        /// Tag of the value.
        VALUE_TAG = Node, value_tag;
        /// Tag of the key.
        KEY_TAG = Node, key_tag;
        /// Number of the next node of the chain.
        NEXT = Node, next;
        /// Payload of the key.
        KEY_BITS = Node, key_bits;
    }
    const _: () = assert!(size_of::<Node>() == 24);
    const _: () = assert!(VALUE_BITS == 0 && VALUE_TAG == 8, "a node's value reads like a Value");
}

/// Of a cell.
pub mod cell {
    use super::*;
    offsets! {
        /// The value.
        VALUE = Cell, value;
    }
    const _: () = assert!(VALUE == 8);
}

/// Of a shape object.
pub mod shape {
    use super::*;
    offsets! {
        /// Number of fields.
        COUNT = LocalShape, count;
    }
    const _: () = assert!(offset_of!(LocalShape, header) == 0);
}

/// Of a string.
pub mod string {
    use super::*;
    offsets! {
        /// Length in bytes.
        LEN = LuaString, len;
    }
    /// Where the bytes begin.
    pub const BYTES: usize = size_of::<LuaString>();
    const _: () = assert!(BYTES == 16);
}

/// Of functions and upvalues.
pub mod closure {
    use super::*;
    offsets! {
        /// A Lua function's instance.
        INSTANCE = LuaClosure, instance;
        /// A native function's code.
        FUNC = NativeClosure, func;
        /// Where an upvalue's value is.
        PLACE = Upvalue, place;
        /// The value of a closed one.
        CLOSED = Upvalue, closed;
    }
    /// Where a Lua function's upvalues begin.
    pub const UPVALUES: usize = size_of::<LuaClosure>();
    /// Where a native function's bound values begin.
    pub const BOUND: usize = size_of::<NativeClosure>();
    const _: () = assert!(UPVALUES == 16 && BOUND == 16 && size_of::<Upvalue>() == 32);
}

/// Of a coroutine.
pub mod thread {
    use super::*;
    offsets! {
        /// Head of the list of open upvalues.
        OPEN = Thread, open;
    }
}

/// Of an instance.
pub mod instance {
    use super::*;
    offsets! {
        /// Instructions.
        CODE = Instance, code;
        /// Constants.
        CONSTANTS = Instance, constants;
        /// Feedback cells.
        CELLS = Instance, cells;
        /// Field caches.
        FIELDS = Instance, fields;
        /// Global caches.
        GLOBALS = Instance, globals;
        /// Callee caches.
        CALLEES = Instance, callees;
        /// Allocation sites.
        SITES = Instance, sites;
        /// Entries so far.
        ENTRIES = Instance, entries;
        /// The entry slot.
        SLOT = Instance, slot;
        /// Registers of a frame.
        MAX_STACK = Instance, max_stack;
    }
}

/// Of an inline cache of a field.
pub mod field_cache {
    use super::*;
    offsets! {
        /// First entry: shape of tables that have the field.
        OWN_SHAPE = FieldCache, first.own_shape;
        /// First entry: slot.
        SLOT = FieldCache, first.slot;
        /// First entry: shape of tables that do not.
        CHAIN_SHAPE = FieldCache, first.chain_shape;
        /// First entry: epoch.
        EPOCH = FieldCache, first.epoch;
        /// First entry: metatable word.
        META = FieldCache, first.meta;
        /// First entry: holder.
        HOLDER = FieldCache, first.holder;
        /// First entry: shape of the holder.
        HOLDER_SHAPE = FieldCache, first.holder_shape;
        /// First entry: shape after the store.
        SUCCESSOR = FieldCache, first.successor;
        /// Further entries, or null.
        MORE = FieldCache, more;
    }
    // a box that may be absent is a pointer that may be null
    const _: () =
        assert!(size_of::<Option<Box<[FieldEntry; FieldCache::MORE]>>>() == size_of::<usize>());
    const _: () = assert!(offset_of!(FieldCache, first) == 0 && size_of::<FieldEntry>() == 48);
}

/// Of a global's cache.
pub mod global_cache {
    use super::*;
    offsets! {
        /// Environment.
        ENV = GlobalCache, env;
        /// Cell.
        CELL = GlobalCache, cell;
    }
    const _: () = assert!(size_of::<GlobalCache>() == 16);
}

/// Of a state.
pub mod state {
    use super::*;
    offsets! {
        /// Allocation: next free byte.
        CURSOR = State, heap.cursor;
        /// Allocation: end of the hole.
        HOLE_END = State, heap.hole_end;
        /// Allocation: mark of new objects.
        NEWBORN = State, heap.newborn;
        /// Poll word.
        POLL = State, poll;
        /// Base of the top frame.
        BASE = State, base;
        /// Instructions that may still be executed.
        FUEL = State, fuel;
        /// End of the top frame's values.
        TOP = State, top;
        /// End of the stack for frames.
        LIMIT = State, limit;
        /// Running coroutine.
        THREAD = State, thread;
        /// Lowest address of the native stack for machine code.
        NATIVE_LIMIT = State, native_limit;
        /// First result of a return to machine code: payload.
        RETURNED_BITS = State, returned.bits;
        /// First result of a return to machine code: tag.
        RETURNED_TAG = State, returned.tag;
        /// Epoch of metatable chains.
        META_EPOCH = State, meta_epoch;
        /// Shape of a new table.
        EMPTY_SHAPE = State, empty_shape;
    }
    /// Metatable of strings.
    pub const STRING_METATABLE: usize =
        offset_of!(State, type_metas) + crate::state::STRING_META * size_of::<usize>();
    const _: () = assert!(offset_of!(State, heap) == 0 && offset_of!(Heap, cursor) == 0);
}
