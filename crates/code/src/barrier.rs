//! The asymmetric barrier between states and the reclaimer, and the barrier between writing code and calling it.
//!
//! A state stores its status and then loads the claim; the reclaimer stores the claim and then loads the status. At least one must see the
//! other's store, which takes a full barrier on both sides. States enter often and the reclaimer is rare, so where the kernel offers an expedited
//! `membarrier`, which runs a full barrier on every running thread of the process, the state's half is only a barrier to the compiler.

#[cfg(not(loom))]
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::sync::{Mutant, Ordering::SeqCst, fence, mutated};

/// Does the reclaimer's half run a barrier on all threads? Set before the first state is registered, and never unset.
#[cfg(not(loom))]
static EXPEDITED: AtomicBool = AtomicBool::new(false);
/// Can threads be made to fetch instructions anew?
#[cfg(not(loom))]
static SYNC_CORE: AtomicBool = AtomicBool::new(false);

/// The state's half: between the store of its status and the load of the claim.
#[inline(always)]
pub(crate) fn light() {
    if mutated(Mutant::NoLightBarrier) {
        return;
    }
    #[cfg(not(loom))]
    if EXPEDITED.load(Relaxed) {
        return std::sync::atomic::compiler_fence(SeqCst);
    }
    fence(SeqCst);
}

/// The reclaimer's half: between the store of the claims and the loads of the statuses. False: the system failed, and nothing is
/// known of the statuses.
#[must_use]
pub(crate) fn heavy() -> bool {
    if mutated(Mutant::NoHeavyBarrier) {
        return true;
    }
    fence(SeqCst);
    #[cfg(not(loom))]
    if EXPEDITED.load(Relaxed) {
        let done = membarrier::expedited();
        fence(SeqCst);
        return done;
    }
    true
}

/// Asks the kernel for the barriers, which takes microseconds in a process of one thread and may take milliseconds in another; to be called before the first state is registered. Says which it gave: whether states enter without a
/// fence, and whether [`sync_cores`] does anything.
#[cfg(not(loom))]
pub fn register() -> (bool, bool) {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        SYNC_CORE.store(membarrier::register_sync_core(), Relaxed);
        EXPEDITED.store(membarrier::register_expedited(), Relaxed);
    });
    (EXPEDITED.load(Relaxed), SYNC_CORE.load(Relaxed))
}

/// Between the last write of code and its publication: makes every running thread of the process execute a serializing instruction, so that none runs what
/// it fetched from a reused range before.
#[cfg(not(loom))]
pub fn sync_cores() {
    if SYNC_CORE.load(Relaxed) {
        // If a registered call fails, what is left is the coherence of instruction caches that x86-64 promises.
        membarrier::sync_core();
    }
}

#[cfg(all(target_os = "linux", not(miri), not(loom)))]
mod membarrier {
    const PRIVATE_EXPEDITED: libc::c_int = 1 << 3;
    const REGISTER_PRIVATE_EXPEDITED: libc::c_int = 1 << 4;
    const PRIVATE_EXPEDITED_SYNC_CORE: libc::c_int = 1 << 5;
    const REGISTER_PRIVATE_EXPEDITED_SYNC_CORE: libc::c_int = 1 << 6;

    fn call(command: libc::c_int) -> bool {
        // SAFETY: the call takes two integers and touches no memory of ours.
        unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
    }
    pub(super) fn register_expedited() -> bool {
        call(REGISTER_PRIVATE_EXPEDITED)
    }
    pub(super) fn register_sync_core() -> bool {
        call(REGISTER_PRIVATE_EXPEDITED_SYNC_CORE)
    }
    pub(super) fn expedited() -> bool {
        call(PRIVATE_EXPEDITED)
    }
    pub(super) fn sync_core() -> bool {
        call(PRIVATE_EXPEDITED_SYNC_CORE)
    }
}

/// Where there is no such call, both halves are fences.
#[cfg(all(any(not(target_os = "linux"), miri), not(loom)))]
mod membarrier {
    pub(super) fn register_expedited() -> bool {
        false
    }
    pub(super) fn register_sync_core() -> bool {
        false
    }
    pub(super) fn expedited() -> bool {
        false
    }
    pub(super) fn sync_core() -> bool {
        false
    }
}
