//! Checks of the heap: a traversal of all reachable objects.

use foldhash::HashSet;

use super::Heap;
use super::block::{self, LINE, round};
use super::boxed::NEW;
use super::clearing::is_hidden;
use super::poison::check_object;
use super::trace::{self, Visitor};
use crate::header::{GcHeader, Kind};
use crate::state::State;
use crate::string::LuaString;
use crate::table::{Node, Table};

/// A traversal of all reachable objects.
struct Verifier {
    /// The mark of objects that were alive at the end of the last marking.
    mark: u8,
    /// Whether sweeping has ended since, so that there may be new objects and buffers without a
    /// mark.
    swept: bool,
    /// The addresses of all boxed objects that were not freed.
    boxed: HashSet<usize>,
    seen: HashSet<usize>,
    work: Vec<*mut GcHeader>,
}

impl Verifier {
    fn new(heap: &Heap, swept: bool) -> Verifier {
        let boxed = heap.boxed.addresses().collect();
        Verifier {
            mark: heap.marker.mark,
            swept,
            boxed,
            seen: HashSet::default(),
            work: Vec::new(),
        }
    }

    unsafe fn walk(mut self, st: &State) {
        st.visit_roots(&mut self);
        while let Some(o) = self.work.pop() {
            if (*o).kind == Kind::Table && (*o).flags & GcHeader::WEAK != 0 {
                self.visit_weak(o.cast());
            } else {
                trace::visit_children(o, &mut self);
            }
        }
    }

    /// Visits the objects that the program can reach through a table with entries that are to be
    /// removed.
    unsafe fn visit_weak(&mut self, t: *mut Table) {
        trace::visit_table_frame(t, self);
        trace::visit_fields(t, self);
        trace::visit_array(t, 0, usize::MAX, self);
        for i in 0..trace::node_count(t) {
            if trace::is_empty((*t).nodes.add(i)) || !is_hidden(t, Node::key((*t).nodes.add(i))) {
                trace::visit_nodes(t, i, i + 1, self);
            }
        }
    }

    /// Checks that the memory of a marked object is marked as well.
    unsafe fn check_place(&self, o: *mut GcHeader) {
        if (*o).flags & GcHeader::LARGE != 0 {
            let mark = (*super::large::Large::of(o.cast())).mark;
            assert_eq!(mark, self.mark, "the record of {:?} at {o:?}", (*o).kind);
            return;
        }
        let (start, size) = (o.cast::<u8>(), trace::size_of_object(o));
        for offset in (0..size).step_by(LINE).chain([size - 1]) {
            let mark = block::line_mark(start.add(offset));
            assert!(mark == self.mark, "a line of {:?} at {o:?} is free", (*o).kind);
        }
    }
}

impl Visitor for Verifier {
    unsafe fn object(&mut self, o: *mut GcHeader) {
        if self.seen.insert(o.addr()) {
            check_object(o);
            let (kind, mark) = ((*o).kind, (*o).mark);
            let new = self.swept && (mark == 0 || mark == NEW);
            assert!(new || mark == self.mark, "unmarked {kind:?} at {o:?} is reachable");
            if kind == Kind::String {
                let bytes = LuaString::bytes_with_nul(o.cast());
                assert_eq!(bytes.last(), Some(&0), "the string at {o:?} does not end by a NUL");
            }
            if kind == Kind::Table {
                Table::check_fields(o.cast());
                Table::check_nodes(o.cast());
            }
            if kind.is_boxed() {
                assert!(self.boxed.contains(&o.addr()), "a {kind:?} at {o:?} was freed");
            } else if !new {
                self.check_place(o);
            }
            self.work.push(o);
        }
    }
    unsafe fn cached(&mut self, _o: *mut GcHeader) {
        // It may be unmarked, and is cleared before the sweep.
    }
    unsafe fn buffer(&mut self, p: *mut u8, size: usize) {
        let size = round(size);
        if self.swept && size <= super::block::SMALL_MAX {
            // An old object may have a new buffer, whose lines are not marked yet.
            return;
        }
        let mark = if size > super::block::SMALL_MAX {
            (*super::large::Large::of(p)).mark
        } else {
            super::block::line_mark(p)
        };
        let new = self.swept && mark == 0;
        assert!(new || mark == self.mark, "an unmarked buffer at {p:?} is reachable");
    }
}

impl Heap {
    /// Switches poisoning and quarantine of freed memory on or off; they are on by default in
    /// builds with debug assertions. Must be called before the first allocation.
    pub fn set_checked(&mut self, on: bool) {
        self.blocks.checked = on;
        self.large.checked = on;
    }
}

impl State {
    /// Checks, right after marking, that everything reachable is an object and marked. Takes time
    /// in proportion to the size of the heap.
    ///
    /// # Panics
    /// Panics if the check fails.
    pub(crate) unsafe fn verify_heap(&mut self) {
        Verifier::new(&self.heap, false).walk(self);
    }

    /// Checks, after a sweep, that nothing reachable was freed. Takes time in proportion to the
    /// size of the heap.
    ///
    /// # Panics
    /// Panics if the check fails.
    pub(crate) unsafe fn verify_swept(&mut self) {
        Verifier::new(&self.heap, true).walk(self);
    }
}
