//! The life cycle of a method: whether it has machine code, is being compiled, or is refused.

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Weak};

use crate::lock::{Mutex, lock};
use crate::module::Address;
use crate::{Cause, Counter, EntrySlot, Refusal, Stats, Version};

/// The most versions of a method that are not freed: one installed and two that frames are still
/// in.
const MAX_LIVE: u32 = 3;

/// The state of a method.
#[derive(Clone, Debug)]
pub enum Life {
    /// It runs in the interpreter.
    Interpreted,
    /// It runs in the interpreter, and is being compiled.
    Queued,
    /// Its slot holds this version.
    Compiled(Arc<Version>),
    /// Its slot holds this version, and a better one is being compiled.
    Recompiling(Arc<Version>),
    /// It runs in the interpreter, and is not compiled for this reason.
    Refused(Refusal),
    /// Its program is dropped.
    Dropped,
}

/// The variant of a [`Life`], which can be read without a lock.
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
    /// Returns which variant it is.
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

    /// Returns the version that the slot holds.
    pub fn installed(&self) -> Option<&Arc<Version>> {
        match self {
            Life::Compiled(version) | Life::Recompiling(version) => Some(version),
            _ => None,
        }
    }
}

/// Why a method cannot be compiled now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotNow {
    /// It is being compiled, even if the result will be late.
    Compiling,
    /// Frames are still in too many of its old versions.
    TooManyLive,
    /// It is refused.
    Refused,
    /// Its program is dropped.
    Dropped,
}

/// A unit of compilation: a function, or an OSR entry at a loop of a function.
///
/// It begins with its slot, so machine code can use the method's address to call through the slot;
/// code that contains such an address keeps the method alive.
#[repr(C)]
pub struct Method {
    slot: EntrySlot,
    phase: AtomicU8,
    state: Mutex<State>,
    stub: Address,
    evictions: AtomicU64,
    home: Arc<dyn Home>,
    data: Box<dyn Any + Send + Sync>,
}

const _: () = assert!(std::mem::offset_of!(Method, slot) == 0);

/// The interface by which methods use the space that their code is in.
pub(crate) trait Home: Send + Sync {
    fn stats(&self) -> &Stats;
    /// Returns the tickets that are out.
    fn tickets(&self) -> &Tickets;
    /// Takes back, in a forked child, the tickets of threads of its parent.
    fn reset_after_fork(&self);
    /// Ends a method's life.
    fn close(self: Arc<Self>, method: &Method);
}

/// The methods whose tickets are out, by address.
#[derive(Default)]
pub(crate) struct Tickets {
    methods: Mutex<HashMap<usize, Weak<Method>>>,
}

impl Tickets {
    fn note(&self, method: &Arc<Method>) {
        lock(&self.methods).insert(Arc::as_ptr(method).addr(), Arc::downgrade(method));
    }

    fn forget(&self, method: &Method) {
        lock(&self.methods).remove(&std::ptr::from_ref(method).addr());
    }

    /// Takes all tickets back, in a forked child: the threads that have them may not exist.
    /// Returns the methods, to be dropped without a lock.
    #[must_use]
    pub(crate) fn void(&self) -> Vec<Arc<Method>> {
        let methods = std::mem::take(&mut *lock(&self.methods));
        let methods: Vec<_> = methods.values().filter_map(Weak::upgrade).collect();
        methods.iter().for_each(|method| method.void_ticket());
        methods
    }
}

struct State {
    life: Life,
    /// A number that is raised when the result of a compile in progress becomes worthless. 64 bits
    /// do not wrap.
    base: u64,
    /// The serial number of the ticket that is out.
    ticket: Option<u64>,
    /// The number of tickets handed out. 64 bits do not wrap.
    tickets: u64,
    /// The number of versions that are not freed, at most [`MAX_LIVE`].
    live: u32,
    /// The number of versions ever installed, which saturates.
    compiles: u32,
}

