//! Memory that can be written and executed, but never at the same address.

use std::io;
use std::os::fd::OwnedFd;
use std::ptr::{self, NonNull};
use std::sync::atomic::{
    AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap, mmap_anonymous, mprotect, munmap};

use super::{MappingKind, TRAP, cache};
use crate::lock::{Mutex, lock};
use crate::{barrier, fork};

/// Bytes that are made private together after a fork.
const CHUNK: usize = 64 << 10;

/// The most bytes of written code that count as resident at the alias as well.
const MAX_RESIDENT_TWICE: usize = 256 << 10;

const EXECUTABLE: ProtFlags = ProtFlags::READ.union(ProtFlags::EXEC);
const WRITABLE: ProtFlags = ProtFlags::READ.union(ProtFlags::WRITE);

/// The pages of a region.
///
/// Double-mapped: shared memory files, mapped readable and executable at `code`, and readable and
/// writable at `alias`. Page-exclusive: one private mapping whose pages have no rights, or are
/// writable while their one owner fills them, or executable.
///
/// **Forks.** The pages of a private mapping are private to the child as well. Those of a memory
/// file are not, so both processes treat a file that is older than the last fork as read-only:
/// before its first write to a chunk, each replaces the chunk, at the same addresses, by a new file
/// with the same contents. So the contents that a process finds in the region at a fork stay the
/// same until the process itself changes them.
#[derive(Debug)]
pub(super) struct Mapping {
    code: NonNull<u8>,
    double: Option<Double>,
    size: usize,
}

/// The writable side of a double mapping.
#[derive(Debug)]
struct Double {
    alias: NonNull<u8>,
    /// For each chunk, the value of [`fork::count`] when its memory file was created. Writers
    /// compare it inside the gate, so that no fork falls between the comparison and the write.
    made: Box<[AtomicU64]>,
    /// Held while a chunk is replaced.
    replacing: Mutex<()>,
    /// The bytes that were written since the pages of the alias were [unmapped](forget).
    resident_twice: AtomicUsize,
}

