//! Builds tests for aarch64 and runs them under qemu.
//!
//! qemu executes the loads and stores of all threads with the strong memory ordering of the host,
//! so these runs reveal nothing about missing barriers, nor about performance.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use xtask::task;

use crate::suite;

/// The target, as rustc names it.
const TARGET: &str = "aarch64-unknown-linux-gnu";

/// The linker for the target.
const LINKER: &str = "aarch64-linux-gnu-gcc";

/// The command that executes programs for the target; its libraries are in that folder.
const RUNNER: &str = "qemu-aarch64 -L /usr/aarch64-linux-gnu";

/// The modes in which the corpus runs. The other modes exercise no further code that depends on the
/// processor, or take too long: programs that take 20 seconds in the mode `gc-stress` take minutes
/// under qemu.
const MODES: [&str; 7] =
    ["off", "portable", "baseline-sync", "tier2-sync", "exit-stress", "small-stack", "gc-phases"];

/// The modes in which PUC's suite runs.
const SUITE_MODES: [&str; 4] = ["off", "portable", "baseline-sync", "tier2-sync"];

/// Runs the corpus, and PUC's suite if its folder is given; returns whether all tests passed.
pub(crate) fn run(root: &Path, suite: Option<&Path>) -> bool {
    let missing = missing();
    if !missing.is_empty() {
        eprintln!("xtask: some tools are missing; on Debian:");
        missing.iter().for_each(|command| eprintln!("    {command}"));
        return false;
    }
    let corpus = |mode: &&str| {
        let filter = format!("lang/{mode}/");
        // The test of the corpus starts its programs as processes, and qemu does not emulate child
        // processes unless it is told to.
        let words = ["-p", "perilune-cli", "--test", "lang", "--", &filter];
        let mut command = cargo(root, "test", &words);
        command.env("PERILUNE_LANG_UNDER", RUNNER);
        task::finish(&filter, command)
    };
    MODES.iter().all(corpus) && suite.is_none_or(|checkout| run_suite(root, checkout))
}

fn run_suite(root: &Path, checkout: &Path) -> bool {
    let build = cargo(root, "build", &["--release", "-p", "perilune-cli"]);
    let binary = task::target(root).join(TARGET).join("release/perilune");
    let mut command: Vec<OsString> = RUNNER.split(' ').map(OsString::from).collect();
    command.push(binary.into_os_string());
    task::finish("build", build)
        && SUITE_MODES.iter().all(|mode| {
            println!("== mode {mode}");
            suite::run_files(checkout, &command, &[format!("--mode={mode}").into()])
        })
}

/// Returns a command of cargo for the target.
fn cargo(root: &Path, verb: &str, words: &[&str]) -> Command {
    let first = ["cargo", verb, "--locked", "--target", TARGET];
    let mut command = task::command(root, first.iter().chain(words).copied());
    command.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", LINKER);
    command.env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", RUNNER);
    command
}

/// Returns the commands that install what is missing.
fn missing() -> Vec<String> {
    let runs = |program: &str| {
        let mut command = Command::new(program);
        let status = command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    let packages = [
        ("qemu-user", runs("qemu-aarch64")),
        ("gcc-aarch64-linux-gnu", runs(LINKER)),
        ("libc6-dev-arm64-cross", Path::new("/usr/aarch64-linux-gnu/lib/libc.so").exists()),
    ];
    let packages: Vec<&str> =
        packages.iter().filter(|(_, is_there)| !is_there).map(|&(name, _)| name).collect();
    let mut commands = Vec::new();
    if !packages.is_empty() {
        commands.push(format!("apt-get install {}", packages.join(" ")));
    }
    if !has_std() {
        commands.push(format!("rustup target add {TARGET}"));
    }
    commands
}

/// Returns whether the standard library is installed for the target.
fn has_std() -> bool {
    let arguments = ["--print", "target-libdir", "--target", TARGET];
    let Ok(output) = Command::new("rustc").args(arguments).output() else { return false };
    Path::new(String::from_utf8_lossy(&output.stdout).trim()).exists()
}
