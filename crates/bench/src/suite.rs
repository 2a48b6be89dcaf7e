//! The Lua programs of the are-we-fast-yet suite, run from a copy that the user provides.

use std::path::Path;

use crate::Result;
use crate::workload::Workload;

/// A program of the suite: its name, how often the harness measures it, and the
/// size or repetitions of each measurement. The product takes about a second on
/// PUC Lua; Havlak's fixed work takes longer.
struct Program {
    name: &'static str,
    iterations: u32,
    inner: u32,
    allocates: bool,
}

const PROGRAMS: &[Program] = &[
    program("Bounce", 1, 1500, false),
    program("CD", 1, 100, true),
    program("DeltaBlue", 1, 8500, true),
    program("Havlak", 1, 1, true),
    program("Json", 1, 100, true),
    program("List", 1, 2200, false),
    // Mandelbrot and NBody verify their results for few sizes only.
    program("Mandelbrot", 5, 500, false),
    program("NBody", 1, 250_000, false),
    program("Permute", 1, 1250, false),
    program("Queens", 1, 1800, false),
    program("Richards", 1, 33, false),
    program("Sieve", 1, 4200, false),
    program("Storage", 1, 600, true),
    program("Towers", 1, 900, false),
];

const fn program(name: &'static str, iterations: u32, inner: u32, allocates: bool) -> Program {
    Program { name, iterations, inner, allocates }
}

/// Returns the suite's programs in `directory`, which holds its `harness.lua`.
///
/// # Errors
/// Returns an error when there is no harness.
pub(crate) fn are_we_fast_yet(directory: &Path) -> Result<Vec<Workload>> {
    let directory = directory
        .canonicalize()
        .map_err(|error| format!("cannot find {}: {error}", directory.display()))?;
    if !directory.join("harness.lua").is_file() {
        return Err(format!("{} has no harness.lua", directory.display()));
    }
    let workload = |program: &Program| Workload {
        name: program.name.to_string(),
        covers: "are-we-fast-yet".to_string(),
        allocates: program.allocates,
        // The harness prints times, and fails when a result is wrong.
        compares_output: false,
        needs_54: false,
        directory: Some(directory.clone()),
        arguments: vec![
            "harness.lua".to_string(),
            program.name.to_string(),
            program.iterations.to_string(),
            program.inner.to_string(),
        ],
    };
    Ok(PROGRAMS.iter().map(workload).collect())
}
