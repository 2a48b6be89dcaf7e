//! File handles: userdata around a stream, and their methods.

use std::io::SeekFrom;
use std::sync::{Arc, Mutex};

use perilune_runtime::native::{Cx, NativeFn, NativeResult, Raised, Udata, Val};

use super::foreign::{self, FileInfo, Foreign};
use super::read::read;
use super::stdout::{STDERR, STDIN, STDOUT, Shared, lock, share};
use super::stream::{Buffering, Stream};
use super::{exec_result, file_result};
use crate::support::{check_option, give_buffer, library, names, take_buffer};

/// The name of the metatable of files.
pub(super) const NAME: &str = "FILE*";

/// The host's side of a file handle.
pub(super) struct Handle {
    /// The address of the metatable of files.
    meta: Option<u64>,
    /// The stream; `None` once the file is closed.
    pub(super) stream: Option<Shared>,
    /// Whether this is a standard file, which cannot be closed.
    pub(super) standard: bool,
    /// The other language's view of the file.
    pub(super) foreign: Option<Box<dyn Foreign>>,
}

const METHODS: &[(&str, NativeFn)] = &[
    ("read", read_method),
    ("write", write_method),
    ("lines", lines),
    ("flush", flush),
    ("seek", seek),
    ("close", close),
    ("setvbuf", setvbuf),
];

static METHOD_NAMES: [&str; METHODS.len()] = names(METHODS, &[]);

/// Names of the fields of the metatable.
static META_NAMES: [&str; 5] = ["__name", "__index", "__gc", "__close", "__tostring"];

/// Makes the metatable of files.
pub(super) fn register_metatable(cx: &Cx) {
    let meta = cx.table_with(&META_NAMES, |i| match i {
        0 => cx.str(NAME.as_bytes()).val(),
        1 => library(cx, &METHOD_NAMES, METHODS).val(),
        4 => cx.func(tostring, &[]).val(),
        _ => cx.func(collect, &[]).val(),
    });
    cx.registry().set_name(cx, NAME, meta.val());
}

/// Makes a handle.
pub(super) fn new_handle(cx: &Cx, stream: Shared, standard: bool) -> Udata<'_> {
    let meta = cx.registry().get_name(cx, NAME).as_table();
    let address = meta.and_then(|m| m.val().address());
    let handle = Handle { meta: address, stream: Some(stream), standard, foreign: None };
    let u = cx.udata(Box::new(handle), 0);
    u.set_metatable(cx, meta);
    u
}

/// Returns whether a value is not a handle whose metatable was changed, which is no file any more
/// (`luaL_checkudata`). Files of another language are checked when they are opened.
fn has_metatable(cx: &Cx, v: Val<'_>) -> bool {
    let meta = v.as_udata().and_then(|u| u.with(|h: &mut Handle| h.meta));
    meta.is_none_or(|meta| cx.metatable_of(v).and_then(|m| m.val().address()) == meta)
}

/// Returns the stream of an argument. The outer `None` means that it is not a file, the inner
/// `None` that it is closed.
pub(super) fn file_of(cx: &Cx, v: Val<'_>) -> Option<Option<Shared>> {
    if has_metatable(cx, v) { stream_of(cx, v) } else { None }
}

/// Makes a handle for a new stream.
pub(super) fn new_file(cx: &Cx, s: Stream) -> Udata<'_> {
    new_handle(cx, share(s), false)
}

/// Returns the stream of a handle. The outer `None` means that the value is not a handle, the inner
/// `None` that it is closed.
pub(super) fn stream_of(cx: &Cx, v: Val<'_>) -> Option<Option<Shared>> {
    let u = v.as_udata()?;
    match u.with(|h: &mut Handle| h.stream.clone()) {
        Some(stream) => Some(stream),
        None => foreign_stream(cx, u).map(|s| s.map(|s| Arc::new(Mutex::new(s)))),
    }
}

/// Returns the stream of a file of another language, for a single operation.
#[cold]
fn foreign_stream(cx: &Cx, u: Udata<'_>) -> Option<Option<Stream>> {
    Some(foreign::open(cx, u)?.map(Stream::of_foreign))
}

