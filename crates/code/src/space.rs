//! All code of an engine: publishing, retiring, freeing, and the budget.

use std::any::Any;
use std::fmt;
use std::sync::atomic::{
    AtomicBool, AtomicU32, AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

use crate::garbage::Garbage;
use crate::lock::{Mutex, MutexGuard, lock};
use crate::map::CodeMap;
use crate::method::{Home, Late, Tickets};
use crate::placement::{Closer, Placements};
use crate::quiescence::{Pauses, Quiescence};
use crate::reclaimer::{Reclaim, Reclaimer};
use crate::{
    Cause, CodeId, CodeIds, CodeRange, Counter, Hooks, Life, MappingKind, Member, Method, Module,
    Mutator, Placement, Refusal, Region, Reservation, Stats, Usage, Version, barrier, fork,
};

/// A function that returns how hot a version is; see [`Options::hotness`].
pub type Hotness = Box<dyn Fn(&Version) -> u64 + Send + Sync>;

/// Options for the memory of an engine's code, and for its reclamation.
pub struct Options {
    /// Bytes of executable memory.
    pub budget: usize,
    /// How the region separates writing from executing.
    pub mapping: MappingKind,
    /// The time between two advances while retired code exists.
    pub advance_every: Duration,
    /// Whether a background thread advances quiescence; otherwise [`CodeSpace::advance_now`] must
    /// be called.
    pub background: bool,
    /// How long a reservation waits for memory to be freed.
    pub patience: Duration,
    /// The hotness of versions: when memory is short, the coldest are retired first. If it is
    /// `None`, the versions that have not been seen in a frame for the longest time are retired
    /// first ([`Version::last_seen`]).
    pub hotness: Option<Hotness>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            budget: 64 << 20,
            mapping: MappingKind::Auto,
            advance_every: Duration::from_millis(10),
            background: true,
            patience: Duration::from_millis(50),
            hotness: None,
        }
    }
}

/// The result of publishing a module.
#[derive(Debug)]
pub struct Published {
    /// The module, unless all of its members were late.
    pub module: Option<Arc<Module>>,
    /// The number of members that are now in their slots.
    pub installed: usize,
    /// The number of late members: their methods had changed in the meantime.
    pub late: usize,
    /// The methods that lost their code because it was in a module with a version that was
    /// replaced. They may be compiled again.
    pub requeue: Vec<Arc<Method>>,
}

/// All machine code of an engine.
pub struct CodeSpace {
    this: Weak<CodeSpace>,
    options: Options,
    region: OnceLock<Result<Arc<Region>, Arc<str>>>,
    map: CodeMap,
    placements: Placements,
    /// Whether little memory is free ([`CodeSpace::place`]).
    scarce: AtomicBool,
    quiescence: Quiescence<Garbage>,
    /// Serializes changes of slots. It is locked before the lock of any method, and no value with a
    /// destructor of the user is dropped while it is held.
    changes: Mutex<()>,
    /// The next id to hand out. Beyond [`CodeId::LAST`] compiles are refused.
    next_id: AtomicU32,
    tickets: Tickets,
    /// The process that the known states, tickets and threads belong to.
    child: AtomicU64,
    /// Bytes of retired modules and placements that are not freed.
    retired_bytes: AtomicUsize,
    /// The number of these.
    pending: AtomicUsize,
    /// Bytes of these placements.
    retired_placements: AtomicUsize,
    stats: Stats,
    reclaimer: Reclaimer,
}

impl CodeSpace {
    /// Creates an empty space. It maps memory when code is first placed.
    pub fn new(mut options: Options) -> Arc<CodeSpace> {
        options.budget = options.budget.min(Region::MAX_BUDGET);
        fork::watch();
        Arc::new_cyclic(|this| CodeSpace {
            this: this.clone(),
            options,
            region: OnceLock::new(),
            map: CodeMap::default(),
            placements: Placements::default(),
            scarce: AtomicBool::new(false),
            quiescence: Quiescence::new(),
            changes: Mutex::new(()),
            next_id: AtomicU32::new(CodeId::FIRST.raw()),
            tickets: Tickets::default(),
            child: AtomicU64::new(fork::child()),
            retired_bytes: AtomicUsize::new(0),
            pending: AtomicUsize::new(0),
            retired_placements: AtomicUsize::new(0),
            stats: Stats::default(),
            reclaimer: Reclaimer::default(),
        })
    }

