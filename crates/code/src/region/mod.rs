//! Executable memory: one reserved region with a budget, of which ranges are taken and given back.

mod mapping;
mod spans;

use std::fmt;
use std::io;
use std::sync::Arc;

use crate::sync::{Mutex, lock};
use mapping::{Mapping, page_size};
use spans::Spans;

/// What freed memory is filled with: `int3`, which traps wherever execution enters.
pub const TRAP: u8 = 0xCC;

/// Ranges begin at multiples of it and are rounded up to it: a cache line. Writing one range then never disturbs a core that
/// executes its neighbour.
pub const GRANULE: usize = 64;

/// How a region keeps writing and executing apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MappingKind {
    /// Double-mapped where the system allows it, else page-exclusive.
    #[default]
    Auto,
    /// The same memory at two addresses, writable at one and executable at the other.
    DoubleMapped,
    /// Each range has pages of its own, which are writable while it is filled and executable afterwards.
    PageExclusive,
}

/// The region has no free range of that size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted;

impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("code memory exhausted")
    }
}
impl std::error::Error for Exhausted {}

/// Bytes of a region, in whole granules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The budget.
    pub total: usize,
    /// In ranges and reservations.
    pub live: usize,
    /// Neither.
    pub free: usize,
    /// The largest range that could be reserved.
    pub largest: usize,
    /// The most that was ever live.
    pub peak: usize,
    /// How many free spans there are.
    pub spans: usize,
}

/// One reserved region of executable memory. Ranges hold it alive.
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
    /// Reserves addresses for `budget` bytes of code, rounded up to pages; memory is taken when code is written.
    ///
    /// # Errors
    /// If the system refuses the mapping.
    pub fn new(budget: usize, kind: MappingKind) -> io::Result<Arc<Region>> {
        let page = page_size();
        let total = budget.max(1).next_multiple_of(page);
        let mapping = Mapping::new(total, kind)?;
        let granule = if mapping.is_page_exclusive() { page } else { GRANULE };
        let state = Mutex::new(State { spans: Spans::new(total), peak: 0 });
        Ok(Arc::new(Region { mapping, granule, total, state }))
    }

    /// Which kind it became.
    pub fn kind(&self) -> MappingKind {
        if self.mapping.is_page_exclusive() {
            MappingKind::PageExclusive
        } else {
            MappingKind::DoubleMapped
        }
    }

    /// Takes room for `size` bytes of code.
    ///
    /// # Errors
    /// If there is none.
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

    /// Bytes in use and free.
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

    /// Is this an address of the region?
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
    /// Was there code in it? Then it is filled with traps when it is given back.
    written: bool,
}

impl Span {
    fn address(&self) -> *const u8 {
        self.region.mapping.code().wrapping_add(self.offset)
    }

    /// Gives the granules after the first `size` bytes back.
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
            // SAFETY: the span is ours until the next statement; a written span is a `CodeRange`, whose owner says by dropping it
            // that nobody runs it (protocol, Q1).
            let written = unsafe { self.region.mapping.write(self.offset, self.size, &[]) };
            if written.is_err() {
                // The pages may have kept any rights: they are not used again. Accounts count them as live.
                return;
            }
        }
        lock(&self.region.state).spans.give(self.offset, self.size);
    }
}

/// Room for code whose final address is known and whose bytes are not. Dropping it gives it back.
pub struct Reservation {
    span: Span,
}

impl Reservation {
    /// Where the first byte will be executed.
    pub fn address(&self) -> *const u8 {
        self.span.address()
    }

    /// How many bytes there is room for; at least what was asked for.
    pub fn size(&self) -> usize {
        self.span.size
    }

    /// Copies finished code into place, already relocated for [`Reservation::address`]; gives room beyond it back.
    ///
    /// # Errors
    /// If the system refuses to change the rights of the pages; the room is given back, and the code is nowhere.
    ///
    /// # Panics
    /// If there is more than there is room for.
    pub fn publish(mut self, code: &[u8]) -> io::Result<CodeRange> {
        assert!(code.len() <= self.span.size, "the code is larger than its reservation");
        self.span.shrink(code.len());
        // A failure in the middle leaves it to the destructor to make the pages harmless.
        self.span.written = true;
        // SAFETY: the span is ours, and was never executable since it was: nobody has its address.
        unsafe { self.span.region.mapping.write(self.span.offset, self.span.size, code)? };
        Ok(CodeRange { span: self.span, len: code.len() })
    }
}

impl fmt::Debug for Reservation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reservation({:p}, {})", self.address(), self.size())
    }
}

/// Executable code. Dropping it fills it with traps and gives the memory back, so whoever drops it knows that no thread runs it
/// or will: a module that was published is dropped by the protocol only.
pub struct CodeRange {
    span: Span,
    len: usize,
}

impl CodeRange {
    /// Where it begins.
    pub fn address(&self) -> *const u8 {
        self.span.address()
    }

    /// Bytes of code.
    pub fn len(&self) -> usize {
        self.len
    }

    /// No code at all?
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes of the region that it takes.
    pub fn footprint(&self) -> usize {
        self.span.size
    }

    /// Is this an address of it?
    pub fn contains(&self, address: *const u8) -> bool {
        (address as usize).wrapping_sub(self.address() as usize) < self.len
    }

    /// The code, as it is executed.
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
