//! Files that are shared with code in another language, which accesses each through a structure of
//! its own.

use std::io::{self, SeekFrom};
use std::os::fd::BorrowedFd;
use std::sync::OnceLock;

use perilune_runtime::native::{Cx, Udata, Val};

pub use super::stream::Buffering;

/// The structure by which another language represents a file.
pub trait Foreign: Send {
    /// Returns the address of that structure. It never changes.
    fn address(&self) -> usize;
    /// Records that the file is closed.
    fn close(&mut self);
}

/// Describes a file for which another language creates a structure.
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

/// A file of another language, which also buffers it. Errors have the system's error numbers.
pub trait ForeignStream: Send {
    /// Writes bytes to the buffer or the file.
    ///
    /// # Errors
    /// Returns the error of the file. The same holds for all methods below.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Writes the buffer to the file.
    fn flush(&mut self) -> io::Result<()>;
    /// Sets when the buffer is written, and the size of the buffer.
    fn set_buffering(&mut self, when: Buffering, size: usize) -> io::Result<()>;
    /// Appends up to `n` bytes to `out`, and returns their number; 0 only at the end of the file.
    fn read(&mut self, out: &mut Vec<u8>, n: usize) -> io::Result<usize>;
    /// Appends up to `n` bytes of a line to `out`, which has room for them. Returns true when that
    /// was the end of the line, with its line feed, or of the file.
    fn read_line(&mut self, out: &mut Vec<u8>, n: usize) -> io::Result<bool>;
    /// Returns the next byte without consuming it; `None` at the end of the file.
    fn peek(&mut self) -> io::Result<Option<u8>>;
    /// Consumes the byte that [`ForeignStream::peek`] has returned.
    fn skip(&mut self);
    /// Moves the position and returns the new one.
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64>;
}

/// The result of opening a foreign file: the stream. The inner `None` means that the file is
/// closed, the outer `None` that the userdata is not a file.
pub type Opened = Option<Option<Box<dyn ForeignStream>>>;

/// The functions through which the library uses files created by another language: userdata with
/// the metatable of files that the library has not created itself.
pub struct ForeignFiles {
    /// Opens the stream of such a userdata.
    pub open: fn(&Cx, Udata<'_>) -> Opened,
    /// Marks an open file as closed, and returns the function that closes it. This function takes
    /// the userdata.
    pub take_close: for<'a> fn(&'a Cx, Udata<'a>) -> Option<Val<'a>>,
}

static FILES: OnceLock<ForeignFiles> = OnceLock::new();

/// Makes the library accept files of another language. Only the first call has an effect.
pub fn accept_foreign_files(files: ForeignFiles) {
    let _ = FILES.set(files);
}

/// Returns the stream of a foreign file, as [`ForeignFiles::open`] does.
#[cold]
pub(super) fn open(cx: &Cx, u: Udata<'_>) -> Opened {
    (FILES.get()?.open)(cx, u)
}

/// Returns the function that closes a foreign file; `None` for other userdata.
#[cold]
pub(super) fn take_close<'a>(cx: &'a Cx, u: Udata<'a>) -> Option<Val<'a>> {
    (FILES.get()?.take_close)(cx, u)
}
