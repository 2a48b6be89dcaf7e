//! The interface through which the pipeline reports its work. Dumps, metrics, profilers and
//! debuggers are fed from it.

use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

use cranelift_codegen::CompiledCode;
use cranelift_codegen::entity::EntityRef;
use cranelift_codegen::ir::Function;
use cranelift_module::Module;
use perilune_bytecode::{Proto, inner_names};
use perilune_code::Refusal;
use perilune_runtime::tier::RuntimeCalls;

#[cfg(target_arch = "x86_64")]
use super::asm;
use super::clif;
use super::clock::thread_time;
use super::dump::{self, DumpKind, Dumps};
use super::exit_counts::ExitCounts;
use super::gdb;
use super::image::Described;
use super::label::Label;
use super::metrics::{BOOKKEEPING, Metric, Metrics};
use super::perf::Perf;
use super::source_map::{Piece, Placed, file, lines};
use super::why;
use crate::engine::options::JitOptions;
use crate::feedback::snapshot::Snapshot;
use crate::pipeline::input::{Input, Translated};
use crate::testing::fault::{Fault, Stage};
use crate::tier2::ir::Frame;

/// Whether machine code can be disassembled. Elsewhere Cranelift's listing is shown in its place.
const HAS_DISASSEMBLER: bool = cfg!(target_arch = "x86_64");

/// The data that lives as long as a version if the compiler is observed.
pub struct VersionInfo {
    /// The label of the function.
    pub label: String,
    /// The code of its instructions, in ascending order.
    pub pieces: Box<[Piece]>,
    /// Unregisters the code when it is dropped.
    _debugger: Option<gdb::Registration>,
}

/// The observer of an engine's compiler: it knows what to report.
pub(crate) struct Observer {
    dumps: Dumps,
    perf: Option<Perf>,
    gdb: bool,
    /// Whether names are requested.
    named: bool,
    fault: Option<Fault>,
    verify_values: bool,
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))] // for the disassembler
    calls: RuntimeCalls,
    pub(crate) metrics: Metrics,
    /// Counts of exits, if they are requested.
    pub(crate) exits: Option<ExitCounts>,
}

impl Observer {
    pub(crate) fn new(options: &JitOptions, calls: RuntimeCalls) -> Observer {
        let dumps = Dumps::new(&options.dump);
        let named = dumps.any() || options.perf.is_some() || options.gdb || options.stats;
        Observer {
            dumps,
            perf: options.perf,
            gdb: options.gdb,
            named,
            exits: options.stats.then(ExitCounts::default),
            fault: options.fault,
            verify_values: options.verify_values,
            calls,
            metrics: Metrics::default(),
        }
    }

    /// Returns the names of the functions inside a function, if names are requested.
    pub(crate) fn inner_names(&self, proto: &Proto) -> Vec<Option<String>> {
        if self.named { inner_names(proto) } else { Vec::new() }
    }

    /// Reports that a stage of compiling begins.
    ///
    /// # Panics
    /// Panics if a test injects a panic at this stage.
    pub(crate) fn stage(&self, stage: Stage) {
        Fault::at(self.fault, stage);
    }

    /// Reports that a method is refused.
    pub(crate) fn refused(&self, label: impl FnOnce() -> Label, reason: &Refusal) {
        if self.named {
            self.metrics.note_refusal(format!("{}: {reason}", label()));
        }
    }

    /// Reports that a function is stitched, and that its code is where it will run but does not run
    /// yet. Returns the registration with debuggers, if that is requested, which lasts as long as
    /// the code.
    pub(crate) fn stitched(
        &self,
        proto: &Proto,
        label: impl FnOnce() -> Label,
        code: &Placed<'_>,
        parts: impl FnOnce() -> StitchedParts,
    ) -> Option<gdb::Registration> {
        self.metrics.add(Metric::FunctionsStitched, 1);
        self.metrics.add(Metric::BytecodesStitched, proto.code.len() as u64);
        self.metrics.add(Metric::StitchedBytes, code.bytes.len() as u64);
        if !self.dumps.any() && self.perf.is_none() && !self.gdb {
            return None;
        }
        let label = label();
        let StitchedParts { pieces, offsets, stencils } = parts();
        if let Some(perf) = self.perf {
            perf.add(&label, proto, code, &pieces);
        }
        let write = |kind: DumpKind, text: &dyn Fn() -> String| {
            if self.dumps.wants(kind, &label) {
                let text = format!("-- {kind} of {label}, stitched\n{}\n\n", text().trim_end());
                // `eprint` would panic if the standard error is closed
                let _ = std::io::stderr().write_all(text.as_bytes());
            }
        };
        write(DumpKind::Stencils, &|| stencils.clone());
        #[cfg(target_arch = "x86_64")]
        write(DumpKind::Asm, &|| {
            asm::listing(proto, code.bytes, offsets.clone(), &pieces, &self.calls)
        });
        self.gdb.then(|| registered(proto, &label, code, &pieces))
    }

