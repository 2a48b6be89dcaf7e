//! The modes in which tests run programs. The test of the corpus (`crates/cli/tests/lang.rs`)
//! includes this file, so it runs every mode that the command has.

macro_rules! modes {
    ($($(#[$doc:meta])+ $mode:ident $word:literal;)+) => {
        /// How the state is to behave; for tests.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
        pub(crate) enum Mode {
            /// As always.
            #[default]
            Default,
            $($(#[$doc])+ $mode,)+
        }

        impl Mode {
            /// The modes that `--mode` selects, by the words that it takes.
            pub(crate) const ALL: &[(&str, Mode)] = &[$(($word, Mode::$mode)),+];
        }
    };
}

modes! {
    /// Nothing is compiled.
    Off "off";
    /// The same, by the portable loop of the interpreter in place of the generated handlers.
    Portable "portable";
    /// Every method is stitched at its first call.
    BaselineSync "baseline-sync";
    /// Every method is compiled at its first call.
    Tier1Sync "tier1-sync";
    /// Compile every method early, by tier 2.
    Tier2Sync "tier2-sync";
    /// Hot methods are compiled by other threads.
    Background "background";
    /// As `tier1-sync`, with code that checks itself and Cranelift's verifier.
    CheckValues "check-values";
    /// What happens at safepoints is decided at random, from the seed in `PERILUNE_CHAOS_SEED`.
    Chaos "chaos";
    /// As `tier1-sync`, `gc-stress` and `small-stack` together.
    Tier1GcStress "tier1-gc-stress";
    /// Collect after every allocation.
    GcStress "gc-stress";
    /// As `tier1-sync` and `gc-phases` together.
    Tier1GcPhases "tier1-gc-phases";
    /// As `tier2-sync`, `gc-stress` and `small-stack` together.
    Tier2GcStress "tier2-gc-stress";
    /// As `tier2-sync` and `gc-phases` together.
    Tier2GcPhases "tier2-gc-phases";
    /// As `tier2-sync`, with code that checks itself.
    Tier2CheckValues "tier2-check-values";
    /// Each safepoint does a tiny increment of the collector's work, in any phase and mode, by the
    /// seed in `PERILUNE_CHAOS_SEED`.
    GcPhases "gc-phases";
    /// Stacks grow by what is needed only.
    SmallStack "small-stack";
}
