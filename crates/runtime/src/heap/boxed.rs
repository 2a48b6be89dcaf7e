//! Objects boxed outside the blocks: threads, shapes, instances, userdata.

use std::ptr;

use super::dead::Dead;
use crate::header::{GcHeader, Kind};
use crate::instance::Instance;
use crate::table::LocalShape;
use crate::thread::Thread;
use crate::userdata::Userdata;

/// Objects of one kind, swept from the end down, so that new ones, which come at the end, are out of the way.
pub(crate) struct List<T> {
    pub(crate) items: Vec<*mut T>,
    unswept: usize,
}

impl<T> List<T> {
    const fn new() -> List<T> {
        List { items: Vec::new(), unswept: 0 }
    }

    fn begin_sweep(&mut self) {
        debug_assert_eq!(self.unswept, 0);
        self.unswept = self.items.len();
    }

    /// Takes out the next one with another mark than `live`, looking at up to `count` objects, which is counted down.
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
    /// What dead userdata owned, to be dropped where that may run code.
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
            dead: Vec::new(),
            live_mark: 0,
        }
    }

    pub(crate) unsafe fn push(&mut self, o: *mut GcHeader) {
        match (*o).kind {
            Kind::Thread => self.threads.items.push(o.cast()),
            Kind::Shape => self.shapes.items.push(o.cast()),
            Kind::Instance => self.instances.items.push(o.cast()),
            Kind::Userdata => self.userdata.items.push(o.cast()),
            kind => unreachable!("{kind:?} is not boxed"),
        }
    }

    /// Addresses of all of them.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = usize> {
        let threads = self.threads.items.iter().map(|p| p.addr());
        let shapes = self.shapes.items.iter().map(|p| p.addr());
        let instances = self.instances.items.iter().map(|p| p.addr());
        let userdata = self.userdata.items.iter().map(|p| p.addr());
        threads.chain(shapes).chain(instances).chain(userdata)
    }

    /// After marking: all are to be swept.
    pub(crate) fn begin_sweep(&mut self, mark: u8) {
        self.threads.begin_sweep();
        self.shapes.begin_sweep();
        self.instances.begin_sweep();
        self.userdata.begin_sweep();
        self.live_mark = mark;
    }

    /// Looks at up to `count` objects, dropping the dead ones; true when all are swept.
    pub(crate) unsafe fn sweep_some(&mut self, mut count: usize) -> bool {
        let live = self.live_mark;
        while let Some(p) = self.threads.next_dead(live, &mut count) {
            free_thread(p);
        }
        while let Some(p) = self.instances.next_dead(live, &mut count) {
            Instance::free(p);
        }
        while let Some(p) = self.shapes.next_dead(live, &mut count) {
            drop(Box::from_raw(p));
        }
        while let Some(p) = self.userdata.next_dead(live, &mut count) {
            self.dead.extend(Dead::of(p));
        }
        self.threads.unswept + self.instances.unswept + self.shapes.unswept + self.userdata.unswept
            == 0
    }

    /// Drops all.
    pub(crate) unsafe fn free_all(&mut self) {
        self.dead.clear();
        for p in self.userdata.items.drain(..) {
            drop(Box::from_raw(p));
        }
        for p in self.threads.items.drain(..) {
            free_thread(p);
        }
        for p in self.instances.items.drain(..) {
            Instance::free(p);
        }
        for p in self.shapes.items.drain(..) {
            drop(Box::from_raw(p));
        }
    }
}

/// Drops a thread and its stack, which is a boxed slice of `capacity` slots.
unsafe fn free_thread(th: *mut Thread) {
    if !(*th).stack.is_null() {
        drop(Box::from_raw(ptr::slice_from_raw_parts_mut((*th).stack, (*th).capacity)));
    }
    drop(Box::from_raw(th));
}
