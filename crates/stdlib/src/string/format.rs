//! `string.format`.

use std::ops::Range;

use perilune_runtime::cfmt::{self, Spec};
use perilune_runtime::native::{Cx, NativeResult, Raised, Val};

use crate::base::is_plain;
use crate::support::{c_str, concat, extend, finish, room_for, take_buffer};

/// Maximum length of a conversion specification without the `%` (PUC's `MAX_FORMAT` less its
/// reserve).
const MAX_SPEC: usize = 22;

const FLOAT_FLAGS: &[u8] = b"-+#0 ";
const HEX_FLAGS: &[u8] = b"-#0";
const INT_FLAGS: &[u8] = b"-+0 ";
const UNSIGNED_FLAGS: &[u8] = b"-0";
const TEXT_FLAGS: &[u8] = b"-";

/// Implements `string.format(format, …)`.
pub(super) fn format(cx: &mut Cx) -> NativeResult {
    cx.check_str(0)?;
    let mut out = take_buffer();
    run(cx, &mut out)?;
    finish(cx, out)
}

fn run(cx: &mut Cx, out: &mut Vec<u8>) -> Result<(), Raised> {
    let top = cx.top();
    // C code that a `__tostring` calls may replace the argument
    cx.push(cx.get(0));
    let mut arg = 0;
    let mut at = 0;
    let mut polled = 0;
    loop {
        cx.interrupted()?;
        if out.len() > polled + (1 << 18) {
            polled = out.len();
            room_for(cx, out)?;
        }
        // A `__tostring` may collect, so the format is fetched again for each item.
        let f = cx.get(top).as_str().map_or(&b""[..], |s| s.bytes());
        let rest = f.get(at..).unwrap_or_default();
        let Some(i) = find_percent(rest) else {
            return extend(cx, out, rest);
        };
        extend(cx, out, &rest[..i])?;
        at += i + 1;
        let mut conversion = f.get(at).copied().unwrap_or(0);
        if conversion == b'%' {
            out.push(b'%');
            at += 1;
            continue;
        }
        arg += 1;
        if arg >= top {
            return Err(cx.arg_error(arg, "no value"));
        }
        let from = at;
        if !conversion.is_ascii_alphabetic() {
            at += f[at..].iter().take_while(|b| b"-+#0 123456789.".contains(b)).count();
            if at - from + 1 >= MAX_SPEC {
                return Err(cx.error("invalid format (too long)"));
            }
            conversion = f.get(at).copied().unwrap_or(0);
        }
        let text = &f[from..(at + 1).min(f.len())];
        at += 1;
        // Most conversions have no flags.
        if text.len() == 1 {
            match conversion {
                b'd' => {
                    cfmt::write_int(out, cx.check_int(arg)?);
                    continue;
                }
                b's' => {
                    append_string(cx, arg, out)?;
                    continue;
                }
                _ => {}
            }
        }
        let mut copy = [0; MAX_SPEC];
        copy[..text.len()].copy_from_slice(text);
        let text = &copy[..text.len()];
        item(cx, out, arg, text, conversion)?;
    }
}

/// Returns the position of the first `%`, which is close to the start in most formats.
#[inline]
fn find_percent(f: &[u8]) -> Option<usize> {
    const CLOSE: usize = 16;
    let (close, rest) = f.split_at(f.len().min(CLOSE));
    let near = close.iter().position(|b| *b == b'%');
    near.or_else(|| memchr::memchr(b'%', rest).map(|i| CLOSE + i))
}

/// Appends `tostring` of argument `arg`.
fn append_string(cx: &mut Cx, arg: usize, out: &mut Vec<u8>) -> Result<(), Raised> {
    let v = cx.get(arg);
    if is_plain(cx, v) {
        match v.as_str() {
            Some(s) => extend(cx, out, s.bytes())?,
            None => perilune_runtime::convert::write_number(out, v.raw()),
        }
        return Ok(());
    }
    cx.push_tostring(arg)?;
    extend(cx, out, cx.get(cx.top() - 1).as_str().map_or(b"", |s| s.bytes()))?;
    cx.pop(1);
    Ok(())
}

/// Parses flags, width and precision of a specification. Only these flags, and at most two digits
/// in each number, are valid.
fn parse(text: &[u8], flags: &[u8], with_precision: bool) -> Option<Spec> {
    let mut spec = Spec::default();
    let mut i = 0;
    while flags.contains(&text[i]) {
        match text[i] {
            b'-' => spec.left = true,
            b'+' => spec.plus = true,
            b' ' => spec.space = true,
            b'#' => spec.alt = true,
            _ => spec.zero = true,
        }
        i += 1;
    }
    let number = |i: &mut usize| {
        let mut n = 0;
        for _ in 0..2 {
            if text[*i].is_ascii_digit() {
                n = n * 10 + usize::from(text[*i] - b'0');
                *i += 1;
            }
        }
        n
    };
    if text[i] != b'0' {
        spec.width = number(&mut i);
        if text[i] == b'.' && with_precision {
            i += 1;
            spec.precision = Some(number(&mut i));
        }
    }
    (i + 1 == text.len()).then_some(spec)
}

fn check(cx: &Cx, text: &[u8], flags: &[u8], with_precision: bool) -> Result<Spec, Raised> {
    parse(text, flags, with_precision)
        .ok_or_else(|| cx.error(concat(&[b"invalid conversion specification: '%", text, b"'"])))
}

fn float(v: Val<'_>) -> f64 {
    v.as_float().unwrap_or_else(|| v.as_int().unwrap_or(0) as f64)
}

