//! The first word of every heap object.

/// The kind of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Kind {
    /// [`crate::string::LuaString`]
    String = 1,
    /// [`crate::table::Table`]
    Table,
    /// [`crate::closure::LuaClosure`]
    LuaClosure,
    /// [`crate::closure::NativeClosure`]
    NativeClosure,
    /// [`crate::upvalue::Upvalue`]
    Upvalue,
    /// [`crate::table::Cell`]
    Cell,
    /// [`crate::userdata::Userdata`] that owns a host value or a block, boxed outside the blocks
    Userdata,
    /// [`crate::thread::Thread`], boxed outside the blocks
    Thread,
    /// [`crate::instance::Instance`], boxed outside the blocks
    Instance,
    /// [`crate::table::LocalShape`], boxed outside the blocks
    Shape,
    /// [`crate::userdata::Userdata`] with its memory in the same object, as created by C code
    Memory,
}

impl Kind {
    /// The kind with the largest number.
    pub(crate) const LAST: Kind = Kind::Memory;

    /// Returns whether objects of this kind are boxed outside the blocks.
    pub const fn is_boxed(self) -> bool {
        matches!(self, Kind::Userdata | Kind::Thread | Kind::Instance | Kind::Shape)
    }
}

/// The header of a heap object: 8 bytes.
#[repr(C)]
pub struct GcHeader {
    /// The kind of the object.
    pub kind: Kind,
    /// The mark of the cycle that last reached it. It is alive if this equals the heap's current
    /// mark (see [`crate::heap`]).
    pub mark: u8,
    /// Flags; see the constants.
    pub flags: u8,
    /// A byte whose meaning depends on the kind: string class, array kind, number of upvalues.
    pub aux: u8,
    /// A word whose meaning depends on the kind: a string's hash, a table's shape id.
    pub word: u32,
}

const _: () = assert!(size_of::<GcHeader>() == 8);

impl GcHeader {
    /// Set when the object was scanned in this cycle and not written to since: the next pointer
    /// store into it must take the cold path of the barrier.
    pub const UNLOGGED: u8 = 1;
    /// The object is allocated in the large-object space.
    pub const LARGE: u8 = 2;
    /// The object has a finalizer that is still to be called.
    pub const FINALIZER: u8 = 4;
    /// A table that serves (or served) as a metatable.
    pub const IS_META: u8 = 8;
    /// A table that serves (or served) as an `__index` target, or in a chain that a cache depends
    /// on.
    pub const INDEX_TARGET: u8 = 16;
    /// A table used as an environment: its string keys have cells.
    pub const ENVIRONMENT: u8 = 32;
    /// A weak table that may have entries with dead keys, which the collector is about to remove:
    /// traversals leave them out.
    pub const WEAK: u8 = 64;
    /// A native closure whose bound values debuggers can neither see nor set, since its code relies
    /// on them.
    pub const HIDDEN: u8 = 128;
}

// Each flag has a bit of its own.
const _: () = {
    let flags = [
        GcHeader::UNLOGGED,
        GcHeader::LARGE,
        GcHeader::FINALIZER,
        GcHeader::IS_META,
        GcHeader::INDEX_TARGET,
        GcHeader::ENVIRONMENT,
        GcHeader::WEAK,
        GcHeader::HIDDEN,
    ];
    let (mut seen, mut i) = (0, 0);
    while i < flags.len() {
        assert!(flags[i].is_power_of_two() && seen & flags[i] == 0);
        seen |= flags[i];
        i += 1;
    }
};
