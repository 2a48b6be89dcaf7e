//! The worklist of marking: objects to be traced, and large tables that are partly traced.
//!
//! References that are found during tracing pass through a short queue before their objects are
//! accessed, and the objects are prefetched when they enter it, because marking spends most of its
//! time waiting for object headers to be loaded from memory.

use super::growth::try_push;
use crate::header::GcHeader;
use crate::table::Table;

/// Number of objects in the queue; a power of two.
pub(super) const AHEAD: usize = 16;

/// A table of which some entries are still to be visited. The barrier logs stores into it
/// meanwhile.
pub(super) struct Part {
    pub(super) table: *mut Table,
    /// Whether nodes are visited, not array elements.
    pub(super) nodes: bool,
    pub(super) next: usize,
}

/// The worklist.
pub(crate) struct Gray {
    pub(super) stack: Vec<*mut GcHeader>,
    pub(super) parts: Vec<Part>,
    /// Objects that were marked by stores, whose marking is not counted as work of a slice.
    pub(super) shaded: Vec<*mut GcHeader>,
    /// Marked objects that are to be traced again.
    pub(super) again: Vec<*mut GcHeader>,
    ahead: [*mut GcHeader; AHEAD],
    at: usize,
}

impl Gray {
    pub(crate) const fn new() -> Gray {
        Gray {
            stack: Vec::new(),
            parts: Vec::new(),
            shaded: Vec::new(),
            again: Vec::new(),
            ahead: [std::ptr::null_mut(); AHEAD],
            at: 0,
        }
    }

    /// Pushes `o`. Returns false if there is no memory for it.
    #[inline(always)]
    pub(crate) fn push(&mut self, o: *mut GcHeader) -> bool {
        try_push(&mut self.stack, o)
    }

    /// Returns the number of objects that were pushed and not yet popped.
    pub(crate) fn len(&self) -> usize {
        self.stack.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.stack.is_empty()
            && self.parts.is_empty()
            && self.shaded.is_empty()
            && self.again.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.stack.clear();
        self.parts.clear();
        self.shaded.clear();
        self.again.clear();
        self.ahead = [std::ptr::null_mut(); AHEAD];
    }

    /// Adds `o` to the queue, and returns the object that it replaces, or null.
    #[inline(always)]
    pub(super) fn enqueue(&mut self, o: *mut GcHeader) -> *mut GcHeader {
        let turn = std::mem::replace(&mut self.ahead[self.at], o);
        self.at = (self.at + 1) % AHEAD;
        turn
    }
}