// SAFETY: the mapping is only addresses; the owners of disjoint ranges write to them.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Reserves `size` bytes, a multiple of the page size.
    pub(super) fn new(size: usize, kind: MappingKind) -> io::Result<Mapping> {
        fork::watch();
        if !barrier::can_sync_cores() {
            let text = "the system cannot make other cores fetch code again";
            return Err(io::Error::new(io::ErrorKind::Unsupported, text));
        }
        match kind {
            MappingKind::DoubleMapped => Mapping::double(size),
            MappingKind::PageExclusive => Mapping::exclusive(size),
            MappingKind::Auto => Mapping::double(size)
                .ok()
                .filter(Mapping::runs_what_is_written)
                .map_or_else(|| Mapping::exclusive(size), Ok),
        }
    }

    /// Returns whether code is executed as it was written through the alias. Emulators that
    /// translate code need not notice such writes; qemu does since version 8.1.
    #[cfg(target_arch = "aarch64")]
    fn runs_what_is_written(&self) -> bool {
        let returned = |number: u32| {
            // mov w0, number; ret
            let code = [0x5280_0000 | number << 5, 0xD65F_03C0].map(u32::to_le_bytes).concat();
            // SAFETY: nothing else uses the mapping yet.
            unsafe { self.write(0, code.len(), &code) }.ok()?;
            barrier::sync_cores();
            // SAFETY: this is the function that was just written.
            let function: extern "C" fn() -> u32 = unsafe { std::mem::transmute(self.code()) };
            Some(function())
        };
        let found = [1, 2].map(returned);
        // SAFETY: as above.
        let cleared = unsafe { self.write(0, super::GRANULE, &[]) };
        found == [Some(1), Some(2)] && cleared.is_ok()
    }

    #[cfg(not(target_arch = "aarch64"))]
    fn runs_what_is_written(&self) -> bool {
        true
    }

    fn double(size: usize) -> io::Result<Mapping> {
        // No fork falls between the creation of the file and the count.
        let _inside = fork::enter();
        let file = memory_file(size)?;
        let code = map_file(None, size, EXECUTABLE, &file)?;
        let alias = match map_file(None, size, WRITABLE, &file) {
            Ok(alias) => alias,
            Err(error) => {
                unmap(code, size);
                return Err(error);
            }
        };
        let count = fork::count();
        let made = (0..size.div_ceil(CHUNK)).map(|_| AtomicU64::new(count)).collect();
        let replacing = Mutex::new(());
        let resident_twice = AtomicUsize::new(0);
        let double = Double { alias, made, replacing, resident_twice };
        Ok(Mapping { code, double: Some(double), size })
    }

    fn exclusive(size: usize) -> io::Result<Mapping> {
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: a new mapping at an address of the kernel's choice.
        let address = unsafe { mmap_anonymous(ptr::null_mut(), size, ProtFlags::empty(), flags)? };
        let code = NonNull::new(address.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        let mapping = Mapping { code, double: None, size };
        // Fail here where pages may not become executable at all.
        protect(code, page_size(), MprotectFlags::READ | MprotectFlags::EXEC)?;
        protect(code, page_size(), MprotectFlags::empty())?;
        Ok(mapping)
    }

    /// Returns whether ranges have to be whole pages.
    pub(super) fn is_page_exclusive(&self) -> bool {
        self.double.is_none()
    }

    /// Returns the address at which the code begins.
    pub(super) fn code(&self) -> *const u8 {
        self.code.as_ptr()
    }

    /// Overwrites `size` bytes from `offset`: `bytes`, then traps. Afterwards they are executable.
    ///
    /// # Safety
    /// The caller owns the range, in whole pages where [`Mapping::is_page_exclusive`], and no
    /// thread of this process runs code in it.
    pub(super) unsafe fn write(&self, offset: usize, size: usize, bytes: &[u8]) -> io::Result<()> {
        assert!(offset + size <= self.size && bytes.len() <= size, "outside of the region");
        let fill = |to: NonNull<u8>| {
            ptr::copy_nonoverlapping(bytes.as_ptr(), to.as_ptr(), bytes.len());
            ptr::write_bytes(to.as_ptr().add(bytes.len()), TRAP, size - bytes.len());
        };
        let _inside = fork::enter();
        match &self.double {
            Some(double) => {
                for chunk in offset / CHUNK..(offset + size).div_ceil(CHUNK) {
                    // Acquire: the chunk is replaced before it is written to.
                    if double.made[chunk].load(Acquire) != fork::count() {
                        self.replace(chunk, double)?;
                    }
                }
                fill(double.alias.add(offset));
                cache::publish(self.code.add(offset).as_ptr(), size);
                if double.resident_twice.fetch_add(size, Relaxed) + size > MAX_RESIDENT_TWICE {
                    double.resident_twice.store(0, Relaxed);
                    forget(double.alias, self.size);
                }
            }
            None => {
                let code = self.code.add(offset);
                protect(code, size, MprotectFlags::READ | MprotectFlags::WRITE)?;
                fill(code);
                protect(code, size, MprotectFlags::READ | MprotectFlags::EXEC)?;
                cache::publish(code.as_ptr(), size);
            }
        }
        Ok(())
    }

    /// Replaces the memory file of a chunk by a new one with the same contents, unless another
    /// thread has done so since the last fork. The caller is inside the gate.
    ///
    /// The kernel replaces a mapping under the lock that page faults take, so a thread that
    /// executes the chunk meanwhile sees the old pages or the new. The alias is replaced first: if
    /// replacing the code fails, the old file is not written to, as the chunk does not count as
    /// replaced.
    fn replace(&self, chunk: usize, double: &Double) -> io::Result<()> {
        let _replacing = lock(&double.replacing);
        let made = &double.made[chunk];
        if made.load(Relaxed) == fork::count() {
            return Ok(());
        }
        let offset = chunk * CHUNK;
        let size = CHUNK.min(self.size - offset);
        // SAFETY: the offset is inside of both mappings.
        let (code, alias) = unsafe { (self.code.add(offset), double.alias.add(offset)) };
        let file = memory_file(size)?;
        // SAFETY: the chunk is mapped and readable, and no thread writes to it: since the fork,
        // writers have to wait for the lock.
        let contents = unsafe { std::slice::from_raw_parts(code.as_ptr(), size) };
        let mut done = 0;
        while done < size {
            done += rustix::io::pwrite(&file, &contents[done..], done as u64)?;
        }
        map_file(Some(alias), size, WRITABLE, &file)?;
        map_file(Some(code), size, EXECUTABLE, &file)?;
        // Release: other threads write to it from here on.
        made.store(fork::count(), Release);
        Ok(())
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        unmap(self.code, self.size);
        if let Some(double) = &self.double {
            unmap(double.alias, self.size);
        }
    }
}

