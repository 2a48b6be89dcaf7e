//! The module luv, from a checkout of its current source. It is compiled against the installed
//! libuv, and its tests must have the same results as in `lua5.4`.

use std::path::Path;
use std::process::Command;

use super::{output, scratch, text};

/// The modes in which the command runs the tests, besides the default one.
const MODES: [&str; 4] = ["--jit=off", "--mode=gc-stress", "--mode=chaos", "--mode=tier2-sync"];

/// Returns the lines of the tests' results, if there are any and all have passed.
fn results(command: &mut Command, checkout: &Path, folder: &Path) -> Option<Vec<String>> {
    let command = command.current_dir(checkout).arg("tests/run.lua");
    let run = output(command.env("LUA_CPATH", folder.join("?.so")))?;
    let printed = String::from_utf8_lossy(&run.stdout);
    let lines = printed.lines().filter(|l| l.starts_with("ok ") || l.starts_with("not ok "));
    let results: Vec<String> = lines.map(str::to_owned).collect();
    (run.status.success() && !results.is_empty()).then_some(results)
}

/// Compiles the module, and runs its tests; returns whether the results are the same.
pub(super) fn run(root: &Path, checkout: &Path, binary: Option<&Path>) -> bool {
    let Some(binary) = crate::suite::binary(root, binary) else { return false };
    let folder = scratch(root, "luv");
    let mut cc = Command::new("cc");
    cc.current_dir(checkout).args(["-O2", "-w", "-shared", "-fPIC", "-D_GNU_SOURCE"]);
    cc.args(["-I/usr/include/lua5.4", "-Isrc", "src/luv.c", "-o"]).arg(folder.join("luv.so"));
    cc.args(["-luv", "-lpthread"]);
    match output(&mut cc) {
        Some(built) if built.status.success() => {}
        built => {
            println!("{}", built.map_or("there is no `cc`".to_owned(), |b| text(&b)));
            println!("it needs headers (apt-get install liblua5.4-dev libuv1-dev)");
            return false;
        }
    }
    let Some(expected) = results(&mut Command::new("lua5.4"), checkout, &folder) else {
        println!("lua5.4 does not pass them (apt-get install lua5.4)");
        return false;
    };
    let mut passed = true;
    for mode in [None].into_iter().chain(MODES.map(Some)) {
        let found = results(Command::new(&binary).args(mode), checkout, &folder);
        let same = found.as_ref() == Some(&expected);
        let how = if same { "the same" } else { "DIFFERENT" };
        println!("{:<18} {how}, {} tests", mode.unwrap_or("the default"), expected.len());
        passed &= same;
    }
    passed
}
