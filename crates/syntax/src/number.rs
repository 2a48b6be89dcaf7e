//! Numerals (manual 3.1 and 3.4.3): the conversion from text to numbers that is used for source
//! code, `tonumber` and string arithmetic.

/// A number of either subtype.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Number {
    /// An integer.
    Integer(i64),
    /// A float.
    Float(f64),
}

/// Converts a whole numeral, with optional sign and surrounding whitespace, to a number.
///
/// Hexadecimal integers wrap around; decimal integers that do not fit become floats. Returns `None`
/// for anything else, including `inf` and `nan`.
pub fn str2number(text: &[u8]) -> Option<Number> {
    let text = trim(text);
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    if let [b'0', b'x' | b'X', hex @ ..] = digits {
        return match hex_integer(hex) {
            Some(value) => {
                Some(Number::Integer(if negative { value.wrapping_neg() } else { value }))
            }
            None => {
                hex_float(hex).map(|value| Number::Float(if negative { -value } else { value }))
            }
        };
    }
    if let Some(value) = decimal_integer(digits, negative) {
        return Some(Number::Integer(value));
    }
    if !is_decimal_float(digits) {
        return None;
    }
    let value: f64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    Some(Number::Float(if negative { -value } else { value }))
}

/// Returns whether C's `isspace` holds in the "C" locale.
pub fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// Returns the value of a hexadecimal digit.
pub fn hex_value(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}

fn trim(text: &[u8]) -> &[u8] {
    let text = &text[count_leading(text, is_space)..];
    let end = text.iter().rposition(|&b| !is_space(b)).map_or(0, |last| last + 1);
    &text[..end]
}

/// Returns the number of leading bytes for which `is` holds.
///
/// Tests pieces of the text without a branch for each byte, since a text can have megabytes of
/// them.
fn count_leading(text: &[u8], is: impl Fn(u8) -> bool) -> usize {
    let all = |piece: &&[u8]| piece.iter().fold(true, |all, &byte| all & is(byte));
    let pieces = text.chunks_exact(64).take_while(all).count() * 64;
    pieces + text[pieces..].iter().take_while(|&&byte| is(byte)).count()
}

fn hex_integer(digits: &[u8]) -> Option<i64> {
    if digits.is_empty() {
        return None;
    }
    // The value wraps around, so only the last digits count.
    let (ahead, last) = digits.split_at(digits.len().saturating_sub(16));
    let all_hex = |piece: &[u8]| piece.iter().fold(true, |all, b| all & b.is_ascii_hexdigit());
    if !ahead.chunks(64).all(all_hex) {
        return None;
    }
    let mut value: u64 = 0;
    for &byte in last {
        value = value.wrapping_mul(16).wrapping_add(u64::from(hex_value(byte)?));
    }
    Some(value as i64)
}

fn decimal_integer(digits: &[u8], negative: bool) -> Option<i64> {
    if digits.is_empty() {
        return None;
    }
    let mut value: i64 = 0;
    for &byte in digits {
        if !byte.is_ascii_digit() {
            return None;
        }
        // Accumulates on the negative side, where the range is larger by one.
        value = value.checked_mul(10)?.checked_sub(i64::from(byte - b'0'))?;
    }
    if negative { Some(value) } else { value.checked_neg() }
}

/// Returns whether the text has the form `digits [. digits] [e [sign] digits]`, with at least one
/// digit in the mantissa.
fn is_decimal_float(text: &[u8]) -> bool {
    let (whole, rest) = split_digits(text);
    let (fraction, rest) = match rest {
        [b'.', rest @ ..] => split_digits(rest),
        _ => (0, rest),
    };
    if whole + fraction == 0 {
        return false;
    }
    match rest {
        [] => true,
        [b'e' | b'E', b'+' | b'-', exponent @ ..] | [b'e' | b'E', exponent @ ..] => {
            !exponent.is_empty() && split_digits(exponent).1.is_empty()
        }
        _ => false,
    }
}

fn split_digits(text: &[u8]) -> (usize, &[u8]) {
    let count = count_leading(text, |byte| byte.is_ascii_digit());
    (count, &text[count..])
}

/// Returns the value of a hexadecimal float, given the text after `0x`, rounded to nearest even as
/// by C99's `strtod`.
fn hex_float(text: &[u8]) -> Option<f64> {
    let mut mantissa: u64 = 0;
    let mut sticky = false;
    let mut exponent: i64 = 0;
    let mut any_digit = false;
    let mut after_point = false;
    let mut position = 0;
    while let Some(&byte) = text.get(position) {
        if byte == b'.' && !after_point {
            after_point = true;
        } else if let Some(digit) = hex_value(byte) {
            any_digit = true;
            if mantissa >> 60 == 0 {
                mantissa = mantissa << 4 | u64::from(digit);
                exponent -= if after_point { 4 } else { 0 };
            } else {
                sticky |= digit != 0;
                exponent += if after_point { 0 } else { 4 };
            }
        } else {
            break;
        }
        position += 1;
    }
    if !any_digit {
        return None;
    }
    match &text[position..] {
        [] => {}
        [b'p' | b'P', sign @ (b'+' | b'-'), digits @ ..] => {
            let value = binary_exponent(digits)?;
            exponent += if *sign == b'-' { -value } else { value };
        }
        [b'p' | b'P', digits @ ..] => exponent += binary_exponent(digits)?,
        _ => return None,
    }
    Some(scale(mantissa, sticky, exponent))
}

