//! The reclaimer's view of a state: whether it is online or claimed, and its announcements.

use std::cell::Cell;
use std::sync::Arc;

use super::{Pause, Pins, Registry};
#[cfg(not(loom))]
use crate::fork;
use crate::lock::{Mutex, lock};
use crate::sync::{AtomicU32, Mutant, Ordering, mutated, order, yield_now};
use crate::{CodeId, barrier};

/// The functions of a state that the reclaimer calls. It holds its lock during the calls: they must
/// not register or drop a [`Mutator`], retire code, or wait for a state that may be entering.
pub trait Hooks: Send + Sync {
    /// Sets the bit of the poll word that makes the state announce soon (an atomic operation, at
    /// least `Relaxed`). Called from the reclaimer's thread at any time until the [`Mutator`] is
    /// dropped.
    fn arm(&self);

    /// Adds the frames of the running stack and of each coroutine in its resume chain. Called from
    /// the reclaimer's thread while the state is offline and claimed: its thread has left Lua, does
    /// not touch its stacks, and will wait before it enters again. The walk marks no frame.
    fn walk(&self, pins: &mut Pins);

    /// Forgets the addresses of all placements that the state keeps
    /// ([`CodeSpace::keep`](crate::CodeSpace::keep)). Unlike the others, this is called on the
    /// state's own thread, when it enters or announces, if a placement was retired meanwhile.
    fn forget(&self);
}

/// The words through which a state and the reclaimer synchronize; see [`Mutator::enter`].
#[repr(C)]
#[derive(Debug)]
pub struct Words {
    /// [`Words::ONLINE`] or [`Words::OFFLINE`]; written only by the state's thread.
    pub status: AtomicU32,
    /// Not zero if the reclaimer may be walking the state's stacks. Written only by the reclaimer.
    pub claimed: AtomicU32,
}

impl Words {
    /// The state is not running Lua, and its thread does not access its stacks.
    pub const OFFLINE: u32 = 0;
    /// The state is running Lua or accessing its stacks.
    pub const ONLINE: u32 = 1;
}

/// A state's last announcement, made by itself or on its behalf.
#[derive(Debug, Default)]
pub(super) struct Report {
    /// The quiescence number that the state has seen.
    pub(super) number: u64,
    /// The ids of versions that frames are in, ascending and each once.
    pub(super) pins: Vec<CodeId>,
    /// The results of walks. Only the state marks frames, and the results of its own last walk are
    /// kept.
    walked: Pins,
}

impl Report {
    fn make(&mut self, number: u64, marks: bool, walk: impl FnOnce(&mut Pins)) {
        self.walked.begin(marks);
        walk(&mut self.walked);
        self.number = number;
        self.pins.clear();
        self.pins.extend_from_slice(self.walked.finish());
    }
}

/// The data that the state and the reclaimer share.
pub(super) struct Shared {
    pub(super) words: Words,
    /// The token of the thread that was the last to enter; written by the state's thread only.
    #[cfg(not(loom))]
    thread: std::sync::atomic::AtomicU64,
    pub(super) report: Mutex<Report>,
    pub(super) hooks: Box<dyn Hooks>,
}

impl Shared {
    pub(super) fn new(hooks: Box<dyn Hooks>, number: u64) -> Shared {
        Shared {
            words: Words { status: AtomicU32::new(Words::OFFLINE), claimed: AtomicU32::new(0) },
            #[cfg(not(loom))]
            thread: std::sync::atomic::AtomicU64::new(0),
            report: Mutex::new(Report { number, ..Report::default() }),
            hooks,
        }
    }

    /// Returns whether the state can run again in a forked child. It cannot if it was online on a
    /// thread that the child does not have: its native stack belongs to no thread.
    #[cfg(not(loom))]
    pub(super) fn survives_fork(&self) -> bool {
        self.words.status.load(Ordering::Relaxed) == Words::OFFLINE
            || fork::survives(fork::ThreadToken(self.thread.load(Ordering::Relaxed)))
    }

    pub(super) fn claim(&self) {
        if !mutated(Mutant::NoClaim) {
            self.words.claimed.store(1, Ordering::Relaxed);
        }
    }

    /// Returns whether the claimed state is offline; if so, it stays offline until the claim ends.
    pub(super) fn is_offline(&self) -> bool {
        let ordering = order(Mutant::StatusReadRelaxed, Ordering::Acquire);
        self.words.status.load(ordering) == Words::OFFLINE || mutated(Mutant::OnlineWalked)
    }

    pub(super) fn end_claim(&self) {
        self.words.claimed.store(0, order(Mutant::ClaimEndRelaxed, Ordering::Release));
    }

    /// Announces `number` on behalf of a claimed offline state.
    pub(super) fn walk(&self, number: u64) {
        let walk = |pins: &mut Pins| {
            if !mutated(Mutant::OfflineNotWalked) {
                self.hooks.walk(pins);
            }
        };
        lock(&self.report).make(number, false, walk);
    }
}

