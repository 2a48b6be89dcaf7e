//! Files of the library `io` as C code sees them (manual 5, `luaL_Stream`).

use std::ffi::{c_int, c_void};
use std::io::{self, SeekFrom};
use std::os::fd::IntoRawFd;
use std::sync::Once;

use perilune_runtime::native::{Cx, Udata, Val};
use perilune_runtime::value::Value;
use perilune_stdlib::io::{
    Buffering, FileInfo, Foreign, ForeignFiles, ForeignStream, Opened, accept_foreign_files,
    foreign_address, redirect_output,
};

use crate::entry::Entry;
use crate::run::run;
use crate::state::{CFunction, LuaState};

unsafe extern "C" {
    static stdin: *mut libc::FILE;
    static stdout: *mut libc::FILE;
    static stderr: *mut libc::FILE;
    fn flockfile(file: *mut libc::FILE);
    fn funlockfile(file: *mut libc::FILE);
    fn getc_unlocked(file: *mut libc::FILE) -> c_int;
}

/// `luaL_Stream`
#[repr(C)]
struct Stream {
    file: *mut libc::FILE,
    /// Null for a closed file.
    close: Option<CFunction>,
}

/// The side of a file that C code sees. It has its own descriptor for the same open file, so both
/// sides share one position. It has no buffer, so that text written by C code comes before text
/// that the library writes later.
struct Side {
    stream: Box<Stream>,
    /// Whether this side owns the file; false for the standard files of the C library.
    owned: bool,
}

// SAFETY: the file belongs to the state of its userdata, which one thread uses at a time.
unsafe impl Send for Side {}

impl Foreign for Side {
    fn address(&self) -> usize {
        (&raw const *self.stream).expose_provenance()
    }

    fn close(&mut self) {
        self.stream.close = None;
        let file = std::mem::replace(&mut self.stream.file, std::ptr::null_mut());
        if self.owned && !file.is_null() {
            // SAFETY: the file was opened by `open`, and is closed once.
            unsafe { libc::fclose(file) };
        }
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        self.close();
    }
}

/// Makes the library `io` use files of the C library: it accepts files that C code has created, and
/// it writes its standard output through that of the C library. The latter then has the only
/// buffer, so the output of C code and Lua code appears in the order in which it was written.
pub(crate) fn connect() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        accept_foreign_files(ForeignFiles { open: open_foreign, take_close });
        // SAFETY: C1: the program does not replace the variable at the same time.
        redirect_output(Box::new(File(unsafe { stdout })));
    });
}

/// A file of the C library, which stays open as long as this value is used.
struct File(*mut libc::FILE);

// SAFETY: the functions of the C library lock the file, and the creator of a `File` uses it only
// while the file is open.
unsafe impl Send for File {}

fn checked(succeeded: bool) -> io::Result<()> {
    if succeeded { Ok(()) } else { Err(io::Error::last_os_error()) }
}

// SAFETY of all blocks of this impl: the file is open.
impl ForeignStream for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        // SAFETY: as above.
        let n = unsafe { libc::fwrite(bytes.as_ptr().cast(), 1, bytes.len(), self.0) };
        checked(n == bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        // SAFETY: as above.
        checked(unsafe { libc::fflush(self.0) } == 0)
    }

    fn set_buffering(&mut self, when: Buffering, size: usize) -> io::Result<()> {
        let mode = match when {
            Buffering::None => libc::_IONBF,
            Buffering::Line => libc::_IOLBF,
            Buffering::Full => libc::_IOFBF,
        };
        // SAFETY: as above. The C library allocates the buffer.
        checked(unsafe { libc::setvbuf(self.0, std::ptr::null_mut(), mode, size) } == 0)
    }

    fn read(&mut self, out: &mut Vec<u8>, n: usize) -> io::Result<usize> {
        out.reserve(n);
        let room = &mut out.spare_capacity_mut()[..n];
        // SAFETY: as above. The function has initialized as many bytes as it says.
        unsafe {
            let got = libc::fread(room.as_mut_ptr().cast(), 1, n, self.0);
            checked(got > 0 || libc::ferror(self.0) == 0)?;
            out.set_len(out.len() + got);
            Ok(got)
        }
    }

    fn read_line(&mut self, out: &mut Vec<u8>, n: usize) -> io::Result<bool> {
        let mut is_end = false;
        // SAFETY: as above. The file is locked meanwhile.
        unsafe {
            flockfile(self.0);
            for _ in 0..n {
                let c = getc_unlocked(self.0);
                is_end = c == libc::EOF || c == c_int::from(b'\n');
                if c != libc::EOF {
                    out.push(c as u8);
                }
                if is_end {
                    break;
                }
            }
            let failed = libc::ferror(self.0) != 0;
            funlockfile(self.0);
            checked(!failed)?;
        }
        Ok(is_end)
    }

    fn peek(&mut self) -> io::Result<Option<u8>> {
        // SAFETY: as above.
        unsafe {
            let c = libc::fgetc(self.0);
            if c == libc::EOF {
                return checked(libc::ferror(self.0) == 0).map(|()| None);
            }
            libc::ungetc(c, self.0);
            Ok(Some(c as u8))
        }
    }

    fn skip(&mut self) {
        // SAFETY: as above.
        unsafe { libc::fgetc(self.0) };
    }

    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (offset, whence) = match to {
            SeekFrom::Start(n) => (n as i64, libc::SEEK_SET),
            SeekFrom::Current(n) => (n, libc::SEEK_CUR),
            SeekFrom::End(n) => (n, libc::SEEK_END),
        };
        // SAFETY: as above.
        unsafe {
            checked(libc::fseeko(self.0, offset, whence) == 0)?;
            let at = libc::ftello(self.0);
            checked(at >= 0)?;
            Ok(at as u64)
        }
    }
}