/// Formats argument `arg` according to a conversion with flags; `text` is the specification after
/// the `%`.
fn item(
    cx: &mut Cx,
    out: &mut Vec<u8>,
    arg: usize,
    text: &[u8],
    conversion: u8,
) -> Result<(), Raised> {
    match conversion {
        b'c' => {
            let spec = check(cx, text, TEXT_FLAGS, false)?;
            cfmt::format_str(out, &[cx.check_int(arg)? as u8], &spec);
        }
        b'd' | b'i' | b'u' | b'o' | b'x' | b'X' => {
            let n = cx.check_int(arg)?;
            let flags = match conversion {
                b'd' | b'i' => INT_FLAGS,
                b'u' => UNSIGNED_FLAGS,
                _ => HEX_FLAGS,
            };
            cfmt::format_int(out, n, conversion, &check(cx, text, flags, true)?);
        }
        b'a' | b'A' => {
            let spec = check(cx, text, FLOAT_FLAGS, true)?;
            cfmt::format_float(out, float(cx.check_number(arg)?), conversion, &spec);
        }
        b'f' | b'e' | b'E' | b'g' | b'G' => {
            let x = float(cx.check_number(arg)?);
            let spec = check(cx, text, FLOAT_FLAGS, true)?;
            cfmt::format_float(out, x, conversion, &spec);
        }
        b'p' => {
            let spec = check(cx, text, TEXT_FLAGS, false)?;
            match cx.get(arg).address().filter(|&address| address != 0) {
                Some(address) => cfmt::format_pointer(out, address, &spec),
                None => cfmt::format_str(out, b"(null)", &spec),
            }
        }
        b'q' => {
            if text.len() > 1 {
                return Err(cx.error("specifier '%q' cannot have modifiers"));
            }
            literal(cx, out, arg)?;
        }
        b's' => {
            let start = out.len();
            append_string(cx, arg, out)?;
            if memchr::memchr(0, &out[start..]).is_some() {
                return Err(cx.arg_error(arg, "string contains zeros"));
            }
            cfmt::fit_str(out, start, &check(cx, text, TEXT_FLAGS, true)?);
        }
        _ => {
            let message = [b"invalid conversion '%", c_str(text), b"' to 'format'"];
            return Err(cx.error(concat(&message)));
        }
    }
    Ok(())
}

/// Formats `%q`: a literal that the parser converts back to the same value.
fn literal(cx: &mut Cx, out: &mut Vec<u8>, arg: usize) -> Result<(), Raised> {
    let v = cx.get(arg);
    if v.as_str().is_some() {
        return string_literal(cx, out, arg);
    }
    if let Some(n) = v.as_int() {
        if n == i64::MIN {
            out.extend_from_slice(b"0x8000000000000000");
        } else {
            cfmt::write_int(out, n);
        }
    } else if let Some(x) = v.as_float() {
        if x == f64::INFINITY {
            out.extend_from_slice(b"1e9999");
        } else if x == f64::NEG_INFINITY {
            out.extend_from_slice(b"-1e9999");
        } else if x.is_nan() {
            out.extend_from_slice(b"(0/0)");
        } else {
            cfmt::format_float(out, x, b'a', &Spec::default());
        }
    } else if v.is_nil() || v.as_bool().is_some() {
        append_string(cx, arg, out)?;
    } else {
        return Err(cx.arg_error(arg, "value has no literal form"));
    }
    Ok(())
}

/// Formats `%q` of a string, in pieces, since a long string takes time and memory.
fn string_literal(cx: &mut Cx, out: &mut Vec<u8>, arg: usize) -> Result<(), Raised> {
    const PIECE: usize = 1 << 16;
    out.push(b'"');
    let mut done = 0;
    while let Some(s) = cx.get(arg).as_str()
        && done < s.bytes().len()
    {
        let end = s.bytes().len().min(done + PIECE);
        quote(out, s.bytes(), done..end);
        done = end;
        cx.interrupted()?;
        room_for(cx, out)?;
    }
    out.push(b'"');
    Ok(())
}

/// Writes the bytes of `s` in `range` in quoted form.
fn quote(out: &mut Vec<u8>, s: &[u8], range: Range<usize>) {
    for i in range {
        let b = &s[i];
        match b {
            b'"' | b'\\' | b'\n' => out.extend_from_slice(&[b'\\', *b]),
            b if b.is_ascii_control() => {
                out.push(b'\\');
                let all_digits = s.get(i + 1).is_some_and(u8::is_ascii_digit);
                if all_digits || *b >= 100 {
                    out.push(b'0' + b / 100);
                }
                if all_digits || *b >= 10 {
                    out.push(b'0' + b / 10 % 10);
                }
                out.push(b'0' + b % 10);
            }
            b => out.push(*b),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specifications() {
        let s = parse(b"-5.2d", INT_FLAGS, true).unwrap();
        assert_eq!((s.left, s.width, s.precision), (true, 5, Some(2)));
        assert_eq!(parse(b".f", FLOAT_FLAGS, true).unwrap().precision, Some(0));
        assert!(parse(b"#d", INT_FLAGS, true).is_none());
        assert!(parse(b"100d", INT_FLAGS, true).is_none());
        assert!(parse(b".100f", FLOAT_FLAGS, true).is_none());
        assert!(parse(b"010c", TEXT_FLAGS, false).is_none());
        assert!(parse(b"0.5s", TEXT_FLAGS, true).is_none());
        assert!(parse(b".5c", TEXT_FLAGS, false).is_none());
    }

    #[test]
    fn quoted() {
        let text = b"a\"\\\n\r\x001\0x\x7F\xFF\x0e8";
        for middle in 0..text.len() {
            let mut out = Vec::new();
            quote(&mut out, text, 0..middle);
            quote(&mut out, text, middle..text.len());
            assert_eq!(out, b"a\\\"\\\\\\\n\\13\\0001\\0x\\127\xFF\\0148");
        }
    }
}
