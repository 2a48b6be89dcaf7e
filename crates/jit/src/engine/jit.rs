//! The compiler that the states of an engine share.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use perilune_bytecode::Proto;
use perilune_code::{CodeSpace, Method, NotNow, Options, Phase, WorkerOptions, Workers};
use perilune_runtime::tier::RuntimeCalls;

use super::attached::Attached;
use super::options::JitOptions;
use crate::feedback::callees::Callee;
use crate::feedback::snapshot::Snapshot;
use crate::observe::exit_counts::ExitCounts;
use crate::observe::metrics;
use crate::observe::observation::Observer;
use crate::observe::perf::Perf;
use crate::pipeline::job::{Job, Unit};
use crate::pipeline::worker::Backend;
use crate::policy::call_graph::CallGraph;
use crate::policy::history::History;
use crate::policy::hotness::{Loops, estimated_size, is_too_large};
use crate::policy::pace::Pace;
use crate::policy::partition::{Edge, cut};

/// The compiler of an engine.
pub struct Jit {
    pub(super) options: JitOptions,
    pub(super) space: Arc<CodeSpace>,
    pub(super) workers: Workers<Backend>,
    pub(super) pace: Pace,
}

impl Jit {
    /// Whether machine code is generated for this target.
    pub const IS_SUPPORTED: bool = perilune_code::MACHINE_CODE;

    /// Whether engines compile by default. They do not on aarch64, whose machine code has been run
    /// only under qemu, which does not reproduce the weak memory ordering.
    pub const IS_DEFAULT: bool = Jit::IS_SUPPORTED && cfg!(target_arch = "x86_64");

    /// Creates a compiler whose code calls `calls`. It maps no memory and starts no threads until a
    /// function is hot.
    pub fn new(options: JitOptions, calls: RuntimeCalls) -> Arc<Jit> {
        let mut space = Options {
            budget: options.budget,
            mapping: Perf::mapping(options.perf),
            ..Options::default()
        };
        if options.sync {
            // no frame can leave retired code while its thread waits here
            space.patience = Duration::ZERO;
        }
        let space = CodeSpace::new(space);
        let observer = Observer::new(&options, calls);
        let backend = Backend::new(space.clone(), calls, &options, observer);
        let workers = WorkerOptions { threads: options.workers, ..WorkerOptions::default() };
        let (pace, workers) = (Pace::new(options.share), Workers::new(backend, workers));
        Arc::new(Jit { options, space, workers, pace })
    }

    /// Returns the metrics of the code and of its compilation, by name.
    pub fn metrics(&self) -> Vec<(&'static str, u64)> {
        let mut metrics = self.space.metrics();
        metrics.extend(self.observer().metrics.iter());
        metrics
    }

    /// Returns all metrics, the average costs of compiling, the last refusals with their reasons,
    /// and the most frequent exits, as text. Exits are counted and functions have names only if
    /// [`JitOptions::stats`] is set.
    pub fn report(&self) -> String {
        let exits = self.observer().exits.as_ref().map(ExitCounts::text).unwrap_or_default();
        metrics::table(&self.metrics()) + &self.observer().metrics.summary() + &exits
    }

    /// Returns the code of the engine.
    pub fn space(&self) -> &Arc<CodeSpace> {
        &self.space
    }

    /// Recompiles all methods that have code, with the feedback of their last compile, and replaces
    /// the code. Returns how many compiles were requested; [`Jit::wait`] waits for them.
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

    /// Recompiles a method with the feedback of its last compile.
    fn recompile(&self, method: &Arc<Method>) -> Result<(), NotNow> {
        let Some(known) = History::of(method).known() else { return Err(NotNow::Compiling) };
        let ticket = method.begin()?;
        self.workers.submit(0, Job::of(Unit::again(ticket, &known)));
        Ok(())
    }

    /// Compiles the functions of a program before they run, on all compile threads. Functions that
    /// call each other are compiled together. Returns the number of functions; [`Jit::wait`] waits
    /// for them.
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

    /// Returns the unit of a function that has not run yet, or `None` if the function is too large,
    /// or if it was already requested or compiled.
    fn unit_before_run(&self, proto: &Arc<Proto>) -> Option<Unit> {
        let method = self.attached(proto).method.clone();
        if is_too_large(proto) || method.phase() != Phase::Interpreted {
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
            function: None,
            key: Arc::as_ptr(proto) as usize,
            calls: Vec::new(),
        })
    }

    /// Waits until no job is waiting or being compiled. A state must not be online on this thread.
    pub fn wait(&self) {
        self.workers.wait_idle();
    }

    /// Returns the compiler's data for a proto.
    pub(super) fn attached(&self, proto: &Proto) -> Arc<Attached> {
        let make = || -> Arc<dyn Any + Send + Sync> {
            Arc::new(Attached::new(self.new_method(), Loops::of(&proto.code)))
        };
        // No other thread forks while the cell is being filled.
        let _inside = perilune_code::fork::enter();
        let any = proto.method.get_or_init(make).clone();
        any.downcast().expect("one engine attaches one kind of thing")
    }

    pub(super) fn observer(&self) -> &Observer {
        &self.workers.compiler().observer
    }

    /// Names the functions inside a function, if names are requested.
    pub(super) fn name_inner(&self, proto: &Proto) {
        for (inner, name) in proto.protos.iter().zip(self.observer().inner_names(proto)) {
            if let Some(name) = name {
                self.attached(inner).set_name(name);
            }
        }
    }

    fn name_all(&self, proto: &Proto) {
        self.name_inner(proto);
        for inner in &proto.protos {
            self.name_all(inner);
        }
    }

    pub(super) fn new_method(&self) -> Arc<Method> {
        self.space.method(self.stub(), Box::<History>::default())
    }

    /// Returns the address that slots without code hold: the entry of the interpreter.
    pub(super) fn stub(&self) -> *const u8 {
        self.workers.compiler().calls.interpret as *const u8
    }
}