/// Creates a memory file that may be executed. Fails if the process may not make files of this
/// size: the attempt would end the process with the signal `SIGXFSZ`.
fn memory_file(size: usize) -> io::Result<OwnedFd> {
    use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
    use rustix::process::{Resource, getrlimit};
    if getrlimit(Resource::Fsize).current.is_some_and(|limit| limit < size as u64) {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    // Kernels before 6.3 do not know the flag `EXEC`, and allow execution without it.
    let create = |flags| memfd_create(c"perilune-code", MemfdFlags::CLOEXEC | flags);
    let file = create(MemfdFlags::EXEC).or_else(|_| create(MemfdFlags::empty()))?;
    ftruncate(&file, size as u64)?;
    Ok(file)
}

/// Maps a memory file in place of the mapping at `at`, or at an address of the kernel's choice.
fn map_file(
    at: Option<NonNull<u8>>,
    size: usize,
    rights: ProtFlags,
    file: &OwnedFd,
) -> io::Result<NonNull<u8>> {
    let (at, fixed) = match at {
        Some(at) => (at.as_ptr(), MapFlags::FIXED),
        None => (ptr::null_mut(), MapFlags::empty()),
    };
    // SAFETY: a new mapping at an address of the kernel's choice, or in the place of pages of ours
    // that have the same contents.
    let address = unsafe { mmap(at.cast(), size, rights, MapFlags::SHARED | fixed, file, 0)? };
    NonNull::new(address.cast()).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
}

fn unmap(address: NonNull<u8>, size: usize) {
    // SAFETY: called once for each mapping, by its owner. A failure leaves the pages mapped.
    let _ = unsafe { munmap(address.as_ptr().cast(), size) };
}

/// Lets the system remove the pages of an alias of this size from the page tables, as they count as
/// resident at each address, and the alias is used for only one write. The file keeps their
/// contents. The call interrupts all cores that run the process, so it is not made for each write.
fn forget(alias: NonNull<u8>, size: usize) {
    use rustix::mm::{Advice, madvise};
    // SAFETY: it is a shared mapping of files, whose contents stay as they are. A failure leaves
    // the pages where they are.
    let _ = unsafe { madvise(alias.as_ptr().cast(), size, Advice::LinuxDontNeed) };
}

fn protect(address: NonNull<u8>, size: usize, rights: MprotectFlags) -> io::Result<()> {
    // SAFETY: the pages are part of our mapping, and their owner changes their rights.
    unsafe { mprotect(address.as_ptr().cast(), size, rights)? };
    Ok(())
}

/// Returns the number of bytes in a page.
pub(super) fn page_size() -> usize {
    rustix::param::page_size()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_outlives_the_pages_of_its_alias() {
        let chunks = 3 * MAX_RESIDENT_TWICE / CHUNK;
        let mapping = Mapping::new(chunks * CHUNK, MappingKind::DoubleMapped).expect("it maps");
        let written = |n: usize| vec![n as u8; CHUNK];
        for n in 0..chunks {
            // SAFETY: nothing else uses the mapping.
            unsafe { mapping.write(n * CHUNK, CHUNK, &written(n)) }.expect("it is written");
            let double = mapping.double.as_ref().expect("it is double-mapped");
            assert!(double.resident_twice.load(Relaxed) <= MAX_RESIDENT_TWICE);
        }
        for n in 0..chunks {
            // SAFETY: the range is inside of the mapping, and nothing writes to it.
            let code = unsafe { std::slice::from_raw_parts(mapping.code().add(n * CHUNK), CHUNK) };
            assert_eq!(code, written(n), "chunk {n}");
        }
    }
}
