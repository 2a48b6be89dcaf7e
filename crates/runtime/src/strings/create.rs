//! The creation of strings.

use std::ptr;

use super::{Slot, StringTable};
use crate::header::Kind;
use crate::state::{State, poll};
use crate::string::{LuaString, MAX_SHORT, hash_bytes};
use crate::value::Value;

/// The reason why strings were not joined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NotJoined {
    /// There is no memory.
    NoMemory,
    /// The script has to stop.
    Interrupted,
}

impl State {
    /// Returns the string with these bytes (at most `u32::MAX`): the interned string for up to
    /// [`MAX_SHORT`] bytes, and otherwise a new object.
    ///
    /// # Safety
    /// As for [`State::alloc`]; the string is not rooted.
    #[inline]
    pub unsafe fn intern(&mut self, bytes: &[u8]) -> *mut LuaString {
        if bytes.len() > MAX_SHORT {
            let available = self.heap.memory.may_have(bytes.len());
            let s = if available { self.new_long(bytes.len()) } else { ptr::null_mut() };
            if s.is_null() {
                // The next safepoint raises an error, so the program never sees this string.
                self.skip_for_memory();
                return self.intern_short(b"");
            }
            ptr::copy_nonoverlapping(bytes.as_ptr(), s.add(1).cast::<u8>(), bytes.len());
            return s;
        }
        if let [byte] = bytes {
            return self.byte_strings[*byte as usize];
        }
        self.intern_short(bytes)
    }

    /// Creates the strings of one byte. They are roots, and are found without the table, so the
    /// table does not contain them.
    ///
    /// # Safety
    /// Called once, while the state is set up.
    pub(crate) unsafe fn make_byte_strings(&mut self) {
        for b in 0..=u8::MAX {
            let s = self.alloc(Kind::String, LuaString::size_for(1)).cast::<LuaString>();
            (*s).header.aux = LuaString::SHORT;
            (*s).header.word = hash_bytes(&[b]);
            (&raw mut (*s).len).write(1);
            (&raw mut (*s).uses).write(0);
            s.add(1).cast::<u8>().write(b);
            LuaString::terminate(s, 1);
            self.byte_strings[usize::from(b)] = s;
        }
    }

    unsafe fn intern_short(&mut self, bytes: &[u8]) -> *mut LuaString {
        let hash = hash_bytes(bytes);
        let slot = match self.strings.find(bytes, hash) {
            Ok(s) => {
                if self.strings.live_mark != 0 {
                    self.revive(s.cast());
                } else if (*s).header.mark != self.heap.mark() {
                    // The string may have been dead for several cycles: its mark must never be
                    // mistaken for that of a later one.
                    (*s).header.mark = 0;
                }
                return s;
            }
            Err(slot) => slot,
        };
        if self.strings.count + 1 >= self.strings.slots.len() {
            // A search needs a free slot to end at. The next safepoint raises an error, so the
            // program never sees that this string replaces the other.
            self.skip_for_memory();
            return self.memory_message;
        }
        let s = self.alloc(Kind::String, LuaString::size_for(bytes.len())).cast::<LuaString>();
        (*s).header.aux = LuaString::SHORT;
        (*s).header.word = hash;
        (&raw mut (*s).len).write(bytes.len() as u32);
        (&raw mut (*s).uses).write(0);
        ptr::copy_nonoverlapping(bytes.as_ptr(), s.add(1).cast::<u8>(), bytes.len());
        LuaString::terminate(s, bytes.len());
        let mask = self.strings.slots.len() - 1;
        let distance = slot.wrapping_sub(hash as usize) & mask;
        *self.strings.slots.get_unchecked_mut(slot) = Slot::new(s, hash, distance);
        self.strings.count += 1;
        if self.strings.live_mark != 0 {
            self.revive(s.cast());
        } else if self.heap.keeps_marks() {
            self.strings.note_young(s);
        }
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
        // After a failed attempt, growth is not tried again for every string.
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

    /// Handles the lack of memory for more slots. The remaining ones are used for the strings that
    /// are created until the next safepoint, which collects.
    #[cold]
    fn strings_cannot_grow(&mut self) {
        self.heap.memory.note_short();
        self.request(poll::GC);
    }

    /// Returns a long string whose bytes the caller must write, or null if there is no memory for
    /// it, which can only happen for sizes from 64 KB on.
    pub(crate) unsafe fn new_long(&mut self, len: usize) -> *mut LuaString {
        let length = u32::try_from(len).expect("callers bound the length of strings");
        let s = self.alloc(Kind::String, LuaString::size_for(len)).cast::<LuaString>();
        if s.is_null() {
            return s;
        }
        (*s).header.aux = LuaString::LONG;
        (*s).header.word = 0;
        (&raw mut (*s).len).write(length);
        (&raw mut (*s).uses).write(0);
        LuaString::terminate(s, len);
        s
    }

    /// Returns the concatenation, of `len` bytes, of `n` strings.
    ///
    /// # Errors
    /// Returns an error if there is no memory, or if the script has to stop before all strings are
    /// copied.
    ///
    /// # Safety
    /// As for [`State::intern`]; the values are strings, and `len` is their total length, which is
    /// that of a long string.
    pub unsafe fn join_long(
        st: *mut State,
        parts: *const Value,
        n: usize,
        len: usize,
    ) -> Result<*mut LuaString, NotJoined> {
        const PIECE: usize = 1 << 20;
        let s = (*st).new_long(len);
        if s.is_null() {
            return Err(NotJoined::NoMemory);
        }
        let to = s.add(1).cast::<u8>();
        let mut at = 0;
        for i in 0..n {
            for piece in LuaString::bytes((*parts.add(i)).as_string()).chunks(PIECE) {
                ptr::copy_nonoverlapping(piece.as_ptr(), to.add(at), piece.len());
                at += piece.len();
                if piece.len() == PIECE && (*st).piece_of_work() {
                    // The string ends where copying stopped. This is safe, since large objects are
                    // freed by the size in their own record.
                    (&raw mut (*s).len).write(at as u32);
                    LuaString::terminate(s, at);
                    return Err(NotJoined::Interrupted);
                }
            }
        }
        Ok(s)
    }

    /// Returns a string of `len` bytes (at most `u32::MAX`), which `fill` writes completely. It is
    /// interned when short, and allocated once. Returns null if there is no memory for it, which
    /// can only happen for sizes from 64 KB on.
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
        if s.is_null() {
            return s;
        }
        fill(std::slice::from_raw_parts_mut(s.add(1).cast::<u8>(), len));
        s
    }
}
