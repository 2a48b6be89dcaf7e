//! `string.gsub`.

use std::rc::Rc;

use perilune_runtime::native::{Cx, NativeResult, Raised, Str, Val};

use super::compile::compiled;
use super::find::{capture_value, push_captures, raise};
use super::matcher::{Capture, Matcher};
use super::pattern::Pattern;
use crate::support::{extend, give_buffer, room_for, take_buffer, twice};

/// The place of the subject, above the arguments: C code that a replacement calls may change the
/// arguments.
const SUBJECT: usize = 4;
/// Number of values on the stack below those of a replacement.
const KEPT: usize = SUBJECT + 1;

/// The replacement of matches.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Replacement {
    /// A string without `%`.
    Plain,
    /// A string with captures.
    Template,
    /// A table, indexed by the first capture.
    Table,
    /// A function.
    Function,
}

/// The progress of a replacement.
#[derive(Default)]
struct Progress {
    /// The next position to match at.
    from: usize,
    /// The end of the part of the subject that is copied or replaced.
    copied: usize,
    /// The end of the last match.
    last: Option<usize>,
    /// The number of replacements so far.
    count: i64,
    /// Whether a replacement changed the subject.
    changed: bool,
    /// The length of the subject.
    len: usize,
}

impl Progress {
    /// Returns the subject, unless the program has put something else in its place.
    fn subject<'a>(&self, cx: &'a Cx) -> Option<Str<'a>> {
        cx.get(SUBJECT).as_str().filter(|s| s.bytes().len() == self.len)
    }

    /// Appends the text before a match, which is counted, and moves past the match.
    #[inline]
    fn pass(
        &mut self,
        cx: &Cx,
        out: &mut Vec<u8>,
        s: &[u8],
        (start, end): (usize, usize),
    ) -> Result<(), Raised> {
        self.count += 1;
        extend(cx, out, &s[self.copied..start])?;
        self.copied = end;
        self.from = end;
        self.last = Some(end);
        Ok(())
    }
}

/// Implements `string.gsub(s, pattern, replacement [, n])`.
pub(super) fn gsub(cx: &mut Cx) -> NativeResult {
    let len = cx.check_str(0)?.bytes().len();
    cx.check_str(1)?;
    let r = cx.get(2);
    let kind = if r.is_number() {
        cx.check_str(2)?;
        Replacement::Plain
    } else if let Some(r) = r.as_str() {
        if memchr::memchr(b'%', r.bytes()).is_some() {
            Replacement::Template
        } else {
            Replacement::Plain
        }
    } else if r.as_table().is_some() {
        Replacement::Table
    } else if r.as_func().is_some() {
        Replacement::Function
    } else {
        // PUC checks the limit before the type.
        cx.opt_int(3, 0)?;
        return Err(cx.type_error(2, "string/function/table"));
    };
    let limit = cx.opt_int(3, len as i64 + 1)?;
    let begin = || (Progress { len, ..Progress::default() }, take_buffer());
    let pattern = twice(cx, |cx| compiled(cx, cx.check_str(1)?, true))?;
    cx.set_top(SUBJECT);
    cx.push(cx.get(0));
    let (at, mut out) = match kind {
        Replacement::Plain | Replacement::Template => twice(cx, |cx| {
            let (mut at, mut out) = begin();
            with_string(cx, &pattern, &mut at, &mut out, limit, kind)?;
            Ok((at, out))
        })?,
        _ => {
            let (mut at, mut out) = begin();
            with_calls(cx, &pattern, &mut at, &mut out, limit, kind)?;
            (at, out)
        }
    };
    if at.changed {
        let rest = at.subject(cx).map_or(&b""[..], |s| &s.bytes()[at.copied..]);
        extend(cx, &mut out, rest)?;
        room_for(cx, &out)?;
        cx.push(cx.str_of_any_length(&out)?.val());
    } else {
        cx.push(cx.get(0));
    }
    give_buffer(out);
    cx.push(Val::int(at.count));
    cx.ret(2)
}

