//! What a method was compiled for, and how often that changed.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use perilune_bytecode::Proto;
use perilune_code::Method;
use perilune_code::lock::{Mutex, MutexGuard, lock};

use crate::feedback::snapshot::{Shapes, Snapshot};

/// How often a method is recompiled for new feedback; the last time for anything. With the first
/// compile, and one because of others in its module, that makes six versions.
const MAX_CHANGES: u32 = 4;

/// What the newest version of a method was compiled for.
#[derive(Clone)]
pub(crate) struct Known {
    pub(crate) proto: Weak<Proto>,
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) shapes: Shapes,
    /// The pc of the loop of an OSR entry, or `None` for the function itself.
    pub(crate) entry: Option<u32>,
    /// The pcs at which it calls itself.
    pub(crate) own_calls: Arc<[u32]>,
}

/// The data of a [`Method`].
#[derive(Default)]
pub(crate) struct History {
    past: Mutex<Past>,
    /// How hot the method was when a state last looked, by what the interpreter has run of it.
    /// States write it, and compile threads read it to choose their next job.
    heat: AtomicU64,
    /// What exits from its newest code add to that.
    exits: AtomicU64,
}

#[derive(Default)]
struct Past {
    known: Option<Arc<Known>>,
    /// How often it was recompiled for new feedback.
    changes: u32,
    /// Whether it was in a module with others.
    grouped: bool,
    /// Instructions at which code has exited for nothing that feedback shows, its own and that of
    /// functions that it was inlined in.
    failed: BTreeSet<u32>,
}

impl History {
    /// Returns the history of a method.
    pub(crate) fn of(method: &Method) -> &History {
        method.data().downcast_ref().expect("every method has one")
    }

    fn past(&self) -> MutexGuard<'_, Past> {
        lock(&self.past)
    }

    /// Records how hot the method is.
    pub(crate) fn set_heat(&self, heat: u64) {
        self.heat.fetch_max(heat, Ordering::Relaxed);
    }

    /// Records that exits from its code have made the method hotter.
    pub(crate) fn add_exits(&self, heat: u64) {
        self.exits.fetch_add(heat, Ordering::Relaxed);
    }

    /// Returns how hot the method was the last time that a state looked, its exits included.
    pub(crate) fn heat(&self) -> u64 {
        let exits = self.exits.load(Ordering::Relaxed);
        self.heat.load(Ordering::Relaxed).saturating_add(exits)
    }

    /// Returns what its newest version was compiled for.
    pub(crate) fn known(&self) -> Option<Arc<Known>> {
        self.past().known.clone()
    }

    /// Records a compile.
    pub(crate) fn note(&self, known: Known, grouped: bool) {
        // Those of the code before are past.
        self.exits.store(0, Ordering::Relaxed);
        let mut past = self.past();
        past.grouped |= grouped;
        let before = past.known.replace(Arc::new(known));
        drop(past);
        drop(before);
    }

    /// Whether it was in a module with others. Once is enough: recompiling it retires their code.
    pub(crate) fn was_grouped(&self) -> bool {
        self.past().grouped
    }

    /// Whether it is never to be recompiled for new feedback again.
    pub(crate) fn is_settled(&self) -> bool {
        self.past().changes >= MAX_CHANGES
    }

    /// Records that code has exited at an instruction for nothing that feedback shows.
    pub(crate) fn fail(&self, pc: u32) {
        self.past().failed.insert(pc);
    }

    /// Returns the instructions at which code is not to speculate.
    pub(crate) fn failed(&self) -> BTreeSet<u32> {
        self.past().failed.clone()
    }

    /// Records that it is not to speculate any more.
    pub(crate) fn settle(&self) {
        self.past().changes = MAX_CHANGES;
    }

    /// Records that it is about to be recompiled for new feedback.
    pub(crate) fn change(&self) {
        self.past().changes += 1;
    }
}
