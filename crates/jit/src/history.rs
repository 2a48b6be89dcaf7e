//! What a method was compiled for, and how often that had to be changed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use perilune_bytecode::Proto;
use perilune_code::Method;
use perilune_runtime::engine::Shape;

use crate::snapshot::Snapshot;

/// So often a method is compiled anew for what feedback has seen meanwhile; the last time for everything. With the first compile, and one for the sake of others in
/// its module, that makes six versions.
const MOST: u32 = 4;

/// What the newest version of a method was compiled for.
#[derive(Clone)]
pub(crate) struct Known {
    pub(crate) proto: Weak<Proto>,
    pub(crate) snapshot: Arc<Snapshot>,
    /// The shapes that the code looks for: while they live, a state that comes when others are gone makes no new ones in their place.
    pub(crate) shapes: Arc<[Arc<Shape>]>,
    /// The pc of the loop that is entered; none: the function is.
    pub(crate) entry: Option<u32>,
    /// Where it calls itself.
    pub(crate) own_calls: Arc<[u32]>,
}

/// The data of a [`Method`].
#[derive(Default)]
pub(crate) struct History(Mutex<Past>);

#[derive(Default)]
struct Past {
    known: Option<Arc<Known>>,
    /// Compiles for new feedback.
    changes: u32,
    /// It was in a module with others.
    grouped: bool,
}

impl History {
    /// That of a method.
    pub(crate) fn of(method: &Method) -> &History {
        method.data().downcast_ref().expect("every method has one")
    }

    fn past(&self) -> MutexGuard<'_, Past> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What its newest version was compiled for.
    pub(crate) fn known(&self) -> Option<Arc<Known>> {
        self.past().known.clone()
    }

    /// It is compiled for this.
    pub(crate) fn note(&self, known: Known, grouped: bool) {
        let mut past = self.past();
        past.grouped |= grouped;
        let before = past.known.replace(Arc::new(known));
        drop(past);
        drop(before);
    }

    /// Was it in a module with others? Once is enough: what is compiled anew takes the others' code with it.
    pub(crate) fn was_grouped(&self) -> bool {
        self.past().grouped
    }

    /// Is it never to be compiled for new feedback again?
    pub(crate) fn is_settled(&self) -> bool {
        self.past().changes >= MOST
    }

    /// It is to be compiled for new feedback.
    pub(crate) fn change(&self) {
        self.past().changes += 1;
    }
}
