//! Jobs: functions that are compiled together.

use std::sync::{Arc, Weak};

use perilune_bytecode::Proto;
use perilune_code::{Method, Refusal, Ticket};

use crate::feedback::callees::Callee;
use crate::feedback::snapshot::{Shapes, Snapshot};
use crate::policy::history::{History, Known};

/// Functions to compile, and to publish and retire together.
pub(crate) struct Job {
    pub(crate) units: Vec<Unit>,
    /// Whether the job is a part of a larger partition. Nothing is added to such a job.
    pub(crate) is_cut: bool,
}

/// One function to compile.
pub(crate) struct Unit {
    /// The right to compile the method; `None` after it was used.
    pub(crate) ticket: Option<Ticket>,
    pub(crate) method: Arc<Method>,
    /// The proto, weakly: a program that is dropped in the meantime is not compiled.
    pub(crate) proto: Weak<Proto>,
    /// The estimated bytes of code.
    pub(crate) size: usize,
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) shapes: Shapes,
    /// The pc of the loop of an OSR entry, or `None` for the function itself.
    pub(crate) entry: Option<u32>,
    /// The method of the function, if `method` is that of a loop in it and has no code yet.
    pub(crate) function: Option<Arc<Method>>,
    /// The number by which calls identify it ([`Callee::key`]), or 0 if it is not called.
    pub(crate) key: usize,
    /// Its known callees.
    pub(crate) calls: Vec<Callee>,
}

impl Job {
    /// Returns the job of a single function.
    pub(crate) fn of(unit: Unit) -> Job {
        Job { units: vec![unit], is_cut: false }
    }
}

impl Unit {
    /// Returns the unit that recompiles a method alone, with the feedback of its last compile.
    pub(crate) fn again(ticket: Ticket, known: &Known) -> Unit {
        let Known { proto, snapshot, shapes, entry, own_calls } = known.clone();
        let method = ticket.method().clone();
        let key = Arc::as_ptr(&method) as usize;
        let calls = own_calls.iter().map(|&pc| Callee { pc, key, weight: 0 }).collect();
        let ticket = Some(ticket);
        Unit { ticket, method, proto, size: 0, snapshot, shapes, entry, function: None, key, calls }
    }

    /// Returns whether the result will still be of use.
    pub(super) fn is_wanted(&self) -> bool {
        self.ticket.as_ref().is_some_and(Ticket::is_current) && !self.is_outrun()
    }

    /// Returns whether this is the OSR entry of a loop that probably no frame still runs in a lower
    /// tier.
    fn is_outrun(&self) -> bool {
        let own = History::of(&self.method);
        self.function.as_ref().is_some_and(|function| own.is_outrun_by(History::of(function)))
    }

    /// Returns how hot the method is, or 0 if it need not be compiled.
    pub(super) fn hotness(&self) -> u64 {
        if self.is_outrun() { 0 } else { History::of(&self.method).hotness() }
    }

    /// Takes the feedback that was recorded while the unit waited.
    pub(super) fn update(&mut self) {
        if let Some(waiting) = History::of(&self.method).begin() {
            self.snapshot = waiting.snapshot.clone();
            self.shapes = waiting.shapes.clone();
            self.calls.clone_from(&waiting.calls);
        }
    }

    /// Refuses the method.
    pub(super) fn refuse(&mut self, refusal: Refusal) {
        match self.ticket.take() {
            Some(ticket) => ticket.refuse(refusal),
            // a panic during publication has returned the ticket
            None => self.method.refuse(refusal),
        }
    }
}
