//! The options for whether and how programs are compiled to machine code, and for showing that
//! code.

use perilune::{DumpKind, DumpRequest, Engine, JitOptions, Perf, report_at_exit};

use crate::mode::Mode;

/// Which methods are compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tier {
    /// Nothing.
    Off,
    /// Methods, by the baseline compiler.
    Baseline,
    /// Hot methods, by the optimizing compiler.
    On,
}

impl Tier {
    /// All tiers.
    const ALL: [Tier; 3] = [Tier::Off, Tier::Baseline, Tier::On];

    /// Returns the word that selects the tier.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Tier::Off => "off",
            Tier::Baseline => "baseline",
            Tier::On => "on",
        }
    }
}

/// The tier that is used if no option selects one.
pub(crate) const DEFAULT_TIER: Tier =
    if Engine::COMPILES_BY_DEFAULT { Tier::On } else { Tier::Off };

/// The threshold of a loop in iterations is this multiple of the threshold of a function in
/// entries.
const ROUNDS_PER_ENTRY: u32 = 4;

/// The choices on the command line that concern the compiler. Without a choice, the default of the
/// mode or else that of the engine applies.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct JitChoices {
    tier: Option<Tier>,
    sync: bool,
    threshold: Option<u32>,
    budget: Option<usize>,
    workers: Option<usize>,
    share: Option<u32>,
    max_funcs: Option<usize>,
    max_bytes: Option<usize>,
    /// Whether programs are compiled before they run.
    pub(crate) precompile: bool,
    no_inlining: bool,
    verify: bool,
    verify_values: bool,
    stats: bool,
    perf: Option<Perf>,
    gdb: bool,
    /// What to show. If only bytecode is requested, it is listed and the program does not run.
    pub(crate) dump: Vec<DumpRequest>,
}

impl JitChoices {
    /// Returns whether compiled code is shown or recorded.
    pub(crate) fn shows(&self) -> bool {
        self.stats || self.gdb || self.perf.is_some() || !self.dump.is_empty()
    }

