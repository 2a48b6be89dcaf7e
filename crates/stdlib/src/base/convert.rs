//! `tostring` and `tonumber`.

use perilune_runtime::meta::Event;
use perilune_runtime::native::{Cx, NativeResult, Val};

/// Returns whether `tostring` of this value needs no call, because it is the string itself or the
/// plain number.
pub(crate) fn is_plain(cx: &Cx, v: Val<'_>) -> bool {
    (v.is_number() || v.as_str().is_some()) && cx.metamethod(v, Event::ToString).is_nil()
}

/// Implements `tostring(v)`.
pub(super) fn tostring(cx: &mut Cx) -> NativeResult {
    let v = cx.check_any(0)?;
    if is_plain(cx, v) {
        if v.as_str().is_some() {
            return cx.ret1(v);
        }
        return cx.ret1(cx.number_to_str(v).val());
    }
    cx.push_tostring(0)?;
    cx.ret(1)
}

/// Implements `tonumber(v [, base])`.
pub(super) fn tonumber(cx: &mut Cx) -> NativeResult {
    if cx.get(1).is_nil() {
        let v = cx.get(0);
        if v.is_number() {
            return cx.ret1(v);
        }
        if let Some(s) = v.as_str() {
            return match short_integer(s.bytes()) {
                Some(n) => cx.ret1(Val::int(n)),
                None => cx.ret1(cx.to_number(v).unwrap_or(Val::NIL)),
            };
        }
        cx.check_any(0)?;
        return cx.ret1(Val::NIL);
    }
    let base = cx.check_int(1)?;
    let Some(s) = cx.get(0).as_str() else { return Err(cx.type_error(0, "string")) };
    if !(2..=36).contains(&base) {
        return Err(cx.arg_error(1, "base out of range"));
    }
    let n = parse_integer(s.bytes(), base as u64, || cx.interrupt_pending());
    if s.bytes().len() > DIGITS_BETWEEN_POLLS {
        cx.interrupted()?;
    }
    cx.ret1(n.map_or(Val::NIL, Val::int))
}

/// Parses the most common numeral: decimal digits that cannot overflow.
#[inline]
fn short_integer(s: &[u8]) -> Option<i64> {
    if s.is_empty() || s.len() > 18 {
        return None;
    }
    let mut n = 0i64;
    for b in s {
        let digit = b.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        n = n * 10 + i64::from(digit);
    }
    Some(n)
}

/// Returns whether the byte is one of C's white-space characters.
pub(crate) fn is_space(b: u8) -> bool {
    matches!(b, b' ' | b'\t'..=b'\r')
}

/// Number of digits between two checks whether the script must stop.
const DIGITS_BETWEEN_POLLS: usize = 1 << 20;

/// Parses an integer numeral in a base, with wrap-around and optional surrounding spaces. Also
/// returns `None` if the script must stop.
fn parse_integer(s: &[u8], base: u64, stop: impl Fn() -> bool) -> Option<i64> {
    let s = &s[s.iter().take_while(|b| is_space(**b)).count()..];
    let (negative, s) = match s.first() {
        Some(b'-') => (true, &s[1..]),
        Some(b'+') => (false, &s[1..]),
        _ => (false, s),
    };
    let (mut n, mut digits) = (0u64, 0);
    for b in s {
        let digit = match b {
            b'0'..=b'9' => b - b'0',
            b'A'..=b'Z' | b'a'..=b'z' => b.to_ascii_uppercase() - b'A' + 10,
            _ => break,
        };
        if u64::from(digit) >= base {
            return None;
        }
        n = n.wrapping_mul(base).wrapping_add(u64::from(digit));
        digits += 1;
        if digits % DIGITS_BETWEEN_POLLS == 0 && stop() {
            return None;
        }
    }
    if digits == 0 || !s[digits..].iter().all(|b| is_space(*b)) {
        return None;
    }
    Some(if negative { n.wrapping_neg() } else { n } as i64)
}

#[cfg(test)]
mod tests {
    fn parse(s: &[u8], base: u64) -> Option<i64> {
        super::parse_integer(s, base, || false)
    }

    #[test]
    fn integers_in_bases() {
        assert_eq!(parse(b"  -ff\n", 16), Some(-255));
        assert_eq!(parse(b"zz", 36), Some(35 * 36 + 35));
        assert_eq!(parse(b"8", 8), None);
        assert_eq!(parse(b"", 10), None);
        assert_eq!(parse(b"1 1", 10), None);
        assert_eq!(parse(b"1\0", 10), None);
        assert_eq!(parse(b"ffffffffffffffff", 16), Some(-1));
        assert_eq!(parse(b"- 1", 10), None);
    }
}
