//! The interned short strings of one state, and making strings.

use std::ptr;

use crate::header::Kind;
use crate::state::State;
use crate::string::{LuaString, MAX_SHORT, hash_bytes};

/// Open-addressed hash table of the short strings; weak: the collector takes dead ones out with [`StringTable::retain`].
///
/// A power of two of slots, at most half of them taken, probed linearly.
pub struct StringTable {
    /// Slots; null is free.
    pub slots: Box<[*mut LuaString]>,
    /// Strings in it.
    pub count: usize,
}

/// Fewest slots.
const MIN_SLOTS: usize = 256;

impl Default for StringTable {
    fn default() -> Self {
        StringTable::new()
    }
}

impl StringTable {
    /// An empty table.
    pub fn new() -> StringTable {
        StringTable { slots: vec![ptr::null_mut(); MIN_SLOTS].into(), count: 0 }
    }

    /// The string with these bytes, or the free slot where it belongs.
    #[inline(always)]
    unsafe fn find(&self, bytes: &[u8], hash: u32) -> Result<*mut LuaString, usize> {
        let mask = self.slots.len() - 1;
        let mut i = hash as usize & mask;
        loop {
            let s = *self.slots.get_unchecked(i);
            if s.is_null() {
                return Err(i);
            }
            if (*s).header.word == hash && LuaString::bytes(s) == bytes {
                return Ok(s);
            }
            i = (i + 1) & mask;
        }
    }

    /// Puts `s`, which is not in the table, in the first free slot.
    unsafe fn place(slots: &mut [*mut LuaString], s: *mut LuaString) {
        let mask = slots.len() - 1;
        let mut i = (*s).header.word as usize & mask;
        while !slots[i].is_null() {
            i = (i + 1) & mask;
        }
        slots[i] = s;
    }

    #[cold]
    #[inline(never)]
    unsafe fn grow(&mut self) {
        let mut slots = vec![ptr::null_mut(); self.slots.len() * 2].into_boxed_slice();
        for &s in self.slots.iter().filter(|s| !s.is_null()) {
            StringTable::place(&mut slots, s);
        }
        self.slots = slots;
    }

    /// Takes out the strings that are not `alive`, and gives memory back when there were few. No tombstones: the survivors
    /// are placed anew.
    ///
    /// # Safety
    /// All strings in the table are still readable.
    pub unsafe fn retain(&mut self, mut alive: impl FnMut(*mut LuaString) -> bool) {
        // By the strings before, dead ones included: there will be as many before the next collection.
        let sparse = self.count * 8 <= self.slots.len();
        let mut survivors = Vec::new();
        for slot in &mut self.slots {
            if !slot.is_null() && alive(*slot) {
                survivors.push(*slot);
            }
            *slot = ptr::null_mut();
        }
        self.count = survivors.len();
        if sparse && self.slots.len() > MIN_SLOTS {
            self.slots = vec![ptr::null_mut(); self.slots.len() / 2].into();
        }
        for s in survivors {
            StringTable::place(&mut self.slots, s);
        }
    }
}

impl State {
    /// The string with these bytes: for up to [`MAX_SHORT`] bytes the interned one, else a new object. At most
    /// `u32::MAX` bytes.
    ///
    /// # Safety
    /// As [`State::alloc`]; the string is not rooted.
    #[inline]
    pub unsafe fn intern(&mut self, bytes: &[u8]) -> *mut LuaString {
        if bytes.len() > MAX_SHORT {
            let s = self.new_long(bytes.len());
            ptr::copy_nonoverlapping(bytes.as_ptr(), s.add(1).cast::<u8>(), bytes.len());
            return s;
        }
        if let [byte] = bytes {
            let s = self.byte_strings[*byte as usize];
            if !s.is_null() {
                return s;
            }
        }
        self.intern_short(bytes)
    }

    unsafe fn intern_short(&mut self, bytes: &[u8]) -> *mut LuaString {
        let hash = hash_bytes(bytes);
        let slot = match self.strings.find(bytes, hash) {
            Ok(s) => return s,
            Err(slot) => slot,
        };
        let s = self.alloc(Kind::String, LuaString::size_for(bytes.len())).cast::<LuaString>();
        (*s).header.aux = LuaString::SHORT;
        (*s).header.word = hash;
        (&raw mut (*s).len).write(bytes.len() as u32);
        (&raw mut (*s).symbol).write(0);
        ptr::copy_nonoverlapping(bytes.as_ptr(), s.add(1).cast::<u8>(), bytes.len());
        *self.strings.slots.get_unchecked_mut(slot) = s;
        self.strings.count += 1;
        if self.strings.count * 2 > self.strings.slots.len() {
            self.strings.grow();
        }
        s
    }

    /// A long string whose bytes are still to be written.
    unsafe fn new_long(&mut self, len: usize) -> *mut LuaString {
        let length = u32::try_from(len).expect("callers bound the length of strings");
        let s = self.alloc(Kind::String, LuaString::size_for(len)).cast::<LuaString>();
        (*s).header.aux = LuaString::LONG;
        (*s).header.word = 0;
        (&raw mut (*s).len).write(length);
        (&raw mut (*s).symbol).write(0);
        s
    }

    /// A string of `len` bytes (at most `u32::MAX`) that `fill` writes, all of them; interned when short. One allocation.
    ///
    /// # Safety
    /// As [`State::intern`]; `fill` writes every byte and reads none before it is written.
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
