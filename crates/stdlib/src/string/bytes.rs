//! Functions of `string` on bytes and positions.

use perilune_runtime::native::{Cx, NativeResult, Val};

use crate::support::{end_position, give_buffer, reserve, start_position, take_buffer};

/// Largest result of `rep` (PUC's `MAXSIZE`).
const MAX_SIZE: usize = i32::MAX as usize;

/// `string.len(s)`
pub(super) fn len(cx: &mut Cx) -> NativeResult {
    let s = cx.check_str(0)?;
    cx.ret1(Val::int(s.bytes().len() as i64))
}

/// `string.sub(s, i [, j])`
pub(super) fn sub(cx: &mut Cx) -> NativeResult {
    let s = cx.check_str(0)?;
    let bytes = s.bytes();
    let start = start_position(cx.check_int(1)?, bytes.len());
    let end = end_position(cx.opt_int(2, -1)?, bytes.len());
    if start > end {
        return cx.ret1(cx.str(b"").val());
    }
    if start == 1 && end == bytes.len() {
        return cx.ret1(s.val());
    }
    cx.ret1(cx.str(&bytes[start - 1..end]).val())
}

/// `string.reverse(s)`
pub(super) fn reverse(cx: &mut Cx) -> NativeResult {
    let s = cx.check_str(0)?.bytes();
    let r = cx.str_with(s.len(), |out| {
        for (to, from) in out.iter_mut().zip(s.iter().rev()) {
            *to = *from;
        }
    })?;
    cx.ret1(r.val())
}

/// `string.lower(s)`
pub(super) fn lower(cx: &mut Cx) -> NativeResult {
    let s = cx.check_str(0)?.bytes();
    let r = cx.str_with(s.len(), |out| {
        out.copy_from_slice(s);
        out.make_ascii_lowercase();
    })?;
    cx.ret1(r.val())
}

/// `string.upper(s)`
pub(super) fn upper(cx: &mut Cx) -> NativeResult {
    let s = cx.check_str(0)?.bytes();
    let r = cx.str_with(s.len(), |out| {
        out.copy_from_slice(s);
        out.make_ascii_uppercase();
    })?;
    cx.ret1(r.val())
}

/// `string.rep(s, n [, sep])`
pub(super) fn rep(cx: &mut Cx) -> NativeResult {
    let s = cx.check_str(0)?.bytes();
    let n = cx.check_int(1)?;
    let sep = cx.opt_str(2)?.map_or(&b""[..], |s| s.bytes());
    if n <= 0 {
        return cx.ret1(cx.str(b"").val());
    }
    let unit = s.len() + sep.len();
    if unit as u64 > MAX_SIZE as u64 / n as u64 {
        return Err(cx.error("resulting string too large"));
    }
    let n = n as usize;
    let total = n * s.len() + (n - 1) * sep.len();
    let r = cx.str_with(total, |out| {
        if let ([byte], []) = (s, sep) {
            return out.fill(*byte);
        }
        // One unit, then doubled as long as it fits.
        let mut done = s.len().min(total);
        out[..done].copy_from_slice(&s[..done]);
        if done < total {
            out[done..unit].copy_from_slice(sep);
            done = unit;
        }
        while done < total {
            let more = done.min(total - done);
            out.copy_within(..more, done);
            done += more;
        }
    })?;
    cx.ret1(r.val())
}

/// `string.byte(s [, i [, j]])`
pub(super) fn byte(cx: &mut Cx) -> NativeResult {
    let s = cx.check_str(0)?.bytes();
    let i = cx.opt_int(1, 1)?;
    let start = start_position(i, s.len());
    let end = end_position(cx.opt_int(2, i)?, s.len());
    if start > end {
        return cx.ret(0);
    }
    if start == end {
        return cx.ret1(Val::int(i64::from(s[start - 1])));
    }
    let n = end - start + 1;
    if n >= i32::MAX as usize {
        return Err(cx.error("string slice too long"));
    }
    reserve(cx, n, "string slice too long")?;
    for b in &s[start - 1..end] {
        cx.push(Val::int(i64::from(*b)));
    }
    cx.ret(n)
}

/// `string.char(…)`
pub(super) fn char_(cx: &mut Cx) -> NativeResult {
    let n = cx.top();
    let mut out = take_buffer();
    for i in 0..n {
        let c = cx.check_int(i)?;
        if !(0..=255).contains(&c) {
            return Err(cx.arg_error(i, "value out of range"));
        }
        out.push(c as u8);
    }
    let s = cx.str(&out);
    give_buffer(out);
    cx.ret1(s.val())
}

/// `string.dump(f [, strip])`
pub(super) fn dump(cx: &mut Cx) -> NativeResult {
    let f = cx.check_func(0)?;
    match cx.dump(f, cx.get(1).truthy()) {
        Some(bytes) => cx.ret1(cx.str(&bytes).val()),
        None => Err(cx.error("unable to dump given function")),
    }
}
