//! When what is compiled: the compiler that states of an engine share, and what each state has of it.

use std::any::Any;
use std::collections::HashMap;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use perilune_bytecode::{Op, Proto};
use perilune_code::{
    CodeId, CodeSpace, Hooks, Method, Mutator, NotNow, Options, Phase, Pins, Refusal,
    WorkerOptions, Workers,
};
use perilune_runtime::chaos::Chaos;
use perilune_runtime::engine::Shape;
use perilune_runtime::frame::Frame;
use perilune_runtime::instance::Instance;
use perilune_runtime::state::{State, poll};
use perilune_runtime::tier::{RuntimeCalls, Threshold, Tier};

use crate::backend::{Backend, Callee, Job, Unit, estimated_size};
use crate::callgraph::CallGraph;
use crate::dump::DumpRequest;
use crate::fault::{Fault, Stage, guarded};
use crate::history::{History, Known};
use crate::native_stack::with_room;
use crate::partition::{Edge, cut};
use crate::perf::Perf;
use crate::snapshot::Snapshot;
use crate::stats;
use crate::watch::{Label, Watch};

/// How methods are compiled.
#[derive(Clone, Debug)]
pub struct JitOptions {
    /// Entries after which a method is compiled.
    pub threshold: u32,
    /// Rounds of a loop after which it is entered in machine code.
    pub loop_threshold: u32,
    /// Operands that compiled code was not compiled for after which it is looked whether it should be compiled anew; four times as many the next time.
    pub miss_threshold: u32,
    /// Leave what was never executed to the interpreter, which finds out what it does, until it has become hot too.
    pub prune: bool,
    /// Compile at once: the thread that runs the program compiles, or waits until another has, unless it has to stop.
    pub sync: bool,
    /// Bytes of executable memory.
    pub budget: usize,
    /// Functions that are compiled together, at most.
    pub partition_max_funcs: usize,
    /// Bytes of code that are compiled together, at most, as estimated before they are.
    pub partition_max_bytes: usize,
    /// Threads that compile; 0: as the machine suggests.
    pub workers: usize,
    /// Run Cranelift's verifier on everything.
    pub verify: bool,
    /// Compare what code holds of registers and tables with the frame and the heap while it runs.
    /// A difference ends the process, after a line on the standard error that says where: for
    /// tests of the compiler.
    pub verify_values: bool,
    /// Count instructions, for states that do ([`State::counts`]).
    pub counts: bool,
    /// Texts to write to the standard error as functions are compiled.
    pub dump: Vec<DumpRequest>,
    /// What to write for `perf`.
    pub perf: Option<Perf>,
    /// Make code known to debuggers.
    pub gdb: bool,
    /// Keep names for [`Jit::report`].
    pub stats: bool,
    /// What is to go wrong, for tests.
    #[doc(hidden)]
    pub fault: Option<Fault>,
}

impl Default for JitOptions {
    fn default() -> JitOptions {
        JitOptions {
            threshold: 32,
            loop_threshold: 1024,
            miss_threshold: 64,
            prune: true,
            sync: false,
            budget: 64 << 20,
            partition_max_funcs: 100,
            partition_max_bytes: 256 << 10,
            workers: 0,
            verify: cfg!(debug_assertions),
            verify_values: false,
            counts: false,
            dump: Vec::new(),
            perf: None,
            gdb: false,
            stats: false,
            fault: None,
        }
    }
}

/// Largest function that is compiled, in instructions.
const MAX_CODE: usize = 5_000;
/// Largest function that is compiled on the thread that runs the program, in instructions: for milliseconds. For others it waits, so that limits
/// and interrupts are obeyed meanwhile.
const MAX_HERE: usize = 48;

/// The compiler of an engine.
pub struct Jit {
    options: JitOptions,
    space: Arc<CodeSpace>,
    workers: Workers<Backend>,
}

/// What a function's code has to do with machine code.
pub(crate) struct Attached {
    pub(crate) method: Arc<Method>,
    /// Its name, if anybody wants to know.
    name: OnceLock<Arc<str>>,
    /// Entries into its loops, by pc.
    loops: Mutex<HashMap<u32, Arc<Method>>>,
}

