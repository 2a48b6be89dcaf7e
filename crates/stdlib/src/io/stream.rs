//! Buffered files: C's `FILE`.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::{Child, ExitStatus};

use super::bounds::{Bounds, reserve};
use super::foreign::ForeignStream;

/// Size of a buffer in bytes.
const BUFFER: usize = 1 << 14;
/// Number of bytes read between two checks of the bounds.
const READ_AT_ONCE: u64 = 1 << 20;

/// The number of bytes of a foreign file's line that are read between two checks of the bounds.
const LINE_AT_ONCE: usize = 4 << 10;

/// When buffered output is written. Input is read ahead unless there is no buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Buffering {
    /// Immediately.
    None,
    /// At the end of each line.
    Line,
    /// When the buffer is full.
    Full,
}

/// A file with buffers for reading and writing, of which only one is used at a time.
pub(crate) struct Stream {
    /// The file; `None` if only another language has it, or if it is not open yet.
    file: Option<File>,
    /// Opens the file when it is needed.
    open: Option<fn() -> io::Result<File>>,
    child: Option<Child>,
    readable: bool,
    writable: bool,
    buffering: Buffering,
    size: usize,
    input: Vec<u8>,
    /// Number of bytes of `input` already consumed.
    taken: usize,
    output: Vec<u8>,
    /// Flushes the standard output before another standard file blocks or writes: the standard
    /// input flushes it if it is a terminal, the standard error always.
    pub(crate) before: Option<fn()>,
    /// The stream that is used in place of the file and the buffers here.
    foreign: Option<Box<dyn ForeignStream>>,
}

fn bad_file() -> io::Error {
    io::Error::from_raw_os_error(libc::EBADF)
}

impl Stream {
    /// Makes a stream of an open file.
    pub(crate) fn new(file: File, readable: bool, writable: bool) -> Stream {
        let mut s = Stream::unopened(readable, writable);
        s.file = Some(file);
        s
    }

    /// Makes a stream of a file of another language. Dropping it has no effect on the file.
    pub(crate) fn of_foreign(foreign: Box<dyn ForeignStream>) -> Stream {
        let mut s = Stream::unopened(true, true);
        s.buffering = Buffering::None;
        s.foreign = Some(foreign);
        s
    }

    /// Makes a stream of a file that `open` opens when the first operation needs it. If that fails,
    /// for example because the process has too many open files, so does the operation, and the next
    /// one tries again.
    pub(crate) fn standard(
        open: fn() -> io::Result<File>,
        readable: bool,
        writable: bool,
    ) -> Stream {
        let mut s = Stream::unopened(readable, writable);
        s.open = Some(open);
        s
    }

    fn unopened(readable: bool, writable: bool) -> Stream {
        Stream {
            file: None,
            open: None,
            child: None,
            readable,
            writable,
            buffering: Buffering::Full,
            size: BUFFER,
            input: Vec::new(),
            taken: 0,
            output: Vec::new(),
            before: None,
            foreign: None,
        }
    }

    fn file(&mut self) -> io::Result<&mut File> {
        if self.file.is_none()
            && let Some(open) = self.open
        {
            self.file = Some(open()?);
        }
        self.file.as_mut().ok_or_else(bad_file)
    }

    /// Makes a stream of one end of a pipe to a process. Closing it waits for the process.
    pub(crate) fn pipe(file: File, child: Child, readable: bool) -> Stream {
        let mut s = Stream::new(file, readable, !readable);
        s.child = Some(child);
        s
    }

    /// Sets the use of the buffers, after writing what is in the output buffer and moving the
    /// file's position to the program's position.
    pub(crate) fn set_buffering(&mut self, b: Buffering, size: usize) -> io::Result<()> {
        if let Some(f) = &mut self.foreign {
            f.flush()?;
            return f.set_buffering(b, size);
        }
        self.synchronize()?;
        self.buffering = b;
        self.size = size.clamp(1, 1 << 24);
        Ok(())
    }

    /// Passes all output to `foreign` from now on.
    pub(crate) fn redirect(&mut self, foreign: Box<dyn ForeignStream>) {
        // This function does not report errors of the file.
        let _ = self.flush();
        self.foreign = Some(foreign);
        // No output is buffered here, so that each write reaches the other stream.
        self.buffering = Buffering::None;
    }

