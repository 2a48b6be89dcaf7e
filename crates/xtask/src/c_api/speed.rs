//! Modules of Debian and calls between C code and Lua, compared with `lua5.4`.

use std::path::Path;
use std::process::Command;

use super::{inputs, output, scratch, text};

/// The number of runs of each program. The fastest run counts.
const RUNS: usize = 3;

/// Returns the minimum over all runs of the seconds that a program prints in each line.
fn seconds(program: &Path, file: &Path, library: &Path) -> Option<Vec<(String, f64)>> {
    let mut best: Vec<(String, f64)> = Vec::new();
    for _ in 0..RUNS {
        let mut command = Command::new(program);
        let run = output(command.arg(file).env("PERILUNE_CALLS", library))?;
        let printed = text(&run);
        let lines = printed.lines().filter_map(|line| {
            let (name, seconds) = line.rsplit_once('\t')?;
            Some((name.to_owned(), seconds.parse::<f64>().ok()?))
        });
        let lines: Vec<_> = lines.collect();
        if !run.status.success() || lines.is_empty() {
            println!("{}: {printed}", file.display());
            return None;
        }
        if best.is_empty() {
            best = lines;
        } else {
            for (known, (_, seconds)) in best.iter_mut().zip(lines) {
                known.1 = known.1.min(seconds);
            }
        }
    }
    Some(best)
}

/// Prints how fast each program is in PUC Lua and in the command; returns whether all could be run.
pub(super) fn run(root: &Path, binary: Option<&Path>) -> bool {
    let Some(binary) = crate::suite::binary(root, binary) else { return false };
    let folder = scratch(root, "speed");
    let mut cc = Command::new("cc");
    cc.args(["-O2", "-shared", "-fPIC", "-I/usr/include/lua5.4", "-o"]);
    cc.arg(folder.join("calls.so")).arg(inputs(root).join("calls.c"));
    if !output(&mut cc).is_some_and(|built| built.status.success()) {
        println!("calls.c does not compile (apt-get install gcc liblua5.4-dev)");
        return false;
    }
    let mut all = true;
    for file in ["modules.lua", "calls.lua"] {
        let file = inputs(root).join(file);
        let (puc, ours) =
            (seconds(Path::new("lua5.4"), &file, &folder), seconds(&binary, &file, &folder));
        let (Some(puc), Some(ours)) = (puc, ours) else {
            println!("(apt-get install lua5.4 lua-cjson lua-lpeg lua-bitop)");
            all = false;
            continue;
        };
        for ((name, puc), (_, ours)) in puc.iter().zip(&ours) {
            let ratio = puc / ours;
            println!("{name:<22} lua5.4 {puc:.3} s, perilune {ours:.3} s: {ratio:.2} as fast");
        }
    }
    all
}
