//! Metrics of compilation: its costs, the state of inline caches at the time, and refusals.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use perilune_bytecode::Feedback;
use perilune_code::Version;
use perilune_code::lock::{Mutex, lock};
use perilune_runtime::instance::{EntryKind, FieldEntry, Instance};

use crate::feedback::snapshot::{FieldPath, FieldSnapshot, Snapshot};

impl Snapshot {
    /// Returns the approximate size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let paths = |field: &FieldSnapshot| field.paths.capacity() * size_of::<FieldPath>();
        size_of::<Snapshot>()
            + size_of_val(&*self.cells)
            + size_of_val(&*self.fields)
            + self.fields.iter().map(paths).sum::<usize>()
    }
}

/// The number of refusals that are kept with name and reason. All are counted.
const KEPT_REFUSALS: usize = 32;

/// Bytes of bookkeeping of one version: itself, its module and its entries in the maps. Shared
/// metadata is extra.
pub(crate) const BOOKKEEPING: usize =
    size_of::<Version>() + size_of::<perilune_code::Module>() + 2 * (16 + size_of::<[usize; 5]>());

macro_rules! metrics {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// A metric.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Metric { $($(#[$doc])* $name,)* }

        /// The names of all metrics.
        const NAMES: &[&str] = &[$($text,)*];
    };
}

metrics! {
    /// Functions compiled.
    Functions = "functions compiled",
    /// OSR entries compiled.
    Loops = "loops compiled",
    /// Bytecode instructions in both.
    Bytecodes = "bytecodes compiled",
    /// Bytes of their machine code.
    CodeBytes = "code bytes compiled",
    /// Bytes of its metadata.
    MetadataBytes = "metadata bytes compiled",
    /// Processor time of all compiles, including failed ones.
    Nanoseconds = "compile ns",
    /// The part of it from bytecode to Cranelift IR.
    TranslateNanoseconds = "compile ns: translate",
    /// The part of it in Cranelift.
    BackendNanoseconds = "compile ns: backend",
    /// The rest of it: placing and publishing modules.
    PlaceNanoseconds = "compile ns: place",
    /// The longest compile of a function.
    LongestNanoseconds = "compile ns: longest",
    /// Functions stitched.
    FunctionsStitched = "functions stitched",
    /// Bytecode instructions in them.
    BytecodesStitched = "bytecodes stitched",
    /// Bytes of their machine code.
    StitchedBytes = "code bytes stitched",
    /// Wall-clock time of stitching and placing them.
    StitchNanoseconds = "stitch ns",
    /// The part of it before they are placed.
    PlanNanoseconds = "stitch ns: plan and fill",
    /// Versions of the method with the most versions.
    MostVersions = "most versions of one method",
    /// Functions and loops in the module with the most of them.
    LargestModule = "largest module",
    /// Field caches without entries.
    FieldsUnused = "field caches unused",
    /// Field caches with one entry.
    FieldsMonomorphic = "field caches monomorphic",
    /// Field caches with several entries.
    FieldsPolymorphic = "field caches polymorphic",
    /// Full field caches that keep missing.
    FieldsMegamorphic = "field caches megamorphic",
    /// Calls that were never executed.
    CalleesUnused = "call sites unused",
    /// Calls of one callee.
    CalleesMonomorphic = "call sites monomorphic",
    /// Calls of several callees.
    CalleesPolymorphic = "call sites polymorphic",
    /// Accesses of globals that were never executed.
    GlobalsUnused = "global caches unused",
    /// Accesses of globals whose cell was cached.
    GlobalsFilled = "global caches filled",
    /// Operators and accesses that were never executed.
    OperandsUnused = "operand cells unused",
    /// Operators and accesses with one kind of operands.
    OperandsMonomorphic = "operand cells monomorphic",
    /// Operators and accesses with several kinds of operands.
    OperandsPolymorphic = "operand cells polymorphic",
}