impl Attached {
    /// Entries into its loops, in order of their pcs.
    pub(crate) fn all_loops(&self) -> Vec<(u32, Arc<Method>)> {
        let loops = self.loops.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<_> = loops.iter().map(|(pc, method)| (*pc, method.clone())).collect();
        all.sort_unstable_by_key(|(pc, _)| *pc);
        all
    }
}

/// The shapes that a snapshot names, which are to live as long as code that looks for them.
pub(crate) type Shapes = Arc<[Arc<Shape>]>;

impl Drop for Attached {
    /// The function is gone, and so is its code, though other code may still know its methods.
    fn drop(&mut self) {
        self.method.close();
        let loops = self.loops.get_mut().unwrap_or_else(PoisonError::into_inner);
        for method in loops.values() {
            method.close();
        }
    }
}

/// An address of the interpreter's entry.
fn stub(calls: &RuntimeCalls) -> *const u8 {
    calls.interpret as *const u8
}

impl Jit {
    /// A compiler whose code calls `calls`. Nothing is mapped and no thread started before something is hot.
    pub fn new(options: JitOptions, calls: RuntimeCalls) -> Arc<Jit> {
        let mut space = Options {
            budget: options.budget,
            mapping: Perf::mapping(options.perf),
            ..Options::default()
        };
        if options.sync {
            // the frames that could still leave code which is to be freed are those that wait
            space.patience = Duration::ZERO;
        }
        let space = CodeSpace::new(space);
        let watch = Watch::new(&options, calls);
        let backend = Backend::new(space.clone(), calls, &options, watch);
        let mut workers = WorkerOptions::default();
        if options.workers > 0 {
            workers.threads = options.workers;
        }
        Arc::new(Jit { options, space, workers: Workers::new(backend, workers) })
    }

    /// The compiler for a state.
    ///
    /// # Safety
    /// `st` is alive, and drops its tier before anything that the collector or a walk of its stacks reads.
    pub unsafe fn attach(self: &Arc<Jit>, st: *mut State) {
        let mutator = self.space.register(Box::new(Watched { state: st }));
        (*st).counts = self.options.counts;
        (*st).entry_threshold = Threshold::at(self.options.threshold);
        (*st).loop_threshold = Threshold::at(self.options.loop_threshold);
        (*st).miss_step = self.options.miss_threshold.max(1);
        (*st).tier = Some(Box::new(JitState { jit: self.clone(), mutator, entered: 0 }));
    }

    /// Figures of the code and of its making, by name.
    pub fn figures(&self) -> Vec<(&'static str, u64)> {
        let mut figures = self.space.figures();
        figures.extend(self.watch().figures.iter());
        figures
    }

    /// All figures, what compiling cost on the average, and who was refused why, as text; names are those of functions compiled with
    /// [`JitOptions::stats`].
    pub fn report(&self) -> String {
        stats::table(&self.figures()) + &self.watch().figures.summary()
    }

    /// The code of the engine.
    pub fn space(&self) -> &Arc<CodeSpace> {
        &self.space
    }

    fn attached(&self, proto: &Proto) -> Arc<Attached> {
        let make = || -> Arc<dyn Any + Send + Sync> {
            let method = self.new_method();
            Arc::new(Attached { method, name: OnceLock::new(), loops: Mutex::default() })
        };
        let any = proto.method.get_or_init(make).clone();
        any.downcast().expect("one engine attaches one kind of thing")
    }

    fn watch(&self) -> &Watch {
        &self.workers.compiler().watch
    }

    /// Tells the functions inside one what they are called, if anybody wants to know.
    fn name_inner(&self, proto: &Proto) {
        for (inner, name) in proto.protos.iter().zip(self.watch().inner_names(proto)) {
            if let Some(name) = name {
                self.attached(inner).name.get_or_init(|| name.into());
            }
        }
    }

    fn name_all(&self, proto: &Proto) {
        self.name_inner(proto);
        for inner in &proto.protos {
            self.name_all(inner);
        }
    }

    fn new_method(&self) -> Arc<Method> {
        Method::new(&self.space, stub(&self.workers.compiler().calls), Box::<History>::default())
    }

