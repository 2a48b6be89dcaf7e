//! The work of compile threads: from jobs to published modules.

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use perilune_bytecode::Proto;
use perilune_code::lock::{Mutex, lock};
use perilune_code::{CodeId, CodeSpace, Member, Method, Refusal};
use perilune_runtime::reserve;
use perilune_runtime::resident;
use perilune_runtime::tier::RuntimeCalls;
use perilune_runtime::transient;

use super::compile::{Compiler, Linked, largest_size};
use super::input::{Direct, Inlinee, Inlinees, Input};
use super::job::{Job, Unit};
use super::passes;
use super::symbols::Symbols;
use crate::analysis::complete::{Invocation, is_complete};
use crate::analysis::early::EarlyPart;
use crate::engine::attached::label;
use crate::engine::options::JitOptions;
use crate::feedback::callees::Callee;
use crate::observe::metrics::Metric;
use crate::observe::observation::{Observation, Observer, VersionInfo};
use crate::observe::source_map::Placed;
use crate::policy::budget::Budget;
use crate::policy::history::{History, Known};
use crate::policy::partition::{Edge, Limits, cut};
use crate::testing::fault::{Fault, Stage};

/// The bytes that must be available before a compile, and those for each instruction.
const LEAST_MEMORY: usize = 8 << 20;
const MEMORY_PER_INSTRUCTION: usize = 16 << 10;
/// The maximum number of waiting jobs that are considered for a partition.
const MOST_WAITING: usize = 500;

/// The data that compile threads share.
pub(crate) struct Backend {
    space: Arc<CodeSpace>,
    pub(crate) calls: RuntimeCalls,
    symbols: Arc<Symbols>,
    verify: bool,
    verify_values: bool,
    stress_exits: bool,
    fault: Option<Fault>,
    counts: bool,
    limits: Limits,
    pub(crate) budget: Budget,
    group_hot: bool,
    pub(crate) observer: Observer,
    /// Jobs for methods that lost their code because another member of their module was replaced.
    lost: Mutex<Vec<Job>>,
}

/// Returns the functions that may be inlined in another one, and adds their methods to `kept`, the
/// methods that the code keeps alive.
fn inlinees(caller: Invocation<'_>, kept: &mut Vec<Arc<Method>>) -> Inlinees {
    let mut found = Inlinees::new();
    let snapshot = caller.snapshot;
    for (&pc, all) in snapshot.inlinees.iter().filter(|(pc, _)| !snapshot.failed.contains(pc)) {
        let passed = caller.arguments_at(pc);
        for seen in all.iter().filter(|seen| seen.is_early || is_complete(seen, passed)) {
            let (Some(proto), Some(method)) = (seen.proto.upgrade(), seen.method.upgrade()) else {
                continue;
            };
            let early = match seen.is_early {
                true => EarlyPart::of(&proto, &seen.snapshot),
                false => None,
            };
            if seen.is_early && early.is_none() {
                continue;
            }
            let slot = std::ptr::from_ref(method.slot()) as usize;
            kept.push(method);
            let (snapshot, shapes) = (seen.snapshot.clone(), seen.shapes.clone());
            let called = Invocation { proto: &proto, snapshot: &snapshot, passed };
            let (inlinees, direct) = (inlinees(called, kept), HashMap::new());
            let inlinee = Inlinee { proto, snapshot, slot, shapes, early, inlinees, direct };
            found.entry(pc).or_default().push(inlinee);
        }
    }
    found
}

/// Returns the protos of functions that may be inlined, and of the functions that may be inlined in
/// them.
fn all_of(inlinees: &Inlinees) -> Box<dyn Iterator<Item = &Proto> + '_> {
    Box::new(
        inlinees
            .values()
            .flatten()
            .flat_map(|inlinee| std::iter::once(&*inlinee.proto).chain(all_of(&inlinee.inlinees))),
    )
}

/// A compiled function that is not yet published; its code is part of the module's.
struct Compiled<'a> {
    id: CodeId,
    observation: Observation<'a>,
    /// The other methods whose slots its code compares with. The code keeps them alive.
    callees: Box<[Arc<Method>]>,
}

