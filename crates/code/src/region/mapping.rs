//! Memory that can be written and executed, never at one address.

use std::io;
use std::ptr::{self, NonNull};

use super::{MappingKind, TRAP};

/// The pages of a region.
///
/// Double-mapped: one shared memory file, mapped readable and executable at `code`, and readable and writable at `alias`.
/// Page-exclusive: one private mapping whose pages are without rights, or writable while their one owner fills them, or executable.
#[derive(Debug)]
pub(super) struct Mapping {
    code: NonNull<u8>,
    /// None: page-exclusive.
    alias: Option<NonNull<u8>>,
    size: usize,
}

// SAFETY: the mapping is only addresses; who writes where is decided by owners of disjoint ranges.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Reserves `size` bytes, a multiple of the page size.
    pub(super) fn new(size: usize, kind: MappingKind) -> io::Result<Mapping> {
        match kind {
            MappingKind::DoubleMapped => Mapping::double(size),
            MappingKind::PageExclusive => Mapping::exclusive(size),
            MappingKind::Auto => Mapping::double(size).or_else(|_| Mapping::exclusive(size)),
        }
    }

    fn double(size: usize) -> io::Result<Mapping> {
        let file = memory_file(size)?;
        let map = |rights| map(size, rights, libc::MAP_SHARED, file.0);
        let code = map(libc::PROT_READ | libc::PROT_EXEC)?;
        match map(libc::PROT_READ | libc::PROT_WRITE) {
            Ok(alias) => Ok(Mapping { code, alias: Some(alias), size }),
            Err(error) => {
                unmap(code, size);
                Err(error)
            }
        }
    }

    fn exclusive(size: usize) -> io::Result<Mapping> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let code = map(size, libc::PROT_NONE, flags, -1)?;
        // Where pages may not become executable at all, say so now.
        protect(code, page_size(), libc::PROT_READ | libc::PROT_EXEC)?;
        protect(code, page_size(), libc::PROT_NONE)?;
        Ok(Mapping { code, alias: None, size })
    }

    /// Do ranges have to be whole pages?
    pub(super) fn is_page_exclusive(&self) -> bool {
        self.alias.is_none()
    }

    /// Where the code begins.
    pub(super) fn code(&self) -> *const u8 {
        self.code.as_ptr()
    }

    /// Overwrites `size` bytes from `offset`: `bytes`, then traps. Afterwards they are executable.
    ///
    /// # Safety
    /// The caller owns the range, in whole pages where [`Mapping::is_page_exclusive`]; no thread runs code in it.
    pub(super) unsafe fn write(&self, offset: usize, size: usize, bytes: &[u8]) -> io::Result<()> {
        assert!(offset + size <= self.size && bytes.len() <= size, "outside of the region");
        let code = self.code.add(offset);
        let to = match self.alias {
            Some(alias) => alias.add(offset),
            None => {
                protect(code, size, libc::PROT_READ | libc::PROT_WRITE)?;
                code
            }
        };
        ptr::copy_nonoverlapping(bytes.as_ptr(), to.as_ptr(), bytes.len());
        ptr::write_bytes(to.as_ptr().add(bytes.len()), TRAP, size - bytes.len());
        if self.alias.is_none() {
            protect(code, size, libc::PROT_READ | libc::PROT_EXEC)?;
        }
        clean_instruction_cache(code.as_ptr(), size);
        Ok(())
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        unmap(self.code, self.size);
        if let Some(alias) = self.alias {
            unmap(alias, self.size);
        }
    }
}

/// Makes the instruction cache see what was written. On x86-64 it does by itself; what remains there is what a core has
/// fetched already (`barrier::sync_cores`).
fn clean_instruction_cache(_code: *const u8, _size: usize) {
    #[cfg(not(target_arch = "x86_64"))]
    compile_error!("cleaning the instruction cache is not written for this target");
}

/// A file descriptor that is closed when dropped.
struct File(libc::c_int);

impl Drop for File {
    fn drop(&mut self) {
        // SAFETY: the descriptor is ours, and closed once.
        unsafe { libc::close(self.0) };
    }
}

/// A file in memory that may be executed.
#[cfg(target_os = "linux")]
fn memory_file(size: usize) -> io::Result<File> {
    // Kernels before 6.3 do not know the flag, and allow executing without it.
    const MFD_EXEC: libc::c_uint = 0x10;
    let create = |flags| {
        // SAFETY: the name is a C string.
        unsafe { libc::memfd_create(c"perilune-code".as_ptr(), libc::MFD_CLOEXEC | flags) }
    };
    let file = match create(MFD_EXEC) {
        fd if fd >= 0 => File(fd),
        _ => File(check(create(0))?),
    };
    // SAFETY: the descriptor is ours.
    check(unsafe { libc::ftruncate(file.0, size as libc::off_t) })?;
    Ok(file)
}

#[cfg(not(target_os = "linux"))]
fn memory_file(_size: usize) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

fn map(
    size: usize,
    rights: libc::c_int,
    flags: libc::c_int,
    file: libc::c_int,
) -> io::Result<NonNull<u8>> {
    // SAFETY: a new mapping at an address of the kernel's choice.
    let address = unsafe { libc::mmap(ptr::null_mut(), size, rights, flags, file, 0) };
    if address == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    NonNull::new(address.cast()).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
}

fn unmap(address: NonNull<u8>, size: usize) {
    // SAFETY: called once for each mapping, by its owner.
    unsafe { libc::munmap(address.as_ptr().cast(), size) };
}

fn protect(address: NonNull<u8>, size: usize, rights: libc::c_int) -> io::Result<()> {
    // SAFETY: the pages are part of our mapping, and their owner changes their rights.
    check(unsafe { libc::mprotect(address.as_ptr().cast(), size, rights) }).map(drop)
}

/// Bytes in a page.
pub(super) fn page_size() -> usize {
    // SAFETY: asks for a constant.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
}
