//! What is watched while methods are compiled: one place that the pipeline tells what it does, and that tells dumps, profilers, debuggers and figures.

use std::fmt;
use std::io::Write;
use std::sync::Arc;

use cranelift_codegen::CompiledCode;
use cranelift_codegen::ir::Function;
use cranelift_module::Module;
use perilune_bytecode::{Proto, inner_names, place};
use perilune_code::Refusal;
use perilune_runtime::tier::RuntimeCalls;

#[cfg(target_arch = "x86_64")]
use crate::asm;
use crate::dump::{DumpKind, Dumps};
use crate::engine::JitOptions;
use crate::fault::{Fault, Stage};
use crate::image::Described;
use crate::snapshot::Snapshot;
use crate::stats::{BOOKKEEPING, Figure, Figures};
use crate::{dump, gdb, perf};

/// Can machine code be listed? Elsewhere Cranelift's own listing stands for it.
const HAS_DISASSEMBLER: bool = cfg!(target_arch = "x86_64");

/// What a function is called: its name, its place, and the loop if it is entered in one: `fib@fib.lua:1`, `main@fib.lua/loop:7`.
#[derive(Clone, Debug)]
pub(crate) struct Label {
    /// The name, without its place.
    pub(crate) name: Arc<str>,
    /// File and line; of a main function the file.
    pub(crate) place: String,
    /// The line where the loop that is entered goes on.
    pub(crate) entry: Option<u32>,
}

impl Label {
    pub(crate) fn new(proto: &Proto, name: Option<Arc<str>>, entry: Option<u32>) -> Label {
        let unnamed = if proto.line_defined == 0 { "main" } else { "anonymous" };
        let entry = entry.map(|pc| line(proto, pc));
        Label { name: name.unwrap_or_else(|| unnamed.into()), place: place(proto), entry }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.name, self.place)?;
        self.entry.map_or(Ok(()), |line| write!(f, "/loop:{line}"))
    }
}

/// The source line of an instruction; 0 where that is not known.
fn line(proto: &Proto, pc: u32) -> u32 {
    proto.lines.get(pc as usize).copied().unwrap_or(0)
}

/// The file that a function was written in, if it was written in one.
pub(crate) fn file(proto: &Proto) -> Option<String> {
    let name = proto.source.as_deref()?.strip_prefix(b"@")?;
    (!name.is_empty()).then(|| String::from_utf8_lossy(name).into_owned())
}

/// Offsets at which the line changes, and the lines.
pub(crate) fn lines(proto: &Proto, pieces: &[Piece]) -> Vec<(u64, u32)> {
    let mut lines: Vec<_> =
        pieces.iter().map(|p| (u64::from(p.start), line(proto, p.pc))).collect();
    lines.dedup_by_key(|(_, line)| *line);
    lines
}

/// A part of machine code, and the instruction of bytecode that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Offset of its first byte.
    pub start: u32,
    /// Offset behind it.
    pub end: u32,
    /// The instruction.
    pub pc: u32,
}

/// Code of one function, where it will run.
pub(crate) struct Placed<'a> {
    pub(crate) address: usize,
    pub(crate) bytes: &'a [u8],
}

/// What is kept with a version while somebody watches.
pub struct VersionInfo {
    /// What the function is called.
    pub label: String,
    /// Where its instructions went, ascending.
    pub pieces: Box<[Piece]>,
    /// Dropped with the version, which takes it from the debugger.
    _debugger: Option<gdb::Registration>,
}

/// What an engine's compiler is to show.
pub(crate) struct Watch {
    dumps: Dumps,
    perf: Option<perf::Perf>,
    gdb: bool,
    named: bool,
    fault: Option<Fault>,
    verify_values: bool,
    calls: RuntimeCalls,
    pub(crate) figures: Figures,
}

