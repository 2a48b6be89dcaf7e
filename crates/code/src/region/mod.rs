//! Executable memory: one reserved region with a budget, from which ranges are allocated.

#[cfg(machine_code)]
mod cache;
#[cfg_attr(not(machine_code), path = "unsupported.rs")]
mod mapping;
mod spans;

use std::fmt;
use std::io;
use std::sync::Arc;

use crate::lock::{Mutex, lock};
use mapping::{Mapping, page_size};
use spans::Spans;

/// Whether the engine generates machine code for this target. On other targets no region can be
/// created, and programs run in the interpreter.
pub const MACHINE_CODE: bool = cfg!(machine_code);

/// The byte with which freed memory is filled, so that execution traps wherever it enters: `int3`,
/// or a quarter of `udf #0` on aarch64.
pub const TRAP: u8 = if cfg!(target_arch = "aarch64") { 0 } else { 0xCC };

/// The granularity of ranges, a cache line. The addresses and sizes of ranges are multiples of it,
/// so writing to a range never affects a core that is executing a neighboring one.
pub const GRANULE: usize = 64;

/// How a region separates writing from executing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MappingKind {
    /// Double-mapped if the system allows it, otherwise page-exclusive.
    #[default]
    Auto,
    /// The same memory at two addresses, writable at one and executable at the other.
    DoubleMapped,
    /// Each range consists of whole pages, which are writable while it is filled and executable
    /// afterwards.
    PageExclusive,
}

/// The error for a request for which a region has no free range of sufficient size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted;

impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("code memory exhausted")
    }
}
impl std::error::Error for Exhausted {}

/// The memory usage of a region in bytes, in whole granules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The budget.
    pub total: usize,
    /// Bytes in ranges and reservations.
    pub live: usize,
    /// Bytes in neither.
    pub free: usize,
    /// The largest range that could be reserved.
    pub largest: usize,
    /// The largest number of bytes that were ever live.
    pub peak: usize,
    /// The number of free spans.
    pub spans: usize,
}

/// One reserved region of executable memory. Ranges keep it alive.
pub struct Region {
    mapping: Mapping,
    granule: usize,
    total: usize,
    state: Mutex<State>,
}

struct State {
    spans: Spans,
    peak: usize,
}

impl Region {
    /// The largest budget: code uses 32-bit displacements within its region.
    pub const MAX_BUDGET: usize = 1 << 31;

    /// Reserves address space for `budget` bytes of code, at most [`Region::MAX_BUDGET`], rounded
    /// up to pages; memory is allocated when code is written.
    ///
    /// # Errors
    /// Returns an error if the system refuses the mapping, or if the target is not supported
    /// ([`MACHINE_CODE`]).
    pub fn new(budget: usize, kind: MappingKind) -> io::Result<Arc<Region>> {
        let page = page_size();
        let total = budget.clamp(1, Region::MAX_BUDGET).next_multiple_of(page);
        let mapping = Mapping::new(total, kind)?;
        let granule = if mapping.is_page_exclusive() { page } else { GRANULE };
        let state = Mutex::new(State { spans: Spans::new(total), peak: 0 });
        Ok(Arc::new(Region { mapping, granule, total, state }))
    }

    /// Returns the kind of its mapping, which is not [`MappingKind::Auto`].
    pub fn kind(&self) -> MappingKind {
        if self.mapping.is_page_exclusive() {
            MappingKind::PageExclusive
        } else {
            MappingKind::DoubleMapped
        }
    }

    /// Reserves room for `size` bytes of code.
    ///
    /// # Errors
    /// Returns an error if no free span is large enough.
    pub fn reserve(self: &Arc<Self>, size: usize) -> Result<Reservation, Exhausted> {
        if size > self.total {
            return Err(Exhausted);
        }
        let size = size.max(1).next_multiple_of(self.granule);
        let mut state = lock(&self.state);
        let offset = state.spans.take(size).ok_or(Exhausted)?;
        state.peak = state.peak.max(self.total - state.spans.free());
        Ok(Reservation { span: Span { region: self.clone(), offset, size, written: false } })
    }

