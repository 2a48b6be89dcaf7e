//! Marking: reaching objects, and tracing them from a work list of gray ones.

use super::block::{self, SMALL_MAX};
use super::gray::{Gray, Tracer, try_push};
use super::large::Large;
use super::stop::Stop;
use super::trace::{self, Visitor};
use super::weak::Weakness;
use super::{alloc, debug};
use crate::closure::Upvalue;
use crate::header::{GcHeader, Kind};
use crate::string::LuaString;
use crate::table::{Cell, DEAD_KEY, Node, Table};
use crate::thread::Thread;
use crate::value::{SlotExt, Value};

/// Bytes that are visited between two checks whether to stop.
pub(super) const WORK_BETWEEN_LOOKS: usize = if cfg!(test) { 512 } else { 64 * 1024 };

/// The largest mark; cycles use the marks from 1 on.
const MARKS: u8 = 200;
/// How many cycles may be abandoned in a row, so that no live object carries the mark of a new
/// cycle.
pub(super) const MOST_GIVEN_UP: u8 = MARKS - 2;

/// The state of marking.
pub(crate) struct Marker {
    /// The mark of this cycle: objects that carry it are reached.
    pub(crate) mark: u8,
    /// Number of bytes of the objects and buffers reached.
    pub(crate) live: usize,
    /// Number of bytes visited, which limits a slice.
    pub(crate) work: usize,
    /// Objects that are reached but not yet traced.
    pub(crate) gray: Gray,
    /// Objects logged by the barrier, to be traced (again) by the atomic step.
    pub(crate) again: Vec<*mut GcHeader>,
    /// Whether the atomic step is running: weak tables are classified, and dead stack slots
    /// cleared.
    pub(crate) atomic: bool,
    /// Whether objects are traced that were traced before, so that their buffers must not be
    /// counted twice.
    pub(crate) recount: bool,
    /// Tables with weak values and strong keys that may have to be cleared.
    pub(crate) weak_values: Vec<*mut Table>,
    /// Tables with weak keys and strong values that have unreachable keys.
    pub(crate) ephemerons: Vec<*mut Table>,
    /// Tables with weak keys and values.
    pub(crate) all_weak: Vec<*mut Table>,
    /// The objects reached while ephemeron entries wait for their keys.
    pub(crate) reached: Option<Vec<*mut GcHeader>>,
    /// The string `__mode`.
    pub(crate) mode_name: *mut LuaString,
    /// Whether the script, and with it the collector, has to stop.
    pub(crate) stop: Stop,
    /// Number of cycles abandoned since the last complete one.
    pub(crate) given_up: u8,
    /// Whether there was no memory to record an object that must be traced: the cycle cannot end,
    /// and is restarted.
    pub(crate) lost: bool,
}

impl Default for Marker {
    fn default() -> Marker {
        Marker::new()
    }
}

impl Marker {
    pub(crate) fn new() -> Marker {
        Marker {
            mark: 1,
            live: 0,
            work: 0,
            gray: Gray::new(),
            again: Vec::new(),
            atomic: false,
            recount: false,
            weak_values: Vec::new(),
            ephemerons: Vec::new(),
            all_weak: Vec::new(),
            reached: None,
            mode_name: std::ptr::null_mut(),
            stop: Stop::new(),
            given_up: 0,
            lost: false,
        }
    }

    /// Discards the current cycle and starts another, with a mark that differs from the last ones.
    pub(crate) fn restart(&mut self) {
        // Live objects carry the marks of the last complete cycle and of those abandoned since.
        self.mark = self.mark % MARKS + 1;
        self.lost = false;
        self.live = 0;
        self.gray.clear();
        self.again.clear();
        self.clear_weak_lists();
        self.atomic = false;
        self.recount = false;
        self.reached = None;
    }

    pub(crate) fn clear_weak_lists(&mut self) {
        self.weak_values.clear();
        self.ephemerons.clear();
        self.all_weak.clear();
    }

    /// Notes that an object to be traced could not be recorded: the cycle stops and is abandoned.
    #[cold]
    #[inline(never)]
    pub(crate) fn lose(&mut self) {
        self.lost = true;
        self.stop.fail();
    }

    /// Logs an object, which will be traced again.
    #[inline]
    pub(crate) fn log(&mut self, o: *mut GcHeader) {
        if !try_push(&mut self.again, o) {
            self.lose();
        }
    }

    #[inline(always)]
    pub(crate) unsafe fn is_marked(&self, o: *mut GcHeader) -> bool {
        (*o).mark == self.mark
    }

    /// Marks `o`, which is reached for the first time.
    #[inline(never)]
    unsafe fn reach(&mut self, o: *mut GcHeader) {
        if cfg!(debug_assertions) {
            debug::check_object(o);
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
            Kind::Table | Kind::LuaClosure | Kind::NativeClosure => {
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
            if self.gray.is_empty() {
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

    /// Traces a thread. The atomic step also clears the slots above the live ones.
    pub(crate) unsafe fn trace_thread(&mut self, th: *mut Thread) {
        let top = (*th).top;
        trace::visit_thread(th, &mut Tracer(self));
        self.work += top.offset_from((*th).stack) as usize * 16;
        if self.atomic {
            let end = (*th).stack.add((*th).capacity);
            let mut slot = top;
            while slot < end {
                slot.put(Value::NIL);
                slot = slot.add(1);
            }
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
        let size = alloc::round(size);
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
