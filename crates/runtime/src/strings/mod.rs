//! The interned short strings of one state.

mod create;

pub use create::NotJoined;

use std::ptr;

use crate::heap::{has_room, kept_by_lines, prefetch_line_mark};
use crate::reserve;
use crate::string::{LuaString, MAX_SHORT, same_bytes};

/// An open-addressed hash table of the short strings. The references are weak: the collector
/// removes dead strings with [`StringTable::purge`].
///
/// The number of slots is a power of two, normally at most half of them are used, and probing is
/// linear.
pub struct StringTable {
    slots: Box<[Slot]>,
    /// Number of strings in the table.
    pub count: usize,
    /// The mark of live strings while dead ones are being removed, or else 0.
    live_mark: u8,
    /// Which strings the current removal visits.
    scan: Scan,
    /// The strings that were created since dead ones were last removed, in generational mode.
    young: Vec<*mut LuaString>,
    /// Whether some strings are missing from `young`.
    young_lost: bool,
    /// The first slot that has yet to be visited.
    purge_from: usize,
    /// Number of strings, including dead ones, at the end of marking.
    before_purge: usize,
}

/// Which strings a collection visits, and how it decides whether they are dead.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Scan {
    /// Those that were created since the last collection, by the marks of their lines.
    Young,
    /// All, by the marks of their lines.
    ByLines,
    /// All, by their own marks.
    Thorough,
}

/// A string with sixteen bits of its hash and its distance from its home slot, or nothing. The bits
/// rule out most other strings, and the distance determines the lower bits of the hash, so strings
/// are seldom accessed.
#[derive(Clone, Copy)]
struct Slot {
    /// The address, with the distance in its lowest bits and the bits of the hash above it.
    #[cfg(not(miri))]
    word: u64,
    #[cfg(miri)]
    string: *mut LuaString,
    #[cfg(miri)]
    distance: usize,
}

/// The value that stands for this distance and all greater ones, which are not stored exactly.
const FAR: usize = 15;

#[cfg(not(miri))]
impl Slot {
    const FREE: Slot = Slot { word: 0 };
    /// Number of bits of an address that are used.
    const ADDRESS: u32 = 48;

    fn new(s: *mut LuaString, hash: u32, distance: usize) -> Slot {
        let address = s.expose_provenance() as u64;
        debug_assert!(
            address >> Slot::ADDRESS == 0 && address & FAR as u64 == 0,
            "the system gives user space addresses of 47 bits, and objects have 16 bytes or more"
        );
        let distance = distance.min(FAR) as u64;
        Slot { word: address | distance | ((hash >> 16) as u64) << Slot::ADDRESS }
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
        let address = self.word & ((1 << Slot::ADDRESS) - 1) & !(FAR as u64);
        ptr::with_exposed_provenance_mut(address as usize)
    }

    fn distance(self) -> usize {
        self.word as usize & FAR
    }

    /// Returns the upper sixteen bits of the hash.
    unsafe fn upper_hash(self) -> u32 {
        (self.word >> Slot::ADDRESS) as u32
    }
}

// Miri tracks pointers, which cannot be packed with other bits.
#[cfg(miri)]
impl Slot {
    const FREE: Slot = Slot { string: ptr::null_mut(), distance: 0 };

    fn new(s: *mut LuaString, _: u32, distance: usize) -> Slot {
        Slot { string: s, distance: distance.min(FAR) }
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

    fn distance(self) -> usize {
        self.distance
    }

    unsafe fn upper_hash(self) -> u32 {
        (*self.string).header.word >> 16
    }
}

/// The number of slots ahead of the visited one for which the mark of a line is prefetched.
const SOON: usize = 12;

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
            scan: Scan::ByLines,
            young: Vec::new(),
            young_lost: false,
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

    /// Stores `s`, whose hash is `hash` and which is not in the table, in the first free slot from
    /// its home on.
    fn place(slots: &mut [Slot], s: *mut LuaString, hash: u32) {
        let mask = slots.len() - 1;
        let home = hash as usize & mask;
        let mut i = home;
        while !slots[i].is_free() {
            i = (i + 1) & mask;
        }
        slots[i] = Slot::new(s, hash, i.wrapping_sub(home) & mask);
    }

    /// Returns the home of the string in slot `i`.
    #[inline]
    unsafe fn home(&self, i: usize) -> usize {
        let (slot, mask) = (self.slots[i], self.slots.len() - 1);
        match slot.distance() {
            FAR => (*slot.string()).header.word as usize & mask,
            distance => i.wrapping_sub(distance) & mask,
        }
    }

    /// Returns the hash of the string in slot `i`; only the lowest `bits` bits are needed.
    #[inline]
    unsafe fn hash(&self, i: usize, bits: u32) -> u32 {
        let slot = self.slots[i];
        let known = self.slots.len().trailing_zeros();
        if slot.distance() == FAR || known < bits.min(16) {
            return (*slot.string()).header.word;
        }
        let home = self.home(i) as u32;
        if known < 16 { home } else { home & 0xFFFF | slot.upper_hash() << 16 }
    }

