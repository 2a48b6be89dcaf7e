//! Buffered files: C's `FILE`.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::{Child, ExitStatus};

use super::bounds::Bounds;

/// Size of a buffer in bytes.
const BUFFER: usize = 1 << 14;
/// Bytes read between two checks of the bounds.
const READ_AT_ONCE: u64 = 1 << 20;

/// When buffered output is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Buffering {
    /// Immediately.
    None,
    /// At the end of each line.
    Line,
    /// When the buffer is full.
    Full,
}

/// A file with buffers for reading and writing, of which only one is used at a time.
pub(crate) struct Stream {
    file: File,
    child: Option<Child>,
    readable: bool,
    writable: bool,
    buffering: Buffering,
    size: usize,
    input: Vec<u8>,
    /// Number of bytes of `input` already consumed.
    taken: usize,
    output: Vec<u8>,
    /// A stream to flush before this one blocks or writes: the standard output, if it is a
    /// terminal, for the other standard files.
    pub(crate) before: Option<fn()>,
}

fn bad_file() -> io::Error {
    io::Error::from_raw_os_error(libc::EBADF)
}

impl Stream {
    /// Makes a stream of an open file.
    pub(crate) fn new(file: File, readable: bool, writable: bool) -> Stream {
        Stream {
            file,
            child: None,
            readable,
            writable,
            buffering: Buffering::Full,
            size: BUFFER,
            input: Vec::new(),
            taken: 0,
            output: Vec::new(),
            before: None,
        }
    }

    /// Makes a stream of one end of a pipe to a process. Closing it waits for the process.
    pub(crate) fn pipe(file: File, child: Child, readable: bool) -> Stream {
        let mut s = Stream::new(file, readable, !readable);
        s.child = Some(child);
        s
    }

    /// Sets when buffered output is written.
    pub(crate) fn set_buffering(&mut self, b: Buffering, size: usize) -> io::Result<()> {
        self.flush()?;
        self.buffering = b;
        self.size = size.clamp(1, 1 << 24);
        Ok(())
    }

