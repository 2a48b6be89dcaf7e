//! How methods are compiled.

use perilune_bytecode::Proto;
use perilune_code::Region;
use perilune_runtime::chaos::Chaos;

use crate::observe::dump::DumpRequest;
use crate::observe::perf::Perf;
use crate::testing::fault::Fault;
use crate::testing::mix::{Fixed, tier_of};

/// How methods are compiled.
#[derive(Clone, Debug)]
pub struct JitOptions {
    /// The number of entries after which a method is compiled.
    pub threshold: u32,
    /// The number of iterations of a loop after which an OSR entry into it is compiled.
    pub loop_threshold: u32,
    /// The number of entries after which the baseline compiler stitches the code of a function; it
    /// does so earlier if a loop reaches its threshold. `u32::MAX` means never.
    pub stitch_threshold: u32,
    /// Bytes of machine code beyond which functions must be hotter to be stitched: with `n` times
    /// this amount of code, about `n²` times as hot. The code that a program executes between two
    /// runs of a function should fit into the processor's caches, of which stitched code takes much
    /// more than the handlers of the interpreter.
    pub stitch_footprint: usize,
    /// Whether hot methods are compiled by the optimizing compiler.
    pub optimize: bool,
    /// The number of misses of compiled code (executions with operands for which it was not
    /// compiled) after which recompiling the method is considered. It is multiplied by four each
    /// time.
    pub miss_threshold: u32,
    /// Whether functions are inlined.
    pub inline: bool,
    /// Whether code that was never executed is left to the interpreter, which collects feedback for
    /// it until it becomes hot.
    pub prune: bool,
    /// Whether compiling is synchronous: the thread that runs the program compiles, or waits for a
    /// compile thread unless the program has to stop.
    pub sync: bool,
    /// Bytes of executable memory; a larger number than [`JitOptions::MAX_BUDGET`] counts as that.
    pub budget: usize,
    /// Whether hot functions that call each other are compiled together, if they are waiting at the
    /// same time. Calls between them are then direct, but none of them can run until all are
    /// compiled.
    pub group_hot: bool,
    /// The maximum number of functions that are compiled together.
    pub partition_max_funcs: usize,
    /// The maximum size of functions that are compiled together, in bytes of code, according to
    /// estimates.
    pub partition_max_bytes: usize,
    /// The maximum processor time that compiling may take, in percent of the time that the other
    /// threads of the process use, in addition to an initial allowance of 30 ms. This limits
    /// background compiles of hot functions. They are also limited to 10 ms plus twice the time
    /// that the interpreter has spent in such functions. `None` removes both limits.
    pub share: Option<u32>,
    /// The number of threads that compile; 0 chooses it by the number of cores.
    pub workers: usize,
    /// Whether Cranelift's verifier runs on all generated IR.
    pub verify: bool,
    /// Whether code compares the values that it holds for registers and tables with the frame and
    /// the heap while it runs. A mismatch aborts the process, after a line on standard error that
    /// gives the place. This is for tests of the compiler.
    pub verify_values: bool,
    /// Whether guards fail although their conditions hold, as determined by the state
    /// (`State::exit_stress`). This is for tests of side exits.
    pub stress_exits: bool,
    /// Whether stitched code speculates on the kinds of operands where there is no feedback yet.
    /// This is for tests of the stencils, and of the transitions between them.
    pub speculate_unseen: bool,
    /// If set, each function stays in one tier, which is determined by this seed and by the source
    /// position of the function. This is for tests of calls between tiers.
    pub mix: Option<u64>,
    /// Whether code counts instructions, for states that limit them (`State::counts`).
    pub counts: bool,
    /// Dumps to write to standard error as functions are compiled.
    pub dump: Vec<DumpRequest>,
    /// The kind of file to write for `perf`, if any.
    pub perf: Option<Perf>,
    /// Whether code, including stitched code, is registered with debuggers.
    pub gdb: bool,
    /// Whether the names that [`Jit::report`](crate::Jit::report) shows are kept.
    pub stats: bool,
    /// The fault to inject, for tests.
    #[doc(hidden)]
    pub fault: Option<Fault>,
}

