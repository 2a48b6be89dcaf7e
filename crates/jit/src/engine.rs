//! When what is compiled: the compiler that states of an engine share, and what each state has of it.

use std::any::Any;
use std::collections::HashMap;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use perilune_bytecode::Proto;
use perilune_code::{
    CodeId, CodeSpace, Hooks, Member, Method, Mutator, Options, Phase, Pins, Refusal, Ticket,
    WorkerOptions, Workers,
};
use perilune_runtime::engine::Shape;
use perilune_runtime::frame::Frame;
use perilune_runtime::instance::Instance;
use perilune_runtime::state::{State, poll};
use perilune_runtime::tier::{RuntimeCalls, Tier};

use crate::compile::{Compiler, Input};
use crate::history::{History, Known};
use crate::snapshot::Snapshot;

/// How methods are compiled.
#[derive(Clone, Debug)]
pub struct JitOptions {
    /// Entries after which a method is compiled; rounded up to a power of two.
    pub threshold: u32,
    /// Rounds of a loop after which it is entered in machine code; rounded up to a power of two.
    pub loop_threshold: u32,
    /// Operands that compiled code was not compiled for after which it is looked whether it should be compiled anew; four times as many the next time.
    pub miss_threshold: u32,
    /// Compile at once, on the thread that runs the program.
    pub sync: bool,
    /// Bytes of executable memory.
    pub budget: usize,
    /// Threads that compile; 0: as the machine suggests.
    pub workers: usize,
    /// Run Cranelift's verifier on everything.
    pub verify: bool,
}

impl Default for JitOptions {
    fn default() -> JitOptions {
        JitOptions {
            threshold: 32,
            loop_threshold: 1024,
            miss_threshold: 64,
            sync: false,
            budget: 64 << 20,
            workers: 0,
            verify: cfg!(debug_assertions),
        }
    }
}

/// Largest function that is compiled, in instructions.
const MAX_CODE: usize = 5_000;

/// The compiler of an engine.
pub struct Jit {
    options: JitOptions,
    space: Arc<CodeSpace>,
    workers: Workers<Backend>,
}

/// What a function's code has to do with machine code.
struct Attached {
    method: Arc<Method>,
    /// Entries into its loops, by pc.
    loops: Mutex<HashMap<u32, Arc<Method>>>,
}

/// One function to compile.
struct Job {
    /// None once it is used.
    ticket: Option<Ticket>,
    /// A program that is dropped meanwhile is not compiled.
    proto: Weak<Proto>,
    snapshot: Arc<Snapshot>,
    shapes: Arc<[Arc<Shape>]>,
    /// The pc of the loop that is entered; none: the function is.
    entry: Option<u32>,
}

/// What compile threads do.
struct Backend {
    space: Arc<CodeSpace>,
    calls: RuntimeCalls,
    verify: bool,
}

/// An address of the interpreter's entry.
fn stub(calls: &RuntimeCalls) -> *const u8 {
    calls.interpret as *const u8
}

impl Jit {
    /// A compiler whose code calls `calls`. Nothing is mapped and no thread started before something is hot.
    pub fn new(options: JitOptions, calls: RuntimeCalls) -> Arc<Jit> {
        let space = CodeSpace::new(Options { budget: options.budget, ..Options::default() });
        let backend = Backend { space: space.clone(), calls, verify: options.verify };
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
        (*st).entry_mask = self.options.threshold.next_power_of_two() - 1;
        (*st).loop_mask = self.options.loop_threshold.next_power_of_two() - 1;
        (*st).miss_step = self.options.miss_threshold.max(1);
        (*st).tier = Some(Box::new(JitState { jit: self.clone(), mutator }));
    }

    /// Figures of the code and of its making, by name.
    pub fn figures(&self) -> Vec<(&'static str, u64)> {
        self.space.figures()
    }

    /// The code of the engine.
    pub fn space(&self) -> &Arc<CodeSpace> {
        &self.space
    }

    fn attached(&self, proto: &Proto) -> Arc<Attached> {
        let make = || -> Arc<dyn Any + Send + Sync> {
            let method = self.new_method();
            Arc::new(Attached { method, loops: Mutex::default() })
        };
        let any = proto.method.get_or_init(make).clone();
        any.downcast().expect("one engine attaches one kind of thing")
    }

    fn new_method(&self) -> Arc<Method> {
        Method::new(&self.space, stub(&self.workers.compiler().calls), Box::<History>::default())
    }

    /// Compiles all methods that have code anew, for what they were compiled for the last time, and puts the new code in the place of the old. Returns how many
    /// were asked for; [`Jit::wait`] waits for them.
    pub fn recompile_all(&self) -> usize {
        let mut count = 0;
        for module in self.space.modules() {
            for version in module.versions() {
                let Some(method) = version.method().filter(|_| !version.is_retired()) else {
                    continue;
                };
                count += usize::from(self.recompile(&method));
            }
        }
        count
    }

    fn recompile(&self, method: &Arc<Method>) -> bool {
        let Some(known) = History::of(method).known() else { return false };
        let Ok(ticket) = method.begin() else { return false };
        let Known { proto, snapshot, shapes, entry } = (*known).clone();
        self.workers.submit(0, Job { ticket: Some(ticket), proto, snapshot, shapes, entry });
        true
    }