    /// Returns the options with which it was created.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Returns its counters.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Returns how long states were kept from running.
    pub fn pauses(&self) -> &Pauses {
        self.quiescence.pauses()
    }

    /// Returns how much executable memory is in use.
    pub fn usage(&self) -> Usage {
        match self.region.get() {
            Some(Ok(region)) => region.usage(),
            _ => {
                Usage { total: self.options.budget, free: self.options.budget, ..Usage::default() }
            }
        }
    }

    /// Returns the number of bytes of code that is retired and not freed.
    pub fn retired_bytes(&self) -> usize {
        self.retired_bytes.load(Relaxed)
    }

    /// Returns how many of these bytes are in placements.
    pub fn retired_placements(&self) -> usize {
        self.retired_placements.load(Relaxed)
    }

    /// Returns the number of modules and placements that are retired and not freed. If it is zero,
    /// all memory that was freed is counted as free.
    pub fn pending(&self) -> usize {
        self.pending.load(Acquire)
    }

    /// Returns the number of versions that are not freed.
    pub fn versions(&self) -> usize {
        self.map.len()
    }

    /// Registers a state, which is offline at first.
    pub fn register(&self, hooks: Box<dyn Hooks>) -> Mutator {
        self.reset_after_fork();
        self.quiescence.register(hooks)
    }

    /// Returns the version with this id, unless it has been freed. It is not freed while a frame is
    /// in it that its state has announced or has yet to announce.
    pub fn version(&self, id: CodeId) -> Option<Arc<Version>> {
        self.map.get(id)
    }

    /// Calls `f` with the version with this id, without incrementing its reference count. `f` must
    /// not call the space.
    pub fn with_version<R>(&self, id: CodeId, f: impl FnOnce(&Version) -> R) -> Option<R> {
        self.map.with(id, f)
    }

    /// Returns the module that contains the version with this id.
    pub fn module(&self, id: CodeId) -> Option<Arc<Module>> {
        self.map.module(id)
    }

    /// Returns the version that has code at this address.
    pub fn version_at(&self, address: *const u8) -> Option<Arc<Version>> {
        self.map.at(address as usize)
    }

    /// Returns all modules that are not freed, in arbitrary order.
    pub fn modules(&self) -> Vec<Arc<Module>> {
        self.map.modules()
    }

    /// Creates a method without code, whose slot holds `stub`, which enters the interpreter. `data`
    /// belongs to the user.
    pub fn method(
        self: &Arc<Self>,
        stub: *const u8,
        data: Box<dyn Any + Send + Sync>,
    ) -> Arc<Method> {
        Method::new(self.clone(), stub, data)
    }

    /// Revokes, in a forked child, the tickets of threads that do not exist there, and removes the
    /// states that those threads were running. The first use of the space in the child does this;
    /// until then, a method whose ticket was lost is reported as being compiled.
    #[inline]
    pub fn reset_after_fork(&self) {
        // Acquire: a thread that sees the new number sees all changes by this function.
        if self.child.load(Acquire) != fork::child() {
            self.mend();
        }
    }

    #[cold]
    fn mend(&self) {
        let changes = lock(&self.changes);
        if self.child.load(Acquire) == fork::child() {
            return;
        }
        self.quiescence.forget_lost_states();
        let methods = self.tickets.void();
        self.child.store(fork::child(), Release);
        drop(changes);
        drop(methods);
        // Code that the parent had retired is freed in the child as well.
        if let Some(space) = self.this.upgrade().filter(|_| self.pending() > 0) {
            space.wake_reclaimer();
        }
    }