/// Passes the stream of a handle to `f`, which runs no Lua code. The outer `None` means that the
/// value is not a handle, the inner `None` that it is closed.
pub(super) fn with_stream<R>(
    cx: &Cx,
    v: Val<'_>,
    f: impl FnOnce(&Mutex<Stream>) -> R,
) -> Option<Option<R>> {
    let u = v.as_udata()?;
    let mut f = Some(f);
    let found = u.with(|h: &mut Handle| Some(f.take()?(h.stream.as_deref()?)));
    if found.is_some() {
        return found;
    }
    let f = f?;
    Some(foreign_stream(cx, u)?.map(|s| f(&Mutex::new(s))))
}

/// Passes the stream of argument `i`, an open file, to `f`, which runs no Lua code.
pub(super) fn with_file(
    cx: &Cx,
    i: usize,
    f: impl FnOnce(&Mutex<Stream>) -> NativeResult,
) -> NativeResult {
    let v = cx.get(i);
    match if has_metatable(cx, v) { with_stream(cx, v, f) } else { None } {
        Some(Some(r)) => r,
        Some(None) => Err(cx.error("attempt to use a closed file")),
        None => Err(cx.type_error(i, NAME)),
    }
}

/// Returns the address of another language's structure for a file, which `make` creates on the
/// first call; `None` if the value is not a file. Before that, the stream is synchronized, so that
/// the other language finds the file's position as the program left it.
pub fn foreign_address(
    v: Val<'_>,
    make: impl FnOnce(FileInfo<'_>) -> Option<Box<dyn Foreign>>,
) -> Option<usize> {
    v.as_udata()?.with(|h: &mut Handle| {
        let Handle { stream, foreign, .. } = h;
        let mut guard = stream.as_deref().map(lock);
        if let Some(s) = &mut guard {
            // This function does not report errors of the file.
            let _ = s.synchronize();
        }
        if foreign.is_none() {
            let is = |s: &Shared| stream.as_ref().is_some_and(|x| Arc::ptr_eq(x, s));
            let standard = [is(&STDIN), is(&STDOUT), is(&STDERR)].iter().position(|is| *is);
            let (readable, writable) = guard.as_ref().map_or((false, false), |s| s.directions());
            let descriptor = guard.as_mut().and_then(|s| s.descriptor());
            *foreign = make(FileInfo { descriptor, readable, writable, standard });
        }
        foreign.as_ref().map(|f| f.address())
    })?
}

/// Checks that argument `i` is an open file.
pub(super) fn check_file(cx: &Cx, i: usize) -> Result<Shared, Raised> {
    match file_of(cx, cx.get(i)) {
        Some(Some(s)) => Ok(s),
        Some(None) => Err(cx.error("attempt to use a closed file")),
        None => Err(cx.type_error(i, NAME)),
    }
}

/// Closes the open handle at value `i`.
pub(super) fn close_handle(cx: &mut Cx, i: usize) -> NativeResult {
    let Some(u) = cx.get(i).as_udata() else { return Err(cx.type_error(i, NAME)) };
    if !u.is::<Handle>() {
        return close_foreign(cx, i);
    }
    let taken = u.with(|h: &mut Handle| {
        if h.standard {
            return None;
        }
        if let Some(foreign) = &mut h.foreign {
            foreign.close();
        }
        h.stream.take()
    });
    let Some(stream) = taken.flatten() else {
        cx.push(Val::NIL);
        cx.push(cx.str(b"cannot close standard file").val());
        return cx.ret(2);
    };
    let r = match Arc::try_unwrap(stream) {
        Ok(s) => s.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).close(),
        // Another thread is flushing all streams: the last owner closes this one.
        Err(s) => lock(&s).flush().map(|()| None),
    };
    match r {
        Ok(Some(status)) => exec_result(cx, status),
        Ok(None) => file_result(cx, Ok(()), None),
        Err(e) => file_result(cx, Err(e), None),
    }
}

/// Closes the open file of another language at value `i`, by calling the function that this
/// language provides.
#[cold]
fn close_foreign(cx: &mut Cx, i: usize) -> NativeResult {
    let f = cx.get(i).as_udata().and_then(|u| foreign::take_close(cx, u));
    let Some(f) = f else { return cx.ret(0) };
    cx.push_callee(f);
    cx.push(cx.get(i));
    let n = cx.call(1)?;
    cx.ret(n)
}

/// Implements `file:close()`.
fn close(cx: &mut Cx) -> NativeResult {
    check_file(cx, 0)?;
    close_handle(cx, 0)
}

