//! Objects in boxes outside the blocks: threads, shapes, instances, and userdata of the host.

use super::Heap;
use super::dead::Dead;
use super::growth::{has_room, push_early};
use super::memory::Memory;
use crate::first_panic::FirstPanic;
use crate::header::{GcHeader, Kind};
use crate::instance::Instance;
use crate::table::LocalShape;
use crate::thread::{INITIAL_STACK, Thread, free_stack};
use crate::userdata::Userdata;
use crate::value::Value;

/// The mark of objects that are created in the phase Resurrect, until it ends.
pub(super) const NEW: u8 = 0xFD;

/// The objects of one kind. They are swept from the end down, so that new objects, which are
/// appended, do not interfere.
pub(crate) struct List<T> {
    pub(crate) items: Vec<*mut T>,
    unswept: usize,
}

impl<T> List<T> {
    const fn new() -> List<T> {
        List { items: Vec::new(), unswept: 0 }
    }

    /// Returns the objects that existed when marking ended, before sweeping.
    pub(super) fn to_be_swept(&self) -> &[*mut T] {
        &self.items[..self.unswept]
    }

    fn begin_sweep(&mut self) {
        debug_assert_eq!(self.unswept, 0);
        self.unswept = self.items.len();
    }

    /// Resets the marks of objects that were created since marking ended.
    unsafe fn forget_new(&mut self) {
        for &item in &self.items[self.unswept..] {
            let header = item.cast::<GcHeader>();
            if (*header).mark == NEW {
                (*header).mark = 0;
            }
        }
    }

    /// Removes the next object whose mark is not `live`. Looks at up to `count` objects, and
    /// subtracts the number from `count`.
    unsafe fn next_dead(&mut self, live: u8, count: &mut usize) -> Option<*mut T> {
        while self.unswept > 0 && *count > 0 {
            *count -= 1;
            self.unswept -= 1;
            let item = self.items[self.unswept];
            if (*item.cast::<GcHeader>()).mark != live {
                self.items.swap_remove(self.unswept);
                return Some(item);
            }
        }
        None
    }
}

/// All boxed objects of a heap.
pub(crate) struct Boxes {
    pub(crate) threads: List<Thread>,
    pub(crate) shapes: List<LocalShape>,
    pub(crate) instances: List<Instance>,
    pub(crate) userdata: List<Userdata>,
    /// The memory of dead threads with a stack of the initial size, for the next threads: the
    /// system's allocator takes most of the time of creating one.
    spare: Vec<SpareThread>,
    /// Host values of dead userdata, to be dropped at a point where they may run code.
    pub(crate) dead: Vec<Dead>,
    live_mark: u8,
}

impl Boxes {
    pub(crate) const fn new() -> Boxes {
        Boxes {
            threads: List::new(),
            shapes: List::new(),
            instances: List::new(),
            userdata: List::new(),
            spare: Vec::new(),
            dead: Vec::new(),
            live_mark: 0,
        }
    }

    /// Adds an object. Returns false when its list is nearly full and cannot grow.
    pub(crate) unsafe fn push(&mut self, o: *mut GcHeader) -> bool {
        match (*o).kind {
            Kind::Thread => push_early(&mut self.threads.items, o.cast()),
            Kind::Shape => push_early(&mut self.shapes.items, o.cast()),
            Kind::Instance => push_early(&mut self.instances.items, o.cast()),
            Kind::Userdata => push_early(&mut self.userdata.items, o.cast()),
            kind => unreachable!("{kind:?} is not boxed"),
        }
    }

