//! Retire, advance, announce, free: determines when no state can be executing a retired version any
//! more, without stopping any state. `docs/code-life.md` has the argument.
//!
//! There is one global number. Retired code is tagged with its current value. An advance raises the
//! number, arms the polls of the states that are running Lua, and makes the reports of those that
//! are not. The report of a state contains the number that it has seen and the versions in which it
//! has frames.

mod mutator;
mod pauses;
mod pins;
#[cfg(all(test, not(loom)))]
mod tests;

use std::sync::Arc;

pub use mutator::{Hooks, Mutator, Words};
pub use pauses::{Pause, Pauses};
pub use pins::{PinnedFrame, Pins};

use crate::lock::{Mutex, lock};
use crate::sync::{AtomicU64, Mutant, Ordering, mutated, order};
use crate::{CodeId, barrier};
use mutator::Shared;

/// The states, and the number.
pub(crate) struct Registry {
    /// The number, raised while the lock of the retired things is held. 64 bits do not wrap.
    number: AtomicU64,
    /// The number of times that states had to forget the addresses of placements. 64 bits do not
    /// wrap.
    withdrawals: AtomicU64,
    mutators: Mutex<Vec<Arc<Shared>>>,
    pauses: Pauses,
}

impl Registry {
    fn number(&self) -> u64 {
        self.number.load(order(Mutant::NumberReadRelaxed, Ordering::Acquire))
    }

    /// Returns the number of withdrawals. A state that has acquired a quiescence number, or the end
    /// of a claim, sees all withdrawals before the number was raised to this. It may see a
    /// withdrawal earlier, and then also sees that the placement is retired.
    #[inline(always)]
    fn withdrawals(&self) -> u64 {
        self.withdrawals.load(order(Mutant::WithdrawalReadRelaxed, Ordering::Acquire))
    }

    fn pauses(&self) -> &Pauses {
        &self.pauses
    }

    /// Waits until the current advance, and with it its claims, has ended.
    fn wait_for_advance(&self) {
        drop(lock(&self.mutators));
    }

    fn remove(&self, shared: &Arc<Shared>) {
        lock(&self.mutators).retain(|m| !Arc::ptr_eq(m, shared));
    }
}

/// Something to which code ids belong and that is waiting to be freed.
pub trait Retired {
    /// Returns whether the code with this id is part of it.
    fn contains(&self, id: CodeId) -> bool;
}

/// The effects of one advance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Advanced {
    /// The new number.
    pub number: u64,
    /// The number of states whose polls were armed.
    pub armed: usize,
    /// The number of states on whose behalf a report was made.
    pub walked: usize,
}

/// The protocol, for retired things of type `T`.
pub struct Quiescence<T> {
    registry: Arc<Registry>,
    /// The retired things, each with the number of its retirement.
    retired: Mutex<Vec<(u64, T)>>,
}

impl<T: Retired> Default for Quiescence<T> {
    fn default() -> Quiescence<T> {
        Quiescence::new()
    }
}

impl<T: Retired> Quiescence<T> {
    /// Creates a protocol without states and without retired things.
    pub fn new() -> Quiescence<T> {
        #[cfg(not(loom))]
        crate::barrier::register();
        Quiescence {
            registry: Arc::new(Registry {
                number: AtomicU64::new(1),
                withdrawals: AtomicU64::new(0),
                mutators: Mutex::new(Vec::new()),
                pauses: Pauses::default(),
            }),
            retired: Mutex::new(Vec::new()),
        }
    }

    /// Registers a state, which is offline at first.
    pub fn register(&self, hooks: Box<dyn Hooks>) -> Mutator {
        let mut mutators = lock(&self.registry.mutators);
        // The state sees every exchange of a slot before the number was raised to this value; it
        // has to report for later ones.
        let shared = Arc::new(Shared::new(hooks, self.registry.number()));
        mutators.push(shared.clone());
        drop(mutators);
        Mutator::new(shared, self.registry.clone())
    }

    /// In a forked child, removes the states that were online on threads which the child does not
    /// have. They never run again, so they are in no version, and no version waits for them.
    #[cfg(not(loom))]
    pub(crate) fn forget_lost_states(&self) {
        let mut mutators = lock(&self.registry.mutators);
        let (kept, lost) = mutators.drain(..).partition(|m| m.survives_fork());
        *mutators = kept;
        drop(mutators);
        // Their mutators, which are not dropped either, keep them alive.
        drop::<Vec<_>>(lost);
    }

    /// Returns the current number.
    pub fn number(&self) -> u64 {
        self.registry.number()
    }

    /// Returns the number of states.
    pub fn mutators(&self) -> usize {
        lock(&self.registry.mutators).len()
    }

