//! Random programs have the same output under Perilune as under PUC Lua, including the exact text
//! and the positions of errors.
//!
//! Each program comes from its own seed. A program with a difference is reduced before it is
//! reported.
//!
//! | variable | meaning | default |
//! |---|---|---|
//! | `PERILUNE_PROGRAMS` | number of programs | 600 or 20 seconds, whichever comes first |
//! | `PERILUNE_PROGRAMS_SEED` | the first seed | 1 |
//! | `PERILUNE_PROGRAMS_KEEP` | number of differences to collect before the end | 1 |
//! | `PERILUNE_PROGRAMS_MODE` | only these modes (below), separated by commas | those of the seed |
//! | `PERILUNE_PROGRAMS_SUBJECT` | only `inlined`, `recursive`, or a file of `programs/bodies` | |
//! | `PERILUNE_PROGRAMS_SHOW` | if set: print the program of the first seed and do nothing else | |
//! | `PERILUNE_PROGRAMS_FILE` | run the program of this file in the modes of the first seed | |
//! | `PERILUNE_PROGRAMS_ORACLE` | if set: run each program twice under PUC, none under Perilune | |
//! | `PERILUNE_PROGRAMS_QUICK` | if set: show the first line that differs, and no program | |
//! | `PERILUNE_PROGRAMS_VERBOSE` | if set: name the programs that do not compile, and slow ones | |
//!
//! The modes:
//!
//! | mode | which programs | what it does |
//! |---|---|---|
//! | `off` | all | uses the portable loop of the interpreter |
//! | `generated` | all | uses the generated handlers of the interpreter |
//! | `sync` | all | compiles before code runs, from the first entry or after some |
//! | `check-values` | all | like `sync`, with code that checks its values |
//! | `exit-stress` | all | like `sync`, with guards that fail although they hold |
//! | `baseline` | all | runs stitched code, from the first entry or after some |
//! | `chaos` | all | lets safepoints change code and heap at random |
//! | `inlining` | one in eight | like `sync`, but compiles loops before the functions they call |
//! | `baseline-chaos` | one in eight | does the same with stitched code alone |
//! | `background` | one in eight | compiles on another thread, as by default |
//! | `tiers` | one in eight | runs handlers, then stitched code, then code from another thread |
//! | `mixed` | one in eight | like `sync`, with functions that stay in one of the tiers |
//! | `evicted` | one in eight | has room for little code |
//! | `interleaved` | one in eight | runs three states of one engine in turns |
//! | `threads` | one in eight | runs two states of one engine on two threads |
//!
//! The states of one engine have different metatables of strings, numbers, nil and functions,
//! different globals and different functions of the library; each must have the output of PUC when
//! it is set up in the same way. One in 300 runs of `off` and `sync` collects at every safepoint,
//! one in 20 performs a small increment of the collector's work at each safepoint (`gc-phases`),
//! and one in 4 has stacks with no spare room. Thresholds for compiling differ by seed, so that
//! code is compiled with and without feedback.

#[path = "programs/dense.rs"]
mod dense;
#[path = "programs/generate.rs"]
mod generate;
#[path = "programs/host.rs"]
mod host;
#[path = "programs/hot.rs"]
mod hot;
#[path = "programs/inlined.rs"]
mod inlined;
#[path = "programs/jumps.rs"]
mod jumps;
#[path = "programs/late.rs"]
mod late;
#[path = "programs/records.rs"]
mod records;
#[path = "programs/recursive.rs"]
mod recursive;
#[path = "programs/run.rs"]
mod run;
#[path = "programs/shrink.rs"]
mod shrink;
#[path = "programs/spreads.rs"]
mod spreads;
#[path = "programs/statements.rs"]
mod statements;
#[path = "programs/templates.rs"]
mod templates;
#[path = "programs/tree.rs"]
mod tree;

use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::time::{Duration, Instant};

use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use run::{Code, Mode, Source, States};
use shrink::{ProgramTree, Programs};

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

fn program_of(seed: u64) -> ProgramTree {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    Programs
        .new_tree(&mut TestRunner::new_with_rng(Config::default(), rng))
        .expect("programs are not filtered")
}

