//! Functions of `string` on bytes and positions.

use perilune_runtime::native::{Cx, NativeResult, Raised, Val};

use crate::support::{end_position, finish, reserve, start_position, take_buffer};

/// Maximum length of a result of `rep` (PUC's `MAXSIZE`).
const MAX_SIZE: usize = i32::MAX as usize;

/// Number of bytes that are allocated without a check.
const SURELY_ROOM: usize = 1 << 16;

/// Implements `string.len(s)`.
pub(super) fn len(cx: &mut Cx) -> NativeResult {
    let s = cx.check_str(0)?;
    cx.ret1(Val::int(s.bytes().len() as i64))
}

/// Makes room for a string as long as the argument.
fn room_for_one_more(cx: &mut Cx) -> Result<(), Raised> {
    let len = cx.check_str(0)?.bytes().len();
    cx.make_room(len)
}

/// Implements `string.sub(s, i [, j])`.
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
    if end - start >= SURELY_ROOM {
        cx.make_room(end - start + 1)?;
        let bytes = cx.check_str(0)?.bytes();
        let part = cx.str_of_any_length(&bytes[start - 1..end])?;
        return cx.ret1(part.val());
    }
    cx.ret1(cx.str(&bytes[start - 1..end]).val())
}

/// Implements `string.reverse(s)`.
pub(super) fn reverse(cx: &mut Cx) -> NativeResult {
    room_for_one_more(cx)?;
    let s = cx.check_str(0)?.bytes();
    let r = cx.str_in_pieces(s.len(), |out, at| {
        for (to, from) in out.iter_mut().zip(s[..s.len() - at].iter().rev()) {
            *to = *from;
        }
    })?;
    cx.ret1(r.val())
}

/// Implements `string.lower(s)`.
pub(super) fn lower(cx: &mut Cx) -> NativeResult {
    room_for_one_more(cx)?;
    let s = cx.check_str(0)?.bytes();
    let r = cx.str_in_pieces(s.len(), |out, at| {
        out.copy_from_slice(&s[at..at + out.len()]);
        out.make_ascii_lowercase();
    })?;
    cx.ret1(r.val())
}

/// Implements `string.upper(s)`.
pub(super) fn upper(cx: &mut Cx) -> NativeResult {
    room_for_one_more(cx)?;
    let s = cx.check_str(0)?.bytes();
    let r = cx.str_in_pieces(s.len(), |out, at| {
        out.copy_from_slice(&s[at..at + out.len()]);
        out.make_ascii_uppercase();
    })?;
    cx.ret1(r.val())
}

/// Implements `string.rep(s, n [, sep])`.
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
    cx.make_room(total)?;
    let s = cx.check_str(0)?.bytes();
    let sep = cx.opt_str(2)?.map_or(&b""[..], |s| s.bytes());
    let r = cx.str_in_pieces(total, |out, at| {
        if let ([byte], []) = (s, sep) {
            out.fill(*byte);
        } else {
            repeat(out, s, sep, at % unit.max(1));
        }
    })?;
    cx.ret1(r.val())
}

/// Fills `out` with alternating `s` and `sep`, from byte `phase` of that sequence on.
fn repeat(out: &mut [u8], s: &[u8], sep: &[u8], phase: usize) {
    // Writes one period, which may begin in the middle of the sequence, and doubles it as long as
    // it fits.
    let unit = s.len() + sep.len();
    let skipped = [phase.min(s.len()), phase.saturating_sub(s.len()), 0, 0];
    let mut done = 0;
    for (part, skipped) in [s, sep, s, sep].into_iter().zip(skipped) {
        let rest = &part[skipped..];
        let count = rest.len().min(unit - done).min(out.len() - done);
        out[done..done + count].copy_from_slice(&rest[..count]);
        done += count;
    }
    while done < out.len() {
        let more = done.min(out.len() - done);
        out.copy_within(..more, done);
        done += more;
    }
}

/// Implements `string.byte(s [, i [, j]])`.
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

/// Implements `string.char(…)`.
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
    finish(cx, out)
}

/// Implements `string.dump(f [, strip])`.
pub(super) fn dump(cx: &mut Cx) -> NativeResult {
    let f = cx.check_func(0)?;
    match cx.dump(f, cx.get(1).truthy()) {
        Some(bytes) => finish(cx, bytes),
        None => Err(cx.error("unable to dump given function")),
    }
}

#[cfg(test)]
mod tests {
    use super::repeat;

    #[test]
    fn repeats_from_any_byte_of_a_unit() {
        for (s, sep) in [("ab", ""), ("abc", ", "), ("x", "yz"), ("", "-"), ("longer", "sep")] {
            let whole = format!("{s}{sep}").repeat(40);
            for phase in 0..s.len() + sep.len() {
                for len in [0, 1, 2, 3, 7, 20] {
                    let mut out = vec![0; len];
                    repeat(&mut out, s.as_bytes(), sep.as_bytes(), phase);
                    assert_eq!(
                        out,
                        whole.as_bytes()[phase..phase + len],
                        "{s} {sep} {phase} {len}"
                    );
                }
            }
        }
    }
}