impl Method {
    /// Creates a method without code, whose slot holds `stub`, which enters the interpreter. `data`
    /// belongs to the user.
    pub(crate) fn new(
        home: Arc<dyn Home>,
        stub: *const u8,
        data: Box<dyn Any + Send + Sync>,
    ) -> Arc<Method> {
        let life = Life::Interpreted;
        Arc::new(Method {
            slot: EntrySlot::new(stub),
            phase: AtomicU8::new(life.phase() as u8),
            state: Mutex::new(State {
                life,
                base: 0,
                ticket: None,
                tickets: 0,
                live: 0,
                compiles: 0,
            }),
            stub: Address(stub),
            evictions: AtomicU64::new(0),
            home,
            data,
        })
    }

    /// Returns the slot through which calls are made, at offset 0 of the method.
    #[inline(always)]
    pub fn slot(&self) -> &EntrySlot {
        &self.slot
    }

    /// Returns the phase of the method, which may already be outdated.
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

    /// Returns its state.
    pub fn life(&self) -> Life {
        lock(&self.state).life.clone()
    }

    /// Returns the version in its slot.
    pub fn installed(&self) -> Option<Arc<Version>> {
        lock(&self.state).life.installed().cloned()
    }

    /// Returns the user's data.
    pub fn data(&self) -> &(dyn Any + Send + Sync) {
        &*self.data
    }

    /// Returns how many versions of it have been installed so far.
    pub fn compiles(&self) -> u32 {
        lock(&self.state).compiles
    }

    /// Returns how many versions of it are not freed.
    pub fn live(&self) -> u32 {
        lock(&self.state).live
    }

    /// Returns how often its code was evicted.
    pub fn evictions(&self) -> u64 {
        self.evictions.load(Relaxed)
    }

    /// Acquires the right to compile it, for the first time or again. There is only one ticket at a
    /// time.
    ///
    /// # Errors
    /// Returns the reason if it cannot be compiled now.
    pub fn begin(self: &Arc<Self>) -> Result<Ticket, NotNow> {
        self.home.reset_after_fork();
        let mut state = lock(&self.state);
        let next = match &state.life {
            Life::Refused(_) => return Err(NotNow::Refused),
            Life::Dropped => return Err(NotNow::Dropped),
            _ if state.ticket.is_some() => return Err(NotNow::Compiling),
            _ if state.live >= MAX_LIVE => return Err(NotNow::TooManyLive),
            Life::Interpreted => Life::Queued,
            Life::Compiled(version) => Life::Recompiling(version.clone()),
            Life::Queued | Life::Recompiling(_) => unreachable!("only with a ticket"),
        };
        self.set_life(&mut state, next);
        state.tickets += 1;
        let (base, serial) = (state.base, state.tickets);
        state.ticket = Some(serial);
        self.home.stats().count(Counter::Begun);
        self.home.tickets().note(self);
        Ok(Ticket { method: self.clone(), base, serial, returned: false })
    }

    /// Lets a refused method be compiled again.
    pub fn reconsider(&self) {
        let mut state = lock(&self.state);
        if matches!(state.life, Life::Refused(_)) {
            self.set_life(&mut state, Life::Interpreted);
        }
    }

    /// Refuses a method that is not being compiled and has no code.
    pub fn refuse(&self, reason: Refusal) {
        let mut state = lock(&self.state);
        if matches!(state.life, Life::Interpreted) {
            self.home.stats().count(reason.counter());
            self.set_life(&mut state, Life::Refused(reason));
        }
    }

    /// Closes the method because its program is dropped: its code is retired, and the result of a
    /// compile in progress will be late. Dropping the method has the same effect, but its own code
    /// may keep it alive.
    pub fn close(&self) {
        self.home.clone().close(self);
    }

    fn set_life(&self, state: &mut State, life: Life) -> Life {
        self.phase.store(life.phase() as u8, Relaxed);
        std::mem::replace(&mut state.life, life)
    }