    /// Allocates ids for `count` versions.
    ///
    /// # Errors
    /// Returns an error if the engine has used up all ids, about two billion.
    pub fn ids(&self, count: usize) -> Result<CodeIds, Refusal> {
        let count = u32::try_from(count).map_err(|_| Refusal::TooLarge)?;
        let first = self
            .next_id
            .fetch_update(Relaxed, Relaxed, |next| {
                next.checked_add(count).filter(|end| end - 1 <= CodeId::LAST.raw())
            })
            .map_err(|_| Refusal::Exhausted)?;
        Ok(CodeIds::new(first, count))
    }

    /// Reserves room for code. If there is none, retires the coldest code and waits for a while
    /// until it is freed, and retires more if that does not help. A state that waits for this must
    /// do so offline ([`Mutator::blocking`]), since its frames would otherwise pin code that is to
    /// be freed.
    ///
    /// # Errors
    /// Returns an error if there is still no room, or if there is no executable memory at all.
    pub fn reserve(self: &Arc<Self>, size: usize) -> Result<Reservation, Refusal> {
        if size > self.options.budget {
            return Err(Refusal::Exhausted);
        }
        let region = self.region()?;
        if let Ok(reservation) = region.reserve(size) {
            return Ok(reservation);
        }
        if size > region.usage().total {
            return Err(Refusal::Exhausted);
        }
        self.stats.count(Counter::Pressed);
        let end = Instant::now() + self.options.patience;
        let mut stuck = 0;
        loop {
            // Code that is about to be freed counts.
            let wanted = (2 * size + stuck).saturating_sub(self.retired_bytes());
            let evicted = self.evict(wanted);
            self.advance_now();
            if let Ok(reservation) = region.reserve(size) {
                return Ok(reservation);
            }
            if Instant::now() < end {
                fork::outside(|| std::thread::sleep(Duration::from_micros(500)));
            } else if evicted == 0 && wanted != 0 {
                return Err(Refusal::Exhausted);
            } else {
                // Frames may pin retired code for long, and freed memory may be fragmented, so more
                // code has to be retired.
                stuck = self.retired_bytes();
            }
        }
    }

    /// Places finished code that does not depend on its address, if there is room without evicting
    /// other code. `data` is called when the code is in place but does not run yet; its result is
    /// dropped just before the code is freed.
    ///
    /// When less than an eighth of the budget is left, states are requested to discard all
    /// placements. The next eviction can then tell which of them have been needed since.
    ///
    /// # Errors
    /// Returns an error if there is no room, or no executable memory.
    pub fn place(
        &self,
        code: &[u8],
        data: impl FnOnce(&CodeRange) -> Box<dyn Any + Send>,
    ) -> Result<Arc<Placement>, Refusal> {
        // If another thread forks, the code in the child is either listed or not placed at all.
        let _inside = fork::enter();
        self.reset_after_fork();
        let region = self.region()?;
        let reservation = region.reserve(code.len()).map_err(|_| Refusal::Exhausted)?;
        let range =
            reservation.publish(code).map_err(|e| Refusal::Backend(e.to_string().into()))?;
        if !barrier::EACH_SYNCS {
            barrier::sync_cores();
        }
        let data = data(&range);
        let number = self.quiescence.number();
        let placement = self.placements.add(range, data, number, self.this.clone());
        self.stats.count(Counter::Placed);
        let usage = region.usage();
        let is_scarce = usage.free < usage.total / 8;
        if self.scarce.swap(is_scarce, Relaxed) != is_scarce && is_scarce {
            self.withdraw();
            self.advance_now();
        }
        Ok(placement)
    }

    /// Returns whether there is currently room for a placement of this size.
    pub fn has_room(&self, size: usize) -> bool {
        self.region().is_ok_and(|region| region.usage().largest >= size)
    }

