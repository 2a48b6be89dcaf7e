//! The objects that are marked for finalization (manual 2.5.3).

use super::segments::Segments;
use crate::header::GcHeader;
use crate::value::Value;

/// The objects that are marked for finalization.
pub(crate) struct Finalizers {
    /// In the order in which they were marked. Those in `..old` were alive at the end of the last
    /// cycle. Nil stands for an object that is pending by now.
    pub(super) registered: Segments<Value>,
    pub(super) old: usize,
    /// Unreachable objects whose finalizers are to be called, in this order.
    pub(super) pending: Segments<Value>,
    /// Unreachable objects, in the same order, that will be pending when everything that they refer
    /// to is marked.
    pub(super) found: Segments<Value>,
    /// The current stage of the phase Resurrect.
    pub(super) stage: Stage,
    /// Number of nils in `registered`.
    pub(super) holes: usize,
    pub(super) walk: Walk,
    /// Whether a finalizer is running, which blocks the collector.
    pub(crate) running: bool,
    /// Whether the running finalizer was interrupted. The error ends there, so the request is
    /// repeated for the script.
    pub(crate) interrupted: bool,
    /// Whether the state is being closed: no more objects are marked for finalization.
    pub(crate) closing: bool,
    /// Whether finalizers are ignored: no object is ever marked for finalization.
    pub(super) off: bool,
    /// How often the collector has made changes visible to the program or run code: by clearing
    /// weak tables and caches, calling finalizers, or dropping values of the host.
    pub(super) changes: u64,
}

/// A stage of the phase Resurrect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stage {
    /// Looking for unreachable objects with finalizers, from the one that was registered last.
    Walk,
    /// Closing the gaps that these have left.
    Compact,
    /// Marking the objects that are reachable from them.
    Mark,
    /// Clearing weak references to objects that are still not marked.
    Clear,
    /// Adding the objects to the pending ones.
    HandOver,
    /// Nothing is left to do.
    Done,
}

impl Stage {
    pub(super) fn next(self) -> Stage {
        match self {
            Stage::Walk => Stage::Compact,
            Stage::Compact => Stage::Mark,
            Stage::Mark => Stage::Clear,
            Stage::Clear => Stage::HandOver,
            Stage::HandOver | Stage::Done => Stage::Done,
        }
    }
}

/// The progress of looking at the registered objects.
#[derive(Default)]
pub(super) struct Walk {
    /// The first object to be looked at.
    pub(super) from: usize,
    /// The end of the objects that existed when marking ended. Objects that were registered later
    /// have no mark, and are alive.
    pub(super) end: usize,
    /// The end of the objects that have not been looked at yet.
    pub(super) at: usize,
    /// Gaps were closed in front of `write`, and the list from `read` on is as it was.
    pub(super) read: usize,
    pub(super) write: usize,
    /// Number of found objects that are marked.
    pub(super) marked: usize,
    /// Whether an unreachable object could not be added to those that were found.
    pub(super) kept: bool,
}

impl Finalizers {
    pub(crate) fn new() -> Finalizers {
        Finalizers {
            registered: Segments::default(),
            old: 0,
            pending: Segments::default(),
            found: Segments::default(),
            stage: Stage::Done,
            holes: 0,
            walk: Walk::default(),
            running: false,
            interrupted: false,
            closing: false,
            off: false,
            changes: 0,
        }
    }

    pub(crate) fn pending(&self) -> impl Iterator<Item = *mut GcHeader> {
        self.pending.iter().map(|v| v.as_header())
    }

    pub(crate) fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Prepares to look at the registered objects after marking, only at those that are not old if
    /// the collection was one of `young` objects.
    pub(super) fn begin_walk(&mut self, young: bool) {
        let (from, end) = (if young { self.old } else { 0 }, self.registered.len());
        self.walk = Walk { from, end, at: end, read: from, write: from, ..Walk::default() };
        self.stage = Stage::Walk;
    }

    /// Returns whether there are objects that are kept alive only to be finalized.
    pub(super) fn has_resurrected(&self) -> bool {
        self.walk.kept || !self.found.is_empty()
    }

    /// Closes gaps, moving up to `count` objects, and makes the remaining objects old. Returns
    /// whether no gap is left.
    pub(super) fn compact(&mut self, count: usize) -> bool {
        if self.holes == 0 {
            self.old = self.walk.end;
            return true;
        }
        let Walk { end, read, write, .. } = &mut self.walk;
        for _ in 0..=count {
            if read == end {
                self.old = *write;
            }
            if *read == self.registered.len() {
                self.registered.truncate(*write);
                self.holes -= *read - *write;
                return true;
            }
            let v = self.registered.replace(*read, Value::NIL);
            *read += 1;
            if !v.is_nil() {
                self.registered.replace(*write, v);
                *write += 1;
            }
        }
        false
    }

    /// Adds up to `count` of the objects that were found to the pending ones. Returns whether none
    /// is left.
    pub(super) fn hand_over(&mut self, count: usize) -> bool {
        if self.pending.is_empty() {
            std::mem::swap(&mut self.pending, &mut self.found);
            return true;
        }
        for _ in 0..count {
            let Some(v) = self.found.get(0) else { break };
            if !self.pending.push(v) {
                // The others are added by a later cycle.
                return true;
            }
            self.found.pop_front();
        }
        self.found.is_empty()
    }

    /// Takes the next object whose finalizer is to be called. When the state is being closed, all
    /// objects are finalized, the one that was registered last first.
    pub(super) fn next(&mut self) -> Option<Value> {
        let next = self.pending.pop_front();
        if next.is_some() || !self.closing {
            return next;
        }
        self.found.pop_front().or_else(|| {
            loop {
                let last = self.registered.pop_back()?;
                if !last.is_nil() {
                    return Some(last);
                }
            }
        })
    }
}
