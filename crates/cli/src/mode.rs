//! The modes in which tests run programs. The test of the corpus (`crates/cli/tests/lang.rs`)
//! includes this file, so it runs every mode that the command has.

macro_rules! modes {
    ($($(#[$doc:meta])+ $mode:ident $word:literal;)+) => {
        /// How the state behaves; for tests.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
        pub(crate) enum Mode {
            /// Normal behavior.
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
    /// No method is compiled.
    Off "off";
    /// Like `off`, with the portable loop of the interpreter in place of the generated handlers.
    Portable "portable";
    /// Every method is stitched at its first call.
    BaselineSync "baseline-sync";
    /// Like `chaos`, with stitched code alone.
    BaselineChaos "baseline-chaos";
    /// Every method is optimized at its first call, without feedback.
    Unprofiled "unprofiled";
    /// Every method is optimized early.
    Tier2Sync "tier2-sync";
    /// Like `tier2-sync`, but each method stays in one tier, determined by the seed in
    /// `PERILUNE_CHAOS_SEED`.
    MixedTiers "mixed-tiers";
    /// Hot methods are compiled by other threads.
    Background "background";
    /// Safepoints take random actions, determined by the seed in `PERILUNE_CHAOS_SEED`.
    Chaos "chaos";
    /// The collector runs at each safepoint that follows an allocation.
    GcStress "gc-stress";
    /// The modes `tier2-sync`, `gc-stress` and `small-stack` together.
    Tier2GcStress "tier2-gc-stress";
    /// The modes `tier2-sync` and `gc-phases` together.
    Tier2GcPhases "tier2-gc-phases";
    /// The mode `tier2-sync`, with code that checks itself.
    CheckValues "check-values";
    /// The mode `tier2-sync`, with guards that fail although their conditions hold, determined by
    /// the seed in `PERILUNE_CHAOS_SEED`.
    ExitStress "exit-stress";
    /// Each safepoint performs a tiny increment of the collector's work, in a phase and mode
    /// determined by the seed in `PERILUNE_CHAOS_SEED`.
    GcPhases "gc-phases";
    /// Stacks grow by no more than necessary.
    SmallStack "small-stack";
}