/// The data that lives as long as a version.
struct Kept {
    _info: Option<VersionInfo>,
    /// See [`Compiled::callees`].
    _callees: Box<[Arc<Method>]>,
}

impl perilune_code::Compiler for Backend {
    type Job = Job;
    type Context = Result<Compiler, String>;

    fn context(&self) -> Self::Context {
        Compiler::new()
    }

    fn compile(&self, context: &mut Self::Context, job: &mut Job) {
        let work = || self.compile_job(context, job);
        // Separate mappings save memory, which does not matter in a large process, and cost page
        // faults.
        let least = if resident::is_small() { transient::LARGE } else { usize::MAX };
        self.budget.spend(|| transient::during(least, work));
    }

    fn priority(&self, job: &Job, given: u64) -> u64 {
        job.units.iter().map(Unit::hotness).max().unwrap_or(0).max(given)
    }

    fn pause(&self) -> Option<Duration> {
        self.budget.pause()
    }

    fn is_wanted(&self, job: &Job) -> bool {
        job.units.iter().any(|unit| unit.proto.strong_count() > 0)
    }

    fn companions<'a>(&self, next: &'a Job, waiting: impl Iterator<Item = &'a Job>) -> Vec<usize> {
        if !self.group_hot {
            return Vec::new();
        }
        let jobs: Vec<&Job> = std::iter::once(next).chain(waiting.take(MOST_WAITING)).collect();
        let joins = |job: &Job| !job.is_cut && job.units.iter().any(|u| !u.calls.is_empty());
        if next.is_cut || !jobs.iter().any(|job| joins(job)) {
            return Vec::new();
        }
        let mut places = HashMap::new();
        for (n, job) in jobs.iter().enumerate() {
            for unit in job.units.iter().filter(|u| u.key != 0 && !job.is_cut) {
                places.insert(unit.key, n);
            }
        }
        let sizes: Vec<usize> =
            jobs.iter().map(|job| job.units.iter().map(|u| u.size).sum()).collect();
        let mut edges = Vec::new();
        for (from, job) in jobs.iter().enumerate().filter(|(_, job)| joins(job)) {
            for callee in job.units.iter().flat_map(|u| &u.calls) {
                if let Some(&to) = places.get(&callee.key) {
                    edges.push(Edge { from, to, weight: callee.weight });
                }
            }
        }
        let parts = cut(&sizes, &edges, self.limits);
        let with_next = parts.into_iter().find(|part| part[0] == 0).unwrap_or_default();
        with_next.into_iter().skip(1).map(|n| n - 1).collect()
    }

    fn join(&self, job: &mut Job, others: Vec<Job>) {
        job.units.extend(others.into_iter().flat_map(|other| other.units));
    }

    fn rest(&self, context: &mut Self::Context) {
        if let Ok(compiler) = context {
            compiler.rest();
        }
        passes::rest();
    }

    fn follow_ups(&self) -> Vec<(u64, Job)> {
        let mut lost = lock(&self.lost);
        std::mem::take(&mut *lost).into_iter().map(|job| (0, job)).collect()
    }

    fn panicked(&self, mut job: Job, message: &str) {
        self.refuse_all(&mut job.units, &Refusal::Panic(message.into()));
    }
}

impl Backend {
    /// Compiles the functions of a job, and publishes their code.
    fn compile_job(&self, context: &mut Result<Compiler, String>, job: &mut Job) {
        // Held until the end, because dropping the last reference to a program retires its code.
        let mut protos = Vec::with_capacity(job.units.len());
        job.units.retain(|unit| {
            let proto = unit.proto.upgrade().filter(|_| unit.is_wanted());
            protos.extend(proto.iter().cloned());
            proto.is_some()
        });
        job.units.iter_mut().for_each(Unit::update);
        // Most of the memory that the compile takes; the program's reserve covers the rest.
        let instructions: usize = protos.iter().map(|proto| proto.code.len()).sum();
        if !reserve::system_has(LEAST_MEMORY + instructions * MEMORY_PER_INSTRUCTION) {
            return self.refuse_all(&mut job.units, &Refusal::Backend("not enough memory".into()));
        }
        // Units stay in the job until panics are no longer possible, so that a panic refuses them.
        while !job.units.is_empty() {
            match self.compile_together(context, &job.units, &protos) {
                Ok((code, compiled)) => {
                    self.install(&mut job.units, &code, compiled);
                    if let Ok(compiler) = context {
                        compiler.recycle(code);
                    }
                    return;
                }
                Err((place, refusal)) => {
                    // compile the others without it
                    job.units.remove(place).refuse(refusal);
                    protos.remove(place);
                }
            }
        }
    }

