//! Placements: code that states enter without a slot, and to which no frame refers.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{AcqRel, Relaxed},
};
use std::sync::{Arc, Weak};

use crate::CodeRange;
use crate::lock::{Mutex, lock};
use crate::module::Address;

/// Code that is not a version. States store its address themselves, and enter it without loading a
/// slot ([`CodeSpace::keep`](crate::CodeSpace::keep)).
///
/// No return address leads into it, and no frame word refers to it. A state has therefore left a
/// retired placement as soon as it has discarded the address
/// ([`Hooks::forget`](crate::Hooks::forget)).
pub struct Placement {
    address: Address,
    footprint: usize,
    /// A number that orders placements by age.
    serial: u64,
    contents: Mutex<Option<Contents>>,
    retired: AtomicBool,
    /// The quiescence number when a state last began to keep the address.
    seen: AtomicU64,
    home: Weak<dyn Closer>,
}

/// The interface by which placements use the space that they are in.
pub(crate) trait Closer: Send + Sync {
    /// Frees a placement that no state keeps, unless it is retired.
    fn close(&self, placement: &Placement);
}

/// What is dropped when a placement is freed, in this order.
struct Contents {
    _data: Box<dyn Any + Send>,
    _range: CodeRange,
}

impl Placement {
    fn new(
        range: CodeRange,
        data: Box<dyn Any + Send>,
        (serial, number): (u64, u64),
        home: Weak<dyn Closer>,
    ) -> Arc<Placement> {
        Arc::new(Placement {
            address: Address(range.address()),
            footprint: range.footprint(),
            serial,
            contents: Mutex::new(Some(Contents { _data: data, _range: range })),
            retired: AtomicBool::new(false),
            seen: AtomicU64::new(number),
            home,
        })
    }

    /// Returns the address of the first byte, which states get from `CodeSpace::keep`.
    pub(crate) fn address(&self) -> *const u8 {
        self.address.0
    }

    /// Returns how many bytes of the region it occupies.
    pub fn footprint(&self) -> usize {
        self.footprint
    }

    /// Returns whether no state may begin to keep its address.
    pub fn is_retired(&self) -> bool {
        self.retired.load(Relaxed)
    }

    /// Returns the quiescence number when a state last began to keep the address.
    pub(crate) fn last_seen(&self) -> u64 {
        self.seen.load(Relaxed)
    }

    pub(crate) fn note_seen(&self, number: u64) {
        self.seen.fetch_max(number, Relaxed);
    }

    pub(crate) fn serial(&self) -> u64 {
        self.serial
    }

    /// Marks it as retired; returns whether it was not marked before. The caller that marks it must
    /// queue it to be freed.
    pub(crate) fn mark_retired(&self) -> bool {
        !self.retired.swap(true, AcqRel)
    }

    /// Releases the memory. No thread runs the code, and none will.
    pub(crate) fn free(&self) {
        let contents = lock(&self.contents).take();
        // The destructor of data may take locks.
        drop(contents);
    }

    /// Frees it immediately because its owner is dropped: no state may keep the address any more. A
    /// placement that is already retired is freed by the protocol.
    pub fn close(&self) {
        if let Some(home) = self.home.upgrade() {
            home.close(self);
        }
    }
}

impl fmt::Debug for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Placement({:p}, {} bytes)", self.address.0, self.footprint)
    }
}

/// All placements that are not freed, by age.
#[derive(Default)]
pub(crate) struct Placements {
    all: Mutex<BTreeMap<u64, Arc<Placement>>>,
    /// The number of placements so far. 64 bits do not wrap.
    count: AtomicU64,
}

impl Placements {
    /// Adds code that is seen at this quiescence number.
    pub(crate) fn add(
        &self,
        range: CodeRange,
        data: Box<dyn Any + Send>,
        number: u64,
        home: Weak<dyn Closer>,
    ) -> Arc<Placement> {
        let serial = self.count.fetch_add(1, Relaxed);
        let placement = Placement::new(range, data, (serial, number), home);
        lock(&self.all).insert(serial, placement.clone());
        placement
    }

    pub(crate) fn remove(&self, placement: &Placement) {
        let removed = lock(&self.all).remove(&placement.serial);
        drop(removed);
    }

    /// Returns those that are not retired, the oldest first.
    pub(crate) fn current(&self) -> Vec<Arc<Placement>> {
        lock(&self.all).values().filter(|p| !p.is_retired()).cloned().collect()
    }

    pub(crate) fn len(&self) -> usize {
        lock(&self.all).len()
    }
}
