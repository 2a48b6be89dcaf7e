//! The cache of own fields, for accesses that encounter more shapes than an inline cache has
//! entries.
//!
//! It belongs to a state and is shared by all accesses in it. An entry records a fact about a
//! shape, "its field `name` is in this slot" or "it has no field `name`", which never changes,
//! since shape ids are not reused. However, the memory of a name may be reused for another string
//! after the shape has died in this state, so the cache is cleared before strings are swept.

use super::{LocalShape, Table};
use crate::state::State;
use crate::string::LuaString;
use crate::value::{SlotExt, Value};

/// An entry of the cache.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Entry {
    /// Null if the entry is empty.
    pub(crate) name: *mut LuaString,
    /// The id of the shape, with the bit [`MegamorphicCache::ABSENT`] if it lacks the field.
    pub(crate) shape: u32,
    pub(crate) slot: u32,
}

const EMPTY: Entry = Entry { name: std::ptr::null_mut(), shape: 0, slot: 0 };

/// A direct-mapped cache from shape and name to the slot of the field.
#[derive(Default)]
#[repr(C)]
pub struct MegamorphicCache {
    /// Allocated with the first entry.
    pub(crate) entries: Option<Box<[Entry; MegamorphicCache::SIZE]>>,
}

impl MegamorphicCache {
    /// Number of entries, a power of two: 16 KB, which stay in the first-level cache.
    pub const SIZE: usize = 1024;
    /// The number of bits by which the address of a name is shifted: strings are aligned to 8
    /// bytes.
    pub const SHIFT: u32 = 3;
    /// The factor for the id of a shape, chosen so that the names of one shape do not collide.
    pub const FACTOR: usize = 0x9E37;
    /// The bit of an entry's shape that indicates that tables of the shape do not have the field.
    pub const ABSENT: u32 = 1 << 31;

    #[inline(always)]
    fn place(shape: u32, name: *mut LuaString) -> usize {
        let of_shape = (shape as usize).wrapping_mul(MegamorphicCache::FACTOR);
        (name.addr() >> MegamorphicCache::SHIFT ^ of_shape) % MegamorphicCache::SIZE
    }

    /// Returns the cache's entry for the field `name` in tables of this shape: its slot, or
    /// `Some(None)` if they do not have the field.
    #[inline(always)]
    pub(super) fn find(&self, shape: u32, name: *mut LuaString) -> Option<Option<u32>> {
        let e = &self.entries.as_deref()?[MegamorphicCache::place(shape, name)];
        match e.shape {
            _ if e.name != name => None,
            known if known == shape => Some(Some(e.slot)),
            known if known == shape | MegamorphicCache::ABSENT => Some(None),
            _ => None,
        }
    }

    /// Records the slot of a field for the shape of `t`.
    ///
    /// # Safety
    /// `t` is a live table with a shape, which has the field `name` in `slot`.
    pub(super) unsafe fn record(&mut self, t: *mut Table, name: *mut LuaString, slot: u32) {
        debug_assert!(LocalShape::find((*t).shape, name) == Some(slot));
        let shape = (*t).header.word;
        self.put(shape, Entry { name, shape, slot });
    }

    /// Records that tables with the shape of `t` do not have a field.
    ///
    /// # Safety
    /// `t` is a live table with a shape, which does not have the field `name`.
    unsafe fn record_absent(&mut self, t: *mut Table, name: *mut LuaString) {
        debug_assert!(LocalShape::find((*t).shape, name).is_none());
        let shape = (*t).header.word;
        self.put(shape, Entry { name, shape: shape | MegamorphicCache::ABSENT, slot: 0 });
    }

    /// Stores an entry for a shape, unless the bit of its id would be taken for
    /// [`MegamorphicCache::ABSENT`].
    fn put(&mut self, shape: u32, entry: Entry) {
        if shape & MegamorphicCache::ABSENT != 0 {
            return;
        }
        let entries = self.entries.get_or_insert_with(|| Box::new([EMPTY; MegamorphicCache::SIZE]));
        entries[MegamorphicCache::place(shape, entry.name)] = entry;
    }

    /// Empties the cache, before strings are swept.
    pub(crate) fn clear(&mut self) {
        if let Some(entries) = &mut self.entries {
            entries.fill(EMPTY);
        }
    }
}

impl Table {
    /// Records the slot of the own field `name` of `t`, or that tables of its shape do not have the
    /// field, unless it is a dictionary.
    ///
    /// # Safety
    /// `t` and `name`, a short string, are live objects of `st`; `slot` is that of the field, if
    /// the table's shape has it.
    pub(super) unsafe fn note_own(
        st: *mut State,
        t: *mut Table,
        name: *mut LuaString,
        slot: Option<u32>,
    ) {
        let cache = &mut (*st).megamorphic;
        match slot {
            Some(slot) => cache.record(t, name, slot),
            None if !(*t).shape.is_null() => cache.record_absent(t, name),
            None => {}
        }
    }

    /// Returns the own field `name`, a short string, of a table with a shape that has it. Records
    /// its slot, or that the shape does not have it, for code that looks it up through the cache.
    ///
    /// # Safety
    /// `t` and `name` are live objects of `st`.
    #[inline]
    pub unsafe fn note_field(st: *mut State, t: *mut Table, name: *mut LuaString) -> Option<Value> {
        let slot = Table::field_slot(t, name);
        Table::note_own(st, t, name, slot);
        slot.map(|slot| (*t).fields.add(slot as usize).get())
    }
}
