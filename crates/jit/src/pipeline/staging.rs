//! The memory in which a module of `cranelift-jit` is laid out before its code is published.
//!
//! A module is staged at a different address than the one at which it will run, with the same
//! layout. This is sound because code never depends on its own address: distances between functions
//! of one module are the same at both addresses, and everything else is referenced by absolute
//! addresses (`Assembly::define` rejects any other relocation). The bytes are therefore final once
//! the module has relocated them, and publishing only copies them.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cranelift_jit::{BranchProtection, JITMemoryKind, JITMemoryProvider};
use cranelift_module::ModuleResult;
use perilune_code::region::TRAP;

/// The alignment of functions.
const ALIGNMENT: usize = 16;

/// The maximum number of bytes that are kept from one module to the next.
const MAX_KEPT: usize = 64 << 10;

/// A staging buffer, which the compiler shares with the module that it is compiling.
#[derive(Clone, Default)]
pub(crate) struct Staging(Arc<Mutex<Vec<u8>>>);

impl Staging {
    /// Empties the buffer and makes room for `capacity` bytes, which later allocations never move.
    ///
    /// # Errors
    /// Returns an error if there is no memory.
    pub(crate) fn prepare(&self, capacity: usize) -> Result<(), String> {
        let mut bytes = self.lock();
        bytes.clear();
        bytes.try_reserve_exact(capacity).map_err(|e| format!("staging: {e}"))
    }

    /// Returns the address of the buffer, which modules must not outlive.
    pub(crate) fn address(&self) -> usize {
        self.lock().as_ptr() as usize
    }

    /// Takes the bytes of a finished module. [`Staging::recycle`] gives the memory back.
    pub(crate) fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.lock())
    }

    /// Keeps memory that [`Staging::take`] returned for the next module, unless it is large.
    pub(crate) fn recycle(&self, bytes: Vec<u8>) {
        if bytes.capacity() <= MAX_KEPT {
            *self.lock() = bytes;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl JITMemoryProvider for Staging {
    /// Allocates within the capacity, so that pointers returned before stay valid. Gaps are filled
    /// with traps.
    fn allocate(&mut self, size: usize, align: u64, kind: JITMemoryKind) -> io::Result<*mut u8> {
        let JITMemoryKind::Executable = kind else {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "modules hold no data"));
        };
        let mut bytes = self.lock();
        let align = ALIGNMENT.max(align as usize);
        let start = bytes.len().next_multiple_of(align);
        let end = start.checked_add(size).filter(|end| *end <= bytes.capacity());
        let end = end.ok_or(io::ErrorKind::OutOfMemory)?;
        bytes.resize(end, TRAP);
        Ok(bytes.as_mut_ptr().wrapping_add(start))
    }

    /// Does nothing: the buffer belongs to the compile thread.
    unsafe fn free_memory(&mut self) {}

    /// Does nothing: staged code is never executed.
    fn finalize(&mut self, _: BranchProtection) -> ModuleResult<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocations_are_aligned_stay_put_and_respect_the_capacity() {
        let staging = Staging::default();
        staging.prepare(100).expect("there is memory");
        let mut provider = staging.clone();
        let mut allocate = |size| provider.allocate(size, 1, JITMemoryKind::Executable);
        let first = allocate(5).expect("there is room") as usize;
        let second = allocate(80).expect("there is room") as usize;
        assert_eq!((first, second), (staging.address(), staging.address() + ALIGNMENT));
        assert_eq!(allocate(100).map_err(|e| e.kind()), Err(io::ErrorKind::OutOfMemory));
        let data = staging.clone().allocate(8, 8, JITMemoryKind::ReadOnly);
        assert_eq!(data.map_err(|e| e.kind()), Err(io::ErrorKind::Unsupported));
        let bytes = staging.take();
        assert_eq!(bytes, [TRAP; ALIGNMENT + 80]);
        staging.recycle(bytes);
        staging.prepare(50).expect("there is memory");
        assert_eq!(staging.address(), first, "the buffer is used again");
    }
}
