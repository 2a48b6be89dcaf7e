//! Host values whose userdata are gone.

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
    /// Frees a dead userdata; gives what it owned, if that is anything.
    pub(crate) unsafe fn of(memory: &mut Memory, u: *mut Userdata) -> Option<Dead> {
        let data = (&mut (*u).data).take();
        let is_cell = (*u).header.aux == Userdata::CELL;
        memory.drop(u);
        Some(Dead { data: data?, is_cell })
    }

    /// Is somebody using the value? A debugger can take the last reference to a userdata away while one of its methods runs.
    fn is_borrowed(&self) -> bool {
        // SAFETY: the flag says that the value begins with a head; it is alive.
        self.is_cell && unsafe { (*(&raw const *self.data).cast::<CellHead>()).is_borrowed() }
    }
}

/// The collector rests while host values are dropped; ends also after a panic.
struct Resting(*mut State);

impl Drop for Resting {
    fn drop(&mut self) {
        // SAFETY: the state outlives its collection.
        unsafe { (*self.0).finalizer_unwound() }
    }
}

impl State {
    /// Drops the host values whose userdata were swept. Their destructors may use the state, so this happens where finalizers run.
    /// Values that are borrowed stay for later.
    ///
    /// # Safety
    /// As [`State::run_finalizers`].
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
