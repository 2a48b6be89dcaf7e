//! Order of numbers and strings (manual 3.4.4), without metamethods.

use crate::convert::{Round, float_to_integer_rounded};
use crate::string::LuaString;
use crate::value::{Tag, Value};

/// Returns `i < f`, exactly.
#[inline]
pub fn int_lt_float(i: i64, f: f64) -> bool {
    if (-(1 << 53)..=1 << 53).contains(&i) {
        (i as f64) < f
    } else {
        match float_to_integer_rounded(f, Round::Ceil) {
            Some(n) => i < n,
            None => f > 0.0,
        }
    }
}

/// Returns `i <= f`, exactly.
#[inline]
pub fn int_le_float(i: i64, f: f64) -> bool {
    if (-(1 << 53)..=1 << 53).contains(&i) {
        (i as f64) <= f
    } else {
        match float_to_integer_rounded(f, Round::Floor) {
            Some(n) => i <= n,
            None => f > 0.0,
        }
    }
}

/// Returns `f < i`, exactly.
#[inline]
pub fn float_lt_int(f: f64, i: i64) -> bool {
    if (-(1 << 53)..=1 << 53).contains(&i) {
        f < i as f64
    } else {
        match float_to_integer_rounded(f, Round::Floor) {
            Some(n) => n < i,
            None => f < 0.0,
        }
    }
}

/// Returns `f <= i`, exactly.
#[inline]
pub fn float_le_int(f: f64, i: i64) -> bool {
    if (-(1 << 53)..=1 << 53).contains(&i) {
        f <= i as f64
    } else {
        match float_to_integer_rounded(f, Round::Ceil) {
            Some(n) => n <= i,
            None => f < 0.0,
        }
    }
}

/// Returns `a < b` for two numbers or two strings; `None` for other values.
///
/// # Safety
/// Both values are live.
#[inline]
pub unsafe fn less_than(a: Value, b: Value) -> Option<bool> {
    Some(match (a.tag(), b.tag()) {
        (Tag::INTEGER, Tag::INTEGER) => a.as_int() < b.as_int(),
        (Tag::FLOAT, Tag::FLOAT) => a.as_float() < b.as_float(),
        (Tag::INTEGER, Tag::FLOAT) => int_lt_float(a.as_int(), b.as_float()),
        (Tag::FLOAT, Tag::INTEGER) => float_lt_int(a.as_float(), b.as_int()),
        (Tag::STRING, Tag::STRING) => {
            LuaString::bytes(a.as_string()) < LuaString::bytes(b.as_string())
        }
        _ => return None,
    })
}

/// Returns `a <= b` for two numbers or two strings; `None` for other values.
///
/// # Safety
/// Both values are live.
#[inline]
pub unsafe fn less_equal(a: Value, b: Value) -> Option<bool> {
    Some(match (a.tag(), b.tag()) {
        (Tag::INTEGER, Tag::INTEGER) => a.as_int() <= b.as_int(),
        (Tag::FLOAT, Tag::FLOAT) => a.as_float() <= b.as_float(),
        (Tag::INTEGER, Tag::FLOAT) => int_le_float(a.as_int(), b.as_float()),
        (Tag::FLOAT, Tag::INTEGER) => float_le_int(a.as_float(), b.as_int()),
        (Tag::STRING, Tag::STRING) => {
            LuaString::bytes(a.as_string()) <= LuaString::bytes(b.as_string())
        }
        _ => return None,
    })
}