/// Returns the modes in which the program of a seed runs or, with `all`, could run.
fn modes_of(seed: u64, all: bool) -> Vec<Mode> {
    // a third of the programs has more feedback: recursive functions have gone all their ways
    let late = if (seed / 24).is_multiple_of(3) { 4 } else { 0 };
    let threshold = 1 << (seed % 4 + late);
    let loops = 1 << (seed / 4 % 6);
    let configuration = if seed.is_multiple_of(3) { (seed / 3 % 4) as u8 } else { 0 };
    let mode = Mode { configuration, ..Mode::default() };
    let sync = Code::Sync(threshold, loops);
    let background = Code::Background(threshold, loops);
    // the states differ in code as well: one engine is enough for all of them
    let (shared, code) = (seed as u8, if seed % 8 < 4 { sync } else { background });
    let states = |states| Mode { states, code, configuration: shared, ..mode };
    let in_turn = [
        Mode { code: background, ..mode },
        Mode { code: Code::Tiers(threshold, loops), ..mode },
        Mode { code: Code::Mixed(threshold, loops, seed), ..mode },
        Mode { code: Code::Evicted, ..mode },
        Mode { code: Code::BaselineChaos(seed), ..mode },
        Mode { code: Code::Inlining(16 << (seed % 3)), ..mode },
        states(States::Interleaved),
        states(States::Threads),
    ];
    let mut modes = vec![
        Mode {
            gc_stress: seed % 300 == 3,
            gc_phases: (seed % 20 == 5).then_some(seed),
            small_stack: seed % 4 == 1,
            ..mode
        },
        Mode {
            gc_stress: seed % 300 == 4,
            gc_phases: (seed % 20 == 6).then_some(seed),
            small_stack: seed % 4 == 2,
            code: sync,
            ..mode
        },
        Mode {
            gc_phases: (seed % 20 == 7).then_some(seed),
            small_stack: seed % 4 == 3,
            code: Code::Handlers,
            ..mode
        },
        Mode {
            gc_stress: seed % 300 == 5,
            gc_phases: (seed % 20 == 8).then_some(seed),
            small_stack: seed.is_multiple_of(4),
            code: Code::Baseline(threshold, loops),
            ..mode
        },
        Mode {
            gc_stress: seed % 300 == 6,
            gc_phases: (seed % 20 == 9).then_some(seed),
            small_stack: seed % 4 == 2,
            // with some feedback first
            code: Code::CheckValues(1 + threshold, 1 + loops),
            ..mode
        },
        Mode {
            gc_stress: seed % 300 == 7,
            gc_phases: (seed % 20 == 10).then_some(seed),
            small_stack: seed % 4 == 1,
            code: Code::ExitStress(1 + threshold, 1 + loops, seed),
            ..mode
        },
        Mode { code: Code::Chaos(seed), ..mode },
    ];
    match all {
        true => modes.extend(in_turn),
        // The thresholds depend on the lower bits of the seed. A divisor that shares no factor with
        // the number of modes lets each mode meet all of them.
        false => modes.push(in_turn[(seed / 5) as usize % in_turn.len()]),
    }
    modes
}

/// Returns the output of both sides if it differs.
fn difference(program: &str, mode: Mode, oracle: bool) -> Option<(String, String)> {
    let source = Source::new(program, mode);
    let expected = run::puc(&source)?;
    let shown = if oracle { run::puc(&source)? } else { run::perilune(&source, mode) };
    (shown != expected).then_some((expected, shown))
}

/// Returns the smallest program with a difference that can be found from this one.
fn shrink(tree: &mut ProgramTree, mode: Mode, oracle: bool) -> (String, (String, String)) {
    let start = Instant::now();
    // Uses the slow mode only if the difference needs it.
    let plain = Mode { gc_stress: false, ..mode };
    let mode = if difference(&tree.current(), plain, oracle).is_some() { plain } else { mode };
    let mut smallest = tree.current();
    let mut shown = difference(&smallest, mode, oracle).expect("it differed before");
    // A panic or an interrupt must not become some other difference on the way.
    let class = |shown: &str| (shown.starts_with("panic"), shown.contains("interrupted!"));
    let wanted = class(&shown.1);
    let mut more = tree.simplify();
    let mut tries = 0;
    while more && start.elapsed() < Duration::from_secs(60) {
        let program = tree.current();
        tries += 1;
        match difference(&program, mode, oracle) {
            Some(now) if class(&now.1) == wanted => {
                (smallest, shown) = (program, now);
                more = tree.simplify();
            }
            _ => more = tree.complicate(),
        }
    }
    let _ = writeln!(std::io::stderr(), "{tries} smaller programs tried in {:?}", start.elapsed());
    (smallest, shown)
}

/// Returns whether PUC shows this when it runs a program again. A library function with two names
/// has either in messages, by the order of a hash table whose seed comes from addresses and the
/// time in seconds.
fn puc_shows(program: &str, mode: Mode, shown: &Option<String>) -> bool {
    (0..4).any(|_| {
        std::thread::sleep(Duration::from_millis(1100));
        run::puc(&Source::new(program, mode)) == *shown
    })
}

