//! Marking: reaching objects, and tracing them from a worklist of gray objects.

use super::block::{self, SMALL_MAX, round};
use super::gray::{AHEAD, Part};
use super::growth::try_push;
use super::large::Large;
use super::marker::Marker;
use super::poison::check_object;
use super::trace::{self, Visitor};
use super::weak_tables::Weakness;
use crate::header::{GcHeader, Kind};
use crate::string::LuaString;
use crate::table::{Cell, DEAD_KEY, Node, Table};
use crate::thread::Thread;
use crate::upvalue::Upvalue;
use crate::value::{SlotExt, Value};

/// Bytes that are visited between two checks whether to stop.
pub(super) const WORK_BETWEEN_LOOKS: usize = if cfg!(test) { 512 } else { 64 * 1024 };

/// How many array elements or nodes of a large table are visited before their referents are traced.
pub(super) const PART: usize = 128;

/// The bytes that tracing a part of a large table counts as, since its referents are looked at one
/// by one. An object that was logged, or marked by a store, counts as the same.
pub(super) const PART_WORK: usize = 16 * PART;
const AGAIN: usize = 256;

/// Prefetches the first cache lines of an object.
#[inline(always)]
pub(super) fn prefetch(o: *mut GcHeader) {
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
    /// Marks `o`, which is reached for the first time.
    #[inline(never)]
    unsafe fn reach(&mut self, o: *mut GcHeader) {
        if cfg!(debug_assertions) {
            check_object(o);
        }
        (*o).mark = self.mark;
        match (*o).kind {
            Kind::String => {
                return self.place(o, LuaString::size_for((*o.cast::<LuaString>()).len as usize));
            }
            Kind::Upvalue => {
                // The value is at the upvalue's place, whether it is open or closed. A dying thread
                // closes its upvalues first.
                (*o).flags |= GcHeader::UNLOGGED;
                self.place(o, size_of::<Upvalue>());
                return self.value((*o.cast::<Upvalue>()).place.get());
            }
            Kind::Cell => {
                (*o).flags |= GcHeader::UNLOGGED;
                self.place(o, size_of::<Cell>().next_multiple_of(16));
                return self.value((&raw mut (*o.cast::<Cell>()).value).get());
            }
            Kind::Table | Kind::LuaClosure | Kind::NativeClosure | Kind::Memory => {
                self.place(o, trace::size_of_object(o))
            }
            Kind::Userdata | Kind::Thread | Kind::Instance | Kind::Shape => {
                self.live += trace::size_of_boxed(o)
            }
        }
        if let Some(reached) = &mut self.reached
            && !try_push(reached, o)
        {
            self.lose();
        }
        if !self.gray.push(o) {
            self.lose();
        }
    }

    /// Marks `o`, which the program stores into a marked object.
    pub(crate) unsafe fn shade(&mut self, o: *mut GcHeader) {
        let before = self.gray.len();
        self.object(o);
        while self.gray.len() > before {
            let Some(o) = self.gray.stack.pop() else { break };
            if !try_push(&mut self.gray.shaded, o) {
                self.lose();
            }
        }
    }

    /// Counts an object and marks the memory that contains it.
    #[inline(always)]
    unsafe fn place(&mut self, o: *mut GcHeader, size: usize) {
        self.live += size;
        self.work += size;
        if (*o).flags & GcHeader::LARGE != 0 {
            (*Large::of(o.cast())).mark = self.mark;
        } else {
            block::mark_lines(o.cast(), size, self.mark);
        }
    }

    /// Traces all gray objects. Returns false when the collector had to stop.
    pub(crate) unsafe fn propagate_all(&mut self) -> bool {
        loop {
            self.propagate(WORK_BETWEEN_LOOKS);
            if !self.has_gray() {
                // This may have stopped in the middle of a weak table.
                return !self.stop.was_due();
            }
            if self.stop.is_due() {
                return false;
            }
        }
    }

    /// Traces an object.
    pub(crate) unsafe fn trace(&mut self, o: *mut GcHeader) {
        match (*o).kind {
            Kind::Table => self.trace_table(o.cast()),
            Kind::Thread => self.trace_thread(o.cast()),
            _ => {
                (*o).flags |= GcHeader::UNLOGGED;
                trace::visit_children(o, &mut Tracer(self));
            }
        }
    }

    unsafe fn trace_table(&mut self, t: *mut Table) {
        (*t).header.flags |= GcHeader::UNLOGGED;
        trace::visit_table_frame(t, &mut Tracer(self));
        let weakness = if (*t).meta == 0 { Weakness::None } else { self.weakness(t) };
        if weakness != Weakness::None {
            return self.trace_weak(t, weakness);
        }
        self.trace_entries(t);
    }

    /// Traces a thread. A thread that does not run is logged when it runs again. The slots above
    /// the live ones are cleared, except in the running thread before the atomic step, which scans
    /// it again.
    pub(crate) unsafe fn trace_thread(&mut self, th: *mut Thread) {
        let top = (*th).top;
        if self.resurrects {
            self.visit_resurrected(th);
        } else {
            trace::visit_thread(th, &mut Tracer(self));
        }
        self.work += top.offset_from((*th).stack) as usize * size_of::<Value>();
        let runs = th == self.running;
        if !runs {
            (*th).header.flags |= GcHeader::UNLOGGED;
        } else if !self.atomic {
            self.defer(th.cast());
        }
        if self.atomic || !runs {
            let end = (*th).stack.add((*th).capacity);
            let mut slot = top;
            while slot < end {
                slot.put(Value::NIL);
                slot = slot.add(1);
            }
        }
    }
}