    /// Returns the addresses of all objects.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = usize> {
        let threads = self.threads.items.iter().map(|p| p.addr());
        let shapes = self.shapes.items.iter().map(|p| p.addr());
        let instances = self.instances.items.iter().map(|p| p.addr());
        let userdata = self.userdata.items.iter().map(|p| p.addr());
        threads.chain(shapes).chain(instances).chain(userdata)
    }

    /// Returns whether each list has room for more objects, after enlarging it if necessary.
    pub(crate) fn have_room(&mut self) -> bool {
        has_room(&mut self.threads.items)
            && has_room(&mut self.shapes.items)
            && has_room(&mut self.instances.items)
            && has_room(&mut self.userdata.items)
    }

    /// Prepares to sweep all objects, after marking.
    pub(crate) fn begin_sweep(&mut self, mark: u8) {
        self.threads.begin_sweep();
        self.shapes.begin_sweep();
        self.instances.begin_sweep();
        self.userdata.begin_sweep();
        self.live_mark = mark;
    }

    /// Resets the marks of objects that were created in the phase Resurrect.
    pub(super) unsafe fn forget_new(&mut self) {
        self.threads.forget_new();
        self.shapes.forget_new();
        self.instances.forget_new();
        self.userdata.forget_new();
    }

    /// Undoes [`Boxes::begin_sweep`].
    pub(crate) fn cancel_sweep(&mut self) {
        self.threads.unswept = 0;
        self.shapes.unswept = 0;
        self.instances.unswept = 0;
        self.userdata.unswept = 0;
    }

    /// Looks at up to `count` objects and drops the dead ones. Returns whether all are swept.
    pub(crate) unsafe fn sweep_some(&mut self, memory: &mut Memory, mut count: usize) -> bool {
        let live = self.live_mark;
        while let Some(p) = self.threads.next_dead(live, &mut count) {
            self.free_thread(memory, p);
        }
        while let Some(p) = self.instances.next_dead(live, &mut count) {
            Instance::free(memory, p);
        }
        while let Some(p) = self.shapes.next_dead(live, &mut count) {
            memory.drop(p);
        }
        while let Some(p) = self.userdata.next_dead(live, &mut count) {
            if self.dead.try_reserve(1).is_err() {
                // The next cycle finds the userdata again. Nothing accesses it until then.
                (*p).header.mark = live;
                self.userdata.items.push(p);
                memory.note_short();
                continue;
            }
            self.dead.extend(Dead::of(memory, p));
        }
        self.threads.unswept + self.instances.unswept + self.shapes.unswept + self.userdata.unswept
            == 0
    }

    /// Drops a thread, and keeps its memory for another one or frees it.
    unsafe fn free_thread(&mut self, memory: &mut Memory, th: *mut Thread) {
        /// The most threads whose memory is kept, which is some hundreds of kilobytes.
        const MOST_SPARE: usize = 512;
        let is_kept = (*th).capacity == INITIAL_STACK
            && self.spare.len() < MOST_SPARE
            && !memory.is_short()
            && self.spare.try_reserve(1).is_ok();
        if is_kept {
            let stack = (*th).stack;
            th.drop_in_place();
            self.spare.push(SpareThread { thread: th, stack });
        } else {
            free_thread(memory, th);
        }
    }

    /// Drops all objects.
    pub(crate) unsafe fn free_all(&mut self, memory: &mut Memory) -> FirstPanic {
        let mut panics = FirstPanic::default();
        for value in self.dead.drain(..) {
            panics.call(|| drop(value));
        }
        for p in self.userdata.items.drain(..) {
            let value = Dead::of(memory, p);
            panics.call(|| drop(value));
        }
        for p in self.threads.items.drain(..) {
            free_thread(memory, p);
        }
        for SpareThread { thread, stack } in self.spare.drain(..) {
            free_stack(memory, stack, INITIAL_STACK);
            memory.free(thread.cast(), size_of::<Thread>());
        }
        for p in self.instances.items.drain(..) {
            Instance::free(memory, p);
        }
        for p in self.shapes.items.drain(..) {
            memory.drop(p);
        }
        panics
    }
}

impl Heap {
    /// Returns all instances.
    pub(crate) fn instances(&self) -> &[*mut Instance] {
        &self.boxed.instances.items
    }

    /// Returns the memory of a dead thread, if some is kept.
    pub(crate) fn take_spare_thread(&mut self) -> Option<SpareThread> {
        self.boxed.spare.pop()
    }
}

/// The memory of a dead thread and of its stack of [`INITIAL_STACK`] slots.
pub(crate) struct SpareThread {
    pub(crate) thread: *mut Thread,
    pub(crate) stack: *mut Value,
}

/// Drops a thread and its stack.
unsafe fn free_thread(memory: &mut Memory, th: *mut Thread) {
    free_stack(memory, (*th).stack, (*th).capacity);
    memory.drop(th);
}
