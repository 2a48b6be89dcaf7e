//! What compiling costs, what inline caches looked like when it happened, and who was refused why.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use perilune_bytecode::Feedback;
use perilune_code::Version;
use perilune_runtime::instance::{FieldEntry, Instance};

use crate::snapshot::{FieldPath, FieldSnapshot, Snapshot};

impl Snapshot {
    /// About how many bytes it takes.
    pub(crate) fn bytes(&self) -> usize {
        let paths = |field: &FieldSnapshot| field.paths.capacity() * size_of::<FieldPath>();
        size_of::<Snapshot>()
            + size_of_val(&*self.cells)
            + size_of_val(&*self.fields)
            + self.fields.iter().map(paths).sum::<usize>()
    }
}

/// How many refusals are kept with name and reason; all are counted.
const KEPT_REFUSALS: usize = 32;

/// A full field cache that missed this often serves more tables than it has entries.
const MEGAMORPHIC: u32 = 8;

/// Bytes of bookkeeping of one version: itself, its module and its entries in the maps. Shared metadata comes on top.
pub(crate) const BOOKKEEPING: usize =
    size_of::<Version>() + size_of::<perilune_code::Module>() + 2 * (16 + size_of::<[usize; 5]>());

macro_rules! figures {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// Something that is counted.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Figure { $($(#[$doc])* $name,)* }

        /// Their names.
        const NAMES: &[&str] = &[$($text,)*];
    };
}

figures! {
    /// Functions compiled, from their first instruction on.
    Functions = "functions compiled",
    /// Loops compiled, to be entered in their middle.
    Loops = "loops compiled",
    /// Instructions of bytecode in both.
    Bytecodes = "bytecodes compiled",
    /// Bytes of their machine code.
    CodeBytes = "code bytes compiled",
    /// Bytes of what is kept beside it.
    MetadataBytes = "metadata bytes compiled",
    /// Processor time of all compiles, those included that failed.
    Nanoseconds = "compile ns",
    /// Of that, from bytecode to Cranelift IR.
    TranslateNanoseconds = "compile ns: translate",
    /// Of that, Cranelift's.
    BackendNanoseconds = "compile ns: backend",
    /// The rest: placing and publishing modules.
    PlaceNanoseconds = "compile ns: place",
    /// The longest compile of a function.
    LongestNanoseconds = "compile ns: longest",
    /// Versions of the method that had most of them.
    MostVersions = "most versions of one method",
    /// Functions and loops in the module that had most of them.
    LargestModule = "largest module",
    /// Field caches that had seen nothing.
    FieldsUnused = "field caches unused",
    /// Field caches with one entry.
    FieldsMonomorphic = "field caches monomorphic",
    /// Field caches with several entries.
    FieldsPolymorphic = "field caches polymorphic",
    /// Field caches that were full and missed on.
    FieldsMegamorphic = "field caches megamorphic",
    /// Calls not made yet.
    CalleesUnused = "call sites unused",
    /// Calls of one callee.
    CalleesMonomorphic = "call sites monomorphic",
    /// Calls of several.
    CalleesPolymorphic = "call sites polymorphic",
    /// Globals not read or written yet.
    GlobalsUnused = "global caches unused",
    /// Globals whose cell was known.
    GlobalsFilled = "global caches filled",
    /// Operators and accesses that had seen nothing.
    OperandsUnused = "operand cells unused",
    /// Operators and accesses that had seen one kind of operands.
    OperandsMonomorphic = "operand cells monomorphic",
    /// Operators and accesses that had seen several.
    OperandsPolymorphic = "operand cells polymorphic",
}

/// The figures of one engine.
pub(crate) struct Figures {
    counts: [AtomicU64; NAMES.len()],
    refused: Mutex<VecDeque<String>>,
}

impl Default for Figures {
    fn default() -> Figures {
        let counts = [const { AtomicU64::new(0) }; NAMES.len()];
        Figures { counts, refused: Mutex::default() }
    }
}

impl Figures {
    pub(crate) fn add(&self, figure: Figure, n: u64) {
        self.counts[figure as usize].fetch_add(n, Relaxed);
    }

    pub(crate) fn raise(&self, figure: Figure, to: u64) {
        self.counts[figure as usize].fetch_max(to, Relaxed);
    }

    fn get(&self, figure: Figure) -> u64 {
        self.counts[figure as usize].load(Relaxed)
    }

    /// All of them by name.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        NAMES.iter().zip(&self.counts).map(|(name, count)| (*name, count.load(Relaxed)))
    }

    /// Counts what the caches of a function have seen that is about to be compiled.
    ///
    /// # Safety
    /// `inst` is a live instance of the state that runs on this thread.
    pub(crate) unsafe fn note_caches(&self, inst: *mut Instance) {
        for cache in (*inst).field_caches() {
            let used = |e: &&FieldEntry| {
                e.own_shape != FieldEntry::NO_SHAPE || e.chain_shape != FieldEntry::NO_SHAPE
            };
            let more = cache.more.as_deref().map_or(&[][..], |more| &more[..]);
            let figure = match std::iter::once(&cache.first).chain(more).filter(used).count() {
                0 => Figure::FieldsUnused,
                1 => Figure::FieldsMonomorphic,
                4 if cache.misses >= MEGAMORPHIC => Figure::FieldsMegamorphic,
                _ => Figure::FieldsPolymorphic,
            };
            self.add(figure, 1);
        }
        for cache in (*inst).callee_caches() {
            self.add(
                match (cache.callee, cache.others) {
                    (0, _) => Figure::CalleesUnused,
                    (_, 0) => Figure::CalleesMonomorphic,
                    _ => Figure::CalleesPolymorphic,
                },
                1,
            );
        }
        for cache in (*inst).global_caches() {
            let used = !cache.env.is_null();
            self.add(if used { Figure::GlobalsFilled } else { Figure::GlobalsUnused }, 1);
        }
        for (instr, cell) in (&(*inst).proto).code.iter().zip((*inst).cells()) {
            if !matches!(instr.op().feedback(), Feedback::Operands | Feedback::Access) {
                continue;
            }
            let figure = match cell.count_ones() {
                0 => Figure::OperandsUnused,
                1 => Figure::OperandsMonomorphic,
                _ => Figure::OperandsPolymorphic,
            };
            self.add(figure, 1);
        }
    }

    /// Keeps a refusal for the report.
    pub(crate) fn note_refusal(&self, text: String) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if refused.len() == KEPT_REFUSALS {
            refused.pop_front();
        }
        refused.push_back(text);
    }

    /// What compiling cost on the average, and the last refusals, as text.
    pub(crate) fn summary(&self) -> String {
        let mut out = String::new();
        let bytecodes = self.get(Figure::Bytecodes);
        let mut per_bytecode = |figure: Figure, divisor: f64, what: &str| {
            let n = if bytecodes == 0 { 0.0 } else { self.get(figure) as f64 / bytecodes as f64 };
            let _ = writeln!(out, "{:>16.2}  {what} per bytecode", n / divisor);
        };
        per_bytecode(Figure::Nanoseconds, 1e3, "compile us");
        per_bytecode(Figure::CodeBytes, 1.0, "code bytes");
        per_bytecode(Figure::MetadataBytes, 1.0, "metadata bytes");
        for text in self.refused.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let _ = writeln!(out, "refused {text}");
        }
        out
    }
}

/// Figures by name as text, a line each.
pub(crate) fn table(figures: &[(&'static str, u64)]) -> String {
    figures.iter().map(|(name, n)| format!("{n:>16}  {name}\n")).collect()
}