/// Finds the next match to replace, following PUC's rule for empty matches, and moves `at.from`
/// past it.
fn next_match(
    m: &mut Matcher<'_>,
    at: &mut Progress,
    len: usize,
) -> Result<Option<(usize, usize)>, super::matcher::MatchError> {
    loop {
        let Some((start, end)) = m.find(at.from)? else { return Ok(None) };
        if at.last != Some(end) {
            return Ok(Some((start, end)));
        }
        at.from = start + 1;
        if at.from > len {
            return Ok(None);
        }
    }
}

fn with_string(
    cx: &Cx,
    pattern: &Pattern,
    at: &mut Progress,
    out: &mut Vec<u8>,
    limit: i64,
    kind: Replacement,
) -> Result<(), Raised> {
    let (Some(s), Some(r)) = (cx.get(0).as_str(), cx.get(2).as_str()) else { return Ok(()) };
    let (s, r) = (s.bytes(), r.bytes());
    let interrupted = || cx.interrupt_pending();
    let mut m = Matcher::new(s, pattern, &interrupted);
    let mut polled = out.len();
    while at.count < limit {
        let found = next_match(&mut m, at, s.len()).map_err(|e| raise(cx, e))?;
        let Some((start, end)) = found else { break };
        at.pass(cx, out, s, (start, end))?;
        at.changed = true;
        if kind == Replacement::Plain {
            extend(cx, out, r)?;
        } else {
            expand(cx, &m, s, r, (start, end), out)?;
        }
        if pattern.anchored {
            break;
        }
        cx.interrupted()?;
        if at.count & 0xFFF == 0 || out.len() - polled > 1 << 18 {
            polled = out.len();
            cx.check_room(2 * out.len())?;
        }
    }
    Ok(())
}

/// Appends a replacement string in which each `%n` is replaced by a capture.
fn expand(
    cx: &Cx,
    m: &Matcher<'_>,
    s: &[u8],
    mut r: &[u8],
    (start, end): (usize, usize),
    out: &mut Vec<u8>,
) -> Result<(), Raised> {
    while let Some(i) = memchr::memchr(b'%', r) {
        extend(cx, out, &r[..i])?;
        match r.get(i + 1) {
            Some(b'%') => out.push(b'%'),
            Some(b'0') => extend(cx, out, &s[start..end])?,
            Some(d @ b'1'..=b'9') => match m.capture(usize::from(d - b'1'), start, end) {
                Ok(Capture::Text(from, to)) => extend(cx, out, &s[from..to])?,
                Ok(Capture::Position(n)) => perilune_runtime::cfmt::write_int(out, n as i64),
                Err(e) => return Err(raise(cx, e)),
            },
            _ => return Err(cx.error("invalid use of '%' in replacement string")),
        }
        r = &r[i + 2..];
    }
    extend(cx, out, r)?;
    Ok(())
}

fn with_calls(
    cx: &mut Cx,
    pattern: &Rc<Pattern>,
    at: &mut Progress,
    out: &mut Vec<u8>,
    limit: i64,
    kind: Replacement,
) -> Result<(), Raised> {
    let mut polled = out.len();
    while at.count < limit {
        let more = match kind {
            Replacement::Table => with_table(cx, pattern, at, out, limit)?,
            _ => None,
        };
        let more = match more {
            Some(more) => more,
            None => with_call(cx, pattern, at, out, kind)?,
        };
        if !more {
            break;
        }
        cx.safepoint()?;
        if out.len() - polled > 1 << 18 {
            polled = out.len();
            room_for(cx, out)?;
        }
    }
    Ok(())
}

