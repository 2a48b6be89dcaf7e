//! Atomics, of `std` or of the model checker, and the mutants of the protocol.
//!
//! Each step, fence or ordering that the argument of `docs/code-life.md` requires refers to the
//! [`Mutant`] that omits it. Only the model can switch one on; otherwise [`mutated`] is the
//! constant `false`.

#[cfg(loom)]
pub use loom::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, fence};
pub use std::sync::atomic::Ordering;
#[cfg(not(loom))]
pub use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, fence};

/// Lets other threads run.
pub fn yield_now() {
    #[cfg(loom)]
    loom::thread::yield_now();
    #[cfg(not(loom))]
    std::thread::yield_now();
}

/// Waits a little in a loop that watches a word, longer in each iteration.
pub(crate) fn relax(turn: &mut u32) {
    *turn += 1;
    match *turn {
        #[cfg(not(loom))]
        0..64 => std::hint::spin_loop(),
        #[cfg(not(loom))]
        128.. => std::thread::sleep(std::time::Duration::from_micros(50)),
        _ => yield_now(),
    }
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
    /// The claim's end does not release the reclaimer's reads.
    ClaimEndRelaxed,
    /// The entering state does not acquire the reclaimer's actions before the claim's end.
    ClaimReadRelaxed,
    /// A state that leaves does not release its stack to the walk.
    LeaveRelaxed,
    /// The reclaimer does not acquire the stack that it walks.
    StatusReadRelaxed,
    /// The reclaimer reports for an online state as if it were offline.
    OnlineWalked,
    /// The reclaimer assumes that an offline state has no frames.
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
    /// The frames below the first announced one are forgotten.
    PinsNotCarried,
    /// A frame still counts as announced when other code runs it.
    AnnouncedForGood,
    /// One state's announcement is enough.
    OneStateSuffices,
    /// A state may register between the reading of reports and the freeing.
    RegistryUnlocked,
    /// The slot is exchanged without releasing the code.
    PublishRelaxed,
    /// The slot is read without acquiring the code.
    CallRelaxed,
    /// A state that announces keeps the addresses of placements.
    KeptAtAnnouncement,
    /// A state that enters keeps the addresses of placements.
    KeptAtEntry,
    /// States are asked to forget a placement after it is queued for reclamation.
    WithdrawnLate,
    /// A withdrawal does not release the mark of the retired placement.
    WithdrawalRelaxed,
    /// A state that sees a withdrawal does not acquire the mark of the retired placement.
    WithdrawalReadRelaxed,
    /// A thread forks while others are inside the gate.
    GateNotAwaited,
    /// A thread that leaves the gate does not release its actions inside.
    GateLeaveRelaxed,
}

impl Mutant {
    /// All mutants.
    pub const ALL: [Mutant; 29] = [
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
        Mutant::PinsNotCarried,
        Mutant::AnnouncedForGood,
        Mutant::OneStateSuffices,
        Mutant::RegistryUnlocked,
        Mutant::PublishRelaxed,
        Mutant::CallRelaxed,
        Mutant::KeptAtAnnouncement,
        Mutant::KeptAtEntry,
        Mutant::WithdrawnLate,
        Mutant::WithdrawalRelaxed,
        Mutant::WithdrawalReadRelaxed,
        Mutant::GateNotAwaited,
        Mutant::GateLeaveRelaxed,
    ];
}

#[cfg(loom)]
mod chosen {
    use super::Mutant;
    use std::cell::Cell;

    // The model runs all its threads on the thread that started it.
    thread_local!(static CHOSEN: Cell<Option<Mutant>> = const { Cell::new(None) });

    /// Returns whether this mutant is switched on.
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

/// Returns whether this mutant is switched on: never, outside the model.
#[cfg(not(loom))]
#[inline(always)]
pub const fn mutated(_mutant: Mutant) -> bool {
    false
}

/// Returns the ordering that the protocol needs at the place that `mutant` names.
#[inline(always)]
pub(crate) fn order(mutant: Mutant, needed: Ordering) -> Ordering {
    if mutated(mutant) { Ordering::Relaxed } else { needed }
}
