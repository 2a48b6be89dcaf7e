//! The tests of mlua, in the version that the repository depends on. They are built for the library
//! of the system (`apt-get install liblua5.4-dev`) and run with both libraries.

use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::task;

use super::{output, text, with_library};

const FEATURES: &str = "lua54 async serde macros anyhow userdata-wrappers";

/// Returns the folder with the sources of mlua, as cargo's metadata of the dependencies gives it.
pub(super) fn sources(root: &Path) -> Option<PathBuf> {
    let arguments = ["metadata", "--format-version", "1", "--locked"];
    let metadata = output(Command::new("cargo").current_dir(root).args(arguments))?;
    let metadata = String::from_utf8(metadata.stdout).ok()?;
    let paths = metadata.split("\"manifest_path\":\"").filter_map(|rest| rest.split('"').next());
    let is_mlua = |path: &&str| {
        let folder = Path::new(path).parent().and_then(Path::file_name).unwrap_or_default();
        folder.to_string_lossy().strip_prefix("mlua-").is_some_and(|v| v.starts_with('0'))
    };
    let mut paths = paths;
    Some(Path::new(paths.find(is_mlua)?).parent()?.to_owned())
}

/// Builds the tests and returns the paths of the programs.
fn build(root: &Path, folder: &Path) -> Option<Vec<PathBuf>> {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(folder).args(["test", "--no-run", "--features", FEATURES]);
    cargo.env("LUA_LIB", "/usr/lib/x86_64-linux-gnu").env("LUA_LIB_NAME", "lua5.4");
    cargo.env("LUA_LINK", "dynamic").env("CARGO_TARGET_DIR", task::target(root).join("mlua"));
    let built = text(&output(&mut cargo)?);
    let programs = built.lines().filter_map(|line| {
        let (what, path) = line.trim().strip_prefix("Executable ")?.split_once(" (")?;
        let path = path.strip_suffix(')')?;
        what.starts_with("tests/").then(|| PathBuf::from(path))
    });
    let programs: Vec<PathBuf> = programs.collect();
    if programs.is_empty() {
        println!("{built}");
        return None;
    }
    Some(programs)
}

/// Returns the names of the tests that pass.
fn passed(folder: &Path, programs: &[PathBuf], library: Option<&Path>) -> Vec<String> {
    let mut names = Vec::new();
    for program in programs {
        let mut command = Command::new(program);
        command.current_dir(folder).args(["--test-threads", "1"]);
        if let Some(root) = library {
            with_library(root, &mut command);
        }
        let Some(output) = output(&mut command) else { continue };
        let file = program.file_stem().unwrap_or_default().to_string_lossy();
        let file = file.split('-').next().unwrap_or_default();
        let output = text(&output);
        let ok = output.lines().filter_map(|l| l.strip_prefix("test ")?.strip_suffix(" ... ok"));
        names.extend(ok.map(|name| format!("{file}::{name}")));
    }
    names
}

/// Runs the tests with both libraries; returns whether those that pass with PUC's library also pass
/// with this one.
pub(super) fn run(root: &Path) -> bool {
    let Some(from) = sources(root) else {
        println!("the sources of mlua are not there (cargo fetch)");
        return false;
    };
    // The folder in the registry must not be written to, and the tests must not belong to a
    // workspace.
    let folder = super::scratch(root, "mlua");
    let copied = Command::new("cp").arg("-r").arg(from.join(".")).arg(&folder).status();
    let workspace = || {
        let manifest = folder.join("Cargo.toml");
        let text = std::fs::read_to_string(&manifest).ok()?;
        std::fs::write(manifest, text + "\n[workspace]\n").ok()
    };
    if !copied.is_ok_and(|status| status.success()) || workspace().is_none() {
        println!("the sources of mlua cannot be copied");
        return false;
    }
    let Some(programs) = build(root, &folder) else { return false };
    let expected = passed(&folder, &programs, None);
    let got = passed(&folder, &programs, Some(root));
    for name in expected.iter().filter(|name| !got.contains(name)) {
        println!("{name} FAILED");
    }
    println!("{} tests pass with PUC Lua, {} with Perilune", expected.len(), got.len());
    !expected.is_empty() && expected.iter().all(|name| got.contains(name))
}