    /// Writes the buffered output.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if let Some(f) = &mut self.foreign {
            return f.flush();
        }
        if self.output.is_empty() {
            return Ok(());
        }
        // Output that cannot be written is dropped, as C does on closing the file.
        let mut output = std::mem::take(&mut self.output);
        let r = self.file().and_then(|file| file.write_all(&output));
        output.clear();
        self.output = output;
        r
    }

    /// Writes bytes.
    #[inline]
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.buffering == Buffering::Full
            && !self.output.is_empty()
            && self.output.len() + bytes.len() <= self.size
            && self.output.len() + bytes.len() <= self.output.capacity()
        {
            self.output.extend_from_slice(bytes);
            return Ok(());
        }
        self.write_slow(bytes)
    }

    fn write_slow(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(f) = &mut self.foreign {
            return f.write(bytes);
        }
        if !self.writable {
            // C writes nothing to any file.
            return if bytes.is_empty() { Ok(()) } else { Err(bad_file()) };
        }
        self.drop_input()?;
        if self.output.len() + bytes.len() > self.size {
            self.flush()?;
        }
        match self.buffering {
            Buffering::None => {
                if let Some(f) = self.before {
                    f();
                }
                return self.file()?.write_all(bytes);
            }
            _ if bytes.len() >= self.size => return self.file()?.write_all(bytes),
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
        // the buffer may have any size
        if self.output.try_reserve(bytes.len()).is_err() {
            self.flush()?;
            return self.file()?.write_all(bytes);
        }
        self.output.extend_from_slice(bytes);
        Ok(())
    }

    /// Discards bytes that were read ahead, and moves the file's position back to the program's
    /// position.
    fn drop_input(&mut self) -> io::Result<()> {
        let ahead = self.input.len() - self.taken;
        if ahead > 0 {
            self.file()?.seek(SeekFrom::Current(-(ahead as i64)))?;
        }
        self.input.clear();
        self.taken = 0;
        Ok(())
    }

    /// Writes the buffered output, and moves the file's position to the program's position. If the
    /// file has no position, the bytes that were read ahead stay in the buffer.
    pub(crate) fn synchronize(&mut self) -> io::Result<()> {
        if self.foreign.is_none() {
            self.flush()?;
        }
        match self.drop_input() {
            Err(e) if e.raw_os_error() == Some(libc::ESPIPE) => Ok(()),
            r => r,
        }
    }

    /// Returns the descriptor of the file, if the stream has one.
    pub(crate) fn descriptor(&mut self) -> Option<BorrowedFd<'_>> {
        self.file().ok().map(|file| File::as_fd(file))
    }

    /// Returns whether the file can be read, and whether it can be written.
    pub(crate) fn directions(&self) -> (bool, bool) {
        (self.readable, self.writable)
    }

    /// Returns the bytes that were read ahead and not yet consumed.
    #[inline]
    pub(crate) fn buffered(&self) -> &[u8] {
        &self.input[self.taken..]
    }

    /// Consumes the byte that [`Stream::peek`] has returned.
    pub(crate) fn skip(&mut self) {
        match &mut self.foreign {
            Some(f) => f.skip(),
            None => self.consume(1),
        }
    }

    /// Consumes bytes that were read ahead.
    #[inline]
    pub(crate) fn consume(&mut self, n: usize) {
        self.taken += n;
    }

    /// Fills the buffer if it is empty; false at the end of the file.
    pub(crate) fn fill(&mut self) -> io::Result<bool> {
        self.fill_for(1)
    }

    /// Like [`Stream::fill`] for an operation that needs `n` more bytes: a stream without a buffer
    /// reads no others.
    fn fill_for(&mut self, n: usize) -> io::Result<bool> {
        if self.taken < self.input.len() {
            return Ok(true);
        }
        if let Some(f) = &mut self.foreign {
            return Ok(f.peek()?.is_some());
        }
        if !self.readable {
            return Err(bad_file());
        }
        self.flush()?;
        if let Some(f) = self.before {
            f();
        }
        self.taken = 0;
        self.file()?;
        let size = if self.buffering == Buffering::None { n.min(BUFFER) } else { self.size };
        self.input.resize(size, 0);
        loop {
            let Some(file) = &mut self.file else { return Err(bad_file()) };
            match file.read(&mut self.input) {
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
        match &mut self.foreign {
            Some(f) => f.peek(),
            None => Ok(if self.fill()? { Some(self.input[self.taken]) } else { None }),
        }
    }

    /// Appends a line to `out`, with its line feed; false at the end of the file.
    pub(crate) fn read_line(&mut self, out: &mut Vec<u8>, bounds: &Bounds<'_>) -> io::Result<bool> {
        if let Some(f) = &mut self.foreign {
            let before = out.len();
            loop {
                reserve(out, LINE_AT_ONCE)?;
                let is_end = f.read_line(out, LINE_AT_ONCE)?;
                bounds.check(out.len())?;
                if is_end {
                    return Ok(out.len() > before);
                }
            }
        }
        let mut any = false;
        while self.fill()? {
            any = true;
            let rest = self.buffered();
            if let Some(i) = memchr::memchr(b'\n', rest) {
                bounds.append(out, &rest[..=i])?;
                self.consume(i + 1);
                return Ok(true);
            }
            bounds.append(out, rest)?;
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
        if let Some(f) = &mut self.foreign {
            while n > 0 {
                let got = f.read(out, n.min(READ_AT_ONCE as usize))?;
                if got == 0 {
                    break;
                }
                n -= got;
                bounds.check(out.len())?;
            }
            return Ok(());
        }
        while n > 0 && self.fill_for(n)? {
            let rest = self.buffered();
            let take = rest.len().min(n);
            bounds.append(out, &rest[..take])?;
            self.consume(take);
            n -= take;
        }
        Ok(())
    }

    /// Returns the number of bytes between the position and the end of a regular file; 0 if
    /// unknown.
    pub(crate) fn remaining(&mut self) -> u64 {
        let Ok(file) = self.file() else { return 0 };
        match (file.metadata(), file.stream_position()) {
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
            match self.file()?.read(&mut out[done..]) {
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
        if self.foreign.is_some() {
            return self.read_bytes(out, usize::MAX, bounds);
        }
        if self.fill()? {
            bounds.append(out, self.buffered())?;
            let n = self.buffered().len();
            self.consume(n);
            loop {
                // `read_to_end` looks for the end of the file in some room of its own
                reserve(out, READ_AT_ONCE as usize + 64)?;
                if self.file()?.take(READ_AT_ONCE).read_to_end(out)? == 0 {
                    break;
                }
                bounds.check(out.len())?;
            }
        }
        Ok(())
    }

    /// Moves the position and returns the new one.
    pub(crate) fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        if let Some(f) = &mut self.foreign {
            return f.seek(to);
        }
        self.flush()?;
        let ahead = (self.input.len() - self.taken) as i64;
        let to = match to {
            SeekFrom::Current(n) => SeekFrom::Current(n.saturating_sub(ahead)),
            other => other,
        };
        let r = self.file()?.seek(to)?;
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
        if self.foreign.is_some() {
            return;
        }
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

    /// A file of another language for tests: the bytes written to it, and the bytes to be read.
    struct Other(std::sync::Arc<std::sync::Mutex<Vec<u8>>>, &'static [u8]);

    impl ForeignStream for Other {
        fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(())
        }
        fn flush(&mut self) -> io::Result<()> {
            self.write(b"|")
        }
        fn set_buffering(&mut self, _: Buffering, _: usize) -> io::Result<()> {
            Ok(())
        }
        fn read(&mut self, out: &mut Vec<u8>, n: usize) -> io::Result<usize> {
            let (now, later) = self.1.split_at(n.min(self.1.len()).min(2));
            out.extend_from_slice(now);
            self.1 = later;
            Ok(now.len())
        }
        // every byte except for `x` ends a line
        fn read_line(&mut self, out: &mut Vec<u8>, n: usize) -> io::Result<bool> {
            for _ in 0..n {
                let Some((&byte, later)) = self.1.split_first() else { return Ok(true) };
                out.push(byte);
                self.1 = later;
                if byte != b'x' {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        fn peek(&mut self) -> io::Result<Option<u8>> {
            Ok(self.1.first().copied())
        }
        fn skip(&mut self) {
            self.1 = &self.1[1..];
        }
        fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
            Ok(7)
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "works on real files")]
    fn another_stream_takes_what_is_written_after_it_was_set() {
        let taken = std::sync::Arc::default();
        let path = std::env::temp_dir().join(format!("perilune-redirect-{}", std::process::id()));
        let mut s = Stream::new(File::create(&path).unwrap(), false, true);
        s.write(b"before").unwrap();
        s.redirect(Box::new(Other(std::sync::Arc::clone(&taken), b"")));
        s.write(b"af").unwrap();
        s.set_buffering(Buffering::Full, 100).unwrap();
        s.write(b"ter").unwrap();
        s.flush().unwrap();
        drop(s);
        assert_eq!(taken.lock().unwrap().as_slice(), b"af|ter|");
        assert_eq!(std::fs::read(&path).unwrap(), b"before");
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_stream_of_another_language_is_not_read_ahead() {
        let mut s = Stream::of_foreign(Box::new(Other(std::sync::Arc::default(), b"ab12345")));
        let mut out = Vec::new();
        assert!(s.read_line(&mut out, &Bounds::NONE).unwrap());
        assert_eq!((s.peek().unwrap(), s.buffered().len()), (Some(b'b'), 0));
        s.skip();
        s.read_bytes(&mut out, 3, &Bounds::NONE).unwrap();
        assert_eq!(out, b"a123");
        assert_eq!(s.seek(SeekFrom::End(0)).unwrap(), 7);
        s.read_all(&mut out, &Bounds::NONE).unwrap();
        assert_eq!(out, b"a12345");
        assert!(!s.fill().unwrap());
    }

    #[test]
    fn lines_of_another_language_are_bounded() {
        const LONG: &[u8] = &[b'x'; 3 * LINE_AT_ONCE];
        let of_other = || Stream::of_foreign(Box::new(Other(std::sync::Arc::default(), LONG)));
        let mut line = Vec::new();
        assert!(of_other().read_line(&mut line, &Bounds::NONE).unwrap());
        assert_eq!(line.len(), LONG.len());
        line.clear();
        assert!(of_other().read_line(&mut line, &Bounds::of_room(100)).is_err());
        assert_eq!(line.len(), LINE_AT_ONCE);
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
