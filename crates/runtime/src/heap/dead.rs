//! Host values of dead userdata.

use std::any::Any;

use super::memory::Memory;
use crate::userdata::{CellHead, Userdata};

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
        Userdata::free(memory, u);
        Some(Dead { data: data?, is_cell })
    }

    /// Returns whether the value is in use. A debugger can remove the last reference to a userdata
    /// while one of its methods runs.
    pub(super) fn is_borrowed(&self) -> bool {
        // SAFETY: the flag says that the value begins with a head, and the value is alive.
        self.is_cell && unsafe { (*(&raw const *self.data).cast::<CellHead>()).is_borrowed() }
    }
}