impl Watch {
    pub(crate) fn new(options: &JitOptions, calls: RuntimeCalls) -> Watch {
        let dumps = Dumps::new(&options.dump);
        let named = dumps.any() || options.perf.is_some() || options.gdb || options.stats;
        Watch {
            dumps,
            perf: options.perf,
            gdb: options.gdb,
            named,
            fault: options.fault,
            verify_values: options.verify_values,
            calls,
            figures: Figures::default(),
        }
    }

    /// Names of the functions inside one, if anybody wants to know.
    pub(crate) fn inner_names(&self, proto: &Proto) -> Vec<Option<String>> {
        if self.named { inner_names(proto) } else { Vec::new() }
    }

    /// A stage of compiling begins. Panics if a test asked for it.
    pub(crate) fn stage(&self, stage: Stage) {
        Fault::at(self.fault, stage);
    }

    /// A method is refused before it is compiled.
    pub(crate) fn refused(&self, label: impl FnOnce() -> Label, reason: &Refusal) {
        if self.named {
            self.figures.note_refusal(format!("{}: {reason}", label()));
        }
    }

    /// What was compiled together is placed and published from now on, until the result is dropped.
    pub(crate) fn placing(&self) -> Placing<'_> {
        Placing { watch: self, begun: perf::thread_time() }
    }

    /// The compile of a function begins.
    pub(crate) fn begin(
        &self,
        proto: &Arc<Proto>,
        label: Label,
        snapshot: &Snapshot,
    ) -> Observation<'_> {
        let mut seen = Observation {
            watch: self,
            proto: proto.clone(),
            label,
            text: String::new(),
            vcode: None,
            pieces: Box::default(),
            kept: snapshot.bytes(),
            begun: perf::thread_time(),
            translated: None,
            compiled: None,
        };
        seen.dump(DumpKind::Bytecode, |seen| {
            perilune_bytecode::disassemble_function(&seen.proto, &seen.label.name)
        });
        seen.dump(DumpKind::Feedback, |seen| dump::feedback(&seen.proto, snapshot));
        seen
    }
}

/// Counts the processor time of a piece of work as that of placing code.
pub(crate) struct Placing<'a> {
    watch: &'a Watch,
    begun: u64,
}

impl Drop for Placing<'_> {
    fn drop(&mut self) {
        let time = perf::thread_time() - self.begun;
        self.watch.figures.add(Figure::Nanoseconds, time);
        self.watch.figures.add(Figure::PlaceNanoseconds, time);
    }
}

/// The compile of one function, as it is watched. What is to be shown of it is written in one piece when it is dropped, also by a panic.
pub(crate) struct Observation<'a> {
    watch: &'a Watch,
    proto: Arc<Proto>,
    label: Label,
    text: String,
    vcode: Option<String>,
    pieces: Box<[Piece]>,
    /// Bytes that are kept with the method.
    kept: usize,
    /// Times of this thread's clock.
    begun: u64,
    translated: Option<u64>,
    compiled: Option<u64>,
}