    /// Compiles all methods that have code anew, for what they were compiled for the last time, and puts the new code in the place of the old. Returns how many
    /// were asked for; [`Jit::wait`] waits for them.
    pub fn recompile_all(&self) -> usize {
        let mut count = 0;
        let mut crowded = false;
        for module in self.space.modules() {
            for version in module.versions() {
                let Some(method) = version.method().filter(|_| !version.is_retired()) else {
                    continue;
                };
                match self.recompile(&method) {
                    Ok(()) => count += 1,
                    Err(reason) => crowded |= reason == NotNow::TooManyLive,
                }
            }
        }
        if crowded {
            self.space.advance_now();
        }
        count
    }

    /// Compiles a method for what it was compiled for before.
    fn recompile(&self, method: &Arc<Method>) -> Result<(), NotNow> {
        let Some(known) = History::of(method).known() else { return Err(NotNow::Compiling) };
        let ticket = method.begin()?;
        self.workers.submit(0, Job::of(Unit::again(ticket, &known)));
        Ok(())
    }

    /// Compiles a program's functions, those that call each other together, before they run, on all threads that compile; [`Jit::wait`] waits for them. Returns
    /// how many there are.
    pub fn precompile(&self, main: &Arc<Proto>) -> usize {
        let graph = CallGraph::of(main);
        self.name_all(main);
        let sizes: Vec<usize> = graph.functions.iter().map(|f| estimated_size(f)).collect();
        let edges: Vec<Edge> =
            graph.calls.iter().map(|c| Edge { from: c.from, to: c.to, weight: c.weight }).collect();
        let mut units: Vec<Option<Unit>> =
            graph.functions.iter().map(|proto| self.unit_before_run(proto)).collect();
        for call in &graph.calls {
            if let Some(unit) = &mut units[call.from] {
                let key = Arc::as_ptr(&graph.functions[call.to]) as usize;
                unit.calls.push(Callee { pc: call.pc, key, weight: call.weight });
            }
        }
        let mut count = 0;
        for part in cut(&sizes, &edges, self.workers.compiler().limits()) {
            let units: Vec<Unit> = part.into_iter().filter_map(|n| units[n].take()).collect();
            count += units.len();
            if !units.is_empty() {
                self.workers.submit(0, Job { units, is_cut: true });
            }
        }
        count
    }

    /// A function that has not run.
    fn unit_before_run(&self, proto: &Arc<Proto>) -> Option<Unit> {
        let method = self.attached(proto).method.clone();
        if proto.code.len() > MAX_CODE || method.phase() != Phase::Interpreted {
            return None;
        }
        let ticket = method.begin().ok()?;
        Some(Unit {
            ticket: Some(ticket),
            method,
            proto: Arc::downgrade(proto),
            size: estimated_size(proto),
            snapshot: Arc::new(Snapshot::before_run(proto)),
            shapes: Arc::default(),
            entry: None,
            key: Arc::as_ptr(proto) as usize,
            calls: Vec::new(),
        })
    }

    /// Waits until nothing is being compiled or waits for it. A state must not be online on this thread.
    pub fn wait(&self) {
        self.workers.wait_idle();
    }
}

/// What a function is called, as far as that is known.
pub(crate) fn label(proto: &Proto, entry: Option<u32>) -> Label {
    let attached = proto.method.get().and_then(|a| a.downcast_ref::<Attached>());
    Label::new(proto, attached.and_then(|a| a.name.get().cloned()), entry)
}

/// What the reclaimer asks of a state.
struct Watched {
    state: *mut State,
}

// SAFETY: the poll word is atomic, and the stacks are read only while the state is claimed and offline (code's protocol).
unsafe impl Send for Watched {}
// SAFETY: as above.
unsafe impl Sync for Watched {}

impl Hooks for Watched {
    fn arm(&self) {
        // SAFETY: the mutator is dropped before the state's memory, and this is not called after that; the word is atomic.
        unsafe { (*self.state).poll.fetch_or(poll::QUIESCENCE, Ordering::Relaxed) };
    }

    fn walk(&self, pins: &mut Pins) {
        // SAFETY: the state is offline and claimed: nobody touches its stacks.
        unsafe { walk(self.state, pins) }
    }
}

/// Adds the versions of the frames of the running coroutine and of those that wait for it.
unsafe fn walk(st: *mut State, pins: &mut Pins) {
    let mut thread = (*st).thread;
    let mut base = (*st).base;
    while !thread.is_null() {
        let mut frame = Some(Frame(base));
        while let Some(f) = frame {
            if f.word().is_machine() {
                pins.add(CodeId::from_raw(f.word().code()));
            }
            frame = f.caller();
        }
        thread = (*thread).resumer;
        if !thread.is_null() {
            base = (*thread).base;
        }
    }
}