    /// Waits until nothing is being compiled or waits for it. A state must not be online on this thread.
    pub fn wait(&self) {
        self.workers.wait_idle();
    }
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
}

impl JitState {
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
        let snapshot = Snapshot::take(inst);
        let shapes = snapshot.hold_shapes(st, &[]);
        self.compile(method, inst, entry, snapshot, shapes);
    }

    /// Compiles, here or elsewhere.
    unsafe fn compile(
        &mut self,
        method: &Arc<Method>,
        inst: *mut Instance,
        entry: Option<u32>,
        mut snapshot: Snapshot,
        shapes: Arc<[Arc<Shape>]>,
    ) {
        let Ok(ticket) = method.begin() else { return };
        let proto = (*inst).proto.clone();
        if proto.code.len() > MAX_CODE {
            return ticket.refuse(Refusal::TooLarge);
        }
        if History::of(method).is_settled() {
            snapshot.generalize(&proto);
        }
        let snapshot = Arc::new(snapshot);
        let size = proto.code.len() as u64;
        let proto = Arc::downgrade(&proto);
        let job = Job { ticket: Some(ticket), proto, snapshot, shapes, entry };
        if self.jit.options.sync {
            let jit = &self.jit;
            self.mutator.blocking(|| jit.workers.run_here(job));
        } else {
            let hotness = u64::from((*inst).entries) * 1000;
            self.jit.workers.submit(hotness / size, job);
        }
    }
}

impl Tier for JitState {
    fn slot(&mut self, proto: &Arc<Proto>) -> *const AtomicPtr<u8> {
        // the pointer is the first field of a slot, and a slot that of a method; the proto keeps the method alive
        std::ptr::from_ref(self.jit.attached(proto).method.slot()).cast()
    }

    unsafe fn hot_entry(&mut self, st: *mut State, inst: *mut Instance) {
        let attached = self.jit.attached(&(*inst).proto);
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
        // SAFETY: a safepoint of the state.
        self.mutator.announce(|pins| unsafe { walk(st, pins) });
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
        let mut now = Snapshot::take(inst);
        let proto = &(*inst).proto;
        if known.snapshot.covers(&now, proto) || method.live() > 2 {
            return;
        }
        now.merge(&known.snapshot, proto);
        history.change();
        let shapes = now.hold_shapes(st, &known.shapes);
        self.compile(&method, inst, known.entry, now, shapes);
    }

    fn enter(&mut self) {
        self.mutator.enter();
    }

    fn leave(&mut self) {
        self.mutator.leave();
    }
}

impl perilune_code::Compiler for Backend {
    type Job = Job;
    type Context = Result<Compiler, String>;

    fn context(&self) -> Self::Context {
        Compiler::new()
    }

    fn compile(&self, context: &mut Self::Context, job: &mut Job) {
        // held till the end: when it is the last to hold the program, what was published is retired
        let (Some(ticket), Some(proto)) = (&job.ticket, job.proto.upgrade()) else { return };
        if !ticket.is_current() {
            return;
        }
        let result = self.translate(context, job, &proto);
        let ticket = job.ticket.take().expect("it is used once");
        match result {
            Err(refusal) => ticket.refuse(refusal),
            Ok((id, code)) => {
                let placed = self.space.reserve(code.len()).and_then(|r| {
                    r.publish(&code).map_err(|e| Refusal::Backend(e.to_string().into()))
                });
                match placed {
                    Err(refusal) => ticket.refuse(refusal),
                    Ok(range) => {
                        History::of(ticket.method()).note(Known {
                            proto: job.proto.clone(),
                            snapshot: job.snapshot.clone(),
                            shapes: job.shapes.clone(),
                            entry: job.entry,
                        });
                        let member = Member {
                            ticket,
                            id,
                            kind: u8::from(job.entry.is_some()),
                            body: 0..code.len(),
                            entry: 0,
                            data: Arc::new(()),
                        };
                        self.space.publish(range, vec![member]);
                    }
                }
            }
        }
    }

    fn panicked(&self, mut job: Job, message: &str) {
        if let Some(ticket) = job.ticket.take() {
            ticket.refuse(Refusal::Panic(message.into()));
        }
    }
}

impl Backend {
    fn translate(
        &self,
        context: &mut Result<Compiler, String>,
        job: &Job,
        proto: &Arc<Proto>,
    ) -> Result<(CodeId, Vec<u8>), Refusal> {
        let compiler = match context {
            Ok(c) => c,
            Err(e) => return Err(Refusal::Backend(e.as_str().into())),
        };
        let id = self.space.ids(1)?.get(0);
        let input = Input {
            proto,
            snapshot: &job.snapshot,
            entry: job.entry.map(|pc| pc as usize),
            id: id.raw(),
            calls: &self.calls,
            verify: self.verify,
        };
        let code = compiler.compile(&input).map_err(|e| {
            if e.starts_with("verifier") {
                Refusal::Verifier(e.into())
            } else {
                Refusal::Backend(e.into())
            }
        })?;
        Ok((id, code))
    }
}
