//! Code versions, and the modules in which they are published and retired.

use std::any::Any;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Weak};

use crate::lock::{Mutex, lock};
use crate::{CodeId, CodeRange, Method, Ticket};

/// An address of machine code. The protocol says when it may be called.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Address(pub(crate) *const u8);

// SAFETY: an address is only a number here; this crate never follows it.
unsafe impl Send for Address {}
// SAFETY: as above.
unsafe impl Sync for Address {}

/// One function of a module, as produced by the compiler.
pub struct Member {
    /// The right to replace the method's code.
    pub ticket: Ticket,
    /// Its id, which its code stores in frame words.
    pub id: CodeId,
    /// The kind of version, a number that the user chooses.
    pub kind: u8,
    /// The function's bytes, as offsets into the module's code.
    pub body: Range<usize>,
    /// The offset of the address that the slot is to hold.
    pub entry: usize,
    /// Metadata, such as maps of its frames; dropped when the version is freed and no other
    /// reference is left.
    pub data: Arc<dyn Any + Send + Sync>,
}

/// One compiled body of a method.
pub struct Version {
    id: CodeId,
    kind: u8,
    body: Range<usize>,
    entry: Address,
    method: Weak<Method>,
    data: Arc<dyn Any + Send + Sync>,
    /// Whether its method counts it among the versions that are not freed.
    counted: AtomicBool,
    retired: AtomicBool,
    seen: AtomicU64,
}

impl Version {
    /// Returns its id.
    pub fn id(&self) -> CodeId {
        self.id
    }
    /// Returns its kind, a number that the user chooses.
    pub fn kind(&self) -> u8 {
        self.kind
    }
    /// Returns the address that its slot holds.
    pub fn entry(&self) -> *const u8 {
        self.entry.0
    }
    /// Returns the addresses of its code.
    pub fn addresses(&self) -> Range<usize> {
        self.body.clone()
    }
    /// Returns the number of bytes of its code.
    pub fn size(&self) -> usize {
        self.body.len()
    }
    /// Returns its method, unless that is dropped.
    pub fn method(&self) -> Option<Arc<Method>> {
        self.method.upgrade()
    }
    /// Returns its metadata.
    pub fn data(&self) -> &Arc<dyn Any + Send + Sync> {
        &self.data
    }
    /// Returns its metadata, if it is of this type.
    pub fn data_as<T: 'static>(&self) -> Option<&T> {
        (*self.data).downcast_ref()
    }
    /// Returns whether it has been permanently removed from its slot. A frame in it should leave
    /// it.
    pub fn is_retired(&self) -> bool {
        self.retired.load(Relaxed)
    }
    /// Returns the quiescence number at which it was last seen: installed, or in a frame at an
    /// announcement.
    pub fn last_seen(&self) -> u64 {
        self.seen.load(Relaxed)
    }

    pub(crate) fn note_seen(&self, number: u64) {
        self.seen.fetch_max(number, Relaxed);
    }
    pub(crate) fn note_retired(&self) {
        self.retired.store(true, Relaxed);
    }
    pub(crate) fn note_counted(&self) {
        self.counted.store(true, Relaxed);
    }
    pub(crate) fn is_counted(&self) -> bool {
        self.counted.load(Relaxed)
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Version({}, kind {}, {} bytes)", self.id, self.kind, self.size())
    }
}

/// Functions that were compiled together: they share a range of memory, and are published, retired
/// and freed together.
pub struct Module {
    /// The versions, in ascending order of their ids.
    versions: Vec<Arc<Version>>,
    /// The code, which is taken out when the module is freed, even if the metadata is still held.
    range: Mutex<Option<CodeRange>>,
    footprint: usize,
    retired: AtomicBool,
}

impl Module {
    /// Creates versions of the members.
    pub(crate) fn new(range: CodeRange, members: Vec<Member>) -> (Arc<Module>, Vec<Ticket>) {
        let base = range.address();
        let mut tickets = Vec::with_capacity(members.len());
        let mut versions = Vec::with_capacity(members.len());
        for Member { ticket, id, kind, body, entry, data } in members {
            assert!(id.is_machine_code(), "{id} is no id of machine code");
            assert!(body.contains(&entry) && body.end <= range.len(), "outside of the module");
            versions.push(Arc::new(Version {
                id,
                kind,
                body: base as usize + body.start..base as usize + body.end,
                entry: Address(base.wrapping_add(entry)),
                method: Arc::downgrade(ticket.method()),
                data,
                counted: AtomicBool::new(false),
                retired: AtomicBool::new(false),
                seen: AtomicU64::new(0),
            }));
            tickets.push(ticket);
        }
        assert!(versions.is_sorted_by(|a, b| a.id < b.id), "the ids of members ascend");
        let footprint = range.footprint();
        let range = Mutex::new(Some(range));
        (Arc::new(Module { versions, range, footprint, retired: AtomicBool::new(false) }), tickets)
    }

    /// Returns its members.
    pub fn versions(&self) -> &[Arc<Version>] {
        &self.versions
    }

    /// Returns how many bytes of the region it occupies.
    pub fn footprint(&self) -> usize {
        self.footprint
    }

    /// Returns whether it is retired.
    pub fn is_retired(&self) -> bool {
        self.retired.load(Relaxed)
    }

    /// Returns whether the version with this id is a member.
    pub(crate) fn contains(&self, id: CodeId) -> bool {
        self.versions.binary_search_by_key(&id, |v| v.id).is_ok()
    }

    /// Calls `f` with the code, unless it has been freed.
    pub fn with_code<R>(&self, f: impl FnOnce(&CodeRange) -> R) -> Option<R> {
        lock(&self.range).as_ref().map(f)
    }

    /// Marks it as retired; returns whether it was not marked before.
    pub(crate) fn mark_retired(&self) -> bool {
        let first = !self.retired.swap(true, Relaxed);
        self.versions.iter().for_each(|v| v.note_retired());
        first
    }

    /// Releases the memory. No thread runs the code (Q1).
    pub(crate) fn free(&self) {
        let range = lock(&self.range).take();
        drop(range);
        for version in self.versions.iter().filter(|v| v.is_counted()) {
            if let Some(method) = version.method() {
                method.forget_one();
            }
        }
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Module({} bytes, {:?})", self.footprint, self.versions)
    }
}