    /// Puts a version into the slot, if the ticket's base is still the method's; returns the state
    /// before. The space's lock is held.
    pub(crate) fn install(&self, base: u64, version: &Arc<Version>) -> Result<Life, Late> {
        let mut state = lock(&self.state);
        if state.base != base {
            return Err(Late);
        }
        let current = state.life.installed().map_or(self.stub.0, |v| v.entry());
        assert!(!version.is_retired(), "a module is installed before it can be retired");
        let exchanged = self.slot.exchange(current, version.entry());
        assert!(exchanged, "slots change with the method's lock held");
        state.live += 1;
        state.compiles = state.compiles.saturating_add(1);
        version.note_counted();
        Ok(self.set_life(&mut state, Life::Compiled(version.clone())))
    }

    /// Takes a version out of the slot, if it is there. The space's lock is held.
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
        // A result in progress is still good if the old version was.
        let recompiling = matches!(state.life, Life::Recompiling(_));
        let next = if recompiling && cause.keeps_results() {
            Life::Queued
        } else {
            state.base += 1;
            Life::Interpreted
        };
        Some(self.set_life(&mut state, next))
    }

    /// Makes the result of a compile in progress worthless, if the method has no code. The space's
    /// lock is held.
    pub(crate) fn outdate(&self) {
        let mut state = lock(&self.state);
        if matches!(state.life, Life::Queued) {
            state.base += 1;
            self.set_life(&mut state, Life::Interpreted);
        }
    }

    /// Ends its life; returns the state before. The space's lock is held.
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

    /// Counts a version that was freed.
    pub(crate) fn forget_one(&self) {
        lock(&self.state).live -= 1;
    }

    /// Takes a ticket back.
    fn end_ticket(&self, ticket: &Ticket, reason: Option<Refusal>) {
        let mut state = lock(&self.state);
        if state.ticket == Some(ticket.serial) {
            state.ticket = None;
            self.home.tickets().forget(self);
        }
        if state.base == ticket.base {
            self.stop_compiling(&mut state, reason);
        }
    }

    /// Takes back, in a forked child, the ticket that a thread of the parent had.
    pub(crate) fn void_ticket(&self) {
        let mut state = lock(&self.state);
        state.ticket = None;
        self.stop_compiling(&mut state, None);
        state.base += 1;
    }

    fn stop_compiling(&self, state: &mut State, reason: Option<Refusal>) {
        let next = match (&state.life, reason) {
            (Life::Queued, Some(reason)) => Life::Refused(reason),
            (Life::Queued, None) => Life::Interpreted,
            (Life::Recompiling(version), _) => Life::Compiled(version.clone()),
            _ => return,
        };
        self.set_life(state, next);
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

/// The error for a result that is late: the method has changed since the compile began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Late;

/// The right to compile a method, and to replace its code. Dropping it returns the right.
#[derive(Debug)]
pub struct Ticket {
    method: Arc<Method>,
    base: u64,
    serial: u64,
    returned: bool,
}

impl Ticket {
    /// Returns the method.
    pub fn method(&self) -> &Arc<Method> {
        &self.method
    }

    /// Returns whether the result can still be installed; otherwise it would be late.
    pub fn is_current(&self) -> bool {
        lock(&self.method.state).base == self.base
    }

    /// Refuses to compile the method, for this reason. A method that has code keeps it.
    pub fn refuse(mut self, reason: Refusal) {
        self.method.home.stats().count(reason.counter());
        self.returned = true;
        self.method.end_ticket(&self, Some(reason));
    }

    /// Installs the result; returns the state before. This ends the ticket in any case.
    pub(crate) fn install(&mut self, version: &Arc<Version>) -> Result<Life, Late> {
        self.returned = true;
        let result = self.method.install(self.base, version);
        self.method.end_ticket(self, None);
        result
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if !self.returned {
            self.method.home.stats().count(Counter::GivenBack);
            self.method.end_ticket(self, None);
        }
    }
}
