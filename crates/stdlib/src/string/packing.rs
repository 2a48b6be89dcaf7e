//! Format strings of `string.pack` (manual 6.4.2), independent of a state.

/// Maximum size of an integer in bytes.
const MAX_INT_SIZE: i32 = 16;
/// The alignment that `!` without a number sets.
const NATIVE_ALIGN: i32 = 8;

/// The kind of data that an option packs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A signed integer.
    Int,
    /// An unsigned integer.
    Unsigned,
    /// A single float.
    Float,
    /// A double float.
    Double,
    /// A string of fixed size.
    Char,
    /// A string preceded by its length.
    Str,
    /// A string followed by a zero.
    ZeroStr,
    /// A byte of padding.
    Padding,
    /// Padding for the alignment of the next option.
    PadAlign,
    /// No data: a setting or a space.
    None,
}

/// An error in a format.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum FormatError {
    /// An error without an argument number.
    Plain(Vec<u8>),
    /// An error in argument 1.
    Argument(&'static str),
}

/// A parsed option.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Item {
    /// The kind of its data.
    pub(super) kind: Kind,
    /// Its size in bytes.
    pub(super) size: usize,
    /// Number of bytes of padding before it.
    pub(super) padding: usize,
}

/// Parses a format, option by option.
pub(super) struct Reader<'a> {
    format: &'a [u8],
    at: usize,
    /// Whether the least significant byte comes first.
    pub(super) little: bool,
    max_align: i32,
}