/// Implements `__gc` and `__close`.
fn collect(cx: &mut Cx) -> NativeResult {
    match file_of(cx, cx.get(0)) {
        None => return Err(cx.type_error(0, NAME)),
        Some(None) => {}
        Some(Some(s)) => {
            drop(s);
            close_handle(cx, 0)?;
        }
    }
    cx.ret(0)
}

/// Implements `__tostring`.
fn tostring(cx: &mut Cx) -> NativeResult {
    let v = cx.get(0);
    let text = match file_of(cx, v) {
        None => return Err(cx.type_error(0, NAME)),
        Some(None) => "file (closed)".to_owned(),
        Some(Some(_)) => format!("file (0x{:x})", v.address().unwrap_or(0)),
    };
    cx.ret1(cx.str(text.as_bytes()).val())
}

/// Implements `file:read(…)`.
fn read_method(cx: &mut Cx) -> NativeResult {
    with_file(cx, 0, |s| read(cx, s, 1))
}

/// Writes the arguments from `first` on. On success, the result is the value `file`.
pub(super) fn write(cx: &Cx, s: &Mutex<Stream>, first: usize, file: Val<'_>) -> NativeResult {
    let mut result = Ok(());
    let mut out = lock(s);
    for i in first..cx.top() {
        let v = cx.get(i);
        let r = if v.is_number() {
            let mut text = take_buffer();
            match v.as_float() {
                Some(x) => perilune_runtime::cfmt::write_g14(&mut text, x),
                None => perilune_runtime::convert::write_number(&mut text, v.raw()),
            }
            let r = out.write(&text);
            give_buffer(text);
            r
        } else {
            match v.as_str() {
                Some(s) => out.write(s.bytes()),
                None => {
                    drop(out);
                    return Err(cx.type_error(i, "string"));
                }
            }
        };
        result = result.and(r);
    }
    drop(out);
    match result {
        Ok(()) => cx.ret1(file),
        Err(e) => file_result(cx, Err(e), None),
    }
}

/// Implements `file:write(…)`.
fn write_method(cx: &mut Cx) -> NativeResult {
    with_file(cx, 0, |s| write(cx, s, 1, cx.get(0)))
}

/// Implements `file:lines(…)`.
fn lines(cx: &mut Cx) -> NativeResult {
    check_file(cx, 0)?;
    let f = super::read::line_iterator(cx, false)?;
    cx.ret1(f)
}

/// Does what C's `fflush` does: writes the buffered output, or moves the file's position back to
/// where the program has stopped reading.
pub(super) fn flush_stream(cx: &Cx, s: &Mutex<Stream>) -> NativeResult {
    let mut s = lock(s);
    let r = s.flush().and_then(|()| s.synchronize());
    drop(s);
    file_result(cx, r, None)
}

/// Implements `file:flush()`.
fn flush(cx: &mut Cx) -> NativeResult {
    with_file(cx, 0, |s| flush_stream(cx, s))
}

/// Implements `file:seek([whence [, offset]])`.
fn seek(cx: &mut Cx) -> NativeResult {
    let s = check_file(cx, 0)?;
    let whence = check_option(cx, 1, Some("cur"), &["set", "cur", "end"])?;
    let n = cx.opt_int(2, 0)?;
    let invalid = || std::io::Error::from_raw_os_error(libc::EINVAL);
    let to = match whence {
        0 => u64::try_from(n).map(SeekFrom::Start).map_err(|_| invalid()),
        1 => Ok(SeekFrom::Current(n)),
        _ => Ok(SeekFrom::End(n)),
    };
    match to.and_then(|to| lock(&s).seek(to)) {
        Ok(at) => cx.ret1(Val::int(at as i64)),
        Err(e) => file_result(cx, Err(e), None),
    }
}

/// Implements `file:setvbuf(mode [, size])`.
fn setvbuf(cx: &mut Cx) -> NativeResult {
    let s = check_file(cx, 0)?;
    let mode = check_option(cx, 1, None, &["no", "full", "line"])?;
    let size = cx.opt_int(2, 1 << 14)?;
    let mode = [Buffering::None, Buffering::Full, Buffering::Line][mode];
    let r = lock(&s).set_buffering(mode, usize::try_from(size).unwrap_or(1 << 14));
    file_result(cx, r, None)
}