/// A state's part.
pub struct JitState {
    jit: Arc<Jit>,
    mutator: Mutator,
    /// Entries of the host that it has not left.
    entered: u32,
}

impl JitState {
    pub(crate) fn attached(&self, proto: &Proto) -> Arc<Attached> {
        self.jit.attached(proto)
    }

    pub(crate) fn space(&self) -> &Arc<CodeSpace> {
        &self.jit.space
    }

    /// Says which versions the state's frames are in.
    ///
    /// # Safety
    /// A safepoint of the state.
    pub(crate) unsafe fn announce_frames(&mut self, st: *mut State) {
        // SAFETY: a safepoint of the state.
        self.mutator.announce(|pins| unsafe { walk(st, pins) });
    }

    /// Compiles what has no code.
    unsafe fn request(
        &mut self,
        st: *mut State,
        method: &Arc<Method>,
        inst: *mut Instance,
        entry: Option<u32>,
    ) {
        if method.phase() != Phase::Interpreted {
            return;
        }
        match self.feedback(st, inst, None) {
            Ok((mut snapshot, shapes)) => {
                if entry.is_some() {
                    snapshot.take_tags((*st).base, inst);
                }
                self.compile(st, method, inst, entry, snapshot, shapes);
            }
            Err(refusal) => {
                self.jit.watch().refused(|| label(&(*inst).proto, entry), &refusal);
                method.refuse(refusal);
            }
        }
    }

    /// The feedback of an instance, with what is known of it from before, and the shapes in it.
    unsafe fn feedback(
        &self,
        st: *mut State,
        inst: *mut Instance,
        known: Option<&Known>,
    ) -> Result<(Snapshot, Shapes), Refusal> {
        let watch = self.jit.watch();
        guarded(|| {
            watch.stage(Stage::Snapshot);
            // SAFETY: the caller's promise.
            unsafe {
                watch.figures.note_caches(inst);
                let mut snapshot = Snapshot::take(inst);
                snapshot.prunes = self.jit.options.prune;
                if let Some(known) = known {
                    snapshot.merge(&known.snapshot, &(*inst).proto);
                }
                let shapes = snapshot.hold_shapes(st, known.map_or(&[], |k| &k.shapes));
                (snapshot, shapes)
            }
        })
    }

    /// Compiles, here or elsewhere.
    ///
    /// # Safety
    /// `inst` is a live instance of the state `st`.
    pub(crate) unsafe fn compile(
        &mut self,
        st: *mut State,
        method: &Arc<Method>,
        inst: *mut Instance,
        entry: Option<u32>,
        mut snapshot: Snapshot,
        shapes: Shapes,
    ) {
        let Ok(ticket) = method.begin() else { return };
        let proto = (*inst).proto.clone();
        if proto.code.len() > MAX_CODE {
            self.jit.watch().refused(|| label(&proto, entry), &Refusal::TooLarge);
            return ticket.refuse(Refusal::TooLarge);
        }
        if History::of(method).is_settled() {
            snapshot.generalize(&proto);
        }
        let snapshot = Arc::new(snapshot);
        let size = proto.code.len() as u64;
        let calls = callees(inst, History::of(method).was_grouped());
        let job = Job::of(Unit {
            ticket: Some(ticket),
            method: method.clone(),
            proto: Arc::downgrade(&proto),
            size: estimated_size(&proto),
            snapshot,
            shapes,
            entry,
            key: if entry.is_none() { inst.addr() } else { 0 },
            calls,
        });
        if self.jit.options.sync && proto.code.len() <= MAX_HERE {
            let jit = &self.jit;
            self.mutator.blocking(|| with_room(|| jit.workers.run_here(job)));
        } else if self.jit.options.sync {
            self.jit.workers.submit(0, job);
            self.mutator.blocking(|| wait_for(method, &(*st).poll));
        } else {
            let hotness = u64::from((*inst).entries) * 1000;
            self.jit.workers.submit(hotness / size, job);
        }
    }
}