    /// Returns the address of a placement, which a state may keep and enter until
    /// [`Hooks::forget`]; `None` if it is retired. The state must be online, and must store the
    /// address before it polls or leaves.
    pub fn keep(&self, placement: &Placement) -> Option<*const u8> {
        if placement.is_retired() {
            return None;
        }
        placement.note_seen(self.quiescence.number());
        if barrier::EACH_SYNCS {
            barrier::sync_this_core();
        }
        Some(placement.address())
    }

    /// Retires a placement, unless it is already retired. It is freed when all states have
    /// discarded its address.
    pub fn retire_placement(self: &Arc<Self>, placement: &Arc<Placement>, cause: Cause) {
        // If another thread forks, a placement in the child is either queued or not marked.
        let inside = fork::enter();
        if !placement.mark_retired() {
            return;
        }
        let bytes = placement.footprint();
        self.retired_bytes.fetch_add(bytes, Relaxed);
        self.retired_placements.fetch_add(bytes, Relaxed);
        self.pending.fetch_add(1, Relaxed);
        self.stats.count(match cause {
            Cause::Chaos => Counter::PlacementsChaos,
            _ => Counter::PlacementsEvicted,
        });
        self.stats.count(Counter::Withdrawals);
        self.quiescence.retire_placement(Garbage::Placement(placement.clone()));
        drop(inside);
        self.wake_reclaimer();
    }

    fn free_placement(&self, placement: &Placement) {
        self.placements.remove(placement);
        placement.free();
        self.stats.count(Counter::PlacementsFreed);
        self.stats.add(Counter::BytesFreed, placement.footprint() as u64);
    }

    fn withdraw(&self) {
        self.stats.count(Counter::Withdrawals);
        self.quiescence.withdraw();
    }

