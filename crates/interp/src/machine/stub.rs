//! The entry points of the interpreter for machine code: addresses that code jumps to or compares
//! with.

use std::sync::atomic::{AtomicPtr, Ordering};

use perilune_runtime::instance::Instance;

/// The slot of methods that must not be compiled.
pub(crate) static IDLE_SLOT: AtomicPtr<u8> = AtomicPtr::new(stub() as *mut u8);

/// The entry points, which `reentry.rs` defines. They are declared separately so that entering
/// machine code, which compares with an address, does not depend on the whole interpreter.
#[cfg(handlers)]
mod native {
    unsafe extern "C" {
        pub(crate) fn perilune_interpret();
        pub(super) fn perilune_resume();
    }
}

#[cfg(not(handlers))]
mod native {
    pub(crate) unsafe extern "C" fn perilune_interpret() {
        unreachable!("there is no machine code on this target");
    }
    pub(super) unsafe extern "C" fn perilune_resume() {
        unreachable!("there is no machine code on this target");
    }
}

#[cfg(handlers)]
pub(crate) use native::perilune_interpret;

/// The target of the slots of methods without code.
pub(super) const INTERPRET: unsafe extern "C" fn() = native::perilune_interpret;

/// The target to which code jumps after its frame, which is the one on top, was deoptimized.
pub(super) const RESUME: unsafe extern "C" fn() = native::perilune_resume;

/// Returns the address in the slots of methods without code.
const fn stub() -> *const () {
    native::perilune_interpret as *const ()
}

/// Returns the entry in a method's slot.
#[inline(always)]
pub(crate) unsafe fn entry_of(inst: *mut Instance) -> *const u8 {
    (*(*inst).slot).load(Ordering::Acquire)
}

/// Returns whether `entry` leads to the interpreter.
#[inline(always)]
pub(crate) fn is_idle(entry: *const u8) -> bool {
    entry.addr() == stub().addr()
}
