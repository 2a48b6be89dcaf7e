//! Measures the C API with programs that are not of this repository: `cargo xtask c-api`.

mod clients;
mod mlua;
mod speed;
mod testc;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use xtask::task;

/// What is run.
#[derive(Debug, PartialEq)]
pub(crate) enum What {
    /// Programs of Debian that are linked with `liblua5.4`.
    Clients,
    /// The tests of mlua.
    Mlua,
    /// PUC's tests of the API, from this checkout.
    Testc(PathBuf),
    /// Modules of Debian and calls of C code, against `lua5.4`.
    Speed(Option<PathBuf>),
}

/// Runs it; returns whether all is as with PUC.
pub(crate) fn run(root: &Path, what: &What) -> bool {
    if let What::Speed(binary) = what {
        return speed::run(root, binary.as_deref());
    }
    if !task::run(root, task::LIBRARY) {
        return false;
    }
    match what {
        What::Clients => clients::run(root),
        What::Mlua => mlua::run(root),
        What::Testc(checkout) => testc::run(root, checkout),
        What::Speed(_) => true,
    }
}

/// The folder with the inputs of these programs.
fn inputs(root: &Path) -> PathBuf {
    root.join("crates/xtask/c_api")
}

/// Returns a folder for temporary files, which is empty.
fn scratch(root: &Path, name: &str) -> PathBuf {
    let folder = task::target(root).join("c_api").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    if let Err(error) = std::fs::create_dir_all(&folder) {
        eprintln!("{}: {error}", folder.display());
    }
    folder
}

/// Lets the programs that a command starts find the library of this repository.
fn with_library<'a>(root: &Path, command: &'a mut Command) -> &'a mut Command {
    command.env("LD_LIBRARY_PATH", task::target(root).join("release"))
}

/// Runs a command to its end; `None` if it cannot be started.
fn output(command: &mut Command) -> Option<Output> {
    command.stdin(Stdio::null()).output().ok()
}

/// Returns what a command has printed.
fn text(output: &Output) -> String {
    let streams = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8_lossy(&streams).into_owned()
}