    /// Reports that a module is placed and published, until the result is dropped.
    pub(crate) fn placing(&self) -> Placing<'_> {
        Placing { observer: self, begun: thread_time() }
    }

    /// Reports that the compile of a function begins.
    pub(crate) fn begin(
        &self,
        proto: &Arc<Proto>,
        label: Label,
        snapshot: &Snapshot,
    ) -> Observation<'_> {
        let mut observation = Observation {
            observer: self,
            proto: proto.clone(),
            label,
            text: String::new(),
            vcode: None,
            pieces: Box::default(),
            kept: snapshot.bytes(),
            begun: thread_time(),
            translated: None,
            compiled: None,
        };
        observation.dump(DumpKind::Bytecode, |o| {
            perilune_bytecode::disassemble_function(&o.proto, &o.label.name)
        });
        observation.dump(DumpKind::Feedback, |o| dump::feedback(&o.proto, snapshot));
        observation.dump(DumpKind::Why, |o| why::text(&o.proto, snapshot));
        observation
    }
}

/// What stitched code consists of.
pub(crate) struct StitchedParts {
    /// The places of the instructions' code.
    pub(crate) pieces: Vec<Piece>,
    /// The bytes that contain the offsets of these places.
    pub(crate) offsets: Range<usize>,
    /// The list of the stencils.
    pub(crate) stencils: String,
}

/// Registers the code of a function with debuggers.
fn registered(
    proto: &Proto,
    label: &Label,
    code: &Placed<'_>,
    pieces: &[Piece],
) -> gdb::Registration {
    let loops = if label.entry.is_some() { " loop" } else { "" };
    gdb::Registration::new(&Described {
        name: &label.to_string(),
        short: &format!("{}{loops}", label.name),
        address: code.address as u64,
        size: code.bytes.len() as u64,
        source: file(proto).as_deref().map(|f| (f, proto.line_defined)),
        lines: &lines(proto, pieces),
    })
}

/// Counts the processor time until it is dropped as time for placing code.
pub(crate) struct Placing<'a> {
    observer: &'a Observer,
    begun: u64,
}

impl Drop for Placing<'_> {
    fn drop(&mut self) {
        let time = thread_time() - self.begun;
        self.observer.metrics.add(Metric::Nanoseconds, time);
        self.observer.metrics.add(Metric::PlaceNanoseconds, time);
    }
}

/// The observation of the compile of one function. Its dumps are written in one piece when it is
/// dropped, including by a panic.
pub(crate) struct Observation<'a> {
    observer: &'a Observer,
    proto: Arc<Proto>,
    label: Label,
    text: String,
    vcode: Option<String>,
    pieces: Box<[Piece]>,
    /// Bytes of feedback that the method keeps.
    kept: usize,
    /// Processor times of this thread.
    begun: u64,
    translated: Option<u64>,
    compiled: Option<u64>,
}