/// Replaces the next match by the value that a function or a table with a metatable returns for it.
/// Returns whether there may be more matches.
fn with_call(
    cx: &mut Cx,
    pattern: &Rc<Pattern>,
    at: &mut Progress,
    out: &mut Vec<u8>,
    kind: Replacement,
) -> Result<bool, Raised> {
    // a call may collect, so the subject is fetched again for each match
    let Some((start, end)) = push_replacement_call(cx, pattern, at, out, kind)? else {
        return Ok(false);
    };
    match kind {
        Replacement::Function => {
            let nargs = cx.top() - KEPT - 2;
            cx.call_n(nargs, 1)?;
        }
        _ => {
            let key = cx.get(cx.top() - 1).raw();
            cx.index(2, key)?;
        }
    }
    let v = cx.get(cx.top() - 1);
    let Some(s) = at.subject(cx) else { return Ok(false) };
    at.changed |= append_value(cx, out, v, &s.bytes()[start..end])?;
    cx.set_top(KEPT);
    Ok(!pattern.anchored)
}

/// Finds the next match, copies the text before it, and pushes the function with the captures, or
/// the first capture.
fn push_replacement_call(
    cx: &Cx,
    pattern: &Pattern,
    at: &mut Progress,
    out: &mut Vec<u8>,
    kind: Replacement,
) -> Result<Option<(usize, usize)>, Raised> {
    cx.set_top(KEPT);
    let Some(s) = at.subject(cx) else { return Ok(None) };
    let s = s.bytes();
    let interrupted = || cx.interrupt_pending();
    let mut m = Matcher::new(s, pattern, &interrupted);
    let found = next_match(&mut m, at, s.len()).map_err(|e| raise(cx, e))?;
    let Some((start, end)) = found else { return Ok(None) };
    at.pass(cx, out, s, (start, end))?;
    if kind == Replacement::Function {
        cx.push_callee(cx.get(2));
        push_captures(cx, &m, s, (start, end), true)?;
    } else {
        cx.push(capture_value(cx, &m, s, 0, start, end)?);
    }
    Ok(Some((start, end)))
}

/// Number of matches that are replaced by values of a table between two safepoints.
const BATCH: usize = 64;

/// Replaces some matches by values of a table without a metatable, for which nothing is called.
/// Returns whether there may be more matches to replace, or `None` if the table has a metatable.
fn with_table(
    cx: &Cx,
    pattern: &Pattern,
    at: &mut Progress,
    out: &mut Vec<u8>,
    limit: i64,
) -> Result<Option<bool>, Raised> {
    let (Some(s), Some(t)) = (at.subject(cx), cx.get(2).as_table()) else { return Ok(None) };
    if t.has_meta() {
        return Ok(None);
    }
    let s = s.bytes();
    let interrupted = || cx.interrupt_pending();
    let mut m = Matcher::new(s, pattern, &interrupted);
    for _ in 0..BATCH {
        if at.count >= limit {
            return Ok(Some(false));
        }
        let found = next_match(&mut m, at, s.len()).map_err(|e| raise(cx, e))?;
        let Some((start, end)) = found else { return Ok(Some(false)) };
        at.pass(cx, out, s, (start, end))?;
        let v = t.get(capture_value(cx, &m, s, 0, start, end)?);
        at.changed |= append_value(cx, out, v, &s[start..end])?;
        if pattern.anchored {
            return Ok(Some(false));
        }
    }
    Ok(Some(true))
}

/// Appends the value that replaces a match, or the `matched` text if that is false or nil. Returns
/// whether the value replaces it.
fn append_value(cx: &Cx, out: &mut Vec<u8>, v: Val<'_>, matched: &[u8]) -> Result<bool, Raised> {
    if let Some(text) = v.as_str() {
        extend(cx, out, text.bytes())?;
        return Ok(true);
    }
    if v.is_number() {
        extend(cx, out, cx.number_to_str(v).bytes())?;
        return Ok(true);
    }
    if v.truthy() {
        let name = v.type_name();
        return Err(cx.error(format!("invalid replacement value (a {name})")));
    }
    extend(cx, out, matched)?;
    Ok(false)
}
