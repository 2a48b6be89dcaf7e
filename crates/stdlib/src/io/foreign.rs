//! Files as code of another language uses them, by a structure of its own for each.

use std::io::{self, SeekFrom};
use std::os::fd::BorrowedFd;
use std::sync::OnceLock;

use perilune_runtime::native::{Cx, Udata, Val};

pub use super::stream::Buffering;

/// The other side of a file.
pub trait Foreign: Send {
    /// Returns the address of what the other language has of the file. It stays the same.
    fn address(&self) -> usize;
    /// Notes that the file is closed.
    fn close(&mut self);
}

/// A file that gets its other side.
pub struct FileInfo<'a> {
    /// Its descriptor; `None` if it is closed.
    pub descriptor: Option<BorrowedFd<'a>>,
    /// Whether it can be read.
    pub readable: bool,
    /// Whether it can be written.
    pub writable: bool,
    /// Whether it is standard input (0), output (1) or error (2).
    pub standard: Option<usize>,
}

/// A file of another language, which has the buffer. Errors have the number of the system.
pub trait ForeignStream: Send {
    /// Writes bytes to the buffer or the file.
    ///
    /// # Errors
    /// Returns that of the file; so for all below.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Writes the buffer to the file.
    fn flush(&mut self) -> io::Result<()>;
    /// Sets when the buffer is written, and its size.
    fn set_buffering(&mut self, when: Buffering, size: usize) -> io::Result<()>;
    /// Appends up to `n` bytes to `out`, and returns their number; 0 only at the end of the file.
    fn read(&mut self, out: &mut Vec<u8>, n: usize) -> io::Result<usize>;
    /// Appends a line to `out`, with its line feed; false at the end of the file.
    fn read_line(&mut self, out: &mut Vec<u8>) -> io::Result<bool>;
    /// Returns the next byte without consuming it; `None` at the end of the file.
    fn peek(&mut self) -> io::Result<Option<u8>>;
    /// Consumes the byte that [`ForeignStream::peek`] has returned.
    fn skip(&mut self);
    /// Moves the position and returns the new one.
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64>;
}

/// What opening a foreign file finds: the stream, an inner `None` if the file is closed, and `None`
/// for other userdata.
pub type Opened = Option<Option<Box<dyn ForeignStream>>>;

/// How the library uses files that another language has made: userdata with the metatable of
/// files that are none of the library's.
pub struct ForeignFiles {
    /// Opens the stream of such a userdata.
    pub open: fn(&Cx, Udata<'_>) -> Opened,
    /// Marks an open file as closed, and returns the function that closes it, which takes the
    /// userdata.
    pub take_close: for<'a> fn(&'a Cx, Udata<'a>) -> Option<Val<'a>>,
}

static FILES: OnceLock<ForeignFiles> = OnceLock::new();

/// Makes the library accept files of another language. Only the first one counts.
pub fn accept_foreign_files(files: ForeignFiles) {
    let _ = FILES.set(files);
}

/// Returns the stream of a foreign file, as [`ForeignFiles::open`] does.
#[cold]
pub(super) fn open(cx: &Cx, u: Udata<'_>) -> Opened {
    (FILES.get()?.open)(cx, u)
}

/// Returns what closes a foreign file; `None` for other userdata.
#[cold]
pub(super) fn take_close<'a>(cx: &'a Cx, u: Udata<'a>) -> Option<Val<'a>> {
    (FILES.get()?.take_close)(cx, u)
}
