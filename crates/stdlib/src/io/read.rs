//! Reading by formats: `file:read`, `io.read`, and the iterator of `lines`.

use std::io;
use std::sync::Mutex;

use perilune_runtime::native::{Cx, NativeResult, Raised, Val};

use super::bounds::{Bounds, is_refusal, refusal};
use super::file::{close_handle, with_stream};
use super::stdout::lock;
use super::stream::Stream;
use super::{error_text, file_result};
use crate::base::is_space;
use crate::support::{c_str, give_buffer, reserve, take_buffer};

/// Maximum length of a numeral (PUC's `L_MAXLENNUM`).
const MAX_NUMERAL: usize = 200;
/// Maximum number of formats of an iterator (PUC's `MAXARGLINE`).
const MAX_FORMATS: usize = 250;

/// A number of bytes that no allocation can satisfy.
const TOO_MANY: usize = 1 << 40;

/// Reads by the formats in the arguments from `first` on. Returns the results of the calling
/// function.
pub(super) fn read(cx: &Cx, s: &Mutex<Stream>, first: usize) -> NativeResult {
    match read_values(cx, s, first)? {
        Ok(n) => cx.ret(n),
        Err(e) => file_result(cx, Err(e), None),
    }
}

/// Like [`read`]; pushes the results and returns their number. The inner error is the file's.
fn read_values(cx: &Cx, s: &Mutex<Stream>, first: usize) -> Result<io::Result<usize>, Raised> {
    let end = cx.top();
    let s = &mut *lock(s);
    if first >= end {
        let line = read_line(cx, s, true);
        return match line.as_ref().err().and_then(|e| refusal(cx, e)) {
            Some(raised) => Err(raised),
            None => Ok(line.map(|v| {
                cx.push(v.unwrap_or(Val::NIL));
                1
            })),
        };
    }
    reserve(cx, end - first, "too many arguments")?;
    let (mut n, mut failed) = (0, None);
    for i in first..end {
        let v = cx.get(i);
        let r = if v.is_number() {
            match cx.check_int(i)? as usize {
                0 => cx.blocking(|| s.peek()).map(|b| b.map(|_| cx.str(b"").val())),
                // PUC allocates the whole buffer first.
                TOO_MANY.. => return Err(cx.memory_error()),
                n => read_chars(cx, s, n),
            }
        } else {
            let format = cx.check_str(i)?.bytes();
            match format.strip_prefix(b"*").unwrap_or(format).first() {
                Some(b'n') => read_number(cx, s),
                Some(b'l') => read_line(cx, s, true),
                Some(b'L') => read_line(cx, s, false),
                Some(b'a') => match read_all(cx, s) {
                    // It always succeeds in PUC, which looks for errors of the file at the end.
                    Err(e) if !is_refusal(&e) => {
                        failed = Some(e);
                        Ok(Some(Val::NIL))
                    }
                    r => r,
                },
                _ => return Err(cx.arg_error(i, "invalid format")),
            }
        };
        n += 1;
        match r {
            Err(e) => {
                return match refusal(cx, &e) {
                    Some(raised) => Err(raised),
                    None => Ok(Err(e)),
                };
            }
            Ok(Some(v)) => cx.push(v),
            Ok(None) => {
                cx.push(Val::NIL);
                break;
            }
        }
    }
    Ok(failed.map_or(Ok(n), Err))
}

fn read_line<'a>(cx: &'a Cx, s: &mut Stream, chop: bool) -> io::Result<Option<Val<'a>>> {
    // A line that is complete in the buffer is copied only once, into its string.
    if let Some(i) = memchr::memchr(b'\n', s.buffered()) {
        let v = cx.str(&s.buffered()[..i + usize::from(!chop)]).val();
        s.consume(i + 1);
        return Ok(Some(v));
    }
    let mut line = take_buffer();
    let bounds = Bounds::of(cx);
    let any = cx.blocking(|| s.read_line(&mut line, &bounds))?;
    if chop && line.last() == Some(&b'\n') {
        line.pop();
    }
    let v = any.then(|| cx.str(&line).val());
    give_buffer(line);
    Ok(v)
}

/// The remainder of a large file is read directly into its string.
const LARGE_REST: u64 = 1 << 16;

fn read_all<'a>(cx: &'a Cx, s: &mut Stream) -> io::Result<Option<Val<'a>>> {
    let mut all = Vec::new();
    if !cx.blocking(|| s.fill())? {
        return Ok(Some(cx.str(b"").val()));
    }
    let rest = s.remaining();
    if rest >= LARGE_REST && cx.check_room(rest as usize).is_ok() {
        let mut got = Ok(0);
        let whole = cx.str_with(rest as usize, |out| got = s.read_into(out));
        if let Ok(whole) = whole {
            let n = got?;
            if n == rest as usize && !s.fill()? {
                return Ok(Some(whole.val()));
            }
            // The size of the file has changed in the meantime.
            all.extend_from_slice(&whole.bytes()[..n]);
        }
    }
    let bounds = Bounds::of(cx);
    cx.blocking(|| s.read_all(&mut all, &bounds))?;
    Ok(Some(cx.str(&all).val()))
}

fn read_chars<'a>(cx: &'a Cx, s: &mut Stream, n: usize) -> io::Result<Option<Val<'a>>> {
    if s.buffered().len() >= n {
        let v = cx.str(&s.buffered()[..n]).val();
        s.consume(n);
        return Ok(Some(v));
    }
    let mut bytes = take_buffer();
    let bounds = Bounds::of(cx);
    cx.blocking(|| s.read_bytes(&mut bytes, n, &bounds))?;
    let v = (!bytes.is_empty()).then(|| cx.str(&bytes).val());
    give_buffer(bytes);
    Ok(v)
}