    /// Returns how long states were kept from running.
    pub fn pauses(&self) -> &Pauses {
        self.registry.pauses()
    }

    /// Queues a thing that is no longer in any slot, to be returned by a later
    /// [`Quiescence::collect`].
    pub fn retire(&self, garbage: T) {
        let mut retired = lock(&self.retired);
        let number = self.registry.number.load(Ordering::Relaxed);
        retired.push((number, garbage));
    }

    /// Requests all states to discard the addresses of placements that they keep
    /// ([`Hooks::forget`]). They do so at their next announcement, which follows an advance, or
    /// when they next enter.
    pub fn withdraw(&self) {
        let ordering = order(Mutant::WithdrawalRelaxed, Ordering::Release);
        self.registry.withdrawals.fetch_add(1, ordering);
    }

    /// Queues a placement whose address no state may begin to keep, to be returned by a later
    /// [`Quiescence::collect`].
    pub fn retire_placement(&self, garbage: T) {
        // The lock orders the withdrawal before the number that states have to report.
        if mutated(Mutant::WithdrawnLate) {
            self.retire(garbage);
            return self.withdraw();
        }
        self.withdraw();
        self.retire(garbage);
    }

    /// Returns how many things are waiting to be freed.
    pub fn pending(&self) -> usize {
        lock(&self.retired).len()
    }

    /// Calls `f` with each thing that is waiting to be freed; `f` must not call back.
    pub fn for_each_pending(&self, mut f: impl FnMut(&T)) {
        lock(&self.retired).iter().for_each(|(_, garbage)| f(garbage));
    }

    /// Raises the number, arms the polls of online states and makes the reports of offline states.
    /// Only one thread does this at a time.
    pub fn advance(&self) -> Advanced {
        let mutators = lock(&self.registry.mutators);
        let mut advanced = Advanced { number: self.raise(), ..Advanced::default() };
        mutators.iter().for_each(|m| m.claim());
        // Without the barrier every state counts as online.
        let sure = barrier::heavy();
        // States that run are released before any state is walked.
        let mut offline = Vec::new();
        for mutator in mutators.iter() {
            if sure && mutator.is_offline() {
                offline.push(mutator);
                continue;
            }
            mutator.end_claim();
            mutator.hooks.arm();
            advanced.armed += 1;
        }
        for mutator in offline {
            if mutated(Mutant::ClaimEndsEarly) {
                mutator.end_claim();
            }
            mutator.walk(advanced.number);
            mutator.end_claim();
            advanced.walked += 1;
        }
        advanced
    }

    /// Raises the number with the lock held, so that the exchange of a slot happens before this if
    /// its retirement took a smaller number.
    fn raise(&self) -> u64 {
        let _retired = lock(&self.retired);
        let number = self.registry.number.load(Ordering::Relaxed) + 1;
        self.registry.number.store(number, order(Mutant::NumberRaisedRelaxed, Ordering::Release));
        number
    }

    /// Removes and returns the things that no state can be executing any more: every state has
    /// reported a later number than that of the retirement, and none has a frame in them. The
    /// caller must drop them while it holds no lock. `seen` receives the ids in all reports, in
    /// ascending order.
    pub fn collect(&self, mut seen: impl FnMut(&[CodeId])) -> Vec<T> {
        // Held to the end, so that a state that registers later comes after all exchanges whose
        // code is freed here.
        let mutators = lock(&self.registry.mutators);
        let (oldest, pins) = reports(&mutators);
        seen(&pins);
        let _mutators = (!mutated(Mutant::RegistryUnlocked)).then_some(mutators);
        let mut retired = lock(&self.retired);
        let free = |(number, garbage): &mut (u64, T)| {
            let later =
                *number < oldest || *number == oldest && mutated(Mutant::SameNumberSuffices);
            let pinned =
                !mutated(Mutant::PinsIgnored) && pins.iter().any(|id| garbage.contains(*id));
            later && !pinned
        };
        retired.extract_if(.., free).map(|(_, garbage)| garbage).collect()
    }
}

/// Returns the smallest number reported, and all pins.
fn reports(mutators: &[Arc<Shared>]) -> (u64, Vec<CodeId>) {
    // Without states there are no frames.
    let mut oldest = u64::MAX;
    let mut pins = Vec::new();
    for mutator in mutators {
        let report = lock(&mutator.report);
        oldest = if mutated(Mutant::OneStateSuffices) && oldest != u64::MAX {
            oldest.max(report.number)
        } else {
            oldest.min(report.number)
        };
        pins.extend_from_slice(&report.pins);
    }
    pins.sort_unstable();
    pins.dedup();
    (oldest, pins)
}
