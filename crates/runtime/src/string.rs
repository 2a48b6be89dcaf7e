//! String objects.

use crate::header::GcHeader;

/// Maximum length of an interned string.
pub const MAX_SHORT: usize = 40;

/// A string: header, length and bytes. Immutable.
///
/// Short strings (up to [`MAX_SHORT`] bytes) are interned per state: equal ones are the same object
/// and their hash is in `header.word` from birth. Long strings hash lazily.
#[repr(C)]
pub struct LuaString {
    /// `aux` is one of the class constants, `word` the hash.
    pub header: GcHeader,
    /// Number of bytes.
    pub len: u32,
    /// Reserved for the engine-wide symbol, for comparisons in machine code; always 0.
    pub symbol: u32,
    // The bytes follow, and a NUL, so that C code can borrow them.
}

const _: () = assert!(size_of::<LuaString>() == 16);

impl LuaString {
    /// Interned.
    pub const SHORT: u8 = 0;
    /// Long, not hashed yet.
    pub const LONG: u8 = 1;
    /// Long, with its hash in the header.
    pub const LONG_HASHED: u8 = 2;

    /// Returns the size in bytes of a string of `len` bytes.
    pub const fn size_for(len: usize) -> usize {
        (size_of::<LuaString>() + len + 1 + 15) & !15
    }

    /// Returns the contents.
    ///
    /// # Safety
    /// `p` is a live string, and outlives the use of the slice.
    #[inline(always)]
    pub unsafe fn bytes<'a>(p: *const LuaString) -> &'a [u8] {
        std::slice::from_raw_parts(p.add(1).cast::<u8>(), (*p).len as usize)
    }

    /// Ends the bytes with a NUL, which `len` does not count.
    ///
    /// # Safety
    /// `p` is a string of `len` bytes that is being created, with the memory of
    /// [`LuaString::size_for`].
    #[inline(always)]
    pub unsafe fn terminate(p: *mut LuaString, len: usize) {
        p.add(1).cast::<u8>().add(len).write(0);
    }

    /// Returns the contents with the terminating NUL, as C reads strings. They may contain other
    /// NULs.
    ///
    /// # Safety
    /// As [`LuaString::bytes`].
    #[inline(always)]
    pub unsafe fn bytes_with_nul<'a>(p: *const LuaString) -> &'a [u8] {
        std::slice::from_raw_parts(p.add(1).cast::<u8>(), (*p).len as usize + 1)
    }

    /// Returns whether the string is interned.
    ///
    /// # Safety
    /// `p` is a live string.
    #[inline(always)]
    pub unsafe fn is_short(p: *const LuaString) -> bool {
        (*p).header.aux == LuaString::SHORT
    }

    /// Compares two strings that are different objects for equality.
    ///
    /// # Safety
    /// Both are live strings.
    #[inline]
    pub unsafe fn eq_long(a: *const LuaString, b: *const LuaString) -> bool {
        !LuaString::is_short(a)
            && !LuaString::is_short(b)
            && (*a).len == (*b).len
            && LuaString::bytes(a) == LuaString::bytes(b)
    }

    /// Returns the hash. Computes it for a long string that has none yet.
    ///
    /// # Safety
    /// `p` is a live string.
    #[inline]
    pub unsafe fn hash(p: *mut LuaString) -> u32 {
        if (*p).header.aux == LuaString::LONG {
            (*p).header.word = hash_bytes(LuaString::bytes(p));
            (*p).header.aux = LuaString::LONG_HASHED;
        }
        (*p).header.word
    }
}

/// Returns whether `a` and `b` are equal. Used for strings so short that calling a function to
/// compare them would be most of the work.
#[inline(always)]
pub fn same_bytes(a: &[u8], b: &[u8]) -> bool {
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

/// Hashes the contents of a string. There is no seed, so strings that collide can be constructed.
/// Long strings are hashed completely.
#[inline]
pub const fn hash_bytes(bytes: &[u8]) -> u32 {
    // Eight bytes per step, multiply and fold, similar to foldhash and wyhash.
    const K: u64 = 0x9E37_79B9_7F4A_7C15;
    #[inline(always)]
    const fn fold(a: u64, b: u64) -> u64 {
        let m = (a as u128).wrapping_mul(b as u128);
        m as u64 ^ (m >> 64) as u64
    }
    let mut h = bytes.len() as u64 ^ 0xA076_1D64_78BD_642F;
    let (chunks, rest) = bytes.as_chunks::<8>();
    let mut i = 0;
    while i < chunks.len() {
        h = fold(h ^ u64::from_le_bytes(chunks[i]), K);
        i += 1;
    }
    if !rest.is_empty() {
        // The reads may overlap; copying the rest would be a call.
        let last = if let Some(last) = bytes.last_chunk::<8>() {
            u64::from_le_bytes(*last)
        } else if let (Some(low), Some(high)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>())
        {
            u32::from_le_bytes(*low) as u64 | (u32::from_le_bytes(*high) as u64) << 32
        } else {
            let n = bytes.len();
            bytes[0] as u64 | (bytes[n / 2] as u64) << 8 | (bytes[n - 1] as u64) << 16
        };
        h = fold(h ^ last, K);
    }
    let h = fold(h, 0xE703_7ED1_A0B4_28DB);
    (h ^ (h >> 32)) as u32
}