/// The source of the characters of a numeral.
trait Source {
    /// Returns the next byte without consuming it; `None` at the end.
    fn peek(&mut self) -> io::Result<Option<u8>>;
    /// Consumes the next byte.
    fn skip(&mut self);
}

impl Source for &mut Stream {
    fn peek(&mut self) -> io::Result<Option<u8>> {
        Stream::peek(self)
    }
    fn skip(&mut self) {
        Stream::skip(self);
    }
}

/// Bytes that were read ahead. They may end before the file does, so reaching their end is an
/// error.
struct Ahead<'a> {
    bytes: &'a [u8],
    taken: usize,
}

impl Source for Ahead<'_> {
    #[inline(always)]
    fn peek(&mut self) -> io::Result<Option<u8>> {
        match self.bytes.get(self.taken) {
            Some(b) => Ok(Some(*b)),
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
    #[inline(always)]
    fn skip(&mut self) {
        self.taken += 1;
    }
}

/// A numeral that is being read byte by byte.
struct Numeral<'a, S> {
    source: S,
    bounds: &'a Bounds<'a>,
    text: [u8; MAX_NUMERAL],
    length: usize,
    too_long: bool,
}

impl<'a, S: Source> Numeral<'a, S> {
    fn new(source: S, bounds: &'a Bounds<'a>) -> Self {
        Numeral { source, bounds, text: [0; MAX_NUMERAL], length: 0, too_long: false }
    }

    /// Consumes the next byte if `wanted` accepts it.
    #[inline(always)]
    fn take(&mut self, wanted: impl Fn(u8) -> bool) -> io::Result<bool> {
        match self.source.peek()? {
            Some(b) if wanted(b) => {
                let Some(place) = self.text.get_mut(self.length) else {
                    self.too_long = true;
                    return Ok(false);
                };
                *place = b;
                self.length += 1;
                self.source.skip();
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn digits(&mut self, hex: bool) -> io::Result<usize> {
        let mut n = 0;
        while self.take(|b| if hex { b.is_ascii_hexdigit() } else { b.is_ascii_digit() })? {
            n += 1;
        }
        Ok(n)
    }

    /// Consumes the longest text that can start a numeral.
    fn scan(&mut self) -> io::Result<()> {
        let mut count = 0u32;
        while self.source.peek()?.is_some_and(is_space) {
            self.source.skip();
            count = count.wrapping_add(1);
            if count.is_multiple_of(4096) {
                // White space may never end.
                self.bounds.check(0)?;
            }
        }
        let sign = |b| b == b'-' || b == b'+';
        self.take(sign)?;
        let (mut count, mut hex) = (0, false);
        if self.take(|b| b == b'0')? {
            if self.take(|b| b == b'x' || b == b'X')? {
                hex = true;
            } else {
                count = 1;
            }
        }
        count += self.digits(hex)?;
        if self.take(|b| b == b'.')? {
            count += self.digits(hex)?;
        }
        let exponent = |b: u8| b.to_ascii_lowercase() == if hex { b'p' } else { b'e' };
        if count > 0 && self.take(exponent)? {
            self.take(sign)?;
            self.digits(false)?;
        }
        Ok(())
    }

    /// Converts the consumed text to a number.
    fn value<'c>(&self, cx: &'c Cx) -> Option<Val<'c>> {
        if self.too_long { None } else { cx.parse_number(&self.text[..self.length]) }
    }
}

fn read_number<'a>(cx: &'a Cx, s: &mut Stream) -> io::Result<Option<Val<'a>>> {
    let bounds = Bounds::of(cx);
    let mut n = Numeral::new(Ahead { bytes: s.buffered(), taken: 0 }, &bounds);
    if n.scan().is_ok() {
        let (v, taken) = (n.value(cx), n.source.taken);
        s.consume(taken);
        return Ok(v);
    }
    let mut n = Numeral::new(s, &bounds);
    n.scan()?;
    Ok(n.value(cx))
}

/// Makes the iterator of `lines` over the file at value 0, with the formats above it.
pub(super) fn line_iterator(cx: &Cx, to_close: bool) -> Result<Val<'_>, Raised> {
    let formats = cx.top() - 1;
    if formats > MAX_FORMATS {
        return Err(cx.arg_error(MAX_FORMATS + 1, "too many arguments"));
    }
    let mut bound = vec![cx.get(0), Val::int(formats as i64), Val::bool(to_close)];
    bound.extend((1..=formats).map(|i| cx.get(i)));
    Ok(cx.func(next_line, &bound).val())
}

/// Implements the iterator. Its bound values are the file, the number of formats, whether to close
/// the file at the end, and the formats.
fn next_line(cx: &mut Cx) -> NativeResult {
    // The positions of bad formats in messages are those of a method call on the file.
    cx.set_top(1);
    let formats = cx.bound(1).as_int().unwrap_or(0) as usize;
    reserve(cx, formats, "too many arguments")?;
    for i in 0..formats {
        cx.push(cx.bound(3 + i));
    }
    let Some(Some(read)) = with_stream(cx, cx.bound(0), |s| read_values(cx, s, 1)) else {
        return Err(cx.error("file is already closed"));
    };
    let n = read?.map_err(|e| cx.error(c_str(error_text(&e).as_bytes())))?;
    if cx.get(cx.top() - n).truthy() {
        return cx.ret(n);
    }
    if cx.bound(2).truthy() {
        cx.set_top(0);
        cx.push(cx.bound(0));
        close_handle(cx, 0)?;
        cx.set_top(0);
    }
    cx.ret(0)
}
