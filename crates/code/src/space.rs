//! All code of an engine: publishing, retiring, freeing, and the budget.

use std::fmt;
use std::sync::atomic::{
    AtomicU32, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crate::map::CodeMap;
use crate::method::Late;
use crate::quiescence::{Pauses, Quiescence};
use crate::reclaimer::Reclaimer;
use crate::sync::{Mutex, lock};
use crate::{
    CodeId, CodeIds, CodeRange, Counter, Hooks, Life, MappingKind, Member, Method, Module, Mutator,
    Refusal, Region, Reservation, Stats, Usage, Version, barrier,
};

/// How much hotter than others a version is; see [`Options::hotness`].
pub type Hotness = Box<dyn Fn(&Version) -> u64 + Send + Sync>;

/// What an engine's code may take, and how it is reclaimed.
pub struct Options {
    /// Bytes of executable memory.
    pub budget: usize,
    /// How writing and executing are kept apart.
    pub mapping: MappingKind,
    /// The time between two advances while something is retired.
    pub advance_every: Duration,
    /// Is there a thread that advances? Without, [`CodeSpace::advance_now`] has to be called.
    pub background: bool,
    /// How long a reservation waits for memory that is about to be freed.
    pub patience: Duration,
    /// Which versions to keep when memory is short: the coldest go first. None: those seen in a frame most recently
    /// ([`Version::last_seen`]).
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

/// Why code is retired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A newer version of a member took its place.
    Replaced,
    /// Something that it relies on no longer holds.
    Invalid,
    /// It was the coldest when memory was short.
    Evicted,
    /// The program is gone.
    Dropped,
    /// At random, to test that it may happen.
    Chaos,
}

impl Cause {
    /// Is a recompile that was begun before still of use?
    pub(crate) fn keeps_results(self) -> bool {
        matches!(self, Cause::Replaced | Cause::Evicted)
    }

    fn counter(self) -> Counter {
        match self {
            Cause::Replaced => Counter::RetiredReplaced,
            Cause::Invalid => Counter::RetiredInvalid,
            Cause::Evicted => Counter::RetiredEvicted,
            Cause::Dropped => Counter::RetiredDropped,
            Cause::Chaos => Counter::RetiredChaos,
        }
    }
}

/// What became of a module that was to be published.
#[derive(Debug)]
pub struct Published {
    /// The module, unless all of it was late.
    pub module: Option<Arc<Module>>,
    /// Members that are in their slots now.
    pub installed: usize,
    /// Members whose methods had moved on.
    pub late: usize,
    /// Methods that lost their code because it was in a module with a version that was replaced. They may be compiled again.
    pub requeue: Vec<Arc<Method>>,
}

/// All machine code of an engine.
pub struct CodeSpace {
    options: Options,
    region: OnceLock<Result<Arc<Region>, Arc<str>>>,
    map: CodeMap,
    quiescence: Quiescence<Arc<Module>>,
    /// Serializes what changes slots. Taken before any method's lock; nothing that has a destructor of the user's is dropped under it.
    changes: Mutex<()>,
    next_id: AtomicU32,
    /// Bytes of retired modules that are not freed.
    retired_bytes: AtomicUsize,
    /// The number of these modules.
    pending: AtomicUsize,
    stats: Stats,
    reclaimer: Reclaimer,
}

impl CodeSpace {
    /// An empty one. Memory is mapped when code is first placed.
    pub fn new(options: Options) -> Arc<CodeSpace> {
        Arc::new(CodeSpace {
            options,
            region: OnceLock::new(),
            map: CodeMap::default(),
            quiescence: Quiescence::new(),
            changes: Mutex::new(()),
            next_id: AtomicU32::new(CodeId::FIRST.raw()),
            retired_bytes: AtomicUsize::new(0),
            pending: AtomicUsize::new(0),
            stats: Stats::default(),
            reclaimer: Reclaimer::default(),
        })
    }

    /// What it was made with.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Its counters.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// How long states were kept from running.
    pub fn pauses(&self) -> &Pauses {
        self.quiescence.pauses()
    }

    /// Bytes of executable memory.
    pub fn usage(&self) -> Usage {
        match self.region.get() {
            Some(Ok(region)) => region.usage(),
            _ => {
                Usage { total: self.options.budget, free: self.options.budget, ..Usage::default() }
            }
        }
    }

    /// Bytes of code that is retired and not freed.
    pub fn retired_bytes(&self) -> usize {
        self.retired_bytes.load(Relaxed)
    }

    /// Modules that are retired and not freed. When it is zero, all that was freed is back in the accounts.
    pub fn pending(&self) -> usize {
        self.pending.load(Acquire)
    }

    /// Versions that are not freed.
    pub fn versions(&self) -> usize {
        self.map.len()
    }

    /// Registers a state, offline.
    pub fn register(&self, hooks: Box<dyn Hooks>) -> Mutator {
        self.quiescence.register(hooks)
    }

    /// The version of this id, unless it is freed. It is not while a frame that its state has announced or will be asked for is in it.
    pub fn version(&self, id: CodeId) -> Option<Arc<Version>> {
        self.map.get(id)
    }

    /// Calls `f` with the version of this id, without counting a reference; `f` must not come back here.
    pub fn with_version<R>(&self, id: CodeId, f: impl FnOnce(&Version) -> R) -> Option<R> {
        self.map.with(id, f)
    }

    /// The module that the version of this id is in.
    pub fn module(&self, id: CodeId) -> Option<Arc<Module>> {
        self.map.module(id)
    }

    /// The version that has code at this address.
    pub fn version_at(&self, address: *const u8) -> Option<Arc<Version>> {
        self.map.at(address as usize)
    }

    /// All modules that are not freed, in no order.
    pub fn modules(&self) -> Vec<Arc<Module>> {
        self.map.modules()
    }

    /// Takes ids for `count` versions.
    ///
    /// # Errors
    /// When an engine has used up four billion.
    pub fn ids(&self, count: usize) -> Result<CodeIds, Refusal> {
        let count = u32::try_from(count).map_err(|_| Refusal::TooLarge)?;
        let first = self
            .next_id
            .fetch_update(Relaxed, Relaxed, |next| next.checked_add(count))
            .map_err(|_| Refusal::Exhausted)?;
        Ok(CodeIds::new(first, count))
    }

    /// Takes room for code. When there is none, retires the coldest modules and waits a while for what is freed. A state that waits for this does
    /// so offline ([`Mutator::blocking`]), or its frames hold everything up.
    ///
    /// # Errors
    /// If that does not help, or there is no executable memory at all.
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
        loop {
            // What is on its way counts.
            self.evict((2 * size).saturating_sub(self.retired_bytes()));
            self.advance_now();
            if let Ok(reservation) = region.reserve(size) {
                return Ok(reservation);
            }
            if Instant::now() >= end {
                return Err(Refusal::Exhausted);
            }
            std::thread::sleep(Duration::from_micros(500));
        }
    }

    fn region(&self) -> Result<&Arc<Region>, Refusal> {
        let make = || {
            Region::new(self.options.budget, self.options.mapping)
                .map_err(|e| format!("no executable memory: {e}").into())
        };
        self.region.get_or_init(make).as_ref().map_err(|e| Refusal::Backend(e.clone()))
    }

    /// Puts finished code into the slots of its members' methods, and retires what it replaces. Code whose methods have all moved
    /// on is freed.
    pub fn publish(self: &Arc<Self>, range: CodeRange, members: Vec<Member>) -> Published {
        let (module, mut tickets) = Module::new(range, members);
        barrier::sync_cores();
        let changes = lock(&self.changes);
        // Under the lock: who finds it in the map could retire it before it is installed.
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

    /// The one way in which code is invalidated: takes the module of a version out of all its slots and retires it. Returns the methods that lost
    /// their code, to be compiled again or not.
    pub fn retire(self: &Arc<Self>, id: CodeId, cause: Cause) -> Vec<Arc<Method>> {
        let Some(module) = self.map.module(id) else { return Vec::new() };
        let mut losers = Losers::default();
        let changes = lock(&self.changes);
        self.retire_module(module, cause, &mut losers);
        drop(changes);
        self.after_retiring(&losers);
        losers.methods
    }

    /// As [`CodeSpace::retire`], of what is in a method's slot. What is being compiled for the method is worthless as well, unless the cause
    /// leaves it good ([`Cause::Evicted`]).
    pub fn invalidate(self: &Arc<Self>, method: &Method, cause: Cause) -> Vec<Arc<Method>> {
        let mut losers = Losers::default();
        let changes = lock(&self.changes);
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

    /// Ends a method's life.
    pub(crate) fn close(self: &Arc<Self>, method: &Method) {
        let mut losers = Losers::default();
        let changes = lock(&self.changes);
        let before = method.end();
        if let Some(version) = before.installed()
            && let Some(module) = self.map.module(version.id())
        {
            self.retire_module(module, Cause::Dropped, &mut losers);
        }
        drop(changes);
        self.after_retiring(&losers);
    }

    /// With `changes` held: out of the slots first, then to those who wait.
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
        self.quiescence.retire(module.clone());
        losers.modules.push(module);
    }

    fn after_retiring(self: &Arc<Self>, losers: &Losers) {
        if losers.bytes > 0 && self.options.background {
            let urgent = self.retired_bytes() > self.options.budget / 16;
            if !self.reclaimer.notify(self, urgent) {
                self.advance_now();
            }
        }
    }

    /// Retires the coldest modules until their bytes reach `bytes`; returns how many that are.
    pub fn evict(self: &Arc<Self>, bytes: usize) -> usize {
        if bytes == 0 {
            return 0;
        }
        let hotness = |version: &Version| match &self.options.hotness {
            Some(hotness) => hotness(version),
            None => version.last_seen(),
        };
        let mut modules: Vec<(u64, CodeId, usize)> = self
            .map
            .modules()
            .iter()
            .filter(|m| !m.is_retired())
            .map(|m| {
                let hottest = m.versions().iter().map(|v| hotness(v)).max().unwrap_or(0);
                (hottest, m.versions()[0].id(), m.footprint())
            })
            .collect();
        modules.sort_unstable();
        let mut evicted = 0;
        for (_, id, footprint) in modules {
            if evicted >= bytes {
                break;
            }
            self.retire(id, Cause::Evicted);
            evicted += footprint;
        }
        evicted
    }

    /// Advances quiescence, and frees what no state can be in any more: what was retired before the last advance that every online state
    /// has answered. Returns how many modules were freed. May be called from anywhere outside of [`Hooks`], by an online state too.
    pub fn advance_now(&self) -> usize {
        let advanced = self.quiescence.advance();
        self.stats.count(Counter::Advances);
        self.stats.add(Counter::Armed, advanced.armed as u64);
        self.stats.add(Counter::Walked, advanced.walked as u64);
        self.collect()
    }

    /// Frees what no state can be in any more, without advancing.
    pub fn collect(&self) -> usize {
        let number = self.quiescence.number();
        let note = |ids: &[CodeId]| {
            for id in ids {
                self.map.with(*id, |version| version.note_seen(number));
            }
        };
        let garbage = self.quiescence.collect(note);
        for module in &garbage {
            self.free(module);
            self.retired_bytes.fetch_sub(module.footprint(), Relaxed);
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

    /// All counters by name, and what there is now.
    pub fn figures(&self) -> Vec<(&'static str, u64)> {
        let usage = self.usage();
        let pauses = self.pauses();
        let mut figures: Vec<_> = self.stats.iter().collect();
        figures.extend([
            ("versions live", self.versions() as u64),
            ("bytes live", (usage.live - self.retired_bytes().min(usage.live)) as u64),
            ("bytes retired", self.retired_bytes() as u64),
            ("bytes free", usage.free as u64),
            ("bytes peak", usage.peak as u64),
            ("announcements", pauses.count() - pauses.waits()),
            ("waits for a walk", pauses.waits()),
            ("pause ns, 99th percentile", pauses.quantile(0.99)),
            ("pause ns, maximum", pauses.max()),
        ]);
        figures
    }
}

impl fmt::Debug for CodeSpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CodeSpace").field("usage", &self.usage()).finish_non_exhaustive()
    }
}

/// What a retirement leaves over, to be dropped without the lock.
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
