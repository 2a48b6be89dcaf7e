//! The interned short strings of one state, and the creation of strings.

use std::ptr;

use crate::header::Kind;
use crate::reserve;
use crate::state::State;
use crate::string::{LuaString, MAX_SHORT, hash_bytes};
use crate::value::Value;

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

/// Returns whether `a` and `b` are equal. For strings so short that a call to compare them would be
/// most of the work.
#[inline(always)]
fn same_bytes(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let ((a_words, _), (b_words, _)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    if let (Some(x), Some(y)) = (a.last_chunk::<8>(), b.last_chunk::<8>()) {
        return u64::from_le_bytes(*x) == u64::from_le_bytes(*y)
            && a_words
                .iter()
                .zip(b_words)
                .all(|(x, y)| u64::from_le_bytes(*x) == u64::from_le_bytes(*y));
    }
    a.iter().zip(b).all(|(x, y)| x == y)
}

/// The least number of slots, which a state with the standard library needs.
const MIN_SLOTS: usize = 1024;

/// The hashes of the strings of one byte.
static BYTE_HASHES: [u32; 256] = {
    let mut hashes = [0; 256];
    let mut b = 0;
    while b < 256 {
        hashes[b] = hash_bytes(&[b as u8]);
        b += 1;
    }
    hashes
};

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

impl State {
    /// Returns the string with these bytes: the interned one for up to [`MAX_SHORT`] bytes, else a
    /// new object. There are at most `u32::MAX` bytes.
    ///
    /// # Safety
    /// As for [`State::alloc`]; the string is not rooted.
    #[inline]
    pub unsafe fn intern(&mut self, bytes: &[u8]) -> *mut LuaString {
        if bytes.len() > MAX_SHORT {
            if !self.heap.memory.may_have(bytes.len()) {
                // The next safepoint raises an error, so the program never sees this string.
                self.heap.memory.note_failed();
                self.request(crate::state::poll::GC);
                return self.intern_short(b"");
            }
            let s = self.new_long(bytes.len());
            ptr::copy_nonoverlapping(bytes.as_ptr(), s.add(1).cast::<u8>(), bytes.len());
            return s;
        }
        if let [byte] = bytes {
            return self.byte_strings[*byte as usize];
        }
        self.intern_short(bytes)
    }

    /// Creates the strings of one byte. They are roots, and are found without the table, so they
    /// are not in it.
    ///
    /// # Safety
    /// Called once, while the state is set up.
    pub(crate) unsafe fn make_byte_strings(&mut self) {
        for (b, &hash) in BYTE_HASHES.iter().enumerate() {
            let s = self.alloc(Kind::String, LuaString::size_for(1)).cast::<LuaString>();
            (*s).header.aux = LuaString::SHORT;
            (*s).header.word = hash;
            (&raw mut (*s).len).write(1);
            (&raw mut (*s).symbol).write(0);
            s.add(1).cast::<u8>().write(b as u8);
            LuaString::terminate(s, 1);
            self.byte_strings[b] = s;
        }
    }

    unsafe fn intern_short(&mut self, bytes: &[u8]) -> *mut LuaString {
        let hash = hash_bytes(bytes);
        let slot = match self.strings.find(bytes, hash) {
            Ok(s) => {
                if self.strings.live_mark != 0 {
                    self.revive(s.cast());
                }
                return s;
            }
            Err(slot) => slot,
        };
        let s = self.alloc(Kind::String, LuaString::size_for(bytes.len())).cast::<LuaString>();
        (*s).header.mark = self.strings.live_mark;
        (*s).header.aux = LuaString::SHORT;
        (*s).header.word = hash;
        (&raw mut (*s).len).write(bytes.len() as u32);
        (&raw mut (*s).symbol).write(0);
        ptr::copy_nonoverlapping(bytes.as_ptr(), s.add(1).cast::<u8>(), bytes.len());
        LuaString::terminate(s, bytes.len());
        *self.strings.slots.get_unchecked_mut(slot) = Slot::new(s, hash);
        self.strings.count += 1;
        if self.strings.count * 2 > self.strings.slots.len() && self.strings_may_grow() {
            let before = self.strings.bytes();
            if self.strings.resize(self.strings.slots.len() * 2) {
                self.charge((self.strings.bytes() - before) as isize);
            } else {
                self.strings_cannot_grow();
            }
        }
        s
    }

    /// Returns whether the table may grow: the memory limit allows it, or the slots are nearly
    /// full.
    #[cold]
    #[inline(never)]
    fn strings_may_grow(&self) -> bool {
        let StringTable { slots, count, .. } = &self.strings;
        // After a failure, growth is not tried again for every string.
        const BETWEEN_TRIES: usize = 256;
        let is_time = count.is_multiple_of(BETWEEN_TRIES) || *count == slots.len() / 2 + 1;
        count * 8 > slots.len() * 7 || is_time && self.check_room(self.strings.bytes())
    }

    /// Returns whether strings can be created without filling the table, after enlarging it if
    /// necessary.
    pub(crate) unsafe fn strings_have_room(&mut self) -> bool {
        let len = self.strings.slots.len();
        self.strings.count * 8 <= len * 7 || self.strings.resize(len * 2)
    }

    /// Handles the lack of memory for more slots. The remaining ones serve for the strings that are
    /// created until the next safepoint, which collects.
    #[cold]
    fn strings_cannot_grow(&mut self) {
        let StringTable { slots, count, .. } = &self.strings;
        if count + 1 >= slots.len() {
            // A search needs a free slot to end at.
            std::alloc::handle_alloc_error(std::alloc::Layout::for_value(&**slots));
        }
        self.heap.memory.note_short();
        self.request(crate::state::poll::GC);
    }

    /// Returns a long string whose bytes the caller must write.
    pub(crate) unsafe fn new_long(&mut self, len: usize) -> *mut LuaString {
        let length = u32::try_from(len).expect("callers bound the length of strings");
        let s = self.alloc(Kind::String, LuaString::size_for(len)).cast::<LuaString>();
        (*s).header.aux = LuaString::LONG;
        (*s).header.word = 0;
        (&raw mut (*s).len).write(length);
        (&raw mut (*s).symbol).write(0);
        LuaString::terminate(s, len);
        s
    }

    /// Returns the concatenation, of `len` bytes, of `n` strings, or `None` if the script has to
    /// stop before all are copied.
    ///
    /// # Safety
    /// As for [`State::intern`]; the values are strings, and `len` is their total length, which is
    /// that of a long string.
    pub unsafe fn join_long(
        st: *mut State,
        parts: *const Value,
        n: usize,
        len: usize,
    ) -> Option<*mut LuaString> {
        const PIECE: usize = 1 << 20;
        let s = (*st).new_long(len);
        let to = s.add(1).cast::<u8>();
        let mut at = 0;
        for i in 0..n {
            for piece in LuaString::bytes((*parts.add(i)).as_string()).chunks(PIECE) {
                ptr::copy_nonoverlapping(piece.as_ptr(), to.add(at), piece.len());
                at += piece.len();
                if piece.len() == PIECE && crate::native::piece_of_work(st) {
                    // The string ends where copying stopped. This is safe as large objects are
                    // freed by the size in their own record.
                    (&raw mut (*s).len).write(at as u32);
                    LuaString::terminate(s, at);
                    return None;
                }
            }
        }
        Some(s)
    }

    /// Returns a string of `len` bytes (at most `u32::MAX`), all of which `fill` writes. It is
    /// interned when short, and allocated once.
    ///
    /// # Safety
    /// As for [`State::intern`]; `fill` writes every byte, and reads none before it is written.
    #[inline]
    pub unsafe fn new_string_with(
        &mut self,
        len: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> *mut LuaString {
        if len <= MAX_SHORT {
            let mut buffer = [0; MAX_SHORT];
            fill(&mut buffer[..len]);
            return self.intern(&buffer[..len]);
        }
        let s = self.new_long(len);
        fill(std::slice::from_raw_parts_mut(s.add(1).cast::<u8>(), len));
        s
    }
}