impl Marker {
    /// Visits the references of a thread in the phase Resurrect. A slot of an open upvalue that is
    /// marked is left out: the program may have stored a new object there, which this phase must
    /// not reach, and its former value was marked with the upvalue.
    unsafe fn visit_resurrected(&mut self, th: *mut Thread) {
        let mut up = (*th).open;
        let mut slot = (*th).top;
        while slot > (*th).stack {
            slot = slot.sub(1);
            while !up.is_null() && (*up).place > slot {
                up = *Upvalue::next_open(up);
            }
            let is_kept = !up.is_null() && (*up).place == slot && self.is_marked(up.cast());
            if !is_kept {
                self.value(slot.get());
            }
        }
        trace::visit_thread_apart_from_stack(th, &mut Tracer(self));
    }

    /// Returns whether there is something to trace. In the phase Resurrect, objects that the
    /// barrier has recorded are left for the next cycle.
    pub(crate) fn has_gray(&self) -> bool {
        !self.gray.stack.is_empty()
            || !self.gray.parts.is_empty()
            || !self.resurrects && !self.gray.is_empty()
    }

    /// Traces gray objects until none remain or `budget` bytes were visited.
    pub(crate) unsafe fn propagate(&mut self, budget: usize) {
        let end = self.work.saturating_add(budget);
        loop {
            while self.work < end {
                if let Some(o) = self.gray.stack.pop() {
                    self.trace(o);
                } else if let Some(part) = self.gray.parts.pop() {
                    self.trace_part(part);
                } else if self.resurrects {
                    break;
                } else if let Some(o) = self.gray.shaded.pop() {
                    self.work += AGAIN;
                    self.trace(o);
                } else if let Some(o) = self.gray.again.pop() {
                    self.trace_again(o);
                } else {
                    break;
                }
            }
            // Objects in the queue are not marked yet, but later code tests the marks.
            self.drain();
            if self.work >= end || !self.has_gray() {
                return;
            }
        }
    }

    /// Traces an object that was logged. An unmarked object is traced when it is reached.
    unsafe fn trace_again(&mut self, o: *mut GcHeader) {
        self.work += AGAIN;
        if self.is_marked(o) {
            let before = std::mem::replace(&mut self.recount, true);
            self.trace(o);
            self.recount = before;
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
    #[inline(always)]
    pub(crate) unsafe fn trace_entries(&mut self, t: *mut Table) {
        trace::visit_fields(t, &mut Tracer(self));
        self.trace_array(t);
        if trace::node_count(t) > PART {
            self.push_part(Part { table: t, nodes: true, next: 0 });
        } else {
            trace::visit_nodes(t, 0, usize::MAX, &mut Tracer(self));
        }
    }

    /// Visits the array part of a table, or defers that if it is large.
    #[inline(always)]
    pub(super) unsafe fn trace_array(&mut self, t: *mut Table) {
        if trace::any_array(t).0.is_null() {
            // There are no references.
        } else if (*t).array_len as usize > PART {
            self.push_part(Part { table: t, nodes: false, next: 0 });
        } else {
            trace::visit_array(t, 0, usize::MAX, &mut Tracer(self));
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
        self.work += PART_WORK;
        if more {
            self.push_part(Part { table, nodes, next: end });
        }
    }
}

impl Visitor for Marker {
    #[inline(always)]
    unsafe fn object(&mut self, o: *mut GcHeader) {
        if (*o).mark != self.mark {
            self.reach(o);
        }
    }

    #[inline]
    unsafe fn buffer(&mut self, p: *mut u8, size: usize) {
        let size = round(size);
        self.work += size;
        if size > SMALL_MAX {
            let large = Large::of(p);
            if (*large).mark != self.mark {
                (*large).mark = self.mark;
                self.live += size;
            }
        } else {
            if !self.recount || block::line_mark(p) != self.mark {
                self.live += size;
            }
            block::mark_lines(p, size, self.mark);
        }
    }

    #[inline]
    unsafe fn empty_node(&mut self, n: *mut Node) {
        // The key may die, but `next` still needs its address.
        (*n).key_tag = DEAD_KEY;
    }
}
