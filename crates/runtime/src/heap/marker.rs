//! The state of marking.

use super::gray::Gray;
use super::growth::try_push;
use super::stop::Stop;
use super::weak_tables::{Left, WeakTables};
use crate::header::{GcHeader, Kind};
use crate::string::LuaString;
use crate::table::Table;
use crate::thread::Thread;

/// The largest mark; cycles use the marks from 1 on.
const MARKS: u8 = 200;

/// How many cycles may be abandoned in a row, so that no object carries the mark of a new cycle.
pub(super) const MOST_GIVEN_UP: u8 = MARKS / 2 - 2;

/// After how many marks all dead strings are removed from the string table, so that none in it
/// carries the mark of a new cycle.
pub(super) const THOROUGH: u8 = MARKS / 2;

/// How often logged objects are traced again before the atomic step. The program can log objects
/// faster than they are traced, so there must be a limit.
pub(super) const MOST_PASSES: u8 = 32;

/// The state of marking.
pub(crate) struct Marker {
    /// The mark of this cycle: objects that carry it are reached.
    pub(crate) mark: u8,
    /// Number of marks used since all dead strings were removed from the string table.
    pub(super) marks_used: u8,
    /// Number of bytes of the objects and buffers reached.
    pub(crate) live: usize,
    /// Number of bytes visited, which limits a slice.
    pub(crate) work: usize,
    /// Objects that are reached but not yet traced.
    pub(crate) gray: Gray,
    /// Objects logged by the barrier, to be traced again.
    pub(crate) again: Vec<*mut GcHeader>,
    /// How often objects were traced again in slices since the cycle began.
    pub(super) passes: u8,
    /// The coroutine that runs, to be traced by the atomic step.
    pub(crate) deferred: Vec<*mut GcHeader>,
    /// Whether the atomic step is running: dead stack slots are cleared.
    pub(crate) atomic: bool,
    /// Whether objects are being traced again, so that their buffers must not be counted twice.
    pub(crate) recount: bool,
    /// The weak tables of this cycle.
    pub(super) weak: WeakTables,
    /// Whether the objects reachable from objects to be finalized are being marked.
    pub(super) resurrects: bool,
    /// The objects that were reached since ephemeron tables were visited, and have not been looked
    /// up in them yet.
    pub(crate) reached: Option<Vec<*mut GcHeader>>,
    /// The running coroutine, whose stack changes all the time.
    pub(super) running: *mut Thread,
    /// The string `__mode`.
    pub(crate) mode_name: *mut LuaString,
    /// The check whether the script, and with it the collector, has to stop.
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
            marks_used: 0,
            live: 0,
            work: 0,
            gray: Gray::new(),
            again: Vec::new(),
            passes: 0,
            deferred: Vec::new(),
            atomic: false,
            recount: false,
            weak: WeakTables::default(),
            resurrects: false,
            reached: None,
            running: std::ptr::null_mut(),
            mode_name: std::ptr::null_mut(),
            stop: Stop::new(),
            given_up: 0,
            lost: false,
        }
    }

    /// Discards the current cycle and starts another, with a mark that differs from the last ones.
    pub(crate) unsafe fn restart(&mut self) {
        // Live objects carry the marks of the last complete cycle and of those abandoned since.
        self.mark = self.mark % MARKS + 1;
        self.marks_used += 1;
        self.lost = false;
        self.live = 0;
        self.gray.clear();
        self.again.clear();
        self.passes = 0;
        self.deferred.clear();
        self.weak.clear();
        self.atomic = false;
        self.recount = false;
        self.reached = None;
    }

    /// Notes that an object to be traced could not be recorded: the cycle stops and is abandoned.
    #[cold]
    #[inline(never)]
    pub(crate) fn lose(&mut self) {
        self.lost = true;
        self.stop.fail();
    }

    /// Lists an object for the atomic step.
    #[inline]
    pub(crate) fn defer(&mut self, o: *mut GcHeader) {
        if self.deferred.last() != Some(&o) && !try_push(&mut self.deferred, o) {
            self.lose();
        }
    }

    /// Restores the state before the atomic step, so that the cycle continues. The next atomic step
    /// visits the thread that runs now: its stack was scanned, but changes without a barrier, also
    /// if another thread runs by then.
    pub(super) fn leave_atomic(&mut self) {
        self.atomic = false;
        if !self.running.is_null() {
            self.defer(self.running.cast());
        }
    }

    /// Does some of the marking that precedes the atomic step, about `budget` bytes of it. Returns
    /// whether all is done. For `few` and `big` see [`Marker::trace_logged_first`].
    pub(super) unsafe fn mark_some(&mut self, budget: usize, few: usize, big: usize) -> bool {
        let end = self.work.saturating_add(budget);
        self.propagate(budget);
        if !self.gray.is_empty() || self.passes == 0 && self.trace_logged_first(few, big) {
            return false;
        }
        self.converge_some(end.saturating_sub(self.work)) != Left::Some
            && !self.trace_logged_first(few, big)
    }

    /// Makes the logged objects gray if there are too many for the atomic step: more than `few`, or
    /// a table of `big` entries. They are traced in slices, during which the program logs others,
    /// fewer each time if marking is fast enough. Returns whether there is something to trace.
    ///
    /// The first pass is always done, and also scans the running stack, so that the atomic step
    /// does not find everything that was allocated since the cycle began.
    unsafe fn trace_logged_first(&mut self, few: usize, big: usize) -> bool {
        debug_assert!(self.gray.is_empty());
        let is_big = |o: &*mut GcHeader| {
            (**o).kind == Kind::Table && {
                let t = o.cast::<Table>();
                (*t).array_len as usize + Table::node_count(t) >= big
            }
        };
        let first = self.passes == 0;
        let many = first || self.again.len() > few || self.again.iter().any(is_big);
        if !many || self.passes >= MOST_PASSES {
            return false;
        }
        self.passes += 1;
        std::mem::swap(&mut self.again, &mut self.gray.again);
        if first && !self.running.is_null() && !try_push(&mut self.gray.again, self.running.cast())
        {
            self.lose();
        }
        !self.gray.is_empty()
    }

    /// Returns the factor by which slices of marking are larger than usual. It grows with the
    /// number of passes over the logged objects: a program that stores much and allocates little
    /// may log as many objects between two slices as one slice traces, and the atomic step would
    /// trace them all.
    pub(super) fn urgency(&self) -> usize {
        1 << (self.passes / (MOST_PASSES / 4)).min(2)
    }

    /// Returns whether this cycle may be abandoned.
    pub(super) fn may_give_up(&self) -> bool {
        self.given_up < MOST_GIVEN_UP
    }

    #[inline(always)]
    pub(crate) unsafe fn is_marked(&self, o: *mut GcHeader) -> bool {
        (*o).mark == self.mark
    }
}
