//! The library `utf8` (manual 6.5).

use perilune_runtime::native::{Cx, NativeFn, NativeResult, Raised, Val};

use crate::support::{finish, library, names, publish, reserve, take_buffer};

const FUNCTIONS: &[(&str, NativeFn)] =
    &[("offset", offset), ("codepoint", codepoint), ("char", char_), ("len", len)];

/// The largest code point of Unicode.
const MAX_UNICODE: u32 = 0x10_FFFF;
/// The largest value that six bytes can encode.
const MAX_UTF: u64 = 0x7FFF_FFFF;
/// Number of characters between two checks whether the script must stop, minus 1.
const POLL_MASK: i64 = 0xFFFF;
const INVALID: &str = "invalid UTF-8 code";

/// The names of the library's fields.
static NAMES: [&str; FUNCTIONS.len() + 2] = names(FUNCTIONS, &["codes", "charpattern"]);

/// Opens `utf8`.
///
/// # Errors
/// Returns "not enough memory".
pub fn open(cx: &mut Cx) -> Result<(), Raised> {
    let cx = &*cx;
    let lib = library(cx, &NAMES, FUNCTIONS);
    let (strict, lax) = (cx.func(next_strict, &[]), cx.func(next_lax, &[]));
    let codes = cx.func(codes, &[strict.val(), lax.val()]).hide_bound();
    lib.set_name(cx, "codes", codes.val());
    lib.set_name(cx, "charpattern", cx.str(b"[\0-\x7F\xC2-\xFD][\x80-\xBF]*").val());
    publish(cx, "utf8", lib);
    Ok(())
}

fn is_continuation(b: Option<&u8>) -> bool {
    b.is_some_and(|b| b & 0xC0 == 0x80)
}

/// Converts a position, which is relative to the end if it is negative; returns 0 if it is before
/// the start.
fn position(pos: i64, len: usize) -> i64 {
    if pos >= 0 {
        pos
    } else if pos.unsigned_abs() > len as u64 {
        0
    } else {
        len as i64 + pos + 1
    }
}

/// Decodes the character at the start of `s`; returns it and its length in bytes.
fn decode(s: &[u8], strict: bool) -> Option<(u32, usize)> {
    /// The least value of a sequence with this number of continuation bytes. The first entry
    /// rejects a leading continuation byte.
    const LEAST: [u32; 6] = [u32::MAX, 0x80, 0x800, 0x1_0000, 0x20_0000, 0x400_0000];
    let first = u32::from(s.first().copied().unwrap_or(0));
    if first < 0x80 {
        return Some((first, 1));
    }
    if let (0xC2..=0xDF, Some(next @ 0x80..=0xBF)) = (first, s.get(1)) {
        return Some(((first & 0x1F) << 6 | u32::from(next & 0x3F), 2));
    }
    let (mut c, mut count, mut n) = (first, 0, 0u32);
    while c & 0x40 != 0 {
        count += 1;
        let next = s.get(count).filter(|b| **b & 0xC0 == 0x80)?;
        n = n << 6 | u32::from(next & 0x3F);
        c <<= 1;
    }
    if count > 5 {
        return None;
    }
    n |= (c & 0x7F) << (count * 5);
    if u64::from(n) > MAX_UTF || n < LEAST[count] {
        return None;
    }
    if strict && (n > MAX_UNICODE || (0xD800..=0xDFFF).contains(&n)) {
        return None;
    }
    Some((n, count + 1))
}

/// Appends the shortest encoding of `n`, which is at most `MAX_UTF`.
pub(crate) fn encode(out: &mut Vec<u8>, mut n: u32) {
    if n < 0x80 {
        return out.push(n as u8);
    }
    let mut bytes = [0u8; 6];
    let mut at = 6;
    // The largest value that the first byte can hold.
    let mut most = 0x3F;
    loop {
        at -= 1;
        bytes[at] = 0x80 | (n & 0x3F) as u8;
        n >>= 6;
        most >>= 1;
        if n <= most {
            break;
        }
    }
    at -= 1;
    bytes[at] = (!most << 1) as u8 | n as u8;
    out.extend_from_slice(&bytes[at..]);
}

/// Implements `utf8.len(s [, i [, j [, lax]]])`.
fn len(cx: &mut Cx) -> NativeResult {
    let s = cx.check_str(0)?.bytes();
    let size = s.len() as i64;
    let i = position(cx.opt_int(1, 1)?, s.len());
    let j = position(cx.opt_int(2, -1)?, s.len());
    let strict = !cx.get(3).truthy();
    if i < 1 || i - 1 > size {
        return Err(cx.arg_error(1, "initial position out of bounds"));
    }
    if j > size {
        return Err(cx.arg_error(2, "final position out of bounds"));
    }
    let (mut at, mut n) = (i - 1, 0);
    while at < j {
        let Some((_, length)) = decode(&s[at as usize..], strict) else {
            cx.push(Val::NIL);
            cx.push(Val::int(at + 1));
            return cx.ret(2);
        };
        at += length as i64;
        n += 1;
        if n & POLL_MASK == 0 {
            cx.interrupted()?;
        }
    }
    cx.ret1(Val::int(n))
}

