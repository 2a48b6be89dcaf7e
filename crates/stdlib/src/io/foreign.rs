//! Files as code of another language uses them, by a structure of its own for each.

use std::os::fd::BorrowedFd;

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
