//! The amount of work that the collector does at a time: normally, and in the mode `gc-phases`.

use super::Heap;
use super::pacing::Mode;
use crate::chaos::Chaos;

/// The size of one slice of purging or sweeping.
#[derive(Clone, Copy)]
pub(super) struct Slices {
    /// Number of blocks to sweep: 256 are about 8 MB of heap.
    pub(super) blocks: usize,
    /// Number of slots of the string table to look at.
    pub(super) strings: usize,
    /// Number of large objects, and of boxed ones, to look at.
    pub(super) objects: usize,
    /// Number of objects with finalizers to look at.
    pub(super) finalizers: usize,
    /// Number of entries of weak tables whose keys to look at.
    pub(super) keys: usize,
    /// Number of slices of the phase Resurrect that belong to the atomic step.
    pub(super) resurrection: usize,
    /// Number of chunks of 1 MB to return to the system.
    pub(super) chunks: usize,
    /// Number of entries from which on a table is not traced again after each store.
    pub(super) big: usize,
    /// Number of logged objects up to which the atomic step traces them.
    pub(super) logged: usize,
}

impl Slices {
    pub(super) const USUAL: Slices = Slices {
        blocks: 256,
        strings: if cfg!(test) { 64 } else { 16 * 1024 },
        objects: 512,
        finalizers: if cfg!(test) { 16 } else { 2048 },
        keys: if cfg!(test) { 16 } else { 8192 },
        resurrection: 2,
        chunks: 4,
        big: if cfg!(test) { 64 } else { 1024 },
        logged: if cfg!(test) { 4 } else { 256 },
    };
    pub(super) const TINY: Slices = Slices {
        blocks: 1,
        strings: 256,
        objects: 16,
        finalizers: 4,
        keys: 16,
        resurrection: 0,
        chunks: 1,
        big: 8,
        logged: 2,
    };
}

/// The state of the mode.
pub(super) struct Phases {
    pub(super) random: Chaos,
    /// The mode that the program has requested, while another one is in effect.
    pub(super) asked: Mode,
    /// Number of slices of marking until the current cycle is abandoned.
    pub(super) patience: u64,
    /// Number of collections that have ended.
    pub(super) ended: u64,
    /// Number of checks after which the next collection has to stop; `u32::MAX` if it does not.
    pub(super) fuse: u32,
}

impl Phases {
    /// Choice of a full collection.
    pub(super) const FULL: u64 = 0;
    /// Largest choice of a collection of the young objects; those above it are cycles in slices.
    pub(super) const YOUNG: u64 = 3;
    pub(super) const KINDS: u64 = 8;
}

impl Heap {
    /// Takes the number of checks after which the collection that begins has to stop.
    pub(super) fn take_fuse(&mut self) -> u32 {
        let none = u32::MAX;
        self.phases.as_mut().map_or(none, |phases| std::mem::replace(&mut phases.fuse, none))
    }

    /// Returns the mode as the program sees it.
    pub(super) fn mode(&self) -> Mode {
        match &self.phases {
            Some(phases) => phases.asked,
            None if self.pace.generational => Mode::Generational,
            None => Mode::Incremental,
        }
    }
}