/// Returns the `luaL_Stream` in a userdata that C code has created as a file.
fn stream_of_c(cx: &Cx, u: Udata<'_>) -> Option<*mut Stream> {
    let files = cx.registry().get_name(cx, "FILE*");
    if !u.metatable().is_some_and(|meta| meta.val().raw_equals(files)) {
        return None;
    }
    let u = u.val().raw().as_userdata();
    // SAFETY: N2.
    let (block, size) = unsafe { ((*u).block, (*u).header.word as usize) };
    (!block.is_null() && size >= size_of::<Stream>()).then_some(block.cast())
}

/// Implements [`ForeignFiles::open`].
fn open_foreign(cx: &Cx, u: Udata<'_>) -> Opened {
    let stream = stream_of_c(cx, u)?;
    // SAFETY: C1: C code gives the metatable of files only to a `luaL_Stream` whose fields are set.
    unsafe {
        let file = (*stream).file;
        if (*stream).close.is_none() || file.is_null() {
            return Some(None);
        }
        // as each operation does in PUC
        libc::clearerr(file);
        Some(Some(Box::new(File(file))))
    }
}

/// Implements [`ForeignFiles::take_close`].
fn take_close<'a>(cx: &'a Cx, u: Udata<'a>) -> Option<Val<'a>> {
    let stream = stream_of_c(cx, u)?;
    // SAFETY: N1; C1, C2: the function is one for this state.
    unsafe {
        let f = (*stream).close.take()?;
        let l = LuaState::of(cx.state(), (*cx.state()).thread);
        Some(Val::of(cx, (*(*l).global).functions.light(cx, run, f as *const ())))
    }
}

/// The function that C code would call to close a file. It does nothing, as the library closes its
/// files itself.
unsafe extern "C" fn close(_: *mut LuaState) -> c_int {
    0
}

fn open(info: FileInfo<'_>) -> Option<Box<dyn Foreign>> {
    // SAFETY: C1 for the files of the C library; the descriptor is a new one, which the file owns.
    let (file, owned) = unsafe {
        let file = match (info.standard, info.descriptor) {
            (Some(0), _) => stdin,
            (Some(1), _) => stdout,
            (Some(_), _) => stderr,
            (None, None) => std::ptr::null_mut(),
            (None, Some(descriptor)) => {
                let mode = match (info.readable, info.writable) {
                    (true, true) => c"r+",
                    (false, true) => c"w",
                    _ => c"r",
                };
                let own = descriptor.try_clone_to_owned().ok()?;
                libc::fdopen(own.into_raw_fd(), mode.as_ptr())
            }
        };
        // standard output keeps its buffer, since both sides write to the same one
        if !file.is_null() && info.standard != Some(1) {
            libc::setvbuf(file, std::ptr::null_mut(), libc::_IONBF, 0);
        }
        (file, info.standard.is_none())
    };
    let close: Option<CFunction> = if file.is_null() { None } else { Some(close) };
    Some(Box::new(Side { stream: Box::new(Stream { file, close }), owned }))
}

/// Returns the size of the memory of a userdata of the host, as C code sees it: that of a file is
/// its `luaL_Stream`, and others have none.
///
/// # Safety
/// `v` is live.
pub(crate) unsafe fn size_for_c(e: &mut Entry, v: Value) -> usize {
    if stream_for_c(e, v).is_null() { 0 } else { size_of::<Stream>() }
}

/// Returns the `luaL_Stream` of a file; null for userdata of the host that are not files.
///
/// # Safety
/// `v` is live.
pub(crate) unsafe fn stream_for_c(e: &mut Entry, v: Value) -> *mut c_void {
    let v = Val::of(e.cx(), v);
    foreign_address(v, open).map_or(std::ptr::null_mut(), std::ptr::with_exposed_provenance_mut)
}
