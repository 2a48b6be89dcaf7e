//! Runs every rule of the repository as a test: `cargo test -p xtask -- NAME` for one of them.

use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};
use xtask::tidy::{RULES, Tree, run};

fn main() -> ExitCode {
    let tree = Arc::new(Tree::read());
    let trials = RULES.iter().map(|rule| {
        let tree = tree.clone();
        Trial::test(rule.name, move || {
            let errors = run(rule, &tree).errors;
            if errors.is_empty() {
                return Ok(());
            }
            let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
            Err(Failed::from(lines.join("\n")))
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}