/// A state's registration with the reclaimer. It belongs to the thread on which the state is, and
/// begins offline.
///
/// Dropping it ends the registration, and waits for a walk in progress. It must be dropped before
/// the stacks that its hooks walk.
pub struct Mutator {
    shared: Arc<Shared>,
    registry: Arc<Registry>,
    /// The number of withdrawals when it last forgot the addresses of placements. The cell also
    /// makes the type usable by one thread at a time.
    forgotten: Cell<u64>,
}

impl Mutator {
    pub(super) fn new(shared: Arc<Shared>, registry: Arc<Registry>) -> Mutator {
        // The state keeps no address yet.
        let forgotten = Cell::new(registry.withdrawals());
        Mutator { shared, registry, forgotten }
    }

    /// Returns its words, at an address that is valid as long as the mutator.
    pub fn words(&self) -> &Words {
        &self.shared.words
    }

    /// Returns whether the state is online.
    #[inline(always)]
    pub fn is_online(&self) -> bool {
        self.shared.words.status.load(Ordering::Relaxed) == Words::ONLINE
    }

    /// Enters Lua; must be called before the state reads a slot or accesses its stacks. Waits for a
    /// walk in progress, and discards the addresses of placements if necessary; returns whether it
    /// had to wait.
    #[inline(always)]
    pub fn enter(&self) -> bool {
        let words = &self.shared.words;
        #[cfg(not(loom))]
        self.shared.thread.store(fork::ThreadToken::of_this_thread().0, Ordering::Relaxed);
        words.status.store(Words::ONLINE, Ordering::Relaxed);
        barrier::light();
        let wait = self.is_claimed();
        if wait {
            self.wait_for_claim();
        }
        if self.registry.withdrawals() != self.forgotten.get() && !mutated(Mutant::KeptAtEntry) {
            self.forget();
        }
        wait
    }

    /// Forgets the addresses of placements.
    #[cold]
    fn forget(&self) {
        // A withdrawal that is later than this only makes it forget again.
        self.forgotten.set(self.registry.withdrawals());
        self.shared.hooks.forget();
    }

    #[inline(always)]
    fn is_claimed(&self) -> bool {
        let ordering = order(Mutant::ClaimReadRelaxed, Ordering::Acquire);
        self.shared.words.claimed.load(ordering) != 0 && !mutated(Mutant::ClaimIgnored)
    }

    /// Waits until the claim has ended. A walk takes microseconds, so waiting is spinning at first.
    /// The state is online meanwhile, which only makes it announce at its next poll.
    #[cold]
    fn wait_for_claim(&self) {
        let pause = self.registry.pauses().start();
        let mut turns = 0;
        while self.is_claimed() {
            turns += 1;
            match turns {
                // The model does not spin, as it would have to try every number of iterations.
                _ if cfg!(loom) => self.registry.wait_for_advance(),
                0..64 => std::hint::spin_loop(),
                64..128 => yield_now(),
                _ => self.registry.wait_for_advance(),
            }
        }
        self.registry.pauses().end(Pause::Wait, pause);
    }

    /// Leaves Lua: until [`Mutator::enter`], the thread must neither read slots nor access the
    /// stacks, and may block.
    #[inline(always)]
    pub fn leave(&self) {
        let ordering = order(Mutant::LeaveRelaxed, Ordering::Release);
        self.shared.words.status.store(Words::OFFLINE, ordering);
    }

    /// Runs `f` offline, for a host call that may block and does not use the state. The state
    /// enters again even after a panic.
    pub fn blocking<R>(&self, f: impl FnOnce() -> R) -> R {
        struct Enter<'a>(&'a Mutator);
        impl Drop for Enter<'_> {
            fn drop(&mut self) {
                self.0.enter();
            }
        }
        self.leave();
        let _enter = Enter(self);
        f()
    }

    /// Makes an announcement, at a poll of an online state that has cleared the bit that
    /// [`Hooks::arm`] sets: `walk` adds the frames of the running stack and of each coroutine in
    /// its resume chain, including the running frame, and marks them. Discards the addresses of
    /// placements if necessary. No machine register may hold an old value of a slot, or the address
    /// of a placement. Returns the number that was announced.
    pub fn announce(&mut self, walk: impl FnOnce(&mut Pins)) -> u64 {
        let pause = self.registry.pauses().start();
        let number = self.registry.number();
        let withdrawn = self.registry.withdrawals() != self.forgotten.get();
        if withdrawn && !mutated(Mutant::KeptAtAnnouncement) {
            self.forget();
        }
        lock(&self.shared.report).make(number, true, walk);
        self.registry.pauses().end(Pause::Announcement, pause);
        number
    }
}

impl Drop for Mutator {
    fn drop(&mut self) {
        self.leave();
        self.registry.remove(&self.shared);
    }
}