    /// Acquires the lock for changes of slots.
    fn changes(&self) -> MutexGuard<'_, ()> {
        self.reset_after_fork();
        lock(&self.changes)
    }

    fn region(&self) -> Result<&Arc<Region>, Refusal> {
        let make = || {
            Region::new(self.options.budget, self.options.mapping)
                .map_err(|e| format!("no executable memory: {e}").into())
        };
        // No other thread forks while the cell is being filled.
        let _inside = fork::enter();
        self.region.get_or_init(make).as_ref().map_err(|e| Refusal::Backend(e.clone()))
    }

    /// Installs finished code in the slots of its members' methods, and retires the code that it
    /// replaces. Code that is late for all its methods is freed.
    pub fn publish(self: &Arc<Self>, range: CodeRange, members: Vec<Member>) -> Published {
        // If another thread forks, the code in the child is either in the map or not placed at all.
        let _inside = fork::enter();
        let (module, mut tickets) = Module::new(range, members);
        barrier::sync_cores();
        let changes = self.changes();
        // Under the lock, since a module that is found in the map could otherwise be retired before
        // it is installed.
        self.map.insert(&module);
        let (mut before, mut late) = (Vec::new(), 0);
        for (version, ticket) in module.versions().iter().zip(&mut tickets) {
            version.note_seen(self.quiescence.number());
            match ticket.install(version) {
                Ok(life) => before.push(life),
                Err(Late) => late += 1,
            }
        }
        let installed = before.len();
        let mut losers = Losers::default();
        for version in before.iter().filter_map(Life::installed) {
            self.stats.count(Counter::Swapped);
            if let Some(old) = self.map.module(version.id()) {
                self.retire_module(old, Cause::Replaced, &mut losers);
            }
        }
        drop(changes);
        self.stats.add(Counter::Late, late as u64);
        self.stats.add(Counter::Installed, installed as u64);
        let module = if installed > 0 {
            self.stats.count(Counter::Published);
            Some(module)
        } else {
            self.stats.count(Counter::Discarded);
            self.free(&module);
            None
        };
        self.after_retiring(&losers);
        Published { module, installed, late, requeue: losers.methods }
    }

    /// Removes the module of a version from all its slots and retires it. This is the only way in
    /// which code is invalidated. Returns the methods that lost their code, which may be compiled
    /// again.
    pub fn retire(self: &Arc<Self>, id: CodeId, cause: Cause) -> Vec<Arc<Method>> {
        let Some(module) = self.map.module(id) else { return Vec::new() };
        let mut losers = Losers::default();
        let changes = self.changes();
        self.retire_module(module, cause, &mut losers);
        drop(changes);
        self.after_retiring(&losers);
        losers.methods
    }

    /// Retires the code in a method's slot, as [`CodeSpace::retire`] does. The result of a compile
    /// in progress becomes invalid as well, unless the cause does not concern it
    /// ([`Cause::Evicted`], [`Cause::Exits`]).
    pub fn invalidate(self: &Arc<Self>, method: &Method, cause: Cause) -> Vec<Arc<Method>> {
        let mut losers = Losers::default();
        let changes = self.changes();
        let module = method.installed().and_then(|version| self.map.module(version.id()));
        match module {
            Some(module) => self.retire_module(module, cause, &mut losers),
            None if !cause.keeps_results() => method.outdate(),
            None => {}
        }
        drop(changes);
        self.after_retiring(&losers);
        losers.methods
    }

    /// Takes a module out of its slots, and then queues it to be freed. `changes` is held.
    fn retire_module(&self, module: Arc<Module>, cause: Cause, losers: &mut Losers) {
        if !module.mark_retired() {
            return losers.modules.push(module);
        }
        for version in module.versions() {
            let Some(method) = version.method() else { continue };
            match method.uninstall(version, cause) {
                Some(life) => {
                    losers.lives.push(life);
                    losers.methods.push(method);
                }
                None => losers.others.push(method),
            }
        }
        losers.bytes += module.footprint();
        self.retired_bytes.fetch_add(module.footprint(), Relaxed);
        self.pending.fetch_add(1, Relaxed);
        self.stats.count(Counter::Retired);
        self.stats.count(cause.counter());
        self.quiescence.retire(Garbage::Module(module.clone()));
        losers.modules.push(module);
    }

    fn after_retiring(self: &Arc<Self>, losers: &Losers) {
        if losers.bytes > 0 {
            self.wake_reclaimer();
        }
    }

    fn wake_reclaimer(self: &Arc<Self>) {
        if self.options.background {
            let urgent = self.retired_bytes() > self.options.budget / 16;
            if !self.reclaimer.notify(self, self.options.advance_every, urgent) {
                self.advance_now();
            }
        }
    }

    /// Retires the coldest modules and placements until their bytes reach `bytes`; returns the
    /// bytes. The coldness of a placement is the time for which its address has not been needed
    /// ([`CodeSpace::keep`]).
    pub fn evict(self: &Arc<Self>, bytes: usize) -> usize {
        if bytes == 0 {
            return 0;
        }
        let hotness = |version: &Version| match &self.options.hotness {
            Some(hotness) => hotness(version),
            None => version.last_seen(),
        };
        // Of equally cold code, the oldest comes first.
        let mut coldest: Vec<(u64, u64, Garbage)> = Vec::new();
        for module in self.map.modules().into_iter().filter(|m| !m.is_retired()) {
            let hottest = module.versions().iter().map(|v| hotness(v)).max().unwrap_or(0);
            let age = module.versions()[0].id().raw();
            coldest.push((hottest, age.into(), Garbage::Module(module)));
        }
        for placement in self.placements.current() {
            let (seen, age) = (placement.last_seen(), placement.serial());
            coldest.push((seen, age, Garbage::Placement(placement)));
        }
        coldest.sort_unstable_by_key(|&(seen, age, _)| (seen, age));
        let mut evicted = 0;
        for (_, _, code) in &coldest {
            if evicted >= bytes {
                break;
            }
            match code {
                Garbage::Module(module) => {
                    self.retire(module.versions()[0].id(), Cause::Evicted);
                }
                Garbage::Placement(placement) => self.retire_placement(placement, Cause::Evicted),
            }
            evicted += code.footprint();
        }
        evicted
    }

    /// Advances quiescence, and frees the code that no state can be executing any more, that is,
    /// the code that was retired before the last advance to which every online state has responded.
    /// Returns how many modules and placements were freed. May be called from anywhere except
    /// [`Hooks`], even by an online state.
    pub fn advance_now(&self) -> usize {
        self.reset_after_fork();
        let advanced = self.quiescence.advance();
        self.stats.count(Counter::Advances);
        self.stats.add(Counter::Armed, advanced.armed as u64);
        self.stats.add(Counter::Walked, advanced.walked as u64);
        self.collect()
    }

    /// Frees the code that no state can be executing any more, without advancing.
    pub fn collect(&self) -> usize {
        // If another thread forked while this one holds the collected memory, nothing in the child
        // would free that memory.
        let _inside = fork::enter();
        let number = self.quiescence.number();
        let note = |ids: &[CodeId]| {
            for id in ids {
                self.map.with(*id, |version| version.note_seen(number));
            }
        };
        let garbage = self.quiescence.collect(note);
        for code in &garbage {
            match code {
                Garbage::Module(module) => self.free(module),
                Garbage::Placement(placement) => {
                    self.free_placement(placement);
                    self.retired_placements.fetch_sub(code.footprint(), Relaxed);
                }
            }
            self.retired_bytes.fetch_sub(code.footprint(), Relaxed);
            self.pending.fetch_sub(1, Release);
        }
        garbage.len()
    }

    fn free(&self, module: &Arc<Module>) {
        self.map.remove(module);
        module.free();
        self.stats.count(Counter::Freed);
        self.stats.add(Counter::BytesFreed, module.footprint() as u64);
    }

    /// Returns all counters by name, and the current sizes.
    pub fn metrics(&self) -> Vec<(&'static str, u64)> {
        let usage = self.usage();
        let pauses = self.pauses();
        let mut metrics: Vec<_> = self.stats.iter().collect();
        metrics.extend([
            ("versions live", self.versions() as u64),
            ("placements live", self.placements.len() as u64),
            ("bytes live", (usage.live - self.retired_bytes().min(usage.live)) as u64),
            ("bytes retired", self.retired_bytes() as u64),
            ("bytes free", usage.free as u64),
            ("bytes peak", usage.peak as u64),
            ("announcements", pauses.count() - pauses.waits()),
            ("waits for a walk", pauses.waits()),
            ("pause ns, 99th percentile", pauses.quantile(0.99)),
            ("pause ns, maximum", pauses.max()),
        ]);
        metrics
    }
}