impl Observation<'_> {
    fn dump(&mut self, kind: DumpKind, text: impl FnOnce(&Self) -> String) {
        if self.watch.dumps.wants(kind, &self.label) {
            let text = text(self);
            self.text.push_str(&format!("-- {kind} of {}\n{}\n\n", self.label, text.trim_end()));
        }
    }

    /// A stage begins. Panics if a test asked for it.
    pub(crate) fn stage(&self, stage: Stage) {
        self.watch.stage(stage);
    }

    /// Cranelift IR is made.
    pub(crate) fn translated(&mut self, func: &mut Function, module: &dyn Module) {
        self.translated = Some(perf::thread_time());
        if self.watch.fault == Some(Fault::Malformed) {
            func.signature.returns.pop();
        }
        self.dump(DumpKind::Clif, |seen| dump::clif(func, module, &seen.watch.calls));
    }

    /// Is Cranelift to list the machine code?
    pub(crate) fn wants_vcode(&self) -> bool {
        let wants = |kind| self.watch.dumps.wants(kind, &self.label);
        wants(DumpKind::Vcode) || !HAS_DISASSEMBLER && wants(DumpKind::Asm)
    }

    /// Machine code is made; `func` is what became of the IR.
    pub(crate) fn compiled(&mut self, func: &Function, code: &CompiledCode, module: &dyn Module) {
        self.compiled = Some(perf::thread_time());
        self.dump(DumpKind::ClifOpt, |seen| dump::clif(func, module, &seen.watch.calls));
        self.vcode.clone_from(&code.vcode);
        self.dump(DumpKind::Vcode, |seen| seen.vcode.clone().unwrap_or_default());
        if self.watch.dumps.any() || self.watch.perf.is_some() || self.watch.gdb {
            self.pieces = code
                .buffer
                .get_srclocs_sorted()
                .iter()
                .filter(|s| !s.loc.is_default())
                .map(|s| Piece { start: s.start, end: s.end, pc: s.loc.bits() })
                .collect();
        }
    }

    /// The code is where it will run, and does not run yet; returns what is kept with it, if anybody watches.
    pub(crate) fn placed(&mut self, code: &Placed<'_>) -> Option<VersionInfo> {
        let watch = self.watch;
        self.dump(DumpKind::Asm, |seen| {
            #[cfg(target_arch = "x86_64")]
            return asm::listing(&seen.proto, code.bytes, &seen.pieces, &watch.calls);
            #[cfg(not(target_arch = "x86_64"))]
            return seen.vcode.clone().unwrap_or_default();
        });
        if let Some(perf) = watch.perf {
            perf.add(&self.label, &self.proto, code, &self.pieces);
        }
        let figures = &watch.figures;
        let kind = if self.label.entry.is_some() { Figure::Loops } else { Figure::Functions };
        figures.add(kind, 1);
        figures.add(Figure::Bytecodes, self.proto.code.len() as u64);
        figures.add(Figure::CodeBytes, code.bytes.len() as u64);
        let kept = self.kept + size_of_val(&*self.pieces);
        figures.add(Figure::MetadataBytes, (BOOKKEEPING + kept) as u64);
        if !watch.named {
            return None;
        }
        let label = self.label.to_string();
        let debugger = watch.gdb.then(|| {
            let loops = if self.label.entry.is_some() { " loop" } else { "" };
            let short = format!("{}{loops}", self.label.name);
            gdb::Registration::new(&Described {
                name: &label,
                short: &short,
                address: code.address as u64,
                size: code.bytes.len() as u64,
                source: file(&self.proto).as_deref().map(|f| (f, self.proto.line_defined)),
                lines: &lines(&self.proto, &self.pieces),
            })
        });
        let pieces = std::mem::take(&mut self.pieces);
        Some(VersionInfo { label, pieces, _debugger: debugger })
    }

    /// The method is refused. A malformed translation is a bug of the compiler, though it would
    /// cost speed only: it ends the process where bugs are looked for.
    pub(crate) fn refused(&self, reason: &Refusal) {
        let watch = self.watch;
        let is_strict = cfg!(debug_assertions) || watch.verify_values;
        if is_strict
            && watch.fault != Some(Fault::Malformed)
            && matches!(reason, Refusal::Verifier(_))
        {
            let _ = writeln!(std::io::stderr(), "perilune: {}: {reason}", self.label);
            std::process::abort();
        }
        self.watch.refused(|| self.label.clone(), reason);
    }
}

impl Drop for Observation<'_> {
    fn drop(&mut self) {
        // what is compiled together waits for each other: that is nobody's time
        let end = self.compiled.unwrap_or_else(perf::thread_time);
        let figures = &self.watch.figures;
        figures.add(Figure::Nanoseconds, end - self.begun);
        figures.raise(Figure::LongestNanoseconds, end - self.begun);
        if let Some(translated) = self.translated {
            figures.add(Figure::TranslateNanoseconds, translated - self.begun);
            figures.add(Figure::BackendNanoseconds, end - translated);
        }
        if !self.text.is_empty() {
            // `eprint` would panic where nobody listens
            let _ = std::io::stderr().write_all(self.text.as_bytes());
        }
    }
}