    /// Returns how many bytes are in use and free.
    pub fn usage(&self) -> Usage {
        let state = lock(&self.state);
        Usage {
            total: self.total,
            live: self.total - state.spans.free(),
            free: state.spans.free(),
            largest: state.spans.largest(),
            peak: state.peak,
            spans: state.spans.count(),
        }
    }

    /// Returns whether this is an address of the region.
    pub fn contains(&self, address: *const u8) -> bool {
        (address as usize).wrapping_sub(self.mapping.code() as usize) < self.total
    }
}

impl fmt::Debug for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Region").field("kind", &self.kind()).field("usage", &self.usage()).finish()
    }
}

/// An owned part of the region.
struct Span {
    region: Arc<Region>,
    offset: usize,
    size: usize,
    /// Whether code was written to it. If so, it is filled with trap instructions before it is
    /// freed.
    written: bool,
}

impl Span {
    fn address(&self) -> *const u8 {
        self.region.mapping.code().wrapping_add(self.offset)
    }

    /// Gives back the granules after the first `size` bytes.
    fn shrink(&mut self, size: usize) {
        let size = size.max(1).next_multiple_of(self.region.granule);
        if size < self.size {
            lock(&self.region.state).spans.give(self.offset + size, self.size - size);
            self.size = size;
        }
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        if self.written {
            // SAFETY: the span is ours until the next statement; a written span is a `CodeRange`,
            // whose owner promises by dropping it that no thread runs it (protocol, Q1).
            let written = unsafe { self.region.mapping.write(self.offset, self.size, &[]) };
            if written.is_err() {
                // The pages may have any rights now, so they are not reused, and count as live.
                return;
            }
        }
        lock(&self.region.state).spans.give(self.offset, self.size);
    }
}

/// Room for code whose final address is known but whose bytes are not. Dropping it releases the
/// room.
pub struct Reservation {
    span: Span,
}

impl Reservation {
    /// Returns the address at which the first byte will be executed.
    pub fn address(&self) -> *const u8 {
        self.span.address()
    }

    /// Returns how many bytes there is room for: at least as many as requested.
    pub fn size(&self) -> usize {
        self.span.size
    }

    /// Copies finished code, which must be relocated for [`Reservation::address`], into place, and
    /// releases the unused room.
    ///
    /// # Errors
    /// Returns an error if the system refuses to change the protection of the pages, or to make
    /// them private after a fork; the room is then released, and no code is placed.
    ///
    /// # Panics
    /// Panics if the code is larger than its reservation.
    pub fn publish(mut self, code: &[u8]) -> io::Result<CodeRange> {
        assert!(code.len() <= self.span.size, "the code is larger than its reservation");
        self.span.shrink(code.len());
        // After a failure in the middle the destructor makes the pages harmless.
        self.span.written = true;
        // SAFETY: the span is ours, and no code was published in it since: no thread has its
        // address.
        unsafe { self.span.region.mapping.write(self.span.offset, self.span.size, code)? };
        Ok(CodeRange { span: self.span, len: code.len() })
    }
}

impl fmt::Debug for Reservation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reservation({:p}, {})", self.address(), self.size())
    }
}

/// Executable code. Dropping it fills it with trap instructions and releases the memory. The owner
/// may drop it only when no thread is executing it or will execute it: a published module is
/// dropped only by the protocol.
pub struct CodeRange {
    span: Span,
    len: usize,
}

impl CodeRange {
    /// Returns the address of its first byte.
    pub fn address(&self) -> *const u8 {
        self.span.address()
    }

    /// Returns the number of bytes of code.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether it has no code.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns how many bytes of the region it occupies.
    pub fn footprint(&self) -> usize {
        self.span.size
    }

    /// Returns whether this is an address in it.
    pub fn contains(&self, address: *const u8) -> bool {
        (address as usize).wrapping_sub(self.address() as usize) < self.len
    }

    /// Returns the bytes of the code.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the range is ours and readable, and is not written while it is borrowed.
        unsafe { std::slice::from_raw_parts(self.address(), self.len) }
    }
}

impl fmt::Debug for CodeRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CodeRange({:p}, {})", self.address(), self.len)
    }
}