impl Home for CodeSpace {
    fn stats(&self) -> &Stats {
        &self.stats
    }

    fn tickets(&self) -> &Tickets {
        &self.tickets
    }

    fn reset_after_fork(&self) {
        CodeSpace::reset_after_fork(self);
    }

    fn close(self: Arc<Self>, method: &Method) {
        let mut losers = Losers::default();
        let changes = self.changes();
        let before = method.end();
        if let Some(version) = before.installed()
            && let Some(module) = self.map.module(version.id())
        {
            self.retire_module(module, Cause::Dropped, &mut losers);
        }
        drop(changes);
        self.after_retiring(&losers);
    }
}

impl Closer for CodeSpace {
    fn close(&self, placement: &Placement) {
        let _inside = fork::enter();
        if placement.mark_retired() {
            self.free_placement(placement);
        }
    }
}

impl Reclaim for CodeSpace {
    fn reclaim(&self) -> usize {
        self.advance_now()
    }

    fn pending(&self) -> usize {
        CodeSpace::pending(self)
    }
}

impl fmt::Debug for CodeSpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CodeSpace").field("usage", &self.usage()).finish_non_exhaustive()
    }
}

/// The methods that a retirement releases, to be dropped without the lock.
#[derive(Default)]
struct Losers {
    /// Methods that lost their code.
    methods: Vec<Arc<Method>>,
    /// Methods that did not.
    others: Vec<Arc<Method>>,
    lives: Vec<Life>,
    modules: Vec<Arc<Module>>,
    bytes: usize,
}
