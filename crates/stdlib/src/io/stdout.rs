//! The standard streams of the process, which all states share, and the output of `print`.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};

use perilune_runtime::convert::write_number;
use perilune_runtime::native::{Cx, Val};

use super::bounds::Bounds;
use super::foreign::ForeignStream;
use super::stream::{Buffering, Stream};
use crate::support::{give_buffer, take_buffer};

/// A stream that several handles share.
pub(crate) type Shared = Arc<Mutex<Stream>>;

/// All streams that may hold unwritten data.
static OPEN: Mutex<Vec<Weak<Mutex<Stream>>>> = Mutex::new(Vec::new());

/// Locks a stream. A stream stays usable after a panic of another thread.
pub(crate) fn lock(s: &Mutex<Stream>) -> MutexGuard<'_, Stream> {
    s.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Registers a stream for [`flush_all`].
pub(crate) fn share(s: Stream) -> Shared {
    let s = Arc::new(Mutex::new(s));
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    if open.len() == open.capacity() {
        open.retain(|w| w.strong_count() > 0);
    }
    open.push(Arc::downgrade(&s));
    s
}

/// Flushes all streams.
pub fn flush_all() {
    let open: Vec<Shared> = {
        let open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        open.iter().filter_map(Weak::upgrade).collect()
    };
    for s in open {
        // A stream in use by another thread is skipped.
        if let Ok(mut s) = s.try_lock() {
            let _ = s.flush();
        }
    }
}

/// Does what the C library does with open files when a process ends: writes all buffered output,
/// and moves the position of the standard input, which other processes may share, back to where the
/// program stopped reading. Must be called before the process ends.
pub fn finish_all() {
    flush_all();
    // A stream in use by another thread is skipped.
    if let Ok(mut s) = STDIN.try_lock() {
        // It is too late to report errors.
        let _ = s.synchronize();
    }
}

fn duplicate(fd: impl AsFd) -> io::Result<File> {
    fd.as_fd().try_clone_to_owned().map(File::from)
}

/// Standard input.
pub(crate) static STDIN: LazyLock<Shared> = LazyLock::new(|| {
    let mut s = Stream::standard(|| duplicate(io::stdin()), true, false);
    s.before = Some(flush_terminal);
    share(s)
});

/// Standard output.
pub(crate) static STDOUT: LazyLock<Shared> = LazyLock::new(|| {
    let mut s = Stream::standard(|| duplicate(io::stdout()), false, true);
    if io::stdout().is_terminal() {
        let _ = s.set_buffering(Buffering::Line, 1 << 12);
    }
    share(s)
});

/// Standard error.
pub(crate) static STDERR: LazyLock<Shared> = LazyLock::new(|| {
    let mut s = Stream::standard(|| duplicate(io::stderr()), false, true);
    let _ = s.set_buffering(Buffering::None, 1);
    s.before = Some(flush_output);
    share(s)
});

/// Writes the buffered standard output.
pub fn flush_output() {
    let _ = lock(&STDOUT).flush();
}

/// Passes all standard output of the library to `output` from now on. The other language then has
/// the only buffer, so all output appears in the order in which it was written.
pub fn redirect_output(output: Box<dyn ForeignStream>) {
    lock(&STDOUT).redirect(output);
}

fn flush_terminal() {
    if io::stdout().is_terminal() {
        flush_output();
    }
}

/// Writes a text to the standard error, after flushing what was printed so far.
pub fn write_error(text: &[u8]) {
    let _ = lock(&STDERR).write(text);
}

/// Writes `separator` and a string or number to the standard output.
pub(crate) fn print_value(_: &Cx, v: Val<'_>, separator: &[u8]) {
    let mut out = lock(&STDOUT);
    if !separator.is_empty() {
        let _ = out.write(separator);
    }
    if let Some(s) = v.as_str() {
        let _ = out.write(s.bytes());
    } else {
        let mut text = take_buffer();
        write_number(&mut text, v.raw());
        let _ = out.write(&text);
        give_buffer(text);
    }
}

/// Ends a printed line, and flushes it: a reader may be waiting, the process may be killed, and C
/// code may write to the file in other ways.
pub(crate) fn end_line() {
    let mut out = lock(&STDOUT);
    let _ = out.write(b"\n").and_then(|()| out.flush());
}

/// Reads a line of the standard input, with its line feed; `None` at the end.
pub fn read_line() -> Option<Vec<u8>> {
    let mut line = Vec::new();
    lock(&STDIN).read_line(&mut line, &Bounds::NONE).ok()?.then_some(line)
}

/// Reads the remainder of the standard input.
pub(crate) fn read_stdin(bounds: &Bounds<'_>) -> io::Result<Vec<u8>> {
    let mut all = Vec::new();
    lock(&STDIN).read_all(&mut all, bounds)?;
    Ok(all)
}