    /// Writes the buffered output.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if self.output.is_empty() {
            return Ok(());
        }
        // Output that cannot be written is dropped, as C does when it closes the file.
        let r = self.file.write_all(&self.output);
        self.output.clear();
        r
    }

    /// Writes bytes.
    #[inline]
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.buffering == Buffering::Full
            && !self.output.is_empty()
            && self.output.len() + bytes.len() <= self.size
        {
            self.output.extend_from_slice(bytes);
            return Ok(());
        }
        self.write_slow(bytes)
    }

    fn write_slow(&mut self, bytes: &[u8]) -> io::Result<()> {
        if !self.writable {
            return Err(bad_file());
        }
        if self.taken < self.input.len() {
            self.drop_input()?;
        }
        if self.output.len() + bytes.len() > self.size {
            self.flush()?;
        }
        match self.buffering {
            Buffering::None => {
                if let Some(f) = self.before {
                    f();
                }
                return self.file.write_all(bytes);
            }
            Buffering::Full if bytes.len() >= self.size => return self.file.write_all(bytes),
            Buffering::Line => {
                if let Some(i) = memchr::memrchr(b'\n', bytes) {
                    self.output.extend_from_slice(&bytes[..=i]);
                    self.flush()?;
                    self.output.extend_from_slice(&bytes[i + 1..]);
                    return Ok(());
                }
            }
            Buffering::Full => {}
        }
        self.output.extend_from_slice(bytes);
        Ok(())
    }

    /// Discards bytes read ahead, and moves the file's position back to the program's position.
    fn drop_input(&mut self) -> io::Result<()> {
        let ahead = self.input.len() - self.taken;
        self.input.clear();
        self.taken = 0;
        if ahead > 0 {
            self.file.seek(SeekFrom::Current(-(ahead as i64)))?;
        }
        Ok(())
    }

    /// Writes the buffered output, and moves the file's position to the program's.
    pub(crate) fn synchronize(&mut self) -> io::Result<()> {
        self.flush()?;
        if self.taken < self.input.len() { self.drop_input() } else { Ok(()) }
    }

    /// Returns the descriptor of the file.
    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Returns whether the file can be read, and whether it can be written.
    pub(crate) fn directions(&self) -> (bool, bool) {
        (self.readable, self.writable)
    }

    /// Returns the bytes read ahead.
    #[inline]
    pub(crate) fn buffered(&self) -> &[u8] {
        &self.input[self.taken..]
    }

    /// Consumes bytes that were read ahead.
    #[inline]
    pub(crate) fn consume(&mut self, n: usize) {
        self.taken += n;
    }

    /// Fills the buffer if it is empty; false at the end of the file.
    pub(crate) fn fill(&mut self) -> io::Result<bool> {
        if self.taken < self.input.len() {
            return Ok(true);
        }
        if !self.readable {
            return Err(bad_file());
        }
        self.flush()?;
        if let Some(f) = self.before {
            f();
        }
        self.taken = 0;
        self.input.resize(self.size.max(1), 0);
        loop {
            match self.file.read(&mut self.input) {
                Ok(n) => {
                    self.input.truncate(n);
                    return Ok(n > 0);
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => {
                    self.input.clear();
                    return Err(e);
                }
            }
        }
    }

    /// Returns the next byte without consuming it.
    pub(crate) fn peek(&mut self) -> io::Result<Option<u8>> {
        Ok(if self.fill()? { Some(self.input[self.taken]) } else { None })
    }

    /// Appends a line to `out`, with its line feed; false at the end of the file.
    pub(crate) fn read_line(&mut self, out: &mut Vec<u8>, bounds: &Bounds<'_>) -> io::Result<bool> {
        let mut any = false;
        while self.fill()? {
            any = true;
            bounds.check(out.len())?;
            let rest = self.buffered();
            if let Some(i) = memchr::memchr(b'\n', rest) {
                out.extend_from_slice(&rest[..=i]);
                self.consume(i + 1);
                return Ok(true);
            }
            out.extend_from_slice(rest);
            let n = rest.len();
            self.consume(n);
        }
        Ok(any)
    }

    /// Appends up to `n` bytes.
    pub(crate) fn read_bytes(
        &mut self,
        out: &mut Vec<u8>,
        mut n: usize,
        bounds: &Bounds<'_>,
    ) -> io::Result<()> {
        while n > 0 && self.fill()? {
            bounds.check(out.len())?;
            let rest = self.buffered();
            let take = rest.len().min(n);
            out.extend_from_slice(&rest[..take]);
            self.consume(take);
            n -= take;
        }
        Ok(())
    }

    /// Returns the number of bytes between the position and the end of a regular file; 0 if
    /// unknown.
    pub(crate) fn remaining(&mut self) -> u64 {
        match (self.file.metadata(), self.file.stream_position()) {
            (Ok(m), Ok(at)) if m.is_file() => {
                m.len().saturating_sub(at) + self.buffered().len() as u64
            }
            _ => 0,
        }
    }

    /// Fills `out` from the start, and returns the number of bytes read.
    pub(crate) fn read_into(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.buffered().len().min(out.len());
        out[..n].copy_from_slice(&self.buffered()[..n]);
        self.consume(n);
        let mut done = n;
        while done < out.len() {
            match self.file.read(&mut out[done..]) {
                Ok(0) => break,
                Ok(n) => done += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(done)
    }

    /// Appends the remainder of the file.
    pub(crate) fn read_all(&mut self, out: &mut Vec<u8>, bounds: &Bounds<'_>) -> io::Result<()> {
        if self.fill()? {
            out.extend_from_slice(self.buffered());
            let n = self.buffered().len();
            self.consume(n);
            while (&self.file).take(READ_AT_ONCE).read_to_end(out)? > 0 {
                bounds.check(out.len())?;
            }
        }
        Ok(())
    }

    /// Moves the position and returns the new one.
    pub(crate) fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.flush()?;
        let ahead = (self.input.len() - self.taken) as i64;
        let to = match to {
            SeekFrom::Current(n) => SeekFrom::Current(n.saturating_sub(ahead)),
            other => other,
        };
        let r = self.file.seek(to)?;
        self.input.clear();
        self.taken = 0;
        Ok(r)
    }

    /// Writes buffered output, closes the file, and waits for the process of a pipe.
    pub(crate) fn close(mut self) -> io::Result<Option<ExitStatus>> {
        let flushed = self.flush();
        let child = self.child.take();
        drop(self);
        match child {
            Some(mut c) => Ok(Some(c.wait()?)),
            None => flushed.map(|()| None),
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let _ = self.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn temporary() -> Stream {
        Stream::new(crate::os::temporary_file().unwrap(), true, true)
    }

    #[test]
    #[cfg_attr(miri, ignore = "works on real files")]
    fn written_then_read() {
        let mut s = temporary();
        s.write(b"first\nsecond\n").unwrap();
        s.write(b"third").unwrap();
        assert_eq!(s.seek(SeekFrom::Start(0)).unwrap(), 0);
        let mut line = Vec::new();
        assert!(s.read_line(&mut line, &Bounds::NONE).unwrap());
        assert_eq!(line, b"first\n");
        assert_eq!(s.seek(SeekFrom::Current(0)).unwrap(), 6);
        s.write(b"S").unwrap();
        let mut rest = Vec::new();
        s.read_all(&mut rest, &Bounds::NONE).unwrap();
        assert_eq!(rest, b"econd\nthird");
        assert!(!s.read_line(&mut rest, &Bounds::NONE).unwrap());
        assert_eq!(s.peek().unwrap(), None);
    }

    #[test]
    #[cfg_attr(miri, ignore = "works on real files")]
    fn direction_is_checked() {
        let mut s = Stream::new(crate::os::temporary_file().unwrap(), false, true);
        assert_eq!(s.fill().unwrap_err().raw_os_error(), Some(libc::EBADF));
        let mut s = Stream::new(crate::os::temporary_file().unwrap(), true, false);
        assert_eq!(s.write(b"x").unwrap_err().raw_os_error(), Some(libc::EBADF));
    }
}
