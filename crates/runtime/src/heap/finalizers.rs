//! The objects that are marked for finalization (manual 2.5.3).

use std::collections::VecDeque;

use crate::header::GcHeader;
use crate::value::Value;

/// The objects that are marked for finalization.
pub(crate) struct Finalizers {
    /// In the order in which they were marked. Those in `..old` were alive at the end of the last
    /// cycle. Nil stands for an object that is pending by now.
    pub(super) registered: Vec<Value>,
    pub(super) old: usize,
    /// Unreachable objects whose finalizers are to be called, in this order.
    pub(super) pending: VecDeque<Value>,
    /// Whether a finalizer is running, which blocks the collector.
    pub(crate) running: bool,
    /// Whether the state is being closed: no more objects are marked for finalization.
    pub(crate) closing: bool,
    /// Whether finalizers are ignored: no object is ever marked for finalization.
    pub(super) off: bool,
}

impl Finalizers {
    pub(crate) fn new() -> Finalizers {
        Finalizers {
            registered: Vec::new(),
            old: 0,
            pending: VecDeque::new(),
            running: false,
            closing: false,
            off: false,
        }
    }

    pub(crate) fn pending(&self) -> impl Iterator<Item = *mut GcHeader> {
        self.pending.iter().map(|v| v.as_header())
    }

    pub(crate) fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Makes all registered objects old.
    pub(crate) fn end_cycle(&mut self) {
        self.old = self.registered.len();
    }
}
