//! Host values whose userdata are dead.

use std::any::Any;

use super::memory::Memory;
use crate::host::CellHead;
use crate::state::State;
use crate::userdata::Userdata;

/// A host value to be dropped.
pub(crate) struct Dead {
    data: Box<dyn Any>,
    is_cell: bool,
}

impl Dead {
    /// Frees a dead userdata and returns the host value that it owned, if any.
    pub(crate) unsafe fn of(memory: &mut Memory, u: *mut Userdata) -> Option<Dead> {
        let data = (&mut (*u).data).take();
        let is_cell = (*u).header.aux == Userdata::CELL;
        memory.drop(u);
        Some(Dead { data: data?, is_cell })
    }

    /// Returns whether the value is in use. A debugger can remove the last reference to a userdata
    /// while one of its methods runs.
    fn is_borrowed(&self) -> bool {
        // SAFETY: the flag says that the value begins with a head, and the value is alive.
        self.is_cell && unsafe { (*(&raw const *self.data).cast::<CellHead>()).is_borrowed() }
    }
}

/// Blocks the collector while host values are dropped, until it is dropped itself, also by a panic.
struct Resting(*mut State);

impl Drop for Resting {
    fn drop(&mut self) {
        // SAFETY: the state outlives its collection.
        unsafe { (*self.0).finalizer_unwound() }
    }
}

impl State {
    /// Drops the host values whose userdata were swept. Their destructors may use the state, so
    /// this happens at the points where finalizers run. Values that are borrowed remain for later.
    ///
    /// # Safety
    /// As for [`State::run_finalizers`].
    #[inline]
    pub(super) unsafe fn drop_dead(&mut self) {
        if !self.heap.boxed.dead.is_empty() && !self.gc_is_blocked() {
            drop_all(self);
        }
    }
}

#[cold]
unsafe fn drop_all(st: *mut State) {
    (*st).heap.finalizers.running = true;
    let _resting = Resting(st);
    let mut kept = Vec::new();
    while let Some(dead) = (&mut (*st).heap.boxed.dead).pop() {
        if dead.is_borrowed() {
            kept.push(dead);
        }
    }
    (&mut (*st).heap.boxed.dead).extend(kept);
}
