//! Conversions between numbers and strings (manual 3.4.3).

use perilune_syntax::number::{Number, str2number};

use crate::string::LuaString;
use crate::value::{Tag, Value};

/// 2^63 as a float.
const TWO_63: f64 = 9_223_372_036_854_775_808.0;

/// Converts a float with an integral value in range to an integer.
#[inline(always)]
pub fn float_to_integer(f: f64) -> Option<i64> {
    if (-TWO_63..TWO_63).contains(&f) && f as i64 as f64 == f { Some(f as i64) } else { None }
}

/// How a float without an integral value is rounded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Round {
    /// Down.
    Floor,
    /// Up.
    Ceil,
}

/// Rounds a float to an integer if it is in range.
pub fn float_to_integer_rounded(f: f64, mode: Round) -> Option<i64> {
    let r = if mode == Round::Floor { f.floor() } else { f.ceil() };
    (-TWO_63..TWO_63).contains(&r).then_some(r as i64)
}

/// Converts a number or a numeral string to an integer if it has an integral value.
///
/// # Safety
/// `v` is a live value.
#[inline]
pub unsafe fn to_integer(v: Value) -> Option<i64> {
    match v.tag() {
        Tag::INTEGER => Some(v.as_int()),
        Tag::FLOAT => float_to_integer(v.as_float()),
        Tag::STRING => string_to_number(v).and_then(|n| {
            if n.is_int() { Some(n.as_int()) } else { float_to_integer(n.as_float()) }
        }),
        _ => None,
    }
}

/// Converts a number or a numeral string to a float.
///
/// # Safety
/// `v` is a live value.
#[inline]
pub unsafe fn to_float(v: Value) -> Option<f64> {
    match v.tag() {
        Tag::FLOAT => Some(v.as_float()),
        Tag::INTEGER => Some(v.as_int() as f64),
        Tag::STRING => {
            string_to_number(v).map(|n| if n.is_int() { n.as_int() as f64 } else { n.as_float() })
        }
        _ => None,
    }
}

/// Converts a number or a numeral string to a number.
///
/// # Safety
/// `v` is a live value.
#[inline]
pub unsafe fn to_number(v: Value) -> Option<Value> {
    if v.is_number() {
        Some(v)
    } else if v.is_string() {
        string_to_number(v)
    } else {
        None
    }
}

/// Converts a numeral string to a number.
///
/// # Safety
/// `v` is a live string.
#[inline(never)]
pub unsafe fn string_to_number(v: Value) -> Option<Value> {
    text_to_number(LuaString::bytes(v.as_string()))
}

/// Converts a numeral to a number.
pub fn text_to_number(text: &[u8]) -> Option<Value> {
    str2number(text).map(|n| match n {
        Number::Integer(i) => Value::int(i),
        Number::Float(f) => Value::float(f),
    })
}

/// Appends a number as `tostring` shows it: `%d` or `%.14g`, with `.0` appended to a float that
/// would look like an integer.
pub fn write_number(out: &mut Vec<u8>, v: Value) {
    if v.is_int() {
        crate::cfmt::write_int(out, v.as_int());
    } else {
        let start = out.len();
        crate::cfmt::write_g14(out, v.as_float());
        if out[start..].iter().all(|c| c.is_ascii_digit() || *c == b'-') {
            out.extend_from_slice(b".0");
        }
    }
}
