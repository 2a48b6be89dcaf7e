//! Files of the library `io` as C code sees them (manual 5, `luaL_Stream`).

use std::ffi::{c_int, c_void};
use std::os::fd::IntoRawFd;

use perilune_runtime::native::Val;
use perilune_runtime::value::Value;
use perilune_stdlib::io::{FileInfo, Foreign, foreign_address};

use crate::entry::Entry;
use crate::state::{CFunction, LuaState};

unsafe extern "C" {
    static stdin: *mut libc::FILE;
    static stdout: *mut libc::FILE;
    static stderr: *mut libc::FILE;
}

/// `luaL_Stream`
#[repr(C)]
struct Stream {
    file: *mut libc::FILE,
    /// Null for a closed file.
    close: Option<CFunction>,
}

/// The side of a file that C code sees. It has a descriptor of its own for the same open file, so
/// both sides have one position; and no buffer, so that what C code writes is not behind what the
/// library writes later.
struct Side {
    stream: Box<Stream>,
    /// Whether the file is not one of the C library's.
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

/// Writes what the C library has buffered for the standard output.
pub(crate) fn flush_output_of_c() {
    // SAFETY: the file of the C library lives as long as the process.
    unsafe { libc::fflush(stdout) };
}

/// What C code would call to close a file. The library closes its files itself.
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
        if !file.is_null() {
            libc::setvbuf(file, std::ptr::null_mut(), libc::_IONBF, 0);
        }
        (file, info.standard.is_none())
    };
    let close: Option<CFunction> = if file.is_null() { None } else { Some(close) };
    Some(Box::new(Side { stream: Box::new(Stream { file, close }), owned }))
}

/// Returns the `luaL_Stream` of a file; null for userdata of the host that are no files.
///
/// # Safety
/// `v` is live.
pub(crate) unsafe fn stream_for_c(e: &mut Entry, v: Value) -> *mut c_void {
    let v = Val::of(e.cx(), v);
    foreign_address(v, open).map_or(std::ptr::null_mut(), std::ptr::with_exposed_provenance_mut)
}