impl<'a> Reader<'a> {
    /// Starts at the beginning of a format, which ends at its first zero.
    pub(super) fn new(format: &'a [u8]) -> Reader<'a> {
        Reader { format, at: 0, little: cfg!(target_endian = "little"), max_align: 1 }
    }

    /// Returns whether the format ends here. Its first zero is not searched for in advance, as a
    /// format may be long.
    fn has_ended(&self) -> bool {
        self.format.get(self.at).is_none_or(|&c| c == 0)
    }

    fn number(&mut self, default: i32) -> i32 {
        if !self.format.get(self.at).is_some_and(u8::is_ascii_digit) {
            return default;
        }
        let mut n = 0i32;
        while let Some(d) = self.format.get(self.at).filter(|d| d.is_ascii_digit()) {
            n = n * 10 + i32::from(d - b'0');
            self.at += 1;
            if n > (i32::MAX - 9) / 10 {
                break;
            }
        }
        n
    }

    fn limited(&mut self, default: i32) -> Result<i32, FormatError> {
        let n = self.number(default);
        if !(1..=MAX_INT_SIZE).contains(&n) {
            let text = format!("integral size ({n}) out of limits [1,{MAX_INT_SIZE}]");
            return Err(FormatError::Plain(text.into_bytes()));
        }
        Ok(n)
    }

    fn option(&mut self) -> Result<(Kind, i32), FormatError> {
        let c = self.format[self.at];
        self.at += 1;
        Ok(match c {
            b'b' => (Kind::Int, 1),
            b'B' => (Kind::Unsigned, 1),
            b'h' => (Kind::Int, 2),
            b'H' => (Kind::Unsigned, 2),
            b'l' | b'j' => (Kind::Int, 8),
            b'L' | b'J' | b'T' => (Kind::Unsigned, 8),
            b'f' => (Kind::Float, 4),
            b'n' | b'd' => (Kind::Double, 8),
            b'i' => (Kind::Int, self.limited(4)?),
            b'I' => (Kind::Unsigned, self.limited(4)?),
            b's' => (Kind::Str, self.limited(8)?),
            b'c' => match self.number(-1) {
                -1 => {
                    let text = "missing size for format option 'c'";
                    return Err(FormatError::Plain(text.into()));
                }
                n => (Kind::Char, n),
            },
            b'z' => (Kind::ZeroStr, 0),
            b'x' => (Kind::Padding, 1),
            b'X' => (Kind::PadAlign, 0),
            b' ' => (Kind::None, 0),
            b'<' => {
                self.little = true;
                (Kind::None, 0)
            }
            b'>' => {
                self.little = false;
                (Kind::None, 0)
            }
            b'=' => {
                self.little = cfg!(target_endian = "little");
                (Kind::None, 0)
            }
            b'!' => {
                self.max_align = self.limited(NATIVE_ALIGN)?;
                (Kind::None, 0)
            }
            c => {
                let text = [b"invalid format option '", &[c][..], b"'"];
                return Err(FormatError::Plain(text.concat()));
            }
        })
    }

    /// Returns the next option, for an item that would start at `total`.
    pub(super) fn next(&mut self, total: usize) -> Result<Option<Item>, FormatError> {
        if self.has_ended() {
            return Ok(None);
        }
        let (kind, size) = self.option()?;
        let mut align = size;
        if kind == Kind::PadAlign {
            let wrong = FormatError::Argument("invalid next option for option 'X'");
            if self.has_ended() {
                return Err(wrong);
            }
            let (next, next_size) = self.option()?;
            if next == Kind::Char || next_size == 0 {
                return Err(wrong);
            }
            align = next_size;
        }
        let mut padding = 0;
        if align > 1 && kind != Kind::Char {
            align = align.min(self.max_align);
            if align & (align - 1) != 0 {
                return Err(FormatError::Argument("format asks for alignment not power of 2"));
            }
            let mask = (align - 1) as usize;
            padding = (align as usize - (total & mask)) & mask;
        }
        Ok(Some(Item { kind, size: size as usize, padding }))
    }
}

/// Appends an integer of `size` bytes. Bytes beyond the eighth are 0xFF if `negative`, or else 0.
pub(super) fn write_int(out: &mut Vec<u8>, n: u64, little: bool, size: usize, negative: bool) {
    let start = out.len();
    let bytes = n.to_le_bytes();
    out.extend_from_slice(&bytes[..size.min(8)]);
    if size > 8 {
        out.resize(start + size, if negative { 0xFF } else { 0 });
    }
    if !little {
        out[start..].reverse();
    }
}

/// Reads an integer of up to 16 bytes; `None` if it does not fit 64 bits.
pub(super) fn read_int(data: &[u8], little: bool, signed: bool) -> Option<i64> {
    let size = data.len();
    let byte = |i: usize| if little { data[i] } else { data[size - 1 - i] };
    let mut n = 0u64;
    for i in (0..size.min(8)).rev() {
        n = n << 8 | u64::from(byte(i));
    }
    if size < 8 {
        if signed {
            let mask = 1u64 << (size * 8 - 1);
            n = (n ^ mask).wrapping_sub(mask);
        }
    } else {
        let fill = if signed && (n as i64) < 0 { 0xFF } else { 0 };
        if (8..size).any(|i| byte(i) != fill) {
            return None;
        }
    }
    Some(n as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(f: &str) -> Result<Vec<Item>, FormatError> {
        let mut r = Reader::new(f.as_bytes());
        let (mut all, mut total) = (Vec::new(), 0);
        while let Some(i) = r.next(total)? {
            total += i.padding + i.size;
            all.push(i);
        }
        Ok(all)
    }

    #[test]
    fn alignment() {
        let all = items("!b i4 Xd d").unwrap();
        let pads: Vec<_> = all.iter().filter(|i| i.kind != Kind::None).map(|i| i.padding).collect();
        assert_eq!(pads, [0, 3, 0, 0]);
        assert!(matches!(items("!4 i3"), Err(FormatError::Argument(_))));
        assert!(matches!(items("i17"), Err(FormatError::Plain(_))));
        assert!(matches!(items("c"), Err(FormatError::Plain(_))));
        assert!(matches!(items("X"), Err(FormatError::Argument(_))));
        assert!(matches!(items("Xc1"), Err(FormatError::Argument(_))));
        assert!(matches!(items("y"), Err(FormatError::Plain(_))));
    }

    #[test]
    fn integers() {
        for size in 1..=16 {
            for little in [true, false] {
                for n in [0i64, 1, -1, 100, -100] {
                    let mut out = Vec::new();
                    write_int(&mut out, n as u64, little, size, n < 0);
                    assert_eq!(out.len(), size);
                    assert_eq!(read_int(&out, little, true), Some(n));
                }
            }
        }
        assert_eq!(read_int(&[0xFF; 8], true, false), Some(-1));
        assert_eq!(read_int(&[0xFF; 9], true, false), None);
        assert_eq!(read_int(&[0, 1], false, false), Some(1));
    }
}