/// The metrics of one engine.
pub(crate) struct Metrics {
    counts: [AtomicU64; NAMES.len()],
    refused: Mutex<VecDeque<String>>,
}

impl Default for Metrics {
    fn default() -> Metrics {
        let counts = [const { AtomicU64::new(0) }; NAMES.len()];
        Metrics { counts, refused: Mutex::default() }
    }
}

impl Metrics {
    pub(crate) fn add(&self, metric: Metric, n: u64) {
        self.counts[metric as usize].fetch_add(n, Relaxed);
    }

    pub(crate) fn raise(&self, metric: Metric, to: u64) {
        self.counts[metric as usize].fetch_max(to, Relaxed);
    }

    fn get(&self, metric: Metric) -> u64 {
        self.counts[metric as usize].load(Relaxed)
    }

    /// Returns all metrics by name.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        NAMES.iter().zip(&self.counts).map(|(name, count)| (*name, count.load(Relaxed)))
    }

    /// Counts the caches of a function that is about to be compiled, by the state that they are in.
    ///
    /// # Safety
    /// `inst` is a live instance of the state that runs on this thread.
    pub(crate) unsafe fn note_caches(&self, inst: *mut Instance) {
        for cache in (*inst).field_caches() {
            let used = |e: &&FieldEntry| e.kind() != EntryKind::Unused;
            let metric = match cache.entries().filter(used).count() {
                0 => Metric::FieldsUnused,
                1 => Metric::FieldsMonomorphic,
                _ if cache.is_megamorphic() => Metric::FieldsMegamorphic,
                _ => Metric::FieldsPolymorphic,
            };
            self.add(metric, 1);
        }
        for cache in (*inst).callee_caches() {
            self.add(
                match (cache.callee, cache.others) {
                    (0, _) => Metric::CalleesUnused,
                    (_, 0) => Metric::CalleesMonomorphic,
                    _ => Metric::CalleesPolymorphic,
                },
                1,
            );
        }
        for cache in (*inst).global_caches() {
            let used = !cache.env.is_null();
            self.add(if used { Metric::GlobalsFilled } else { Metric::GlobalsUnused }, 1);
        }
        for (instr, cell) in (&(*inst).proto).code.iter().zip((*inst).cells()) {
            if !matches!(instr.op().feedback(), Feedback::Operands | Feedback::Access) {
                continue;
            }
            let metric = match cell.count_ones() {
                0 => Metric::OperandsUnused,
                1 => Metric::OperandsMonomorphic,
                _ => Metric::OperandsPolymorphic,
            };
            self.add(metric, 1);
        }
    }

    /// Keeps a refusal for the report.
    pub(crate) fn note_refusal(&self, text: String) {
        let mut refused = lock(&self.refused);
        if refused.len() == KEPT_REFUSALS {
            refused.pop_front();
        }
        refused.push_back(text);
    }

    /// Returns the average costs of compiling and the last refusals, as text.
    pub(crate) fn summary(&self) -> String {
        let mut out = String::new();
        let bytecodes = self.get(Metric::Bytecodes);
        let mut per_bytecode = |metric: Metric, divisor: f64, what: &str| {
            let n = if bytecodes == 0 { 0.0 } else { self.get(metric) as f64 / bytecodes as f64 };
            let _ = writeln!(out, "{:>16.2}  {what} per bytecode", n / divisor);
        };
        per_bytecode(Metric::Nanoseconds, 1e3, "compile us");
        per_bytecode(Metric::CodeBytes, 1.0, "code bytes");
        per_bytecode(Metric::MetadataBytes, 1.0, "metadata bytes");
        for text in lock(&self.refused).iter() {
            let _ = writeln!(out, "refused {text}");
        }
        out
    }
}

/// Formats metrics, a line each.
pub(crate) fn table(metrics: &[(&'static str, u64)]) -> String {
    metrics.iter().map(|(name, n)| format!("{n:>16}  {name}\n")).collect()
}
