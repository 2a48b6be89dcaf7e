//! Sets of bytes: character classes of patterns.

/// A set of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ByteSet([u64; 4]);

impl ByteSet {
    /// The empty set.
    pub(crate) const EMPTY: ByteSet = ByteSet([0; 4]);

    /// The set of all bytes.
    pub(crate) const ALL: ByteSet = ByteSet([u64::MAX; 4]);

    /// Returns the set of one byte.
    pub(crate) const fn of(b: u8) -> ByteSet {
        let mut set = ByteSet::EMPTY;
        set.add(b);
        set
    }

    /// Returns the set of these bytes.
    pub(crate) const fn of_all(bytes: &[u8]) -> ByteSet {
        let mut set = ByteSet::EMPTY;
        let mut i = 0;
        while i < bytes.len() {
            set.add(bytes[i]);
            i += 1;
        }
        set
    }

    /// Returns the byte of a set that has only one.
    pub(crate) fn only_byte(&self) -> Option<u8> {
        let b = (0..=u8::MAX).find(|b| self.has(*b))?;
        (*self == ByteSet::of(b)).then_some(b)
    }

    /// Returns whether the two sets have a byte in common.
    pub(crate) fn meets(&self, other: &ByteSet) -> bool {
        self.0.iter().zip(other.0).any(|(a, b)| a & b != 0)
    }

    /// Returns whether the byte is in the set.
    #[inline(always)]
    pub(crate) fn has(&self, b: u8) -> bool {
        self.0[(b >> 6) as usize] >> (b & 63) & 1 != 0
    }
    /// Adds a byte.
    pub(crate) const fn add(&mut self, b: u8) {
        self.0[(b >> 6) as usize] |= 1 << (b & 63);
    }
    /// Adds all bytes of another set.
    pub(crate) fn add_all(&mut self, other: &ByteSet) {
        for (a, b) in self.0.iter_mut().zip(other.0) {
            *a |= b;
        }
    }
    /// Returns the complement.
    pub(crate) fn complement(&self) -> ByteSet {
        ByteSet(self.0.map(|w| !w))
    }

    const fn by(f: u8) -> ByteSet {
        let mut set = ByteSet::EMPTY;
        let mut b = 0u8;
        while b < 128 {
            let is = match f {
                b'a' => b.is_ascii_alphabetic(),
                b'c' => b.is_ascii_control(),
                b'd' => b.is_ascii_digit(),
                b'g' => b.is_ascii_graphic(),
                b'l' => b.is_ascii_lowercase(),
                b'p' => b.is_ascii_punctuation(),
                b's' => b == b' ' || (b >= b'\t' && b <= b'\r'),
                b'u' => b.is_ascii_uppercase(),
                b'w' => b.is_ascii_alphanumeric(),
                b'x' => b.is_ascii_hexdigit(),
                b'z' => b == 0,
                _ => false,
            };
            if is {
                set.add(b);
            }
            b += 1;
        }
        set
    }

    /// Returns the set of a class letter (`%a`, its complement `%A`, …); `None` for other letters.
    pub(crate) fn class(letter: u8) -> Option<ByteSet> {
        const LETTERS: &[u8; 11] = b"acdglpsuwxz";
        const SETS: [ByteSet; 11] = {
            let mut sets = [ByteSet::EMPTY; 11];
            let mut i = 0;
            while i < 11 {
                sets[i] = ByteSet::by(LETTERS[i]);
                i += 1;
            }
            sets
        };
        let i = LETTERS.iter().position(|l| *l == letter.to_ascii_lowercase())?;
        Some(if letter.is_ascii_uppercase() { SETS[i].complement() } else { SETS[i] })
    }
}