/// Implements `utf8.codepoint(s [, i [, j [, lax]]])`.
fn codepoint(cx: &mut Cx) -> NativeResult {
    let s = cx.check_str(0)?.bytes();
    let i = position(cx.opt_int(1, 1)?, s.len());
    let j = position(cx.opt_int(2, i)?, s.len());
    let strict = !cx.get(3).truthy();
    if i < 1 {
        return Err(cx.arg_error(1, "out of bounds"));
    }
    if j > s.len() as i64 {
        return Err(cx.arg_error(2, "out of bounds"));
    }
    if i > j {
        return cx.ret(0);
    }
    if j - i >= i64::from(i32::MAX) {
        return Err(cx.error("string slice too long"));
    }
    reserve(cx, (j - i + 1) as usize, "string slice too long")?;
    let (mut at, mut n) = (i as usize - 1, 0);
    while at < j as usize {
        let Some((c, length)) = decode(&s[at..], strict) else { return Err(cx.error(INVALID)) };
        cx.push(Val::int(i64::from(c)));
        at += length;
        n += 1;
    }
    cx.ret(n)
}

/// Implements `utf8.char(…)`.
fn char_(cx: &mut Cx) -> NativeResult {
    let mut out = take_buffer();
    for i in 0..cx.top() {
        let c = cx.check_int(i)? as u64;
        if c > MAX_UTF {
            return Err(cx.arg_error(i, "value out of range"));
        }
        encode(&mut out, c as u32);
    }
    finish(cx, out)
}

/// Implements `utf8.offset(s, n [, i])`.
fn offset(cx: &mut Cx) -> NativeResult {
    let s = cx.check_str(0)?.bytes();
    let mut n = cx.check_int(1)?;
    let default = if n >= 0 { 1 } else { s.len() as i64 + 1 };
    let i = position(cx.opt_int(2, default)?, s.len());
    if i < 1 || i - 1 > s.len() as i64 {
        return Err(cx.arg_error(2, "position out of bounds"));
    }
    let mut at = i as usize - 1;
    if n == 0 {
        while at > 0 && is_continuation(s.get(at)) {
            at -= 1;
        }
    } else {
        if is_continuation(s.get(at)) {
            return Err(cx.error("initial position is a continuation byte"));
        }
        while n < 0 && at > 0 {
            at -= 1;
            while at > 0 && is_continuation(s.get(at)) {
                at -= 1;
            }
            n += 1;
            if n & POLL_MASK == 0 {
                cx.interrupted()?;
            }
        }
        if n > 0 {
            n -= 1;
            while n > 0 && at < s.len() {
                at += 1;
                while is_continuation(s.get(at)) {
                    at += 1;
                }
                n -= 1;
                if n & POLL_MASK == 0 {
                    cx.interrupted()?;
                }
            }
        }
    }
    cx.ret1(if n == 0 { Val::int(at as i64 + 1) } else { Val::NIL })
}

/// Implements `utf8.codes(s [, lax])`; the strict and the lax iterator are its bound values.
fn codes(cx: &mut Cx) -> NativeResult {
    let lax = cx.get(1).truthy();
    let s = cx.check_str(0)?;
    if is_continuation(s.bytes().first()) {
        return Err(cx.arg_error(0, INVALID));
    }
    cx.push(cx.bound(usize::from(lax)));
    cx.push(s.val());
    cx.push(Val::int(0));
    cx.ret(3)
}

#[inline(always)]
fn next(cx: &Cx, strict: bool) -> NativeResult {
    let s = cx.check_str(0)?.bytes();
    let i = cx.get(1);
    let mut at = i.as_int().or_else(|| cx.to_integer(i)).unwrap_or(0) as u64;
    if at < s.len() as u64 {
        while is_continuation(s.get(at as usize)) {
            at += 1;
        }
    }
    if at >= s.len() as u64 {
        return cx.ret(0);
    }
    let at = at as usize;
    match decode(&s[at..], strict) {
        Some((c, length)) if !is_continuation(s.get(at + length)) => {
            cx.push(Val::int(at as i64 + 1));
            cx.push(Val::int(i64::from(c)));
            cx.ret(2)
        }
        _ => Err(cx.error(INVALID)),
    }
}

fn next_strict(cx: &mut Cx) -> NativeResult {
    next(cx, true)
}

fn next_lax(cx: &mut Cx) -> NativeResult {
    next(cx, false)
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};

    #[test]
    fn there_and_back() {
        for n in [0, 0x7F, 0x80, 0x7FF, 0x800, 0xFFFF, 0x1_0000, 0x10_FFFF, 0x1F_FFFF, 0x20_0000] {
            let mut s = Vec::new();
            encode(&mut s, n);
            assert_eq!(decode(&s, false), Some((n, s.len())));
            if let Some(c) = char::from_u32(n) {
                assert_eq!(s, c.to_string().into_bytes());
            }
        }
        let mut s = Vec::new();
        encode(&mut s, 0x7FFF_FFFF);
        assert_eq!(s, b"\xFD\xBF\xBF\xBF\xBF\xBF");
        assert_eq!(decode(&s, false), Some((0x7FFF_FFFF, 6)));
        assert_eq!(decode(&s, true), None);
        assert_eq!(decode(b"\xC0\x80", false), None);
        assert_eq!(decode(b"\xED\xA0\x80", true), None);
        assert_eq!(decode(b"\xED\xA0\x80", false), Some((0xD800, 3)));
        assert_eq!(decode(b"\x80", false), None);
        assert_eq!(decode(b"\xE2\x82", false), None);
        assert_eq!(decode(b"\xFF\x80\x80\x80\x80\x80\x80\x80", false), None);
    }
}
