//! Tests and measures the C API with programs from outside this repository: `cargo xtask c-api`.

mod clients;
mod luv;
mod mlua;
mod module;
mod speed;
mod testc;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use xtask::task;

/// The programs to run.
#[derive(Debug, PartialEq)]
pub(crate) enum What {
    /// Programs of Debian that are linked with `liblua5.4`.
    Clients,
    /// The tests of mlua.
    Mlua,
    /// The tests of luv, from this checkout.
    Luv(PathBuf, Option<PathBuf>),
    /// A module in Rust.
    Module(Option<PathBuf>),
    /// PUC's tests of the API, from this checkout.
    Testc(PathBuf),
    /// Modules of Debian and calls of C code, against `lua5.4`.
    Speed(Option<PathBuf>),
}

/// Runs the programs; returns whether all results are the same as with PUC.
pub(crate) fn run(root: &Path, what: &What) -> bool {
    let library = || task::run(root, task::LIBRARY);
    match what {
        What::Clients => library() && clients::run(root),
        What::Mlua => library() && mlua::run(root),
        What::Testc(checkout) => library() && testc::run(root, checkout),
        What::Luv(checkout, binary) => luv::run(root, checkout, binary.as_deref()),
        What::Module(binary) => module::run(root, binary.as_deref()),
        What::Speed(binary) => speed::run(root, binary.as_deref()),
    }
}

/// Returns the folder with the inputs of these programs.
fn inputs(root: &Path) -> PathBuf {
    root.join("crates/xtask/c_api")
}

/// Returns an empty folder for temporary files.
fn scratch(root: &Path, name: &str) -> PathBuf {
    let folder = task::target(root).join("c_api").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    if let Err(error) = std::fs::create_dir_all(&folder) {
        eprintln!("{}: {error}", folder.display());
    }
    folder
}

/// Makes the programs that a command starts find the library of this repository.
fn with_library<'a>(root: &Path, command: &'a mut Command) -> &'a mut Command {
    command.env("LD_LIBRARY_PATH", task::target(root).join("release"))
}

/// Runs a command to its end; `None` if it cannot be started.
fn output(command: &mut Command) -> Option<Output> {
    command.stdin(Stdio::null()).output().ok()
}

/// Returns the output of a command as text.
fn text(output: &Output) -> String {
    let streams = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8_lossy(&streams).into_owned()
}
