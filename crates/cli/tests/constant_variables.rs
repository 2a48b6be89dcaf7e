//! Tests debug functions that change variables which the program never assigns, while machine code
//! that relies on them waits for a call. Only the first change in a state deoptimizes frames, so
//! each case of the program runs in a separate process.
#![cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_os = "linux"))]

use std::path::Path;
use std::process::Command;

/// The program, whose expected output has two lines for each case.
const PROGRAM: &str = "lang-tests/regressions/constant-variables-from-within.lua";

const MODES: [&str; 4] = ["tier2-sync", "check-values", "exit-stress", "chaos"];

#[test]
fn each_case_alone() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let source = std::fs::read_to_string(root.join(PROGRAM)).expect("the program is there");
    let expected: Vec<&str> = source.lines().filter_map(|l| l.strip_prefix("--| ")).collect();
    assert!(expected.len() > 40, "there are many cases");
    for (n, lines) in expected.chunks(2).enumerate() {
        for mode in MODES {
            let output = Command::new(env!("CARGO_BIN_EXE_perilune"))
                .args([&format!("--mode={mode}"), PROGRAM, &(n + 1).to_string()])
                .current_dir(&root)
                .output()
                .expect("the command runs");
            let found = String::from_utf8_lossy(&output.stdout);
            assert!(found.lines().eq(lines.iter().copied()), "{mode}, {lines:?}: {output:?}");
        }
    }
}