    fn refuse_all(&self, units: &mut Vec<Unit>, refusal: &Refusal) {
        for mut unit in units.drain(..) {
            if let Some(proto) = unit.proto.upgrade() {
                self.observer.refused(|| label(&proto, unit.entry), refusal);
            }
            unit.refuse(refusal.clone());
        }
    }

    pub(crate) fn new(
        space: Arc<CodeSpace>,
        calls: RuntimeCalls,
        options: &JitOptions,
        observer: Observer,
    ) -> Backend {
        let limits = Limits {
            functions: options.partition_max_funcs.max(1),
            bytes: options.partition_max_bytes,
        };
        let symbols = Arc::new(Symbols::new(&calls));
        Backend {
            space,
            calls,
            symbols,
            verify: options.verify,
            verify_values: options.verify_values,
            stress_exits: options.stress_exits,
            fault: options.fault,
            counts: options.counts,
            limits,
            group_hot: options.group_hot,
            budget: Budget::new(options.share.filter(|_| !options.sync)),
            observer,
            lost: Mutex::default(),
        }
    }

    /// Returns the limits for the size of modules.
    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }

    /// Compiles each of the units for one module.
    ///
    /// # Errors
    /// Returns the index of the first unit that cannot be compiled, and the reason.
    fn compile_together(
        &self,
        context: &mut Result<Compiler, String>,
        units: &[Unit],
        protos: &[Arc<Proto>],
    ) -> Result<(Linked, Vec<Compiled<'_>>), (usize, Refusal)> {
        let compiler = match context {
            Ok(c) => c,
            Err(e) => return Err((0, Refusal::Backend(e.as_str().into()))),
        };
        let ids = self.space.ids(units.len()).map_err(|refusal| (0, refusal))?;
        let mut members = HashMap::new();
        for (member, unit) in units.iter().enumerate() {
            if unit.key != 0 && unit.entry.is_none() {
                members.insert(unit.key, member);
            }
        }
        let refused = |place| move |refusal| (place, refusal);
        let mut inlined = Vec::with_capacity(units.len());
        let mut largest = 0;
        for (unit, proto) in units.iter().zip(protos) {
            let mut kept = Vec::new();
            let invocation = Invocation { proto, snapshot: &unit.snapshot, passed: None };
            let inlinees = inlinees(invocation, &mut kept);
            largest += largest_size(proto, self.verify_values);
            largest +=
                all_of(&inlinees).map(|p| largest_size(p, self.verify_values)).sum::<usize>();
            inlined.push((inlinees, kept));
        }
        let assembly = compiler.assemble(&self.symbols, units.len(), largest);
        let mut assembly = assembly.map_err(refused(0))?;
        let mut compiled = Vec::with_capacity(units.len());
        for (place, (unit, proto)) in units.iter().zip(protos).enumerate() {
            let mut direct = HashMap::new();
            let (inlinees, mut callees) = std::mem::take(&mut inlined[place]);
            for call in &unit.calls {
                let Some(&member) = members.get(&call.key) else { continue };
                let method = &units[member].method;
                let slot = std::ptr::from_ref(method.slot()) as usize;
                let is_self = Arc::ptr_eq(method, &unit.method);
                direct.insert(call.pc, Direct { member: member as u32, slot, is_self });
                if member != place && !callees.iter().any(|m| Arc::ptr_eq(m, method)) {
                    callees.push(method.clone());
                }
            }
            let id = ids.get(place);
            let mut observation =
                self.observer.begin(proto, label(proto, unit.entry), &unit.snapshot);
            let input = Input {
                proto,
                snapshot: &unit.snapshot,
                entry: unit.entry.map(|pc| pc as usize),
                id: id.raw(),
                calls: &self.calls,
                verify: self.verify,
                verify_values: self.verify_values,
                stress_exits: self.stress_exits,
                fault: self.fault,
                counts: self.counts,
                direct: &direct,
                inlinees: &inlinees,
            };
            // Generating code takes long and uses no lock of the engine, so other threads may fork
            // in the meantime.
            let defined =
                perilune_code::fork::outside(|| assembly.define(&input, &mut observation));
            if let Err(refusal) = defined {
                observation.refused(&refusal);
                return Err((place, refusal));
            }
            compiled.push(Compiled { id, observation, callees: callees.into() });
        }
        let code = assembly.finish().map_err(refused(0))?;
        Ok((code, compiled))
    }

    /// Places and publishes code. Tickets are used only when no refusal is possible any more.
    fn install(&self, units: &mut Vec<Unit>, code: &Linked, compiled: Vec<Compiled<'_>>) {
        let _placing = self.observer.placing();
        self.observer.stage(Stage::Reserve);
        let placed = self.space.reserve(code.bytes.len()).and_then(|room| {
            room.publish(&code.bytes).map_err(|e| Refusal::Backend(e.to_string().into()))
        });
        let range = match placed {
            Ok(range) => range,
            Err(refusal) => {
                for (mut unit, compiled) in units.drain(..).zip(&compiled) {
                    compiled.observation.refused(&refusal);
                    unit.refuse(refusal.clone());
                }
                return;
            }
        };
        let mut parts = Vec::with_capacity(units.len());
        let compiled = compiled.into_iter().zip(&code.bodies);
        for (unit, (Compiled { id, mut observation, callees }, body)) in units.iter().zip(compiled)
        {
            let body = body.clone();
            let address = range.address() as usize + body.start;
            let info = observation.placed(&Placed { address, bytes: &range.bytes()[body.clone()] });
            let data: Arc<dyn Any + Send + Sync> = if info.is_none() && callees.is_empty() {
                Arc::new(())
            } else {
                Arc::new(Kept { _info: info, _callees: callees })
            };
            let own = |c: &&Callee| c.key == unit.key && unit.key != 0;
            let own_calls = unit.calls.iter().filter(own).map(|c| c.pc).collect();
            let known = Known {
                proto: unit.proto.clone(),
                snapshot: unit.snapshot.clone(),
                shapes: unit.shapes.clone(),
                entry: unit.entry,
                own_calls,
            };
            parts.push((id, body, data, known, observation));
        }
        self.observer.stage(Stage::Publish);
        let together = units.len() > 1;
        let mut members = Vec::with_capacity(units.len());
        let methods: Vec<Arc<Method>> = units.iter().map(|u| u.method.clone()).collect();
        for (mut unit, (id, body, data, known, _)) in units.drain(..).zip(parts) {
            History::of(&unit.method).note(known, together);
            let ticket = unit.ticket.take().expect("it is used once");
            let kind = u8::from(unit.entry.is_some());
            members.push(Member { ticket, id, kind, entry: body.start, body, data });
        }
        let published = self.space.publish(range, members);
        for method in methods {
            self.observer.metrics.raise(Metric::MostVersions, method.compiles().into());
        }
        self.observer.metrics.raise(Metric::LargestModule, published.installed as u64);
        self.requeue(&published.requeue);
    }

    /// Queues compiles of single methods that lost their code because another member of their
    /// module was replaced, if there is feedback for them. Others will become hot again.
    fn requeue(&self, methods: &[Arc<Method>]) {
        for method in methods {
            let Some(known) = History::of(method).known() else { continue };
            let is_blank = known.proto.upgrade().is_none_or(|p| known.snapshot.is_blank(&p));
            if is_blank {
                continue;
            }
            if let Ok(ticket) = method.begin() {
                let job = Job::of(Unit::again(ticket, &known));
                lock(&self.lost).push(job);
            }
        }
    }
}
