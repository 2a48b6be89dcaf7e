//! Retired code that is waiting to be freed.

use std::sync::Arc;

use crate::quiescence::Retired;
use crate::{CodeId, Module, Placement};

/// A retired module or placement.
pub(crate) enum Garbage {
    /// Frames may be in it.
    Module(Arc<Module>),
    /// States may keep its address until they announce or enter.
    Placement(Arc<Placement>),
}

impl Garbage {
    /// Returns how many bytes of the region it occupies.
    pub(crate) fn footprint(&self) -> usize {
        match self {
            Garbage::Module(module) => module.footprint(),
            Garbage::Placement(placement) => placement.footprint(),
        }
    }
}

impl Retired for Garbage {
    fn contains(&self, id: CodeId) -> bool {
        match self {
            Garbage::Module(module) => module.contains(id),
            Garbage::Placement(_) => false,
        }
    }
}
