//! A module written in Rust, with the crate mlua and its feature `module`. It is built, and a
//! program that uses it must print the same in `lua5.4` and in the command.

use std::path::Path;
use std::process::Command;

use super::{inputs, output, scratch, text};

/// The modes in which the command runs the program, besides the default one.
const MODES: [&str; 4] = ["--jit=off", "--mode=gc-stress", "--mode=chaos", "--mode=baseline-sync"];

/// Writes the package of the module into a folder, with the version of mlua that the repository
/// depends on.
fn package(root: &Path, folder: &Path) -> Option<()> {
    let source = inputs(root).join("module.rs");
    let sources = super::mlua::sources(root)?;
    let version = sources.file_name()?.to_str()?.strip_prefix("mlua-")?.to_owned();
    let manifest = format!(
        "[package]\nname = \"counters\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [lib]\ncrate-type = [\"cdylib\"]\npath = \"{}\"\n\n\
         [dependencies.mlua]\nversion = \"={version}\"\nfeatures = [\"lua54\", \"module\"]\n\n\
         [workspace]\n",
        source.display(),
    );
    std::fs::write(folder.join("Cargo.toml"), manifest).ok()
}

/// Builds the module and runs the program with it; returns whether all outputs are the same.
pub(super) fn run(root: &Path, binary: Option<&Path>) -> bool {
    let Some(binary) = crate::suite::binary(root, binary) else { return false };
    let folder = scratch(root, "module");
    if package(root, &folder).is_none() {
        println!("the sources of mlua are not there (cargo fetch)");
        return false;
    }
    let target = folder.join("target");
    let mut cargo = Command::new("cargo");
    cargo.current_dir(&folder).args(["build", "--release"]).env("CARGO_TARGET_DIR", &target);
    match output(&mut cargo) {
        Some(built) if built.status.success() => {}
        built => {
            println!("{}", built.map_or("there is no cargo".to_owned(), |b| text(&b)));
            return false;
        }
    }
    let module = folder.join("counters.so");
    if let Err(error) = std::fs::copy(target.join("release/libcounters.so"), module) {
        println!("the module that was built: {error}");
        return false;
    }
    let program = inputs(root).join("module.lua");
    let printed = |command: &mut Command| {
        let command = command.arg(&program).env("LUA_CPATH", folder.join("?.so"));
        let run = output(command)?;
        run.status.success().then(|| String::from_utf8_lossy(&run.stdout).into_owned())
    };
    let Some(expected) = printed(&mut Command::new("lua5.4")) else {
        println!("lua5.4 does not run it (apt-get install lua5.4)");
        return false;
    };
    let mut passed = true;
    for mode in [None].into_iter().chain(MODES.map(Some)) {
        let printed = printed(Command::new(&binary).args(mode));
        let same = printed.as_ref() == Some(&expected);
        let how = if same { "the same" } else { "DIFFERENT" };
        println!("{:<22} {how}, {} lines", mode.unwrap_or("the default"), expected.lines().count());
        if !same {
            println!("{}instead of\n{expected}", printed.unwrap_or_default());
        }
        passed &= same;
    }
    passed
}
