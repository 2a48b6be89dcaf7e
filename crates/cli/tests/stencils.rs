//! Tests that some program runs each stencil, and what the stencils compute. Few programs compare
//! floats that the preceding instruction has computed, for instance, and each combination of
//! operands has stencils of its own.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The output of `operators.lua` under PUC.
const EXPECTED: &str = "10960\t229438616\n";

/// The stencils of the target.
const STENCILS: &str = if cfg!(target_arch = "aarch64") {
    include_str!("../../jit/src/baseline/aarch64.inc")
} else {
    include_str!("../../jit/src/baseline/x86_64.inc")
};

/// Runs the program; returns its output and the dumps.
fn run(options: &[&str]) -> (String, String) {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stencils/operators.lua");
    let output = Command::new(env!("CARGO_BIN_EXE_perilune"))
        .args(options)
        .arg(program)
        .output()
        .expect("the command runs");
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}", text(&output.stderr));
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn every_stencil_is_run() {
    let options = ["--jit=baseline", "--jit-threshold=2", "--dump=stencils"];
    let (output, dumps) = run(&options);
    assert_eq!(output, EXPECTED);
    let chosen: BTreeSet<&str> =
        dumps.lines().filter_map(|line| Some(line.rsplit_once("# ")?.1)).collect();
    let names = STENCILS.lines().filter_map(|line| line.trim().strip_prefix("name: \""));
    let all: BTreeSet<&str> = names.filter_map(|name| name.strip_suffix("\",")).collect();
    assert!(all.len() > 300, "the names are found");
    // Dumps do not list the prologue, nor the code for operands that a variant is not for, which
    // runs wherever there is such a variant. LOADKX takes a function with 131 072 constants.
    let is_listed =
        |name: &&&str| !["PROLOGUE", "LOADKX"].contains(*name) && !name.ends_with("_LEFT");
    let missing: Vec<&&str> = all.difference(&chosen).filter(is_listed).collect();
    assert!(missing.is_empty(), "these stencils are not run: {missing:?}");
}

#[test]
fn other_modes_compute_the_same() {
    for mode in ["--mode=off", "--mode=portable", "--mode=baseline-sync"] {
        assert_eq!(run(&[mode]).0, EXPECTED, "{mode}");
    }
}