/// Waits until a method is compiled, or the script has to stop: then it goes on in the interpreter, to its next safepoint.
fn wait_for(method: &Method, poll_word: &AtomicU32) {
    const A_WHILE: Duration = Duration::from_micros(50);
    while matches!(method.phase(), Phase::Queued | Phase::Recompiling)
        && poll_word.load(Ordering::Relaxed) & poll::INTERRUPT == 0
    {
        std::thread::sleep(A_WHILE);
    }
}

/// The callees of calls that have always had the same one; only the function itself where it is not to be compiled with others.
unsafe fn callees(inst: *mut Instance, alone: bool) -> Vec<Callee> {
    let proto = &(*inst).proto;
    let weight = (*inst).entries.into();
    let calls = proto.code.iter().enumerate().filter(|(_, i)| i.op() == Op::Call);
    calls
        .filter_map(|(pc, _)| {
            let seen = &*(*inst).callees.add(*(*inst).cells.add(pc) as usize);
            let wanted = seen.others == 0 && (!alone || seen.callee == inst.addr());
            wanted.then_some(Callee { pc: pc as u32, key: seen.callee, weight })
        })
        .filter(|callee| callee.key != 0)
        .collect()
}

/// What instances keep of a method. The pointer is the first field of a slot, and a slot that of a method; the proto keeps the method alive.
fn slot_of(method: &Method) -> *const AtomicPtr<u8> {
    std::ptr::from_ref(method.slot()).cast()
}

impl Tier for JitState {
    fn slot(&mut self, proto: &Arc<Proto>) -> Option<*const AtomicPtr<u8>> {
        self.jit.name_inner(proto);
        // most functions never become hot, and need no method
        proto.method.get()?;
        Some(slot_of(&self.jit.attached(proto).method))
    }

    unsafe fn hot_entry(&mut self, st: *mut State, inst: *mut Instance) {
        if (*st).chaos.is_some() {
            (*st).request(poll::CHAOS);
        }
        let attached = self.jit.attached(&(*inst).proto);
        (*inst).slot = slot_of(&attached.method);
        self.request(st, &attached.method, inst, None);
    }

    unsafe fn hot_loop(&mut self, st: *mut State, inst: *mut Instance, pc: u32) -> *const u8 {
        let attached = self.jit.attached(&(*inst).proto);
        let method = {
            let mut loops = attached.loops.lock().unwrap_or_else(PoisonError::into_inner);
            loops.entry(pc).or_insert_with(|| self.jit.new_method()).clone()
        };
        self.request(st, &method, inst, Some(pc));
        let entry = method.slot().target();
        if entry == stub(&self.jit.workers.compiler().calls) { std::ptr::null() } else { entry }
    }

    unsafe fn announce(&mut self, st: *mut State) {
        self.announce_frames(st);
    }

    unsafe fn chaos(&mut self, st: *mut State, chaos: &mut Chaos) {
        self.disturb(st, chaos);
    }

    fn is_retired(&mut self, code: u32) -> bool {
        self.jit.space.with_version(CodeId::from_raw(code), |v| v.is_retired()).unwrap_or(false)
    }

    unsafe fn missed(&mut self, st: *mut State, inst: *mut Instance, code: u32) {
        let Some(version) = self.jit.space.version(CodeId::from_raw(code)) else { return };
        // a frame in old code leaves it soon
        let Some(method) = version.method().filter(|_| !version.is_retired()) else { return };
        let history = History::of(&method);
        if method.phase() != Phase::Compiled || history.is_settled() {
            return;
        }
        let Some(known) = history.known() else { return };
        let proto = &(*inst).proto;
        if known.snapshot.covers(&Snapshot::take(inst), proto) || method.live() > 2 {
            return;
        }
        // what goes wrong here leaves it the code that it has
        let Ok((now, shapes)) = self.feedback(st, inst, Some(&known)) else { return };
        history.change();
        self.compile(st, &method, inst, known.entry, now, shapes);
    }

    fn enter(&mut self) {
        if self.entered == 0 {
            self.mutator.enter();
        }
        self.entered += 1;
    }

    fn leave(&mut self) {
        self.entered -= 1;
        if self.entered == 0 {
            self.mutator.leave();
        }
    }

    fn block(&mut self) {
        if self.entered > 0 {
            self.mutator.leave();
        }
    }

    fn unblock(&mut self) {
        if self.entered > 0 {
            self.mutator.enter();
        }
    }
}