    /// Reads an option. Returns whether it is one of these.
    ///
    /// # Errors
    /// Returns what is wrong with the option's value.
    pub(crate) fn option(&mut self, word: &str) -> Result<bool, String> {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        match (name, value) {
            ("--jit", Some(value)) => self.tier = Some(tier(value)?),
            ("--jit-sync", None) => self.sync = true,
            ("--jit-threshold", Some(value)) => self.threshold = Some(number(value, 1, 1 << 30)?),
            ("--jit-budget", Some(value)) => self.budget = Some(size(value)?),
            ("--jit-workers", Some(value)) => {
                self.workers = Some(number(value, 1, 1024)? as usize);
            }
            ("--jit-share", Some(value)) => self.share = Some(number(value, 0, 1 << 20)?),
            ("--jit-partition-max-funcs", Some(value)) => {
                self.max_funcs = Some(number(value, 1, 1 << 20)? as usize);
            }
            ("--jit-partition-max-bytes", Some(value)) => self.max_bytes = Some(size(value)?),
            ("--jit-precompile", None) => self.precompile = true,
            ("--jit-no-inlining", None) => self.no_inlining = true,
            ("--jit-verify", None) => self.verify = true,
            ("--jit-verify-values", None) => self.verify_values = true,
            ("--jit-stats", None) => self.stats = true,
            ("--perf", None) => self.perf = Some(Perf::Map),
            ("--perf", Some("map")) => self.perf = Some(Perf::Map),
            ("--perf", Some("jitdump")) => self.perf = Some(Perf::Jitdump),
            ("--perf", Some(other)) => {
                return Err(format!("'{other}' is neither 'map' nor 'jitdump'"));
            }
            ("--gdb", None) => self.gdb = true,
            ("--dump", Some(list)) => {
                for item in list.split(',') {
                    self.dump.push(item.parse()?);
                }
            }
            ("--jit-why", Some(function)) => self.dump.push(format!("why:{function}").parse()?),
            (
                "--jit"
                | "--jit-why"
                | "--jit-threshold"
                | "--jit-budget"
                | "--jit-workers"
                | "--jit-share"
                | "--jit-partition-max-funcs"
                | "--jit-partition-max-bytes"
                | "--dump",
                None,
            ) => {
                return Err("it needs a value: '='".to_owned());
            }
            (
                "--jit-sync"
                | "--jit-no-inlining"
                | "--jit-verify"
                | "--jit-verify-values"
                | "--jit-precompile"
                | "--jit-stats"
                | "--gdb",
                Some(_),
            ) => {
                return Err("it takes no value".to_owned());
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Returns whether the options request output that only the compiler can show.
    pub(crate) fn needs_code(&self) -> bool {
        self.dump.iter().any(|d| d.kind != DumpKind::Bytecode) || self.perf.is_some() || self.gdb
    }

    fn tier(&self, mode: Mode) -> Tier {
        self.tier.unwrap_or(match mode {
            Mode::Default => DEFAULT_TIER,
            Mode::Off | Mode::Portable | Mode::GcStress | Mode::GcPhases | Mode::SmallStack => {
                Tier::Off
            }
            Mode::Unprofiled
            | Mode::Tier2Sync
            | Mode::MixedTiers
            | Mode::Tier2GcStress
            | Mode::Tier2GcPhases
            | Mode::CheckValues
            | Mode::ExitStress
            | Mode::Background
            | Mode::Chaos => Tier::On,
            Mode::BaselineSync | Mode::BaselineChaos => Tier::Baseline,
        })
    }

    /// Checks the combination of options.
    ///
    /// # Errors
    /// Returns an error if they contradict each other.
    pub(crate) fn check(&self, mode: Mode) -> Result<(), String> {
        if self.tier(mode) == Tier::Off && self.needs_code() {
            let what = if self.perf.is_some() {
                "--perf"
            } else if self.gdb {
                "--gdb"
            } else {
                "--dump"
            };
            return Err(format!("{what} shows machine code, and there is none: add --jit=on"));
        }
        Ok(())
    }

    /// Creates the engine that was chosen.
    pub(crate) fn engine(&self, mode: Mode) -> Engine {
        let engine = match self.tier(mode) {
            Tier::Off => Engine::interpreter(),
            Tier::Baseline | Tier::On => Engine::with_jit(self.jit_options(mode)),
        };
        if self.stats {
            report_at_exit(&engine);
        }
        engine
    }

    fn jit_options(&self, mode: Mode) -> JitOptions {
        let mut o = JitOptions {
            dump: self.dump.clone(),
            perf: self.perf,
            gdb: self.gdb,
            stats: self.stats,
            ..match mode {
                Mode::Chaos => JitOptions::chaos(chaos_seed()),
                Mode::BaselineChaos => JitOptions::baseline_chaos(chaos_seed()),
                Mode::Background => JitOptions::eager(),
                _ if self.tier(mode) == Tier::Baseline => JitOptions::baseline(),
                _ => JitOptions::default(),
            }
        };
        if mode == Mode::Unprofiled {
            (o.threshold, o.loop_threshold, o.sync, o.prune) = (1, 1, true, false);
            o.stitch_threshold = u32::MAX;
        }
        if mode == Mode::BaselineSync {
            (o.stitch_threshold, o.loop_threshold, o.speculate_unseen) = (1, 1, true);
            o.stitch_footprint = usize::MAX;
        }
        let is_early = match mode {
            Mode::Tier2Sync | Mode::Tier2GcStress | Mode::Tier2GcPhases => true,
            Mode::MixedTiers => {
                o.mix = Some(chaos_seed());
                true
            }
            Mode::CheckValues => {
                o.verify_values = true;
                true
            }
            Mode::ExitStress => {
                o.stress_exits = true;
                true
            }
            _ => false,
        };
        if is_early {
            // compile with little feedback, and recompile soon when execution deviates from it
            (o.threshold, o.loop_threshold, o.miss_threshold, o.sync) = (2, 4, 4, true);
            (o.stitch_threshold, o.verify) = (u32::MAX, true);
        }
        if o.mix.is_some() {
            (o.stitch_threshold, o.stitch_footprint) = (2, usize::MAX);
        }
        if let Some(threshold) = self.threshold {
            if self.tier(mode) == Tier::Baseline {
                o.stitch_threshold = threshold;
            } else {
                o.threshold = threshold;
            }
            o.loop_threshold = threshold.saturating_mul(ROUNDS_PER_ENTRY).min(1 << 30);
        }
        o.sync |= self.sync;
        o.inline &= !self.no_inlining;
        o.verify |= self.verify;
        o.verify_values |= self.verify_values;
        o.budget = self.budget.unwrap_or(o.budget);
        o.workers = self.workers.unwrap_or(o.workers);
        if let Some(share) = self.share {
            o.share = Some(share).filter(|&share| share > 0);
        }
        o.group_hot |= self.max_funcs.is_some_and(|funcs| funcs > 1);
        o.partition_max_funcs = self.max_funcs.unwrap_or(o.partition_max_funcs);
        o.partition_max_bytes = self.max_bytes.unwrap_or(o.partition_max_bytes);
        o
    }
}

/// Returns the seed of the modes that need one: the variable `PERILUNE_CHAOS_SEED`, or 1.
pub(crate) fn chaos_seed() -> u64 {
    std::env::var("PERILUNE_CHAOS_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(1)
}

fn tier(value: &str) -> Result<Tier, String> {
    let tier = Tier::ALL.into_iter().find(|t| t.name() == value);
    tier.ok_or_else(|| format!("'{value}' is none of 'off', 'baseline' and 'on'"))
}

fn number(value: &str, min: u32, max: u32) -> Result<u32, String> {
    let wrong = || format!("'{value}' is no number from {min} to {max}");
    let n = value.parse().map_err(|_| wrong())?;
    if (min..=max).contains(&n) { Ok(n) } else { Err(wrong()) }
}

/// Parses a number of bytes; `k`, `m` and `g` stand for powers of 1024.
fn size(value: &str) -> Result<usize, String> {
    let wrong = || format!("'{value}' is no number of bytes up to 2g (such as 65536, 512k or 64m)");
    let (digits, shift) = match value.as_bytes().last().map(u8::to_ascii_lowercase) {
        Some(b'k') => (&value[..value.len() - 1], 10),
        Some(b'm') => (&value[..value.len() - 1], 20),
        Some(b'g') => (&value[..value.len() - 1], 30),
        _ => (value, 0),
    };
    let n: usize = digits.parse().map_err(|_| wrong())?;
    n.checked_mul(1 << shift).filter(|n| *n <= JitOptions::MAX_BUDGET).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::{JitChoices, JitOptions, Perf, Tier, size};

    fn choices(line: &str) -> Result<JitChoices, String> {
        let mut choices = JitChoices::default();
        for word in line.split(' ') {
            assert!(choices.option(word)?, "{word} is an option");
        }
        Ok(choices)
    }

    #[test]
    fn values() {
        let c =
            choices("--jit=baseline --jit-sync --jit-threshold=7 --jit-budget=3k --jit-workers=2")
                .expect("all is well");
        let o = c.jit_options(super::Mode::Default);
        assert_eq!(
            (c.tier, o.sync, o.stitch_threshold, o.loop_threshold),
            (Some(Tier::Baseline), true, 7, 28)
        );
        assert_eq!((o.budget, o.workers), (3072, 2));
        let line = "--jit-partition-max-funcs=5 --jit-partition-max-bytes=1k --jit-precompile";
        let c = choices(line).expect("all is well");
        let o = c.jit_options(super::Mode::Default);
        assert!(o.inline);
        let c_without = choices("--jit-no-inlining").expect("all is well");
        assert!(!c_without.jit_options(super::Mode::Default).inline);
        assert_eq!((o.partition_max_funcs, o.partition_max_bytes, c.precompile), (5, 1024, true));
        let c = choices("--perf=jitdump --gdb --jit-stats --dump=asm:f,clif").expect("all is well");
        assert_eq!((c.perf, c.gdb, c.stats, c.dump.len()), (Some(Perf::Jitdump), true, true, 2));
        assert_eq!(choices("--perf").map(|c| c.perf), Ok(Some(Perf::Map)));
        assert_eq!(JitChoices::default().option("--jitter"), Ok(false));
        assert_eq!((size("1G"), size("2g")), (Ok(1 << 30), Ok(JitOptions::MAX_BUDGET)));
        assert!(size("4g").unwrap_err().contains("up to 2g"));
    }

    #[test]
    fn errors() {
        for line in [
            "--jit",
            "--jit=yes",
            "--jit-sync=1",
            "--jit-no-inlining=1",
            "--jit-threshold=0",
            "--jit-threshold=x",
            "--jit-budget=",
            "--jit-budget=k",
            "--jit-budget=-1",
            "--jit-budget=9999999999g",
            "--jit-workers=0",
            "--jit-partition-max-funcs=0",
            "--jit-precompile=1",
            "--perf=x",
            "--dump",
            "--dump=",
            "--dump=asm,",
            "--dump=asm:",
            "--jit-stats=1",
            "--dump=bytecodes",
        ] {
            assert!(choices(line).is_err(), "{line}");
        }
    }
}