impl Default for JitOptions {
    fn default() -> JitOptions {
        JitOptions {
            threshold: 512,
            loop_threshold: 2048,
            stitch_threshold: 128,
            stitch_footprint: 256 << 10,
            optimize: true,
            miss_threshold: 64,
            inline: true,
            prune: true,
            sync: false,
            budget: 64 << 20,
            group_hot: false,
            partition_max_funcs: 100,
            partition_max_bytes: 256 << 10,
            share: Some(15),
            workers: 0,
            verify: cfg!(debug_assertions),
            verify_values: false,
            stress_exits: false,
            speculate_unseen: false,
            mix: None,
            counts: false,
            dump: Vec::new(),
            perf: None,
            gdb: false,
            stats: false,
            fault: None,
        }
    }
}

impl JitOptions {
    /// The largest [`JitOptions::budget`].
    pub const MAX_BUDGET: usize = Region::MAX_BUDGET;

    /// Returns whether a function may have code of this tier.
    pub(crate) fn allows(&self, proto: &Proto, tier: Fixed) -> bool {
        self.mix.is_none_or(|seed| tier_of(seed, proto) == tier)
    }

    /// Returns options that use only the baseline compiler.
    pub fn baseline() -> JitOptions {
        JitOptions {
            loop_threshold: 1024,
            stitch_threshold: 256,
            optimize: false,
            ..JitOptions::default()
        }
    }

    /// Returns options that use only the baseline compiler, and use it early, at the second entry
    /// of a function.
    pub fn eager_baseline() -> JitOptions {
        JitOptions {
            loop_threshold: 64,
            stitch_threshold: 2,
            stitch_footprint: usize::MAX,
            ..JitOptions::baseline()
        }
    }

    /// Returns options that compile early and without limits, so that even the code of short
    /// programs is compiled and replaced while they run.
    pub fn eager() -> JitOptions {
        JitOptions {
            threshold: 32,
            loop_threshold: 1024,
            stitch_threshold: 8,
            stitch_footprint: usize::MAX,
            share: None,
            ..JitOptions::default()
        }
    }

    /// Returns options that use only the baseline compiler and depend on a seed: the thresholds,
    /// and the budget, which is often too small for a program.
    pub fn baseline_chaos(seed: u64) -> JitOptions {
        let bits = Chaos::new(seed).draw();
        JitOptions {
            loop_threshold: 1 + (bits >> 32 & 127) as u32,
            stitch_threshold: 1 + (bits & 7) as u32,
            stitch_footprint: usize::MAX,
            budget: if bits >> 10 & 1 == 0 { 8 << 10 } else { 16 << 20 },
            // nothing limits how often code is evicted
            share: None,
            ..JitOptions::baseline()
        }
    }

    /// Returns options that depend on a seed: thresholds, the threads that compile, and the budget.
    pub fn chaos(seed: u64) -> JitOptions {
        let bits = Chaos::new(seed).draw();
        JitOptions {
            threshold: 1 + (bits & 7) as u32,
            loop_threshold: 1 + (bits >> 32 & 127) as u32,
            miss_threshold: 1 << (bits >> 16 & 7),
            sync: bits >> 8 & 3 != 0,
            budget: if bits >> 10 & 7 == 0 { 256 << 10 } else { 16 << 20 },
            verify: true,
            verify_values: bits >> 24 & 3 == 0,
            stitch_threshold: if bits >> 27 & 1 == 0 {
                1 + (bits >> 28 & 7) as u32
            } else {
                u32::MAX
            },
            group_hot: bits >> 26 & 1 == 0,
            speculate_unseen: bits >> 31 & 1 == 0,
            ..JitOptions::eager()
        }
    }
}