#[test]
fn programs_show_what_they_show_under_puc() {
    let count = variable("PERILUNE_PROGRAMS");
    let first = variable("PERILUNE_PROGRAMS_SEED").unwrap_or(1);
    let keep = variable("PERILUNE_PROGRAMS_KEEP").unwrap_or(1);
    let oracle = std::env::var_os("PERILUNE_PROGRAMS_ORACLE").is_some();
    let only = std::env::var("PERILUNE_PROGRAMS_MODE").ok();
    for name in only.iter().flat_map(|names| names.split(',')) {
        let is_mode = modes_of(first, true).iter().any(|mode| mode.name() == name);
        assert!(is_mode, "there is no mode {name}");
    }
    let is_wanted = |mode: &Mode| match &only {
        Some(names) => names.split(',').any(|name| mode.name() == name),
        None => true,
    };
    if std::env::var_os("PERILUNE_PROGRAMS_SHOW").is_some() {
        let configuration = modes_of(first, false)[0].configuration;
        print!("{}", run::standalone(&program_of(first).current(), configuration));
        return;
    }
    if let Some(path) = std::env::var_os("PERILUNE_PROGRAMS_FILE") {
        let program = std::fs::read_to_string(path).expect("the file is text");
        let modes = modes_of(first, only.is_some()).into_iter();
        for mode in modes.filter(is_wanted) {
            if let Some((expected, shown)) = difference(&program, mode, oracle) {
                panic!("{mode:?}\n--- PUC shows\n{expected}\n--- Perilune shows\n{shown}");
            }
        }
        return;
    }
    // A crash leaves the seed here.
    let crumb = std::fs::File::create(concat!(env!("CARGO_TARGET_TMPDIR"), "/programs-seed"))
        .expect("a file can be made");
    let start = Instant::now();
    let (mut ran, mut found, mut skipped, mut refused, mut bytes) = (0, 0, 0, 0, 0);
    let quick = std::env::var_os("PERILUNE_PROGRAMS_QUICK").is_some();
    let verbose = std::env::var_os("PERILUNE_PROGRAMS_VERBOSE").is_some();
    for seed in first..first + count.unwrap_or(600) {
        if count.is_none() && start.elapsed() > Duration::from_secs(20) {
            break;
        }
        let _ = crumb.write_at(format!("{seed:20}\n").as_bytes(), 0);
        let mut tree = program_of(seed);
        let program = tree.current();
        ran += 1;
        let modes = modes_of(seed, only.is_some());
        let source = Source::new(&program, modes[0]);
        let began = Instant::now();
        let Some(expected) = run::puc(&source) else {
            skipped += 1;
            continue;
        };
        if verbose && began.elapsed() > Duration::from_millis(300) {
            let _ = writeln!(std::io::stderr(), "seed {seed} takes {:?}", began.elapsed());
        }
        bytes += expected.len();
        if expected.starts_with(run::NO_PROGRAM) {
            refused += 1;
            if verbose {
                let _ = writeln!(std::io::stderr(), "seed {seed} {expected}");
            }
        }
        // most modes run one state that is set up in the same way
        let expected_in = |mode: &Mode| match mode.states {
            States::One => Some(expected.clone()),
            _ => run::puc(&Source::new(&program, *mode)),
        };
        let show = |mode: &Mode| {
            let source = Source::new(&program, *mode);
            if oracle { run::puc(&source) } else { Some(run::perilune(&source, *mode)) }
        };
        let different = modes
            .iter()
            .filter(|mode| is_wanted(mode))
            .map(|mode| (*mode, expected_in(mode), show(mode)))
            .find(|(_, expected, shown)| expected.is_some() && shown != expected)
            .filter(|(mode, _, shown)| oracle || !puc_shows(&program, *mode, shown));
        if ran % 500 == 0 {
            let rate = ran as f64 / start.elapsed().as_secs_f64();
            let _ = writeln!(
                std::io::stderr(),
                "{ran} programs, {found} differ, {skipped} skipped, {rate:.0} a second, {} bytes \
                 of output each",
                bytes / ran
            );
        }
        let Some((mode, Some(expected), Some(shown))) = different else { continue };
        found += 1;
        let line = expected.lines().zip(shown.lines()).find(|(a, b)| a != b);
        if quick {
            let _ = writeln!(std::io::stderr(), "seed {seed} {mode:?}: {line:?}");
            continue;
        }
        let small = if difference(&program, mode, oracle).is_some() {
            let (program, (expected, shown)) = shrink(&mut tree, mode, oracle);
            format!("{program}--- PUC shows\n{expected}\n--- Perilune shows\n{shown}\n")
        } else {
            format!(
                "{program}(does not happen again)\n--- PUC shows\n{expected}\n--- Perilune \
                 shows\n{shown}\n"
            )
        };
        let _ = writeln!(std::io::stderr(), "=== seed {seed}, {mode:?}\n{small}");
        if found >= keep {
            break;
        }
    }
    let _ = writeln!(
        std::io::stderr(),
        "{ran} programs in {:?}, {found} differ, {skipped} skipped, {refused} do not compile, {} \
         bytes each",
        start.elapsed(),
        bytes / ran
    );
    assert!(
        skipped * 50 <= ran,
        "{skipped} of {ran} programs take too much memory or time under PUC"
    );
    assert!(
        refused * 50 <= ran + 50,
        "{refused} of {ran} programs do not compile (PERILUNE_PROGRAMS_VERBOSE names them)"
    );
    assert_eq!(found, 0, "programs show something else");
}
