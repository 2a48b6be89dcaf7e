//! Runs the conformance corpus `lang-tests/` in every mode of the `perilune` binary, and once under
//! PUC Lua 5.4 to find wrong expectations.
//!
//! Trials are named `lang/<mode>/<file>` and `puc/<file>`; the usual filters of
//! `cargo test` select among them:
//!
//! ```text
//! cargo test -p perilune-cli --test lang                       # everything
//! cargo test -p perilune-cli --test lang -- puc/               # the oracle alone
//! cargo test -p perilune-cli --test lang -- lang/off/3.4       # one section, one mode
//! cargo test -p perilune-cli --test lang -- --exact puc/6.1-base/select.lua
//! ```
//!
//! **Adding a test.** Write `lang-tests/<section>-<noun>/<name>.lua`, with one file per subject,
//! which prints its results. Its first comment lines are the header:
//!
//! ```text
//! -- What the file shows (manual section).
//! -- expect: ok                 or: -- expect: error
//! --! file.lua:9: boom          the uncaught error's message, one line each
//! --| first line of stdout      one line of comment for each line of output
//! --& first line of stderr      the same for what a successful program writes there
//! -- ignore-stderr: reason      optional, where other programs write to it
//! -- args: a b                  optional, the script's arguments
//! -- skip(MODE): reason         optional; MODE is one of src/mode.rs, or `puc`
//! ```
//!
//! Chunks are named by the file name without a directory, since the test runs in the directory of
//! the file. A program must be deterministic: its output must not depend on the order of `pairs`,
//! on addresses, or on when the collector runs.
//!
//! **Under a checker.** `PERILUNE_LANG_UNDER="valgrind -q --smc-check=all --error-exitcode=99"`
//! runs the binary under that command; a trial fails when the checker reports errors in its exit
//! code.
//!
//! **Blessing.** `UPDATE_EXPECT=1 cargo test -p perilune-cli --test lang -- [filter]` rewrites the
//! expectations of the selected files from the output of PUC. Check the diff against the manual
//! before committing it.

#[path = "lang/bless.rs"]
mod bless;
#[path = "lang/case.rs"]
mod case;
#[path = "../src/mode.rs"]
mod mode;
#[path = "lang/oracle.rs"]
mod oracle;
#[path = "lang/outcome.rs"]
mod outcome;
#[path = "lang/run.rs"]
mod run;

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;

use case::Case;
use libtest_mimic::{Arguments, Failed, Trial};
use mode::Mode;

fn main() -> ExitCode {
    if let Some(child) = oracle::child_arguments() {
        return oracle::run_child(&child);
    }
    let arguments = Arguments::from_args();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lang-tests");
    let blessing = std::env::var_os("UPDATE_EXPECT").is_some_and(|value| value == "1");

    let mut trials = Vec::new();
    let files = match case::find(&corpus) {
        Ok(files) if !files.is_empty() => files,
        Ok(_) => return fail(&format!("{} holds no programs", corpus.display())),
        Err(message) => return fail(&message),
    };
    for path in files {
        let case = match Case::read(&corpus, &path) {
            Ok(case) => Arc::new(case),
            Err(message) if !blessing => {
                let name = format!("header/{}", case::name(&corpus, &path));
                trials.push(Trial::test(name, move || Err(Failed::from(message))));
                continue;
            }
            Err(_) => Arc::new(Case::without_header(&corpus, &path)),
        };
        trials.push(puc_trial(&case, blessing));
        if !blessing {
            trials.extend(Mode::ALL.iter().map(|(mode, _)| lang_trial(&case, mode)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Ends the run with a message: without programs there would be no trials, and the run would pass.
fn fail(message: &str) -> ExitCode {
    eprintln!("the corpus cannot be read: {message}");
    ExitCode::FAILURE
}

/// Returns the trial of one file in one mode of the binary.
fn lang_trial(case: &Arc<Case>, mode: &'static str) -> Trial {
    let skipped = case.skips(mode);
    let name = format!("lang/{mode}/{}", case.name);
    let case = Arc::clone(case);
    Trial::test(name, move || {
        // error messages begin with the name under which the command was started
        let binary = env!("CARGO_BIN_EXE_perilune");
        let (mut command, name) = match std::env::var("PERILUNE_LANG_UNDER") {
            Ok(checker) => {
                let mut words = checker.split_whitespace();
                let mut command = Command::new(words.next().ok_or("no command to run under")?);
                command.args(words).arg(binary);
                (command, binary)
            }
            Err(_) => {
                let mut command = Command::new(binary);
                command.arg0("perilune");
                (command, "perilune")
            }
        };
        command.arg(format!("--mode={mode}"));
        let outcome = run::run(&mut command, &case, &format!("{name}: "))?;
        outcome.compare(&case.expected)
    })
    .with_ignored_flag(skipped)
}

/// Returns the trial of one file under PUC Lua, which rewrites the header when blessing.
fn puc_trial(case: &Arc<Case>, blessing: bool) -> Trial {
    let skipped = case.skips("puc");
    let name = format!("puc/{}", case.name);
    let case = Arc::clone(case);
    Trial::test(name, move || {
        if blessing {
            return bless::bless(&case.path);
        }
        oracle::run(&case)?.compare(&case.expected)
    })
    .with_ignored_flag(skipped)
}