    /// Moves the strings to a table of `len` slots. Returns false if there is no memory for it.
    #[cold]
    #[inline(never)]
    unsafe fn resize(&mut self, len: usize) -> bool {
        let Some(mut slots) = reserve::try_list(Slot::FREE, len) else { return false };
        for i in 0..self.slots.len() {
            let slot = self.slots[i];
            if !slot.is_free() {
                // The upper bits of the hash are part of the slot.
                let lower = self.hash(i, len.trailing_zeros()) & 0xFFFF;
                let hash = lower | slot.upper_hash() << 16;
                StringTable::place(&mut slots, slot.string(), hash);
            }
        }
        self.slots = slots;
        // All strings have moved, so all have to be visited again.
        self.purge_from = 0;
        true
    }

    /// Begins to remove dead strings, after marking with the mark `live`. [`StringTable::purge`]
    /// removes them before their memory is reused. Until that is done, lookups revive the strings
    /// that they find, and new strings get the mark.
    ///
    /// A string counts as dead if its memory is going to be reused, which the marks of its lines
    /// say. So most strings are not accessed. Some dead strings stay in the table because live
    /// objects share their lines; for these, lookups reset the mark.
    pub(crate) fn begin_purge(&mut self, live: u8, scan: Scan) {
        self.live_mark = live;
        self.scan = if scan == Scan::Young && self.young_lost { Scan::ByLines } else { scan };
        if self.scan != Scan::Young {
            self.young.clear();
            self.young_lost = false;
        }
        self.purge_from = 0;
        self.before_purge = self.count;
    }

    /// Cancels [`StringTable::begin_purge`]. The next collection has to visit all strings.
    pub(crate) fn cancel_purge(&mut self) {
        self.live_mark = 0;
        self.young_lost = true;
    }

    /// Records a new string, which the next young collection visits.
    #[inline]
    fn note_young(&mut self, s: *mut LuaString) {
        if !has_room(&mut self.young) && self.young.len() == self.young.capacity() {
            self.young_lost = true;
            return;
        }
        self.young.push(s);
    }

    /// Visits up to `limit` slots, or fewer strings. Returns whether all dead strings are removed,
    /// in which case the table may have shrunk.
    ///
    /// # Safety
    /// All strings in the table are still readable.
    pub(crate) unsafe fn purge(&mut self, limit: usize) -> bool {
        if self.scan == Scan::Young {
            // The strings themselves are read, and dead ones are searched for in the table.
            for _ in 0..limit.div_ceil(8) {
                let Some(s) = self.young.pop() else {
                    self.live_mark = 0;
                    return true;
                };
                if !self.keeps(s) {
                    self.remove(self.slot_of(s));
                }
            }
            return false;
        }
        let len = self.slots.len();
        let end = self.purge_from.saturating_add(limit).min(len);
        let mut i = self.purge_from;
        while i < end {
            let slot = self.slots[i];
            if self.scan == Scan::ByLines
                && let Some(soon) = self.slots.get(i + SOON)
            {
                prefetch_line_mark(soon.string().cast());
            }
            if slot.is_free() || self.keeps(slot.string()) {
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
        // The count includes dead strings, since about as many will exist before the next
        // collection.
        if self.before_purge.max(self.count) * 8 <= len && len > MIN_SLOTS {
            // If there is no memory for a smaller table, the present one is kept.
            self.resize(len / 2);
        }
        true
    }

    /// Returns whether the memory of `s` is kept after this collection.
    #[inline]
    unsafe fn keeps(&self, s: *mut LuaString) -> bool {
        const MOST: usize = LuaString::size_for(MAX_SHORT);
        if self.scan != Scan::Thorough
            && let Some(keeps) = kept_by_lines(s.cast(), MOST, self.live_mark)
        {
            return keeps;
        }
        // The string may end in a line that is not kept.
        (*s).header.mark == self.live_mark
    }

    /// Returns the slot of a string in the table.
    unsafe fn slot_of(&self, s: *mut LuaString) -> usize {
        let mask = self.slots.len() - 1;
        let mut i = (*s).header.word as usize & mask;
        while self.slots[i].string() != s {
            i = (i + 1) & mask;
        }
        i
    }

    /// Empties slot `i`, and closes the gap in the sequence of occupied slots that follows.
    unsafe fn remove(&mut self, i: usize) {
        let mask = self.slots.len() - 1;
        let (mut gap, mut j) = (i, i);
        loop {
            j = (j + 1) & mask;
            let slot = self.slots[j];
            if slot.is_free() {
                break;
            }
            // The string may move back if that does not move it before its home slot.
            let home = self.home(j);
            if j.wrapping_sub(home) & mask >= j.wrapping_sub(gap) & mask {
                let upper = slot.upper_hash() << 16;
                let distance = gap.wrapping_sub(home) & mask;
                self.slots[gap] = Slot::new(slot.string(), upper, distance);
                gap = j;
            }
        }
        self.slots[gap] = Slot::FREE;
        self.count -= 1;
    }
}
