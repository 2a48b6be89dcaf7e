//! Entry slots, in which machine code finds the addresses to call.

use crate::sync::{AtomicPtr, Mutant, Ordering, order};

/// A word that always holds a callable address. Machine code loads the address and calls it;
/// nothing else keeps it.
#[repr(C)]
#[derive(Debug)]
pub struct EntrySlot {
    target: AtomicPtr<u8>,
}

#[cfg(not(loom))]
impl EntrySlot {
    /// The offset of the address in a slot.
    pub const TARGET_OFFSET: usize = std::mem::offset_of!(EntrySlot, target);
}

impl EntrySlot {
    /// Creates a slot that holds `stub`, which enters the interpreter.
    pub fn new(stub: *const u8) -> EntrySlot {
        EntrySlot { target: AtomicPtr::new(stub.cast_mut()) }
    }

    /// Returns the current target of a call through the slot. It may be called until the state's
    /// next announcement, or until the state leaves.
    #[inline(always)]
    pub fn target(&self) -> *const u8 {
        self.target.load(order(Mutant::CallRelaxed, Ordering::Acquire))
    }

    /// Replaces `current` with `new`; returns whether the slot held `current`. If it did, the
    /// caller must retire the code at `current`.
    pub fn exchange(&self, current: *const u8, new: *const u8) -> bool {
        let success = order(Mutant::PublishRelaxed, Ordering::AcqRel);
        self.target
            .compare_exchange(current.cast_mut(), new.cast_mut(), success, Ordering::Relaxed)
            .is_ok()
    }
}