fn binary_exponent(digits: &[u8]) -> Option<i64> {
    if digits.is_empty() {
        return None;
    }
    let mut value: i64 = 0;
    for &byte in digits {
        if !byte.is_ascii_digit() {
            return None;
        }
        // Saturates at a value far beyond what the mantissa digits of any source text can
        // compensate.
        value = (value * 10 + i64::from(byte - b'0')).min(1 << 50);
    }
    Some(value)
}

/// Returns `mantissa * 2^exponent`; `sticky` says that non-zero bits below the mantissa were cut
/// off.
fn scale(mantissa: u64, sticky: bool, exponent: i64) -> f64 {
    if mantissa == 0 {
        return 0.0;
    }
    let shift = mantissa.leading_zeros();
    let normal = mantissa << shift;
    // The value is `1.xxx * 2^top`, with its 64 significant bits in `normal`.
    let top = exponent - i64::from(shift) + 63;
    if top > 1023 {
        return f64::INFINITY;
    }
    let (dropped, biased) = if top >= -1022 { (11, top + 1023) } else { (11 + (-1022 - top), 0) };
    if dropped > 64 {
        return 0.0;
    }
    let dropped = dropped as u32;
    let kept = normal.checked_shr(dropped).unwrap_or(0);
    let rest = if dropped == 64 { normal } else { normal & ((1 << dropped) - 1) };
    let half = 1u64 << (dropped - 1);
    let round_up = rest > half || (rest == half && (sticky || kept & 1 == 1));
    // `kept` includes the hidden bit, so addition carries into the exponent, up to infinity.
    let exponent_bits = if biased > 0 { (biased as u64 - 1) << 52 } else { 0 };
    f64::from_bits(exponent_bits + kept + u64::from(round_up))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let got = str2number(text.as_bytes()).map(|n| match n {
            Number::Integer(i) => format!("{i}"),
            Number::Float(f) => format!("{f:?}"),
        });
        assert_eq!(got.as_deref().unwrap_or("none"), expect, "{text:?}");
    }

    #[test]
    fn integers() {
        check("0", "0");
        check(" \t\n\x0b\x0c\r42 \n", "42");
        check("-0", "0");
        check("+7", "7");
        check("9223372036854775807", "9223372036854775807");
        check("9223372036854775808", "9.223372036854776e18");
        check("-9223372036854775808", "-9223372036854775808");
        check("-9223372036854775809", "-9.223372036854776e18");
        check("0xffffffffffffffff", "-1");
        check("0x1ffffffffffffffff", "-1");
        check("-0x10", "-16");
        check("0X7f", "127");
    }

    #[test]
    fn floats() {
        check("1.", "1.0");
        check(".5", "0.5");
        check("1e2", "100.0");
        check("1E+2", "100.0");
        check("3e-2", "0.03");
        check("-0.0", "-0.0");
        check("1e999", "inf");
        check("-1e999", "-inf");
        check("1e-999", "0.0");
        check("0.1", "0.1");
        check("123456789012345678901234567890", "1.2345678901234568e29");
    }

    #[test]
    fn hexadecimal_floats() {
        check("0x.8", "0.5");
        check("0xA.8p1", "21.0");
        check("0x1p-1074", "5e-324");
        check("0x1p-1075", "0.0");
        check("0x1.8p-1075", "5e-324");
        check("0x1.00000000000001p-1075", "5e-324");
        check("0x.fffffffffffff8p-1022", "2.2250738585072014e-308");
        check("0x1.fffffffffffff8p1023", "inf");
        check("0x1.fffffffffffff7p1023", "1.7976931348623157e308");
        check("0x1p1024", "inf");
        check("0x1.00000000000008p0", "1.0");
        check("0x1.000000000000080000000000000001p0", "1.0000000000000002");
        check("0x1.00000000000018p0", "1.0000000000000004");
        check("0x0p99999999999999999999", "0.0");
        check("0x1p-99999999999999999999", "0.0");
        check("-0x.0", "-0.0");
        check(&format!("0x{}p-4000", "0".repeat(50) + "1" + &"0".repeat(1000)), "1.0");
        check(&format!("0x.{}1p4004", "0".repeat(1000)), "1.0");
    }

    #[test]
    fn rejects() {
        for text in [
            "", " ", "-", "+", "--1", "- 1", "0x", "-0x", "1e", "1e+", ".", ".e1", "inf", "nan",
            "-inf", "Infinity", "NaN", "1 2", "1x", "0x1p", "0xp1", "0x.p1", "0x1p+", "0x1.2.3",
            "1.2.3", "1_000", "1\0", "0x1g", "1e5.0", "0b1", "١",
        ] {
            check(text, "none");
        }
    }
}
