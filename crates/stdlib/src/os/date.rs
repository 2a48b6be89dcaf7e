//! `os.date`, `os.time`, `os.difftime`.

use std::time::{SystemTime, UNIX_EPOCH};

use perilune_runtime::native::{Cx, NativeResult, Raised, Val};
use perilune_runtime::sys::{Calendar, Fields};

use crate::support::{c_str, concat};

/// Conversions of one letter (C99's).
const SINGLE: &[u8] = b"aAbBcCdDeFgGhHIjmMnprRStTuUVwWxXyYzZ%";
/// Conversions of two letters.
const DOUBLE: &[&[u8; 2]] = &[
    b"Ec", b"EC", b"Ex", b"EX", b"Ey", b"EY", b"Od", b"Oe", b"OH", b"OI", b"Om", b"OM", b"OS",
    b"Ou", b"OU", b"OV", b"Ow", b"OW", b"Oy",
];

fn now() -> i64 {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(d) => d.as_secs() as i64,
        Err(e) => -(e.duration().as_secs() as i64),
    }
}

/// Returns the length of the conversion at the start of `s`, if it is valid.
fn conversion_length(s: &[u8]) -> Option<usize> {
    if s.first().is_some_and(|b| SINGLE.contains(b)) {
        return Some(1);
    }
    (s.len() >= 2 && DOUBLE.iter().any(|d| d[..] == s[..2])).then_some(2)
}

/// Returns the fields of a date's table, in the order in which they are assigned.
fn entries(f: Fields) -> impl Iterator<Item = (&'static str, Val<'static>)> {
    let numbers = [
        ("year", i64::from(f.year) + 1900),
        ("month", i64::from(f.month) + 1),
        ("day", i64::from(f.day)),
        ("hour", i64::from(f.hour)),
        ("min", i64::from(f.min)),
        ("sec", i64::from(f.sec)),
        ("yday", i64::from(f.yday) + 1),
        ("wday", i64::from(f.wday) + 1),
    ];
    let isdst = (f.isdst >= 0).then(|| ("isdst", Val::bool(f.isdst != 0)));
    numbers.into_iter().map(|(name, n)| (name, Val::int(n))).chain(isdst)
}

/// Number of conversions between two checks whether the script must stop.
const CONVERSIONS_BETWEEN_POLLS: usize = 256;

/// Implements `os.date([format [, time]])`.
pub(super) fn date(cx: &mut Cx) -> NativeResult {
    let cx = &*cx;
    let format = cx.opt_str(0)?.map_or(&b"%c"[..], |f| f.bytes());
    let t = if cx.get(1).is_nil() { now() } else { cx.check_int(1)? };
    let (universal, format) = match format.strip_prefix(b"!") {
        Some(rest) => (true, rest),
        None => (false, format),
    };
    let Some(c) = Calendar::of(t, universal) else {
        return Err(cx.error("date result cannot be represented in this installation"));
    };
    if c_str(format) == b"*t" {
        let t = cx.table(0, 9);
        for (name, v) in entries(c.fields()) {
            t.set_name(cx, name, v);
        }
        return cx.ret1(t.val());
    }
    // for the result, or for a message with the format
    cx.check_room(2 * format.len())?;
    let mut out = Vec::new();
    let mut rest = format;
    let mut count = 0;
    while let Some(i) = memchr::memchr(b'%', rest) {
        out.extend_from_slice(&rest[..i]);
        rest = &rest[i + 1..];
        let Some(n) = conversion_length(rest) else {
            let text = concat(&[b"invalid conversion specifier '%", c_str(rest), b"'"]);
            return Err(cx.arg_error(0, text));
        };
        c.format(&mut out, &concat(&[b"%", &rest[..n]]));
        rest = &rest[n..];
        count += 1;
        if count % CONVERSIONS_BETWEEN_POLLS == 0 {
            cx.interrupted()?;
            cx.check_room(2 * out.len())?;
        }
    }
    out.extend_from_slice(rest);
    cx.ret1(cx.str(&out).val())
}

/// Returns a field of the table at value 0 as C's int, less `delta`. The field is required if
/// `default` is negative.
fn field(cx: &mut Cx, name: &str, default: i32, delta: i64) -> Result<i32, Raised> {
    let key = cx.str(name.as_bytes()).val().raw();
    cx.index(0, key)?;
    let v = cx.get(cx.top() - 1);
    let n = cx.to_integer(v);
    let is_nil = v.is_nil();
    cx.pop(1);
    match n {
        None if !is_nil => Err(cx.error(format!("field '{name}' is not an integer"))),
        None if default < 0 => Err(cx.error(format!("field '{name}' missing in date table"))),
        None => Ok(default),
        Some(n) => {
            let fits = if n >= 0 {
                n - delta <= i64::from(i32::MAX)
            } else {
                i64::from(i32::MIN) + delta <= n
            };
            if !fits {
                return Err(cx.error(format!("field '{name}' is out-of-bound")));
            }
            Ok((n - delta) as i32)
        }
    }
}

/// Implements `os.time([table])`.
pub(super) fn time(cx: &mut Cx) -> NativeResult {
    if cx.get(0).is_nil() {
        return cx.ret1(Val::int(now()));
    }
    cx.check_table(0)?;
    cx.set_top(1);
    let year = field(cx, "year", -1, 1900)?;
    let month = field(cx, "month", -1, 1)?;
    let day = field(cx, "day", -1, 0)?;
    let hour = field(cx, "hour", 12, 0)?;
    let min = field(cx, "min", 0, 0)?;
    let sec = field(cx, "sec", 0, 0)?;
    let key = cx.str(b"isdst").val().raw();
    cx.index(0, key)?;
    let v = cx.get(cx.top() - 1);
    let isdst = if v.is_nil() { -1 } else { i32::from(v.truthy()) };
    let fields = Fields { year, month, day, hour, min, sec, yday: 0, wday: 0, isdst };
    let Some((t, normal)) = Calendar::normalize(fields) else {
        return Err(cx.error("time result cannot be represented in this installation"));
    };
    for (name, v) in entries(normal.fields()) {
        cx.set_top(1);
        // the key stays on the stack during the assignment, which may call metamethods
        cx.push(cx.str(name.as_bytes()).val());
        let key = cx.get(1).raw();
        cx.push(v);
        cx.set_index(0, key)?;
    }
    cx.ret1(Val::int(t))
}

/// Implements `os.difftime(t2, t1)`.
pub(super) fn difftime(cx: &mut Cx) -> NativeResult {
    let (a, b) = (cx.check_int(0)?, cx.check_int(1)?);
    cx.ret1(Val::float((i128::from(a) - i128::from(b)) as f64))
}

#[cfg(test)]
mod tests {
    use super::conversion_length;

    #[test]
    fn conversions() {
        assert_eq!(conversion_length(b"Yx"), Some(1));
        assert_eq!(conversion_length(b"Ey"), Some(2));
        assert_eq!(conversion_length(b"E"), None);
        assert_eq!(conversion_length(b"Ea"), None);
        assert_eq!(conversion_length(b""), None);
        assert_eq!(conversion_length(b"%"), Some(1));
    }
}
