//! `string.find`, `string.match`, `string.gmatch`.

use perilune_runtime::native::{Cx, NativeResult, Raised, Val};

use super::class::ByteSet;
use super::compile::compiled;
use super::matcher::{Capture, MatchError, Matcher};
use crate::support::{reserve, start_position, twice};

/// Raises the error of a failed match.
#[cold]
pub(super) fn raise(cx: &Cx, e: MatchError) -> Raised {
    if e == MatchError::Interrupted
        && let Err(r) = cx.interrupted()
    {
        return r;
    }
    cx.error(e.message())
}

/// Returns capture `i` of a match as a value.
pub(super) fn capture_value<'a>(
    cx: &'a Cx,
    m: &Matcher<'_>,
    subject: &[u8],
    i: usize,
    start: usize,
    end: usize,
) -> Result<Val<'a>, Raised> {
    match m.capture(i, start, end) {
        Ok(Capture::Text(from, to)) => {
            cx.check_room(to - from)?;
            Ok(cx.str(&subject[from..to]).val())
        }
        Ok(Capture::Position(n)) => Ok(Val::int(n as i64)),
        Err(e) => Err(raise(cx, e)),
    }
}

/// Pushes the captures, or the whole match if there are none and `whole` is set. Returns their
/// number.
pub(super) fn push_captures(
    cx: &Cx,
    m: &Matcher<'_>,
    subject: &[u8],
    (start, end): (usize, usize),
    whole: bool,
) -> Result<usize, Raised> {
    let n = if whole { m.captures().max(1) } else { m.captures() };
    reserve(cx, n, "too many captures")?;
    for i in 0..n {
        cx.push(capture_value(cx, m, subject, i, start, end)?);
    }
    Ok(n)
}

/// Returns the captures, or the whole match if there are none.
fn return_match(
    cx: &Cx,
    m: &Matcher<'_>,
    subject: &[u8],
    (start, end): (usize, usize),
) -> NativeResult {
    if m.captures() == 0 {
        cx.check_room(end - start)?;
        return cx.ret1(cx.str(&subject[start..end]).val());
    }
    let n = push_captures(cx, m, subject, (start, end), true)?;
    cx.ret(n)
}

/// Number of false matches of the first byte after which it pays to prepare a search in linear
/// time.
const FALSE_HITS: usize = 16;

/// Returns the position of the first occurrence of a plain string.
pub(super) fn find_plain(s: &[u8], what: &[u8]) -> Option<usize> {
    let Some((first, rest)) = what.split_first() else { return Some(0) };
    // One past the last position at which `what` fits.
    let end = (s.len() + 1).checked_sub(what.len())?;
    let mut from = 0;
    for _ in 0..FALSE_HITS {
        let i = from + memchr::memchr(*first, &s[from..end])?;
        if s[i + 1..].starts_with(rest) {
            return Some(i);
        }
        from = i + 1;
    }
    memchr::memmem::find(&s[from..], what).map(|i| from + i)
}

/// Number of bytes of a subject that are searched between two checks whether the script must stop.
const PIECE: usize = 1 << 24;

/// Like [`find_plain`], for a subject that may be so long that the script has to stop during the
/// search.
fn find_plain_polling(cx: &Cx, s: &[u8], what: &[u8]) -> Result<Option<usize>, Raised> {
    if s.len() <= PIECE {
        return Ok(find_plain(s, what));
    }
    let mut from = 0;
    loop {
        // Pieces overlap, so that no occurrence between them is missed.
        let end = (from + PIECE + what.len()).min(s.len());
        if let Some(i) = find_plain(&s[from..end], what) {
            return Ok(Some(from + i));
        }
        if end == s.len() {
            return Ok(None);
        }
        cx.interrupted()?;
        from += PIECE;
    }
}

fn has_specials(pattern: &[u8]) -> bool {
    const SPECIALS: ByteSet = ByteSet::of_all(b"^$*+?.([%-");
    pattern.iter().any(|b| SPECIALS.has(*b))
}

/// Implements `string.find(s, pattern [, init [, plain]])`.
pub(super) fn find(cx: &mut Cx) -> NativeResult {
    search(cx, true)
}

/// Implements `string.match(s, pattern [, init])`.
pub(super) fn match_(cx: &mut Cx) -> NativeResult {
    search(cx, false)
}

fn search(cx: &mut Cx, find: bool) -> NativeResult {
    twice(cx, |cx| search_once(cx, find))
}

