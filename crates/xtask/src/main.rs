//! `cargo xtask COMMAND`: the daily tasks of maintainers.
#![forbid(unsafe_code)]

mod arm;
mod c_api;
mod options;
mod suite;

use std::path::Path;
use std::process::ExitCode;

use options::{Command, Options};
use xtask::task::{self, Step};
use xtask::tidy::{RULES, Tree};

fn main() -> ExitCode {
    let options = match Options::parse(lexopt::Parser::from_env()) {
        Ok(options) => options,
        Err(error) => {
            eprintln!("xtask: {error}\n\n{}", options::HELP);
            return ExitCode::from(2);
        }
    };
    if run(&options) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs one command; returns whether it succeeded.
fn run(options: &Options) -> bool {
    let root = xtask::root();
    match &options.command {
        Command::Help => {
            println!("{}", options::HELP);
            true
        }
        Command::Arm { suite } => arm::run(&root, suite.as_deref()),
        Command::Check => task::run(&root, task::CHECK),
        Command::Full => task::run(&root, task::FULL),
        Command::Docs => task::run(&root, task::DOCS),
        Command::Generate => task::run(&root, task::GENERATE),
        Command::Liblua => task::run(&root, task::LIBRARY),
        Command::Bless => task::run(&root, &chosen(task::BLESS, &options.names)),
        Command::Nightly if options.names.is_empty() => {
            println!("Steps, to be named after the command, or `all`:\n");
            for step in task::NIGHTLY {
                println!("{:<14}{}\n{:14}{}", step.name, step.what, "", step.line());
            }
            true
        }
        Command::Nightly => task::run(&root, &chosen(task::NIGHTLY, &options.names)),
        Command::CApi { what } => c_api::run(&root, what),
        Command::Order { binary } => order(&root, binary.as_deref()),
        Command::Tidy => tidy(&options.names),
        Command::Fuzz { programs, seed, mode } => {
            let words = "cargo test --locked -p perilune --test programs".split(' ');
            let mut command = task::command(&root, words);
            command.env("PERILUNE_PROGRAMS", programs.to_string());
            command.env("PERILUNE_PROGRAMS_SEED", seed.to_string());
            command.envs(mode.as_ref().map(|mode| ("PERILUNE_PROGRAMS_MODE", mode)));
            task::finish("fuzz", command)
        }
        Command::Bench { arguments } => {
            let words = "cargo run --release --locked -p perilune-bench --".split(' ');
            let mut command = task::command(&root, words);
            command.args(arguments);
            task::finish("bench", command)
        }
        Command::Coverage { arguments } => {
            let words = "cargo llvm-cov test --html".split(' ');
            let mut command = task::command(&root, words);
            command.args(arguments);
            let passed = task::finish("coverage", command);
            if passed {
                let report = task::target(&root).join("llvm-cov/html/index.html");
                eprintln!("see {}", report.display());
            } else {
                eprintln!(
                    "(needs `cargo install cargo-llvm-cov` and \
                     `rustup component add llvm-tools`)"
                );
            }
            passed
        }
        Command::Suite { checkout, binary, arguments } => {
            suite::run(&root, checkout, binary.as_deref(), arguments)
        }
    }
}

/// Writes the order of the functions of a binary, or of the release build.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn order(root: &Path, binary: Option<&Path>) -> bool {
    let written = suite::binary(root, binary).and_then(|b| {
        xtask::order::write(root, &b).inspect_err(|error| eprintln!("xtask: {error}")).ok()
    });
    written.is_some()
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn order(_: &Path, _: Option<&Path>) -> bool {
    eprintln!("xtask: programs are traced on Linux on x86-64 only");
    false
}

/// Returns the steps with these names; all steps if no name is given, and for `all`.
fn chosen(steps: &[Step], names: &[String]) -> Vec<Step> {
    let all = names.is_empty() || names.iter().any(|n| n == "all");
    steps.iter().filter(|step| all || names.iter().any(|n| n == step.name)).copied().collect()
}

/// Checks the rules of the repository, and prints the violations and how many are still exempt.
fn tidy(names: &[String]) -> bool {
    let tree = Tree::read();
    let mut passed = true;
    for rule in RULES.iter().filter(|r| names.is_empty() || names.iter().any(|n| n == r.name)) {
        let report = xtask::tidy::run(rule, &tree);
        for error in &report.errors {
            println!("{error}");
        }
        for (part, complaints) in &report.exempt {
            // A rule that was requested by name also shows what is exempt.
            if !names.is_empty() {
                complaints.iter().for_each(|complaint| println!("(exempt) {complaint}"));
            }
            match complaints.len() {
                0 => println!("{}: {part} needs no exemption any more", rule.name),
                n => println!("{}: {n} remain in {part}, which is exempt", rule.name),
            }
        }
        passed &= report.errors.is_empty();
    }
    passed
}