impl Observation<'_> {
    fn dump(&mut self, kind: DumpKind, text: impl FnOnce(&Self) -> String) {
        if self.observer.dumps.wants(kind, &self.label) {
            let text = text(self);
            self.text.push_str(&format!("-- {kind} of {}\n{}\n\n", self.label, text.trim_end()));
        }
    }

    /// See [`Observer::stage`].
    pub(crate) fn stage(&self, stage: Stage) {
        self.observer.stage(stage);
    }

    /// Reports the intermediate representations of the function, and its exits.
    pub(crate) fn translated(
        &mut self,
        func: &mut Function,
        translated: &Translated,
        module: &dyn Module,
        input: &Input<'_>,
    ) {
        self.translated = Some(thread_time());
        if self.observer.fault == Some(Fault::Malformed) {
            func.signature.returns.pop();
        }
        let Translated { exits, ssa } = translated;
        self.dump(DumpKind::Ssa, |_| ssa.to_string());
        self.dump(DumpKind::Exits, |_| exits.text(|n| &ssa.frames[Frame::new(n)].proto));
        self.dump(DumpKind::Clif, |_| clif::text(func, module, input.calls, input.direct));
    }

    /// Returns whether Cranelift must list the machine code.
    pub(crate) fn wants_vcode(&self) -> bool {
        let wants = |kind| self.observer.dumps.wants(kind, &self.label);
        wants(DumpKind::Vcode) || !HAS_DISASSEMBLER && wants(DumpKind::Asm)
    }

    /// Reports the machine code, and the optimized IR that it was compiled from.
    pub(crate) fn compiled(
        &mut self,
        func: &Function,
        code: &CompiledCode,
        module: &dyn Module,
        input: &Input<'_>,
    ) {
        self.compiled = Some(thread_time());
        self.dump(DumpKind::ClifOpt, |_| clif::text(func, module, input.calls, input.direct));
        self.vcode.clone_from(&code.vcode);
        self.dump(DumpKind::Vcode, |o| o.vcode.clone().unwrap_or_default());
        if self.observer.dumps.any() || self.observer.perf.is_some() || self.observer.gdb {
            self.pieces = code
                .buffer
                .get_srclocs_sorted()
                .iter()
                .filter(|s| !s.loc.is_default())
                .map(|s| Piece { start: s.start, end: s.end, pc: s.loc.bits() })
                .collect();
        }
    }

    /// Reports that the code is where it will run, but does not run yet. Returns the data for its
    /// version to keep, if names are requested.
    pub(crate) fn placed(&mut self, code: &Placed<'_>) -> Option<VersionInfo> {
        let observer = self.observer;
        self.dump(DumpKind::Asm, |o| {
            #[cfg(target_arch = "x86_64")]
            return asm::listing(&o.proto, code.bytes, 0..0, &o.pieces, &observer.calls);
            #[cfg(not(target_arch = "x86_64"))]
            return o.vcode.clone().unwrap_or_default();
        });
        if let Some(perf) = observer.perf {
            perf.add(&self.label, &self.proto, code, &self.pieces);
        }
        let metrics = &observer.metrics;
        let kind = if self.label.entry.is_some() { Metric::Loops } else { Metric::Functions };
        metrics.add(kind, 1);
        metrics.add(Metric::Bytecodes, self.proto.code.len() as u64);
        metrics.add(Metric::CodeBytes, code.bytes.len() as u64);
        let kept = self.kept + size_of_val(&*self.pieces);
        metrics.add(Metric::MetadataBytes, (BOOKKEEPING + kept) as u64);
        if !observer.named {
            return None;
        }
        let debugger =
            observer.gdb.then(|| registered(&self.proto, &self.label, code, &self.pieces));
        let label = self.label.to_string();
        let pieces = std::mem::take(&mut self.pieces);
        Some(VersionInfo { label, pieces, _debugger: debugger })
    }

    /// Reports that the method is refused.
    ///
    /// A malformed translation is a bug of the compiler, although it only costs speed. It aborts
    /// the process in debug builds and in runs that verify values.
    pub(crate) fn refused(&self, reason: &Refusal) {
        let observer = self.observer;
        let is_strict = cfg!(debug_assertions) || observer.verify_values;
        if is_strict
            && observer.fault != Some(Fault::Malformed)
            && matches!(reason, Refusal::Verifier(_))
        {
            let _ = writeln!(std::io::stderr(), "perilune: {}: {reason}", self.label);
            std::process::abort();
        }
        observer.refused(|| self.label.clone(), reason);
    }
}

impl Drop for Observation<'_> {
    fn drop(&mut self) {
        // after they are compiled, the functions of a module wait for each other, which does not
        // count
        let end = self.compiled.unwrap_or_else(thread_time);
        let metrics = &self.observer.metrics;
        metrics.add(Metric::Nanoseconds, end - self.begun);
        metrics.raise(Metric::LongestNanoseconds, end - self.begun);
        if let Some(translated) = self.translated {
            metrics.add(Metric::TranslateNanoseconds, translated - self.begun);
            metrics.add(Metric::BackendNanoseconds, end - translated);
        }
        if !self.text.is_empty() {
            // `eprint` would panic if the standard error is closed
            let _ = std::io::stderr().write_all(self.text.as_bytes());
        }
    }
}
