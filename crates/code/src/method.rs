//! The life of a method: whether it has machine code, is being compiled, or will never be.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

use crate::module::Address;
use crate::sync::{Mutex, MutexGuard, lock};
use crate::{Cause, CodeSpace, Counter, EntrySlot, Refusal, Version};

/// How many versions of a method may exist that are not freed: one installed and two that frames are still in.
const MAX_LIVE: u32 = 3;

/// What a method is at.
#[derive(Clone, Debug)]
pub enum Life {
    /// It runs in the interpreter.
    Interpreted,
    /// So it does, and it is being compiled.
    Queued,
    /// Its slot holds this version.
    Compiled(Arc<Version>),
    /// So it does, and a better version is being compiled.
    Recompiling(Arc<Version>),
    /// It runs in the interpreter, and is not compiled, for this reason.
    Refused(Refusal),
    /// Its program is gone.
    Dropped,
}

/// [`Life`] without what it holds, to be read without a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    /// [`Life::Interpreted`].
    Interpreted,
    /// [`Life::Queued`].
    Queued,
    /// [`Life::Compiled`].
    Compiled,
    /// [`Life::Recompiling`].
    Recompiling,
    /// [`Life::Refused`].
    Refused,
    /// [`Life::Dropped`].
    Dropped,
}

impl Life {
    /// Which variant it is.
    pub fn phase(&self) -> Phase {
        match self {
            Life::Interpreted => Phase::Interpreted,
            Life::Queued => Phase::Queued,
            Life::Compiled(_) => Phase::Compiled,
            Life::Recompiling(_) => Phase::Recompiling,
            Life::Refused(_) => Phase::Refused,
            Life::Dropped => Phase::Dropped,
        }
    }

    /// What the slot holds.
    pub fn installed(&self) -> Option<&Arc<Version>> {
        match self {
            Life::Compiled(version) | Life::Recompiling(version) => Some(version),
            _ => None,
        }
    }
}

/// Why a method is not to be compiled now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotNow {
    /// It is being compiled, perhaps to be thrown away.
    Compiling,
    /// Frames are still in too many of its old versions; later.
    TooManyLive,
    /// It is refused.
    Refused,
    /// Its program is gone.
    Dropped,
}

/// Something that is compiled: a function, or a loop of one that is entered in its middle. It begins with its slot, so machine code
/// may call through a method's address, which who bakes it in keeps alive.
#[repr(C)]
pub struct Method {
    slot: EntrySlot,
    phase: AtomicU8,
    state: Mutex<State>,
    stub: Address,
    evictions: AtomicU64,
    space: Arc<CodeSpace>,
    data: Box<dyn Any + Send + Sync>,
}

const _: () = assert!(std::mem::offset_of!(Method, slot) == 0);

struct State {
    life: Life,
    /// Raised when what is being compiled became worthless.
    base: u64,
    /// Is there a ticket?
    compiling: bool,
    /// Versions not freed.
    live: u32,
    /// Versions installed ever.
    compiles: u32,
}

impl Method {
    /// A method in the interpreter, which `stub` enters. `data` is the user's.
    pub fn new(
        space: &Arc<CodeSpace>,
        stub: *const u8,
        data: Box<dyn Any + Send + Sync>,
    ) -> Arc<Method> {
        let life = Life::Interpreted;
        Arc::new(Method {
            slot: EntrySlot::new(stub),
            phase: AtomicU8::new(life.phase() as u8),
            state: Mutex::new(State { life, base: 0, compiling: false, live: 0, compiles: 0 }),
            stub: Address(stub),
            evictions: AtomicU64::new(0),
            space: space.clone(),
            data,
        })
    }

    /// What calls go through; at offset 0 of the method.
    #[inline(always)]
    pub fn slot(&self) -> &EntrySlot {
        &self.slot
    }

    /// What its life is at, or was a moment ago.
    #[inline(always)]
    pub fn phase(&self) -> Phase {
        const PHASES: [Phase; 6] = [
            Phase::Interpreted,
            Phase::Queued,
            Phase::Compiled,
            Phase::Recompiling,
            Phase::Refused,
            Phase::Dropped,
        ];
        PHASES[self.phase.load(Relaxed) as usize]
    }

    /// What its life is at.
    pub fn life(&self) -> Life {
        lock(&self.state).life.clone()
    }

    /// The version in its slot.
    pub fn installed(&self) -> Option<Arc<Version>> {
        lock(&self.state).life.installed().cloned()
    }

    /// The user's data.
    pub fn data(&self) -> &(dyn Any + Send + Sync) {
        &*self.data
    }

    /// Where its code lives.
    pub fn space(&self) -> &Arc<CodeSpace> {
        &self.space
    }

    /// How many versions of it were installed so far.
    pub fn compiles(&self) -> u32 {
        lock(&self.state).compiles
    }

    /// How many versions of it are not freed.
    pub fn live(&self) -> u32 {
        lock(&self.state).live
    }

    /// How often its code was evicted.
    pub fn evictions(&self) -> u64 {
        self.evictions.load(Relaxed)
    }

    /// Asks for the right to compile it, first or anew. There is one ticket at a time.
    ///
    /// # Errors
    /// If it is not to be compiled now.
    pub fn begin(self: &Arc<Self>) -> Result<Ticket, NotNow> {
        let mut state = lock(&self.state);
        let next = match &state.life {
            Life::Refused(_) => return Err(NotNow::Refused),
            Life::Dropped => return Err(NotNow::Dropped),
            _ if state.compiling => return Err(NotNow::Compiling),
            _ if state.live >= MAX_LIVE => return Err(NotNow::TooManyLive),
            Life::Interpreted => Life::Queued,
            Life::Compiled(version) => Life::Recompiling(version.clone()),
            Life::Queued | Life::Recompiling(_) => unreachable!("only with a ticket"),
        };
        self.set_life(&mut state, next);
        state.compiling = true;
        self.space.stats().count(Counter::Begun);
        Ok(Ticket { method: self.clone(), base: state.base, returned: false })
    }

