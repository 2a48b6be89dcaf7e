//! String objects.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::LazyLock;

use crate::header::GcHeader;

/// Maximum length of an interned string.
pub const MAX_SHORT: usize = 40;

/// A string: header, length and bytes. Immutable.
///
/// Short strings (up to [`MAX_SHORT`] bytes) are interned per state: equal short strings are the
/// same object, and their hash is in `header.word` from their creation on. Long strings are hashed
/// lazily.
#[repr(C)]
pub struct LuaString {
    /// `aux` is one of the class constants, `word` the hash.
    pub header: GcHeader,
    /// Number of bytes.
    pub len: u32,
    /// What the state uses the string for: a combination of [`LuaString::NAMES_FIELD`] and
    /// [`LuaString::INHERITED`].
    pub uses: u32,
    // The bytes follow, and a NUL, so that C code can borrow them.
}

const _: () = assert!(size_of::<LuaString>() == 16);

impl LuaString {
    /// An instruction of a function of the state names a field by this string. A store under a
    /// computed key that is this string may then add a field, too. See [`Table::set_str`].
    ///
    /// [`Table::set_str`]: crate::table::Table::set_str
    pub const NAMES_FIELD: u32 = 1;
    /// A cache may record where a field of this name is in a chain of `__index` tables, or that it
    /// is absent. Changes of such fields in watched tables invalidate caches.
    pub const INHERITED: u32 = 2;
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

/// Returns whether `a` and `b` are equal. Used for strings that are so short that calling a
/// comparison function would be most of the work.
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

/// The seed of this process's hashes.
static SEED: LazyLock<Seed> = LazyLock::new(|| Seed::new(RandomState::new().hash_one(0)));

/// What hashes depend on besides the bytes. A program that reads its input from elsewhere could
/// otherwise be given strings that all have one hash.
#[derive(Clone, Copy)]
struct Seed {
    start: u64,
    factor: u64,
}

impl Seed {
    fn new(random: u64) -> Seed {
        // A factor with many bits in all of its parts: products depend on the whole input.
        let factor = random.rotate_left(32) & 0x5555_5555_5555_5555 | 0x8A02_2A88_2A20_A00B;
        Seed { start: random ^ 0xA076_1D64_78BD_642F, factor }
    }
}

/// Hashes the contents of a string, with a seed that is specific to the process. Long strings are
/// hashed completely.
#[inline]
pub fn hash_bytes(bytes: &[u8]) -> u32 {
    hash_with(*SEED, bytes)
}

/// Hashes with this seed: eight bytes per step, multiply and fold, similar to foldhash and wyhash.
#[inline(always)]
fn hash_with(Seed { start, factor }: Seed, bytes: &[u8]) -> u32 {
    #[inline(always)]
    fn fold(a: u64, b: u64) -> u64 {
        let m = u128::from(a).wrapping_mul(u128::from(b));
        m as u64 ^ (m >> 64) as u64
    }
    // The length changes all bits, as "0", "30" and "200" would have one hash otherwise.
    let mut h = (bytes.len() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ start;
    let (chunks, rest) = bytes.as_chunks::<8>();
    for chunk in chunks {
        h = fold(h ^ u64::from_le_bytes(*chunk), factor);
    }
    if !rest.is_empty() {
        // The reads may overlap; copying the rest would be a call.
        let last = if let Some(last) = bytes.last_chunk::<8>() {
            u64::from_le_bytes(*last)
        } else if let (Some(low), Some(high)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>())
        {
            u64::from(u32::from_le_bytes(*low)) | u64::from(u32::from_le_bytes(*high)) << 32
        } else {
            let n = bytes.len();
            u64::from(bytes[0]) | u64::from(bytes[n / 2]) << 8 | u64::from(bytes[n - 1]) << 16
        };
        h = fold(h ^ last, factor);
    }
    let h = fold(h, 0xE703_7ED1_A0B4_28DB);
    (h ^ (h >> 32)) as u32
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    /// Short strings of all lengths, many of which differ in few bits.
    fn strings() -> Vec<String> {
        let numbered = (0..150_000).map(|n| format!("{n}"));
        let keyed = (0..150_000).map(|n| format!("key_{n:08}_of_table"));
        numbered.chain(keyed).collect()
    }

    fn collisions(seed: Seed, strings: &[String]) -> Vec<(&str, &str)> {
        let mut seen: HashMap<u32, &str> = HashMap::new();
        let pairs = strings.iter().filter_map(|s| {
            let other = seen.insert(hash_with(seed, s.as_bytes()), s)?;
            Some((other, s.as_str()))
        });
        pairs.collect()
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes too long")]
    fn strings_that_collide_in_one_process_do_not_in_another() {
        let strings = strings();
        for random in [0, 1, u64::MAX, 0x0123_4567_89AB_CDEF, 1 << 63] {
            let pairs = collisions(Seed::new(random), &strings);
            // of 300 000 random numbers of 32 bits, about 10 pairs are equal
            assert!((1..60).contains(&pairs.len()), "{random:x}: {}", pairs.len());
            let other = Seed::new(random ^ 0x5DEE_CE66);
            let again = pairs
                .iter()
                .filter(|(a, b)| hash_with(other, a.as_bytes()) == hash_with(other, b.as_bytes()));
            assert_eq!(again.count(), 0, "{random:x}");
        }
    }

    #[test]
    fn a_process_has_one_seed() {
        assert_eq!(hash_bytes(b"name"), hash_bytes(b"name"));
        assert_ne!(SEED.start, Seed::new(0).start);
    }
}
