//! Formatting of numbers and strings as with C's `printf`, byte for byte as in glibc.
//!
//! Floats are converted exactly, so every digit is right at any precision: by Rust's `{:e}` and
//! `{:.p}` or, where 128 bits hold the exact product with a power of ten, from that product
//! ([`crate::decimal`]). The functions that format a number or a string append to a buffer.

use std::fmt::Write as _;

use crate::decimal::{self, PAIRS};

/// Flags, width and precision of a conversion.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Spec {
    /// `-`: pad on the right.
    pub left: bool,
    /// `+`: always write a sign.
    pub plus: bool,
    /// ` `: a space in place of a plus sign.
    pub space: bool,
    /// `#`: the alternative form.
    pub alt: bool,
    /// `0`: pad with zeros after the sign.
    pub zero: bool,
    /// Minimum number of bytes.
    pub width: usize,
    /// Number of digits, or maximum number of bytes of a string.
    pub precision: Option<usize>,
}

/// A text buffer of fixed size for the result of Rust's own formatting.
struct Text<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> Text<N> {
    fn new() -> Text<N> {
        Text { bytes: [0; N], len: 0 }
    }
    fn get(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl<const N: usize> std::fmt::Write for Text<N> {
    fn write_str(&mut self, s: &str) -> std::fmt::Result {
        let end = self.len + s.len();
        self.bytes.get_mut(self.len..end).ok_or(std::fmt::Error)?.copy_from_slice(s.as_bytes());
        self.len = end;
        Ok(())
    }
}

/// Maximum precision for which a small buffer suffices.
const FEW_DIGITS: usize = 20;
/// Size of a buffer for [`FEW_DIGITS`] and the other characters of a number.
const SMALL: usize = 48;
/// Size of a buffer for any number with the maximum precision of `string.format`.
const LARGE: usize = 1152;

/// Appends an unsigned integer in decimal.
pub fn write_u64(buf: &mut Vec<u8>, n: u64) {
    let mut digits = [0; 20];
    let at = put_digits(n, &mut digits);
    buf.extend_from_slice(&digits[at..]);
}

/// Writes the decimal digits of `n` to the end of the buffer; returns where they begin.
#[inline]
fn put_digits(mut n: u64, digits: &mut [u8; 20]) -> usize {
    let mut at = digits.len();
    while n >= 100 {
        let pair = (n % 100) as usize * 2;
        n /= 100;
        at -= 2;
        digits[at..at + 2].copy_from_slice(&PAIRS[pair..pair + 2]);
    }
    if n >= 10 {
        let pair = n as usize * 2;
        at -= 2;
        digits[at..at + 2].copy_from_slice(&PAIRS[pair..pair + 2]);
    } else {
        at -= 1;
        digits[at] = b'0' + n as u8;
    }
    at
}

/// Formats an integer as `%d`.
#[inline]
pub fn decimal(n: i64, buffer: &mut [u8; 20]) -> &[u8] {
    // twenty bytes suffice: the least integer has nineteen digits
    let mut at = put_digits(n.unsigned_abs(), buffer);
    if n < 0 {
        at -= 1;
        buffer[at] = b'-';
    }
    &buffer[at..]
}

/// Appends an integer as `%d` does.
#[inline]
pub fn write_int(buf: &mut Vec<u8>, n: i64) {
    if n < 0 {
        buf.push(b'-');
    }
    write_u64(buf, n.unsigned_abs());
}

/// Appends a float as `%.14g` does.
pub fn write_g14(buf: &mut Vec<u8>, x: f64) {
    // Programs mostly print small integral values.
    if x.abs() < 1e14 {
        let n = x as i64;
        if n as f64 == x && (n != 0 || x.is_sign_positive()) {
            write_int(buf, n);
            return;
        }
    }
    format_float(buf, x, b'g', &Spec { precision: Some(14), ..Spec::default() });
}

/// Pads the text that begins at `start` to the width. The `prefix` bytes (sign, `0x`) stay before
/// the zeros.
fn pad(buf: &mut Vec<u8>, start: usize, prefix: usize, zero: bool, spec: &Spec) {
    let len = buf.len() - start;
    if len >= spec.width {
        return;
    }
    let n = spec.width - len;
    buf.resize(start + spec.width, b' ');
    if spec.left {
        return;
    }
    let at = if zero { start + prefix } else { start };
    buf.copy_within(at..start + len, at + n);
    if zero {
        buf[at..at + n].fill(b'0');
    } else {
        buf[at..at + n].fill(b' ');
    }
}

fn write_sign(buf: &mut Vec<u8>, negative: bool, spec: &Spec) {
    if negative {
        buf.push(b'-');
    } else if spec.plus {
        buf.push(b'+');
    } else if spec.space {
        buf.push(b' ');
    }
}

/// Appends an integer by conversion `d`, `i`, `u`, `o`, `x` or `X`.
pub fn format_int(buf: &mut Vec<u8>, n: i64, conversion: u8, spec: &Spec) {
    let start = buf.len();
    let mut text = [0u8; 24];
    let mut at = text.len();
    let signed = matches!(conversion, b'd' | b'i');
    let mut rest = if signed { n.unsigned_abs() } else { n as u64 };
    if signed {
        write_sign(buf, n < 0, spec);
    } else if spec.alt && rest != 0 && matches!(conversion, b'x' | b'X') {
        buf.extend_from_slice(&[b'0', conversion]);
    }
    let prefix = buf.len() - start;
    let (shift, digits) = match conversion {
        b'x' => (4, b"0123456789abcdef"),
        b'X' => (4, b"0123456789ABCDEF"),
        b'o' => (3, b"0123456789abcdef"),
        _ => (0, b"0123456789abcdef"),
    };
    while rest != 0 {
        at -= 1;
        if shift == 0 {
            text[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
        } else {
            text[at] = digits[rest as usize & ((1 << shift) - 1)];
            rest >>= shift;
        }
    }
    let count = text.len() - at;
    let mut least = spec.precision.unwrap_or(1);
    if conversion == b'o' && spec.alt && least <= count {
        least = count + 1;
    }
    buf.extend(std::iter::repeat_n(b'0', least.saturating_sub(count)));
    buf.extend_from_slice(&text[at..]);
    pad(buf, start, prefix, spec.zero && spec.precision.is_none(), spec);
}

/// Appends a string, truncated to the precision and padded to the width (`%s`, `%c`).
pub fn format_str(buf: &mut Vec<u8>, s: &[u8], spec: &Spec) {
    let start = buf.len();
    buf.extend_from_slice(&s[..s.len().min(spec.precision.unwrap_or(usize::MAX))]);
    pad(buf, start, 0, false, spec);
}

/// Like [`format_str`], for the string that the buffer has from `start` on.
pub fn fit_str(buf: &mut Vec<u8>, start: usize, spec: &Spec) {
    if let Some(most) = spec.precision {
        buf.truncate(start.saturating_add(most));
    }
    pad(buf, start, 0, false, spec);
}

/// Returns the bytes that `%s` shows: those before the first zero.
pub fn c_str(bytes: &[u8]) -> &[u8] {
    bytes.split(|b| *b == 0).next().unwrap_or(bytes)
}

/// Appends an address as `%p` does.
pub fn format_pointer(buf: &mut Vec<u8>, address: u64, spec: &Spec) {
    format_int(
        buf,
        address as i64,
        b'x',
        &Spec { alt: true, zero: false, precision: None, ..*spec },
    );
}

/// Appends a float by conversion `a`, `e`, `f`, `g` or their upper-case forms.
pub fn format_float(buf: &mut Vec<u8>, x: f64, conversion: u8, spec: &Spec) {
    let start = buf.len();
    write_sign(buf, x.is_sign_negative(), spec);
    let mut prefix = buf.len() - start;
    let x = x.abs();
    let mut zero = spec.zero;
    if !x.is_finite() {
        buf.extend_from_slice(if x.is_nan() { b"nan" } else { b"inf" });
        zero = false;
    } else {
        match conversion.to_ascii_lowercase() {
            b'a' => {
                prefix += 2;
                write_hex(buf, x, spec);
            }
            b'e' => {
                let precision = spec.precision.unwrap_or(6);
                if precision <= FEW_DIGITS {
                    let (digits, exponent) = scientific::<SMALL>(x, precision);
                    write_exponent_form(buf, digits.get(), exponent, spec.alt);
                } else {
                    let (digits, exponent) = scientific::<LARGE>(x, precision);
                    write_exponent_form(buf, digits.get(), exponent, spec.alt);
                }
            }
            b'f' => {
                let precision = spec.precision.unwrap_or(6);
                if x < 1e15 && precision <= FEW_DIGITS {
                    write_fixed::<SMALL>(buf, x, precision);
                } else {
                    write_fixed::<LARGE>(buf, x, precision);
                }
                if precision == 0 && spec.alt {
                    buf.push(b'.');
                }
            }
            _ if spec.precision.unwrap_or(6) <= FEW_DIGITS => {
                write_general::<SMALL>(buf, x, spec);
            }
            _ => write_general::<LARGE>(buf, x, spec),
        }
    }
    if conversion.is_ascii_uppercase() {
        buf[start..].make_ascii_uppercase();
    }
    pad(buf, start, prefix, zero, spec);
}

fn write_fixed<const N: usize>(buf: &mut Vec<u8>, x: f64, precision: usize) {
    if let Some((whole, fraction)) = decimal::fixed(x, precision) {
        write_u64(buf, whole);
        if precision > 0 {
            buf.push(b'.');
            let end = buf.len() + precision;
            buf.resize(end, b'0');
            decimal::put_digits(&mut buf[end - precision..], fraction);
        }
        return;
    }
    let mut text = Text::<N>::new();
    // Infallible: the text has at most 309 digits, a point and 99 more digits (800 if the function
    // is called directly).
    let _ = write!(text, "{x:.precision$}");
    buf.extend_from_slice(text.get());
}

/// Returns the `precision + 1` significant digits of a finite non-negative number, without a point,
/// and its decimal exponent.
fn scientific<const N: usize>(x: f64, precision: usize) -> (Text<N>, i32) {
    let mut text = Text::<N>::new();
    if let Some((digits, exponent)) = decimal::scientific(x, precision + 1) {
        text.len = precision + 1;
        decimal::put_digits(&mut text.bytes[..text.len], digits);
        return (text, exponent);
    }
    // Infallible for the precisions that `string.format` accepts; a longer one is truncated.
    let precision = precision.min(1100);
    let _ = write!(text, "{x:.precision$e}");
    let e = text.get().iter().rposition(|&b| b == b'e').unwrap_or(text.len);
    let mut exponent = 0i32;
    let mut negative = false;
    for &b in &text.bytes[(e + 1).min(text.len)..text.len] {
        if b == b'-' {
            negative = true;
        } else {
            exponent = exponent * 10 + i32::from(b - b'0');
        }
    }
    if e > 1 {
        text.bytes.copy_within(2..e, 1);
    }
    text.len = e - usize::from(e > 1);
    (text, if negative { -exponent } else { exponent })
}

fn write_exponent_form(buf: &mut Vec<u8>, digits: &[u8], exponent: i32, point: bool) {
    buf.push(digits[0]);
    if digits.len() > 1 || point {
        buf.push(b'.');
        buf.extend_from_slice(&digits[1..]);
    }
    buf.push(b'e');
    buf.push(if exponent < 0 { b'-' } else { b'+' });
    let magnitude = exponent.unsigned_abs();
    if magnitude < 10 {
        buf.push(b'0');
    }
    write_u64(buf, u64::from(magnitude));
}

fn write_general<const N: usize>(buf: &mut Vec<u8>, x: f64, spec: &Spec) {
    let precision = spec.precision.unwrap_or(6).max(1);
    let (text, exponent) = scientific::<N>(x, precision - 1);
    let mut digits = text.get();
    if !spec.alt {
        let kept = digits.iter().rposition(|&b| b != b'0').map_or(1, |i| i + 1);
        digits = &digits[..kept];
    }
    if exponent < -4 || exponent >= precision as i32 {
        return write_exponent_form(buf, digits, exponent, spec.alt);
    }
    if exponent < 0 {
        buf.extend_from_slice(b"0.");
        buf.extend(std::iter::repeat_n(b'0', (-exponent - 1) as usize));
        buf.extend_from_slice(digits);
        return;
    }
    let whole = exponent as usize + 1;
    if digits.len() <= whole {
        buf.extend_from_slice(digits);
        buf.extend(std::iter::repeat_n(b'0', whole - digits.len()));
        if spec.alt {
            buf.push(b'.');
        }
    } else {
        buf.extend_from_slice(&digits[..whole]);
        buf.push(b'.');
        buf.extend_from_slice(&digits[whole..]);
    }
}

/// Formats `%a` of a finite non-negative number, without the sign.
fn write_hex(buf: &mut Vec<u8>, x: f64, spec: &Spec) {
    buf.extend_from_slice(b"0x");
    let bits = x.to_bits();
    let biased = (bits >> 52) as i32;
    let mut fraction = bits & ((1 << 52) - 1);
    let mut lead = u64::from(biased != 0);
    let exponent = match (biased, fraction) {
        (0, 0) => 0,
        (0, _) => -1022,
        _ => biased - 1023,
    };
    let mut digits = 13;
    match spec.precision {
        Some(p) if p < 13 => {
            // Rounds half to even at hexadecimal digit `p`; a carry goes into the leading digit, as
            // in glibc.
            let drop = 4 * (13 - p as u32);
            let all = lead << 52 | fraction;
            let (kept, rest, half) = (all >> drop, all & ((1 << drop) - 1), 1u64 << (drop - 1));
            let kept = kept + u64::from(rest > half || rest == half && kept & 1 == 1);
            lead = kept << drop >> 52;
            fraction = (kept << drop) & ((1 << 52) - 1);
            digits = p;
        }
        Some(p) => digits = p,
        None => {
            while digits > 0 && fraction & (0xF << (4 * (13 - digits))) == 0 {
                digits -= 1;
            }
        }
    }
    buf.push(b'0' + lead as u8);
    if digits > 0 || spec.alt {
        buf.push(b'.');
    }
    for i in 0..digits {
        let nibble = if i < 13 { (fraction >> (48 - 4 * i)) as usize & 15 } else { 0 };
        buf.push(b"0123456789abcdef"[nibble]);
    }
    buf.push(b'p');
    buf.push(if exponent < 0 { b'-' } else { b'+' });
    write_u64(buf, u64::from(exponent.unsigned_abs()));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn float(x: f64, conversion: u8, spec: Spec) -> String {
        let mut buf = Vec::new();
        format_float(&mut buf, x, conversion, &spec);
        String::from_utf8(buf).unwrap()
    }

    fn g14(x: f64) -> String {
        let mut buf = Vec::new();
        write_g14(&mut buf, x);
        String::from_utf8(buf).unwrap()
    }

    fn int(n: i64, conversion: u8, spec: Spec) -> String {
        let mut buf = Vec::new();
        format_int(&mut buf, n, conversion, &spec);
        String::from_utf8(buf).unwrap()
    }

    fn p(precision: usize) -> Spec {
        Spec { precision: Some(precision), ..Spec::default() }
    }

    #[test]
    fn g14_equals_c() {
        for (x, want) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (-123456.0, "-123456"),
            (99999999999999.0, "99999999999999"),
            (1e14, "1e+14"),
            (123456789012345.0, "1.2345678901234e+14"),
            (0.1, "0.1"),
            (4.14159265358979, "4.1415926535898"),
            (1e-4, "0.0001"),
            (1e-5, "1e-05"),
            (1e100, "1e+100"),
            (5e-324, "4.9406564584125e-324"),
            (f64::MAX, "1.7976931348623e+308"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (2.5e15, "2.5e+15"),
            (0.30000000000000004, "0.3"),
            (99999999999999.9, "1e+14"),
        ] {
            assert_eq!(g14(x), want);
        }
        assert_eq!(float(f64::NAN.copysign(-1.0), b'g', p(14)), "-nan");
    }

    #[test]
    fn float_conversions_equal_c() {
        let d = Spec::default();
        assert_eq!(float(1.5, b'e', d), "1.500000e+00");
        assert_eq!(float(1.5e-200, b'E', p(0)), "1E-200");
        assert_eq!(float(0.0, b'e', p(2)), "0.00e+00");
        assert_eq!(float(2.5, b'f', p(0)), "2");
        assert_eq!(float(3.5, b'f', p(0)), "4");
        assert_eq!(float(1.0, b'f', Spec { alt: true, ..p(0) }), "1.");
        assert_eq!(float(-1.0, b'f', Spec { zero: true, width: 10, ..p(2) }), "-000001.00");
        assert_eq!(float(f64::INFINITY, b'f', Spec { zero: true, width: 6, ..d }), "   inf");
        assert_eq!(float(1.0, b'f', Spec { left: true, plus: true, width: 8, ..p(1) }), "+1.0    ");
        assert_eq!(float(100000.0, b'g', d), "100000");
        assert_eq!(float(1000000.0, b'g', d), "1e+06");
        assert_eq!(float(1.0, b'g', Spec { alt: true, ..d }), "1.00000");
        assert_eq!(float(0.0001, b'G', Spec { alt: true, ..p(3) }), "0.000100");
        assert_eq!(float(123.0, b'g', p(0)), "1e+02");
        assert_eq!(float(123.0, b'g', Spec { alt: true, ..p(0) }), "1.e+02");
        assert_eq!(float(f64::MAX, b'f', p(99)).len(), 309 + 1 + 99);
        assert_eq!(
            float(0.1, b'f', p(60)),
            "0.100000000000000005551115123125782702118158340454101562500000"
        );
    }

    #[test]
    fn hexadecimal_floats_equal_c() {
        let d = Spec::default();
        assert_eq!(float(1.5, b'a', d), "0x1.8p+0");
        assert_eq!(float(0.0, b'a', d), "0x0p+0");
        assert_eq!(float(-0.0, b'A', d), "-0X0P+0");
        assert_eq!(float(5e-324, b'a', d), "0x0.0000000000001p-1022");
        assert_eq!(float(1.5, b'a', p(0)), "0x2p+0");
        assert_eq!(float(0.1, b'a', p(3)), "0x1.99ap-4");
        assert_eq!(float(1.0, b'a', Spec { alt: true, ..d }), "0x1.p+0");
        assert_eq!(float(1.0, b'a', Spec { zero: true, width: 12, ..d }), "0x0000001p+0");
        assert_eq!(float(1.0, b'a', p(15)), "0x1.000000000000000p+0");
    }

    #[test]
    fn integers_equal_c() {
        let d = Spec::default();
        assert_eq!(int(i64::MIN, b'd', d), "-9223372036854775808");
        assert_eq!(int(0, b'd', p(0)), "");
        assert_eq!(int(7, b'd', Spec { zero: true, width: 5, ..d }), "00007");
        assert_eq!(int(7, b'd', Spec { zero: true, width: 5, ..p(2) }), "   07");
        assert_eq!(int(-1, b'x', d), "ffffffffffffffff");
        assert_eq!(int(255, b'X', Spec { alt: true, zero: true, width: 8, ..d }), "0X0000FF");
        assert_eq!(int(0, b'x', Spec { alt: true, ..d }), "0");
        assert_eq!(int(8, b'o', Spec { alt: true, ..d }), "010");
        assert_eq!(int(0, b'o', Spec { alt: true, ..p(0) }), "0");
        assert_eq!(int(5, b'd', Spec { space: true, ..d }), " 5");
        assert_eq!(int(-1, b'u', d), "18446744073709551615");
        assert_eq!(int(5, b'd', Spec { left: true, width: 4, ..d }), "5   ");
    }
}