    /// Lets a refused method be compiled after all.
    pub fn reconsider(&self) {
        let mut state = lock(&self.state);
        if matches!(state.life, Life::Refused(_)) {
            self.set_life(&mut state, Life::Interpreted);
        }
    }

    /// Refuses a method that nobody is compiling and that has no code.
    pub fn refuse(&self, reason: Refusal) {
        let mut state = lock(&self.state);
        if matches!(state.life, Life::Interpreted) {
            self.space.stats().count(reason.counter());
            self.set_life(&mut state, Life::Refused(reason));
        }
    }

    /// The program is dropped: its code is retired, a result on its way will be late. Dropping the method does this too, but
    /// code that keeps its own method alive needs to be told.
    pub fn close(&self) {
        self.space.close(self);
    }

    fn set_life(&self, state: &mut MutexGuard<'_, State>, life: Life) -> Life {
        self.phase.store(life.phase() as u8, Relaxed);
        std::mem::replace(&mut state.life, life)
    }

    /// Puts a version into the slot, if the ticket's base is still the method's; says what was there. With the space's lock held.
    pub(crate) fn install(&self, base: u64, version: &Arc<Version>) -> Result<Life, Late> {
        let mut state = lock(&self.state);
        if state.base != base {
            return Err(Late);
        }
        let current = state.life.installed().map_or(self.stub.0, |v| v.entry());
        assert!(!version.is_retired(), "a module is installed before anybody can retire it");
        let exchanged = self.slot.exchange(current, version.entry());
        assert!(exchanged, "slots change with the method's lock held");
        state.live += 1;
        state.compiles += 1;
        version.note_counted();
        Ok(self.set_life(&mut state, Life::Compiled(version.clone())))
    }

    /// Takes a version out of the slot, if it is there. With the space's lock held.
    pub(crate) fn uninstall(&self, version: &Version, cause: Cause) -> Option<Life> {
        let mut state = lock(&self.state);
        let installed = state.life.installed()?;
        if installed.id() != version.id() {
            return None;
        }
        self.reset_slot(installed);
        if cause == Cause::Evicted {
            self.evictions.fetch_add(1, Relaxed);
        }
        // What is being compiled is still good if the old version was.
        let recompiling = matches!(state.life, Life::Recompiling(_));
        let next = if recompiling && cause.keeps_results() {
            Life::Queued
        } else {
            state.base += 1;
            Life::Interpreted
        };
        Some(self.set_life(&mut state, next))
    }

    /// What is being compiled for a method without code is worthless. With the space's lock held.
    pub(crate) fn outdate(&self) {
        let mut state = lock(&self.state);
        if matches!(state.life, Life::Queued) {
            state.base += 1;
            self.set_life(&mut state, Life::Interpreted);
        }
    }

    /// Ends its life; returns what it was. With the space's lock held.
    pub(crate) fn end(&self) -> Life {
        let mut state = lock(&self.state);
        if let Some(version) = state.life.installed() {
            self.reset_slot(version);
        }
        state.base += 1;
        self.set_life(&mut state, Life::Dropped)
    }

    fn reset_slot(&self, installed: &Version) {
        let exchanged = self.slot.exchange(installed.entry(), self.stub.0);
        assert!(exchanged, "slots change with the method's lock held");
    }

    /// One of its versions was freed.
    pub(crate) fn forget_one(&self) {
        lock(&self.state).live -= 1;
    }

    /// A ticket comes back.
    fn end_ticket(&self, base: u64, reason: Option<Refusal>) {
        let mut state = lock(&self.state);
        state.compiling = false;
        if state.base != base {
            return;
        }
        let next = match (&state.life, reason) {
            (Life::Queued, Some(reason)) => Life::Refused(reason),
            (Life::Queued, None) => Life::Interpreted,
            (Life::Recompiling(version), _) => Life::Compiled(version.clone()),
            _ => return,
        };
        self.set_life(&mut state, next);
    }
}

impl Drop for Method {
    fn drop(&mut self) {
        if self.phase() != Phase::Dropped {
            self.close();
        }
    }
}

impl fmt::Debug for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Method({:?})", self.life())
    }
}

/// The method moved on while it was compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Late;

/// The right to compile a method, and to replace what it has. Dropping it gives the right back.
#[derive(Debug)]
pub struct Ticket {
    method: Arc<Method>,
    base: u64,
    returned: bool,
}

impl Ticket {
    /// The method.
    pub fn method(&self) -> &Arc<Method> {
        &self.method
    }

    /// Is the result still wanted? Otherwise compiling is a waste.
    pub fn is_current(&self) -> bool {
        lock(&self.method.state).base == self.base
    }

    /// The method is not compiled, for this reason. One that has code keeps it.
    pub fn refuse(mut self, reason: Refusal) {
        self.method.space.stats().count(reason.counter());
        self.returned = true;
        self.method.end_ticket(self.base, Some(reason));
    }

    /// Installs its result, which ends the ticket in any case; returns what the method was at.
    pub(crate) fn install(&mut self, version: &Arc<Version>) -> Result<Life, Late> {
        self.returned = true;
        let result = self.method.install(self.base, version);
        self.method.end_ticket(self.base, None);
        result
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if !self.returned {
            self.method.space.stats().count(Counter::GivenBack);
            self.method.end_ticket(self.base, None);
        }
    }
}
