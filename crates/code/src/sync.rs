//! Atomics and locks, of `std` or of the model checker, and the mutants of the protocol.
//!
//! Each place of the protocol whose ordering, fence or step the argument of `docs/code-life.md` needs names a [`Mutant`]. Only the model
//! can switch one on; otherwise [`mutated`] is the constant `false`.

#[cfg(loom)]
pub use loom::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicPtr, AtomicU32, AtomicU64, fence},
};
pub use std::sync::atomic::Ordering;
#[cfg(not(loom))]
pub use std::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicPtr, AtomicU32, AtomicU64, fence},
};

use std::sync::PoisonError;

/// Locks, whatever happened to earlier holders: every critical section of this crate leaves its data whole.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lets other threads go on.
pub fn yield_now() {
    std::thread::yield_now();
}

/// A way to break the protocol. The model must fail with each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    /// A state enters without its half of the barrier between its status and the claim.
    NoLightBarrier,
    /// The reclaimer reads statuses without its half of the barrier.
    NoHeavyBarrier,
    /// The reclaimer does not claim.
    NoClaim,
    /// A state that enters does not look at the claim.
    ClaimIgnored,
    /// The claim ends before the walk.
    ClaimEndsEarly,
    /// The claim's end does not release what the reclaimer has seen and read.
    ClaimEndRelaxed,
    /// The entering state does not acquire what came before the claim's end.
    ClaimReadRelaxed,
    /// A state that leaves does not release its stack to the walk.
    LeaveRelaxed,
    /// The reclaimer does not acquire the stack that it walks.
    StatusReadRelaxed,
    /// An online state is spoken for as if it were offline.
    OnlineWalked,
    /// An offline state is taken to have no frames.
    OfflineNotWalked,
    /// The number is raised without releasing the exchanges of slots before it.
    NumberRaisedRelaxed,
    /// An announcing state does not acquire the exchanges before the number.
    NumberReadRelaxed,
    /// Code is queued for reclamation before it is out of its slot.
    RetiredBeforeUnlinked,
    /// An announcement of the retirement's own number is enough.
    SameNumberSuffices,
    /// The frames in retired code are forgotten.
    PinsIgnored,
    /// One state's announcement is enough.
    OneStateSuffices,
    /// A state may register between the reading of reports and the freeing.
    RegistryUnlocked,
    /// The slot is exchanged without releasing the code.
    PublishRelaxed,
    /// The slot is read without acquiring the code.
    CallRelaxed,
}

impl Mutant {
    /// All of them.
    pub const ALL: [Mutant; 20] = [
        Mutant::NoLightBarrier,
        Mutant::NoHeavyBarrier,
        Mutant::NoClaim,
        Mutant::ClaimIgnored,
        Mutant::ClaimEndsEarly,
        Mutant::ClaimEndRelaxed,
        Mutant::ClaimReadRelaxed,
        Mutant::LeaveRelaxed,
        Mutant::StatusReadRelaxed,
        Mutant::OnlineWalked,
        Mutant::OfflineNotWalked,
        Mutant::NumberRaisedRelaxed,
        Mutant::NumberReadRelaxed,
        Mutant::RetiredBeforeUnlinked,
        Mutant::SameNumberSuffices,
        Mutant::PinsIgnored,
        Mutant::OneStateSuffices,
        Mutant::RegistryUnlocked,
        Mutant::PublishRelaxed,
        Mutant::CallRelaxed,
    ];
}

#[cfg(loom)]
mod chosen {
    use super::Mutant;
    use std::cell::Cell;

    // The model runs all its threads on the thread that started it.
    thread_local!(static CHOSEN: Cell<Option<Mutant>> = const { Cell::new(None) });

    /// Is this mutant switched on?
    pub fn mutated(mutant: Mutant) -> bool {
        CHOSEN.with(Cell::get) == Some(mutant)
    }
    /// Switches a mutant on, or all off, for models that this thread starts.
    pub fn choose(mutant: Option<Mutant>) {
        CHOSEN.with(|c| c.set(mutant));
    }
}
#[cfg(loom)]
pub use chosen::{choose, mutated};

/// Is this mutant switched on? Never, outside the model.
#[cfg(not(loom))]
#[inline(always)]
pub const fn mutated(_mutant: Mutant) -> bool {
    false
}

/// The ordering that the protocol needs at the place that `mutant` names.
#[inline(always)]
pub(crate) fn order(mutant: Mutant, needed: Ordering) -> Ordering {
    if mutated(mutant) { Ordering::Relaxed } else { needed }
}