fn search_once(cx: &Cx, find: bool) -> NativeResult {
    let s = cx.check_str(0)?.bytes();
    let pattern = cx.check_str(1)?;
    let p = pattern.bytes();
    let from = start_position(cx.opt_int(2, 1)?, s.len()) - 1;
    if from > s.len() {
        return cx.ret1(Val::NIL);
    }
    if find && (cx.get(3).truthy() || !has_specials(p)) {
        return match find_plain_polling(cx, &s[from..], p)? {
            Some(i) => {
                cx.push(Val::int((from + i + 1) as i64));
                cx.push(Val::int((from + i + p.len()) as i64));
                cx.ret(2)
            }
            None => cx.ret1(Val::NIL),
        };
    }
    let pattern = compiled(cx, pattern, true)?;
    if pattern.plain && !pattern.anchored {
        return match find_plain_polling(cx, &s[from..], &pattern.literals)? {
            None => cx.ret1(Val::NIL),
            Some(i) if find => {
                cx.push(Val::int((from + i + 1) as i64));
                cx.push(Val::int((from + i + pattern.literals.len()) as i64));
                cx.ret(2)
            }
            Some(_) => cx.ret1(cx.str(&pattern.literals).val()),
        };
    }
    let interrupted = || cx.interrupt_pending();
    let mut m = Matcher::new(s, &pattern, &interrupted);
    match m.find(from) {
        Ok(Some((start, end))) if find => {
            cx.push(Val::int((start + 1) as i64));
            cx.push(Val::int(end as i64));
            let n = push_captures(cx, &m, s, (start, end), false)?;
            cx.ret(n + 2)
        }
        Ok(Some(range)) => return_match(cx, &m, s, range),
        Ok(None) => cx.ret1(Val::NIL),
        Err(e) => Err(raise(cx, e)),
    }
}

/// Implements `string.gmatch(s, pattern [, init])`.
pub(super) fn gmatch(cx: &mut Cx) -> NativeResult {
    let s = cx.check_str(0)?;
    let p = cx.check_str(1)?;
    let len = s.bytes().len();
    let from = (start_position(cx.opt_int(2, 1)?, len) - 1).min(len + 1);
    // the complement says that no match ends there
    let state = [s.val(), p.val(), Val::int(!(from as i64))];
    cx.ret1(cx.func(gmatch_step, &state).val())
}

/// Implements the iterator of `gmatch`. Its bound values are the subject, the pattern, and the end
/// of the last match, where the next search begins.
pub(super) fn gmatch_step(cx: &mut Cx) -> NativeResult {
    let last = cx.bound(2).as_int().unwrap_or(0);
    twice(cx, |cx| gmatch_once(cx, last))
}

fn gmatch_once(cx: &Cx, last: i64) -> NativeResult {
    let (Some(s), Some(p)) = (cx.bound(0).as_str(), cx.bound(1).as_str()) else {
        return cx.ret(0);
    };
    let s = s.bytes();
    let mut from = if last < 0 { !last } else { last } as usize;
    // The pattern is searched everywhere, so `^` is not an anchor.
    let pattern = compiled(cx, p, false)?;
    let interrupted = || cx.interrupt_pending();
    let mut m = Matcher::new(s, &pattern, &interrupted);
    while from <= s.len() {
        match m.find(from) {
            // An empty match at the end of the previous match is skipped.
            Ok(Some((start, end))) if end as i64 == last => from = start + 1,
            Ok(Some((start, end))) => {
                cx.set_bound(2, Val::int(end as i64));
                return return_match(cx, &m, s, (start, end));
            }
            Ok(None) => break,
            Err(e) => return Err(raise(cx, e)),
        }
    }
    cx.set_bound(2, Val::int(s.len() as i64 + 1));
    cx.ret(0)
}

#[cfg(test)]
mod tests {
    use super::find_plain;

    #[test]
    fn plain() {
        assert_eq!(find_plain(b"", b""), Some(0));
        assert_eq!(find_plain(b"", b"a"), None);
        assert_eq!(find_plain(b"abc", b"abcd"), None);
        assert_eq!(find_plain(b"abc", b"abc"), Some(0));
        assert_eq!(find_plain(b"abcabd", b"abd"), Some(3));
        let s = [b"ab".repeat(100), b"ac".to_vec()].concat();
        assert_eq!(find_plain(&s, b"ac"), Some(200));
        assert_eq!(find_plain(&s, b"ad"), None);
        assert_eq!(find_plain(&s, b"c"), Some(201));
    }
}
