//! Checks of the heap: poison in freed memory, and a walk over all that is reachable.

use std::collections::HashSet;

use super::Heap;
use super::trace::{self, Visitor};
use crate::header::GcHeader;
use crate::state::State;

/// Byte that fills freed memory.
pub(crate) const POISON: u8 = 0xDB;

/// Fills freed memory.
pub(crate) unsafe fn poison(p: *mut u8, size: usize) {
    p.write_bytes(POISON, size);
}

/// Panics if freed memory was written since.
pub(crate) unsafe fn check_poison(p: *mut u8, size: usize) {
    let bytes = std::slice::from_raw_parts(p, size);
    let word = u64::from_ne_bytes([POISON; 8]);
    let (head, words, tail) = bytes.align_to::<u64>();
    let intact = head.iter().chain(tail).all(|b| *b == POISON) && words.iter().all(|w| *w == word);
    assert!(
        intact,
        "freed memory was written at {:?}",
        bytes.iter().position(|b| *b != POISON).map(|i| p.wrapping_add(i))
    );
}

/// Panics if `o` is no object.
pub(crate) unsafe fn check_object(o: *mut GcHeader) {
    let kind = o.cast::<u8>().read();
    assert!((1..=10).contains(&kind), "a reference to freed memory: {o:?} has kind {kind:#x}");
}

struct Verifier {
    mark: u8,
    seen: HashSet<usize>,
    work: Vec<*mut GcHeader>,
}

impl Visitor for Verifier {
    unsafe fn object(&mut self, o: *mut GcHeader) {
        if self.seen.insert(o.addr()) {
            check_object(o);
            assert_eq!((*o).mark, self.mark, "unmarked {:?} at {o:?} is reachable", (*o).kind);
            self.work.push(o);
        }
    }
    unsafe fn buffer(&mut self, p: *mut u8, size: usize) {
        let size = super::alloc::round(size);
        let mark = if size > super::block::SMALL_MAX {
            (*super::large::Large::of(p)).mark
        } else {
            super::block::line_mark(p)
        };
        assert_eq!(mark, self.mark, "an unmarked buffer at {p:?} is reachable");
    }
}

impl Heap {
    /// Switches poison and quarantine of freed memory on or off; on by default in builds with debug assertions. Call it
    /// before the first allocation.
    pub fn set_checked(&mut self, on: bool) {
        self.blocks.checked = on;
        self.large.checked = on;
    }
}

impl State {
    /// Right after marking: checks that everything reachable is an object and marked. Takes time in proportion to the heap.
    ///
    /// # Panics
    /// If not.
    pub(crate) unsafe fn verify_heap(&mut self) {
        let mut v =
            Verifier { mark: self.heap.marker.mark, seen: HashSet::new(), work: Vec::new() };
        self.visit_roots(&mut v);
        while let Some(o) = v.work.pop() {
            trace::visit_children(o, &mut v);
        }
    }
}
