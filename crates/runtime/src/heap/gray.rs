//! The work list of marking: objects to be traced, and large tables that are traced in part.
//!
//! References that are found while tracing pass through a short queue before their objects are
//! accessed, and are prefetched when they enter it, because marking spends most of its time waiting
//! for object headers to arrive from memory.

use super::mark::Marker;
use super::trace::{self, Visitor};
use crate::header::GcHeader;
use crate::table::{Node, Table};

/// Number of objects in the queue; a power of two.
const AHEAD: usize = 16;
/// How many array elements or nodes of a large table are visited before their referents are traced.
const PART: usize = 128;

/// A table of which some entries are still to be visited. The barrier logs stores into it
/// meanwhile.
struct Part {
    table: *mut Table,
    /// Whether nodes are visited, not array elements.
    nodes: bool,
    next: usize,
}

/// The work list.
pub(crate) struct Gray {
    stack: Vec<*mut GcHeader>,
    parts: Vec<Part>,
    ahead: [*mut GcHeader; AHEAD],
    at: usize,
}

impl Gray {
    pub(crate) const fn new() -> Gray {
        Gray { stack: Vec::new(), parts: Vec::new(), ahead: [std::ptr::null_mut(); AHEAD], at: 0 }
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
        self.stack.is_empty() && self.parts.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.stack.clear();
        self.parts.clear();
        self.ahead = [std::ptr::null_mut(); AHEAD];
    }

    /// Adds `o` to the queue, and returns the object that it replaces, or null.
    #[inline(always)]
    fn enqueue(&mut self, o: *mut GcHeader) -> *mut GcHeader {
        let turn = std::mem::replace(&mut self.ahead[self.at], o);
        self.at = (self.at + 1) % AHEAD;
        turn
    }
}

/// Appends `item` to `list`. Returns false, leaving the list unchanged, if there is no memory for
/// it.
#[inline(always)]
pub(super) fn try_push<T>(list: &mut Vec<T>, item: T) -> bool {
    if list.len() == list.capacity() && list.try_reserve(1).is_err() {
        return false;
    }
    list.push(item);
    true
}

/// Prefetches the first cache lines of an object.
#[inline(always)]
fn prefetch(o: *mut GcHeader) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a prefetch has no effect on memory, whatever the address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(o.cast());
        _mm_prefetch::<_MM_HINT_T0>(o.cast::<i8>().wrapping_add(64));
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = o;
}

/// The visitor that marks the references of an object, through the queue.
pub(crate) struct Tracer<'a>(pub(crate) &'a mut Marker);

impl Visitor for Tracer<'_> {
    #[inline(always)]
    unsafe fn object(&mut self, o: *mut GcHeader) {
        prefetch(o);
        let turn = self.0.gray.enqueue(o);
        if !turn.is_null() {
            self.0.object(turn);
        }
    }
    #[inline]
    unsafe fn buffer(&mut self, p: *mut u8, size: usize) {
        self.0.buffer(p, size);
    }
    #[inline]
    unsafe fn empty_node(&mut self, n: *mut Node) {
        self.0.empty_node(n);
    }
}

impl Marker {
    /// Traces gray objects until none remain or `budget` bytes were visited.
    pub(crate) unsafe fn propagate(&mut self, budget: usize) {
        let end = self.work.saturating_add(budget);
        loop {
            while self.work < end {
                if let Some(o) = self.gray.stack.pop() {
                    self.trace(o);
                } else if let Some(part) = self.gray.parts.pop() {
                    self.trace_part(part);
                } else {
                    break;
                }
            }
            // Objects in the queue are not marked yet, but later code tests the marks.
            self.drain();
            if self.work >= end || self.gray.is_empty() {
                return;
            }
        }
    }

    unsafe fn drain(&mut self) {
        for _ in 0..AHEAD {
            let turn = self.gray.enqueue(std::ptr::null_mut());
            if !turn.is_null() {
                self.object(turn);
            }
        }
    }

    /// Visits the entries of a table, deferring those of large parts.
    pub(crate) unsafe fn trace_entries(&mut self, t: *mut Table) {
        trace::visit_fields(t, &mut Tracer(self));
        if (*t).array_len as usize > PART {
            self.push_part(Part { table: t, nodes: false, next: 0 });
        } else {
            trace::visit_array(t, 0, usize::MAX, &mut Tracer(self));
        }
        if trace::node_count(t) > PART {
            self.push_part(Part { table: t, nodes: true, next: 0 });
        } else {
            trace::visit_nodes(t, 0, usize::MAX, &mut Tracer(self));
        }
    }

    fn push_part(&mut self, part: Part) {
        if !try_push(&mut self.gray.parts, part) {
            self.lose();
        }
    }

    unsafe fn trace_part(&mut self, part: Part) {
        let Part { table, nodes, next } = part;
        let end = next + PART;
        // The table may have shrunk meanwhile.
        let more = if nodes {
            trace::visit_nodes(table, next, end, &mut Tracer(self));
            end < trace::node_count(table)
        } else {
            trace::visit_array(table, next, end, &mut Tracer(self));
            end < (*table).array_len as usize
        };
        self.work += PART;
        if more {
            self.push_part(Part { table, nodes, next: end });
        }
    }
}
