//! The asymmetric barrier between states and the reclaimer, and the barrier between writing code
//! and calling it.
//!
//! A state stores its status and then loads the claim; the reclaimer stores the claim and then
//! loads the status. At least one must see the other's store, which requires a full barrier on both
//! sides. States enter often and the reclaimer runs rarely. So if the kernel offers an expedited
//! `membarrier`, which runs a full barrier on every running thread of the process, the state's half
//! is only a compiler barrier.

#[cfg(not(loom))]
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::sync::{Mutant, Ordering::SeqCst, fence, mutated};

/// Whether the reclaimer's half runs a barrier on all threads. Set before the first state is
/// registered, and unset only in a forked child, while it has one thread.
#[cfg(not(loom))]
static EXPEDITED: AtomicBool = AtomicBool::new(false);
/// Whether threads can be made to fetch instructions again.
#[cfg(not(loom))]
static SYNC_CORE: AtomicBool = AtomicBool::new(false);

/// Runs the state's half: between the store of its status and the load of the claim.
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

/// Runs the reclaimer's half: between the store of the claims and the loads of the statuses.
/// Returns false if the system call failed: the statuses are unknown then.
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

/// Registers the process for the barriers, which takes microseconds with one thread and may take
/// milliseconds with several. Must be called before the first state is registered. Returns whether
/// states enter without a fence, and whether [`sync_cores`] has an effect.
#[cfg(not(loom))]
pub fn register() -> (bool, bool) {
    static ONCE: std::sync::Once = std::sync::Once::new();
    let _inside = crate::fork::enter();
    ONCE.call_once(|| {
        SYNC_CORE.store(membarrier::register_sync_core(), Relaxed);
        EXPEDITED.store(membarrier::register_expedited(), Relaxed);
    });
    (EXPEDITED.load(Relaxed), SYNC_CORE.load(Relaxed))
}

/// Repeats [`register`] in a forked child that has one thread. If the kernel refuses, both halves
/// become fences.
#[cfg(not(loom))]
pub(crate) fn register_again() {
    if SYNC_CORE.load(Relaxed) {
        SYNC_CORE.store(membarrier::register_sync_core(), Relaxed);
    }
    if EXPEDITED.load(Relaxed) {
        EXPEDITED.store(membarrier::register_expedited(), Relaxed);
    }
}

/// Returns whether code may be replaced while threads run: the system offers what [`sync_cores`]
/// needs, or the processor does not require it. x86-64 guarantees that a core which learns an
/// address of code from a store also sees the code that was written before; aarch64 does not.
#[cfg(all(machine_code, not(loom)))]
pub(crate) fn can_sync_cores() -> bool {
    cfg!(target_arch = "x86_64") || register().1
}

/// Whether a thread that is about to run new code calls [`sync_this_core`], in place of a call of
/// [`sync_cores`] by the thread that has written the code.
#[cfg(not(loom))]
pub(crate) const EACH_SYNCS: bool = cfg!(all(target_arch = "x86_64", not(miri)));

/// Makes this thread execute a serializing instruction, so that it runs nothing that it fetched
/// from a reused range before. It takes a tenth of a microsecond, while [`sync_cores`] interrupts
/// all cores that run the process.
#[cfg(all(target_arch = "x86_64", not(miri), not(loom)))]
pub(crate) fn sync_this_core() {
    use std::arch::asm;
    // IRET returns to the next instruction. CPUID would do as well, but takes microseconds in a
    // virtual machine, and few processors have SERIALIZE. IRET needs a matching shadow stack where
    // one is in use; Linux uses them only for programs all of whose parts are marked for it, and
    // rustc marks none.
    // SAFETY: the stack pointer, flags and segments are those of before; the asm block may push.
    unsafe {
        asm!(
            "mov {stack}, rsp",
            "mov {other:e}, ss",
            "push {other}",
            "push {stack}",
            "pushfq",
            "mov {other:e}, cs",
            "push {other}",
            "lea {other}, [rip + 2f]",
            "push {other}",
            "iretq",
            "2:",
            stack = out(reg) _,
            other = out(reg) _,
        );
    }
}

/// Does nothing: [`EACH_SYNCS`] is false.
#[cfg(all(any(not(target_arch = "x86_64"), miri), not(loom)))]
pub(crate) fn sync_this_core() {}

/// Makes every running thread of the process execute a serializing instruction. It is called
/// between the last write of code and its publication, so that no thread executes instructions that
/// it fetched from a reused range earlier. On aarch64, the return from the kernel serves as that
/// instruction.
#[cfg(not(loom))]
pub fn sync_cores() {
    if SYNC_CORE.load(Relaxed) {
        // A registered call does not fail; x86-64 guarantees coherent instruction caches even then.
        membarrier::sync_core();
    }
}

#[cfg(all(target_os = "linux", not(miri), not(loom)))]
mod membarrier {
    use rustix::thread::{MembarrierCommand, membarrier};

    pub(super) fn register_expedited() -> bool {
        membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok()
    }
    pub(super) fn register_sync_core() -> bool {
        membarrier(MembarrierCommand::RegisterPrivateExpeditedSyncCore).is_ok()
    }
    pub(super) fn expedited() -> bool {
        membarrier(MembarrierCommand::PrivateExpedited).is_ok()
    }
    pub(super) fn sync_core() -> bool {
        membarrier(MembarrierCommand::PrivateExpeditedSyncCore).is_ok()
    }
}

/// Without such a system call, both halves are fences.
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
