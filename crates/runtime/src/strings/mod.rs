//! The interned short strings of one state.

mod create;

pub use create::NotJoined;

use std::ptr;

use crate::reserve;
use crate::string::{LuaString, same_bytes};

/// An open-addressed hash table of the short strings. The references are weak: the collector
/// removes dead strings with [`StringTable::purge`].
///
/// The number of slots is a power of two, normally at most half of them are used, and probing is
/// linear.
pub struct StringTable {
    slots: Box<[Slot]>,
    /// Number of strings in the table.
    pub count: usize,
    /// The mark of live strings while dead ones are being removed, else 0.
    live_mark: u8,
    /// The slots from here on have yet to be visited.
    purge_from: usize,
    /// Number of strings, including dead ones, when marking ended.
    before_purge: usize,
}

/// A string with sixteen bits of its hash, or nothing. The bits rule out most other strings without
/// accessing them.
#[derive(Clone, Copy)]
struct Slot {
    /// The address, and the bits of the hash above it.
    #[cfg(not(miri))]
    word: u64,
    #[cfg(miri)]
    string: *mut LuaString,
}

#[cfg(not(miri))]
impl Slot {
    const FREE: Slot = Slot { word: 0 };
    /// Number of bits of an address that are used.
    const ADDRESS: u32 = 48;

    fn new(s: *mut LuaString, hash: u32) -> Slot {
        let address = s.expose_provenance() as u64;
        debug_assert!(
            address >> Slot::ADDRESS == 0,
            "the system gives user space addresses of 47 bits"
        );
        Slot { word: address | ((hash >> 16) as u64) << Slot::ADDRESS }
    }

    fn is_free(self) -> bool {
        self.word == 0
    }

    /// Returns whether this may be a string with this hash.
    #[inline(always)]
    fn may_have(self, hash: u32) -> bool {
        self.word >> Slot::ADDRESS == (hash >> 16) as u64
    }

    #[inline(always)]
    fn string(self) -> *mut LuaString {
        ptr::with_exposed_provenance_mut((self.word & ((1 << Slot::ADDRESS) - 1)) as usize)
    }
}

// Miri tracks pointers, which cannot be packed with other bits.
#[cfg(miri)]
impl Slot {
    const FREE: Slot = Slot { string: ptr::null_mut() };

    fn new(s: *mut LuaString, _: u32) -> Slot {
        Slot { string: s }
    }

    fn is_free(self) -> bool {
        self.string.is_null()
    }

    fn may_have(self, _: u32) -> bool {
        true
    }

    fn string(self) -> *mut LuaString {
        self.string
    }
}

/// The least number of slots, which a state with the standard library needs.
const MIN_SLOTS: usize = 1024;

impl Default for StringTable {
    fn default() -> Self {
        StringTable::new()
    }
}

impl StringTable {
    /// Creates an empty table.
    pub fn new() -> StringTable {
        StringTable {
            slots: vec![Slot::FREE; MIN_SLOTS].into(),
            count: 0,
            live_mark: 0,
            purge_from: 0,
            before_purge: 0,
        }
    }

    /// Returns all strings in the table.
    #[cfg(test)]
    pub(crate) fn all(&self) -> impl Iterator<Item = *mut LuaString> + '_ {
        self.slots.iter().filter(|s| !s.is_free()).map(|s| s.string())
    }

    /// Returns the size in bytes of the slots.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.slots)
    }

    /// Returns the number of slots, including free ones.
    pub(crate) fn capacity(&self) -> usize {
        self.slots.len()
    }

    /// Returns the string with these bytes, or the free slot where it belongs.
    #[inline(always)]
    unsafe fn find(&self, bytes: &[u8], hash: u32) -> Result<*mut LuaString, usize> {
        let mask = self.slots.len() - 1;
        let mut i = hash as usize & mask;
        loop {
            let slot = *self.slots.get_unchecked(i);
            if slot.is_free() {
                return Err(i);
            }
            if slot.may_have(hash) {
                let s = slot.string();
                if (*s).header.word == hash && same_bytes(LuaString::bytes(s), bytes) {
                    return Ok(s);
                }
            }
            i = (i + 1) & mask;
        }
    }

    /// Stores `s`, which is not in the table, in the first free slot of its probe sequence.
    unsafe fn place(slots: &mut [Slot], s: Slot) {
        let mask = slots.len() - 1;
        let mut i = (*s.string()).header.word as usize & mask;
        while !slots[i].is_free() {
            i = (i + 1) & mask;
        }
        slots[i] = s;
    }

    /// Moves the strings to a table of `len` slots. Returns false if there is no memory for it.
    #[cold]
    #[inline(never)]
    unsafe fn resize(&mut self, len: usize) -> bool {
        let Some(mut slots) = reserve::try_list(Slot::FREE, len) else { return false };
        for &s in self.slots.iter().filter(|s| !s.is_free()) {
            StringTable::place(&mut slots, s);
        }
        self.slots = slots;
        // All strings have moved, so all have to be visited again.
        self.purge_from = 0;
        true
    }

    /// Begins to remove the strings without the mark `live`, after marking. [`StringTable::purge`]
    /// removes them before their memory is reused. Until that is done, lookups revive the strings
    /// that they find, and new strings get the mark.
    pub(crate) fn begin_purge(&mut self, live: u8) {
        self.live_mark = live;
        self.purge_from = 0;
        self.before_purge = self.count;
    }

    /// Visits up to `limit` slots. Returns whether all dead strings are removed, in which case the
    /// table may have shrunk.
    ///
    /// # Safety
    /// All strings in the table are still readable.
    pub(crate) unsafe fn purge(&mut self, limit: usize) -> bool {
        let len = self.slots.len();
        let end = self.purge_from.saturating_add(limit).min(len);
        let mut i = self.purge_from;
        while i < end {
            let s = self.slots[i];
            if s.is_free() || (*s.string()).header.mark == self.live_mark {
                i += 1;
            } else {
                // Another string may have moved to the slot, so it is visited again.
                self.remove(i);
            }
        }
        self.purge_from = end;
        if end < len {
            return false;
        }
        self.live_mark = 0;
        // The count includes dead strings, as there will be as many before the next collection.
        if self.before_purge.max(self.count) * 8 <= len && len > MIN_SLOTS {
            // If there is no memory for a smaller table, the present one is kept.
            self.resize(len / 2);
        }
        true
    }

    /// Empties slot `i`, and closes the gap in the run of strings that follows.
    unsafe fn remove(&mut self, i: usize) {
        let mask = self.slots.len() - 1;
        let (mut gap, mut j) = (i, i);
        loop {
            j = (j + 1) & mask;
            let s = self.slots[j];
            if s.is_free() {
                break;
            }
            // The string may move back if that does not move it before its home slot.
            let home = (*s.string()).header.word as usize & mask;
            if j.wrapping_sub(home) & mask >= j.wrapping_sub(gap) & mask {
                self.slots[gap] = s;
                gap = j;
            }
        }
        self.slots[gap] = Slot::FREE;
        self.count -= 1;
    }
}
