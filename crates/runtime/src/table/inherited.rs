//! The cache of inherited fields, for accesses that encounter more metatables than an inline cache
//! has entries, and for tables in dictionary mode.
//!
//! It belongs to a state and is shared by all accesses in it. An entry records where a field is
//! found in the chain of `__index` tables that begins with a metatable, or that the chain does not
//! contain the field. It is valid while the state's [`MetaEpoch`] is that of the entry: all tables
//! of the chain are watched, and the name is [`LuaString::INHERITED`], so the epoch changes when
//! such a field is added and whenever the values of a table move. The cache is cleared before
//! objects are swept.

use super::Cell;
use crate::epoch::MetaEpoch;
use crate::string::LuaString;
use crate::value::{SlotExt, Tag, Value};

/// An entry of the cache.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Entry {
    /// The metatable word of the values that look up the field; 0 if the entry is empty.
    pub(crate) meta: usize,
    pub(crate) name: *mut LuaString,
    pub(crate) epoch: MetaEpoch,
    /// The value in the table that has the field; null if no table of the chain has it.
    pub(crate) place: *mut Value,
}

const EMPTY: Entry = Entry {
    meta: 0,
    name: std::ptr::null_mut(),
    epoch: MetaEpoch::NEVER,
    place: std::ptr::null_mut(),
};

/// A direct-mapped cache from metatable word and name to the place of the field.
#[derive(Default)]
#[repr(C)]
pub struct InheritedCache {
    /// Allocated with the first entry.
    pub(crate) entries: Option<Box<[Entry; InheritedCache::SIZE]>>,
}

impl InheritedCache {
    /// Number of entries, a power of two: 32 KB.
    pub const SIZE: usize = 1024;
    /// The number of bits by which addresses are shifted: objects are aligned to 8 bytes.
    pub const SHIFT: u32 = 3;
    /// The factor for the metatable word, odd and of 32 bits.
    pub const FACTOR: usize = 0x9E37_79B1;
    /// The number of bits by which the product of word and factor is shifted.
    pub const FOLD: u32 = 20;

    #[inline(always)]
    fn place(meta: usize, name: *mut LuaString) -> usize {
        let of_meta = meta.wrapping_mul(InheritedCache::FACTOR) >> InheritedCache::FOLD;
        (name.addr() >> InheritedCache::SHIFT ^ of_meta) % InheritedCache::SIZE
    }

    /// Returns the value of the field `name` along the chain of a metatable word that is not 0, if
    /// that is in the cache: nil if it is absent.
    ///
    /// # Safety
    /// The name is live, and a live table has the metatable word; `epoch` is the present one.
    #[inline(always)]
    pub(super) unsafe fn get(
        &self,
        meta: usize,
        name: *mut LuaString,
        epoch: MetaEpoch,
    ) -> Option<Value> {
        let e = &self.entries.as_deref()?[InheritedCache::place(meta, name)];
        if e.meta != meta || e.name != name || e.epoch != epoch {
            return None;
        }
        if e.place.is_null() {
            return Some(Value::NIL);
        }
        let mut v = e.place.get();
        if v.tag() == Tag::CELL {
            // the table is an environment
            v = (&raw mut (*v.as_ptr::<Cell>()).value).get();
        }
        // A weak table may have lost the value, and a global may have been set to nil.
        (!v.is_nil()).then_some(v)
    }

    pub(super) fn put(&mut self, entry: Entry) {
        let entries = self.entries.get_or_insert_with(|| Box::new([EMPTY; InheritedCache::SIZE]));
        entries[InheritedCache::place(entry.meta, entry.name)] = entry;
    }

    /// Empties the cache, before objects are swept.
    pub(crate) fn clear(&mut self) {
        if let Some(entries) = &mut self.entries {
            entries.fill(EMPTY);
        }
    }
}
