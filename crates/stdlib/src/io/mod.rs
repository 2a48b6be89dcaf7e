//! The library `io` (manual 6.8).

mod bounds;
mod file;
mod foreign;
mod functions;
mod read;
pub(crate) mod stdout;
mod stream;

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;

use perilune_runtime::native::{Cx, NativeResult, Val};

use self::stream::Stream;
use crate::support::concat;

pub(crate) use bounds::{Bounds, is_refusal};
pub use file::foreign_address;
pub use foreign::{
    Buffering, FileInfo, Foreign, ForeignFiles, ForeignStream, Opened, accept_foreign_files,
};
pub use functions::open;
pub(crate) use functions::shell;
pub use stdout::{finish_all, flush_all, flush_output, read_line, redirect_output, write_error};

/// Converts the bytes that a program passes to a path.
pub(crate) fn path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// Returns the contents of a file, or the operation that failed and its error. An error of
/// [`Bounds`] has no error number.
pub(crate) fn read_file(cx: &Cx, name: &[u8]) -> Result<Vec<u8>, (&'static str, io::Error)> {
    let file = File::open(path(name)).map_err(|e| ("open", e))?;
    let mut bytes = Vec::new();
    let bounds = Bounds::of(cx);
    let mut stream = Stream::new(file, true, false);
    stream.read_all(&mut bytes, &bounds).map_err(|e| ("read", e))?;
    Ok(bytes)
}

/// Returns the text of C's `strerror`.
pub(crate) fn error_text(e: &io::Error) -> String {
    let text = e.to_string();
    match text.rfind(" (os error ") {
        Some(i) => text[..i].to_owned(),
        None => text,
    }
}

/// Returns `true`, or nil, a message and an error number (`luaL_fileresult`).
pub(crate) fn file_result(cx: &Cx, r: io::Result<()>, name: Option<&[u8]>) -> NativeResult {
    match r {
        Ok(()) => cx.ret1(Val::bool(true)),
        Err(e) => {
            let text = error_text(&e);
            let text = match name {
                Some(name) => concat(&[name, b": ", text.as_bytes()]),
                None => text.into_bytes(),
            };
            cx.push(Val::NIL);
            cx.push(cx.str(&text).val());
            cx.push(Val::int(i64::from(e.raw_os_error().unwrap_or(0))));
            cx.ret(3)
        }
    }
}

/// Returns the exit status of a process (`luaL_execresult`).
pub(crate) fn exec_result(cx: &Cx, status: ExitStatus) -> NativeResult {
    let (what, code) = match status.signal() {
        Some(n) => ("signal", n),
        None => ("exit", status.code().unwrap_or(0)),
    };
    cx.push(if status.success() { Val::bool(true) } else { Val::NIL });
    cx.push(cx.str(what.as_bytes()).val());
    cx.push(Val::int(i64::from(code)));
    cx.ret(3)
}
