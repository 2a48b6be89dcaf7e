//! Runs PUC's own test suite, file by file, with the `perilune` binary.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use xtask::task;

/// The variables that the files of the suite read. They select user mode, without PUC's internals,
/// with at most a few hundred megabytes of memory, and without messages about skipped tests.
const USER_MODE: &str = "_U=true; _soft=true; _nomsg=true";

/// Files that test the command itself, and return at once if `_port` is set.
const NOT_PORTABLE: [&str; 1] = ["main.lua"];

/// Files that are skipped: `heavy.lua` fills all memory.
const LEFT_OUT: [&str; 1] = ["heavy.lua"];

/// Returns the path of a binary, or of the release build after bringing it up to date; `None` if
/// there is no binary.
pub(crate) fn binary(root: &Path, binary: Option<&Path>) -> Option<PathBuf> {
    if let Some(path) = binary {
        let error = |e: &_| eprintln!("no binary there: {e}");
        return path.canonicalize().inspect_err(error).ok();
    }
    let words = "cargo build --release --locked -p perilune-cli".split(' ');
    let built = task::finish("build", task::command(root, words));
    built.then(|| task::target(root).join("release/perilune"))
}

/// Runs every file of the folder `testes` with a binary, or with the release build; returns whether
/// all passed.
pub(crate) fn run(
    root: &Path,
    checkout: &Path,
    binary: Option<&Path>,
    arguments: &[OsString],
) -> bool {
    let Some(binary) = self::binary(root, binary) else { return false };
    run_files(checkout, &[binary.into_os_string()], arguments)
}

/// Runs every file of the folder `testes` with a command; returns whether all passed. The tests of
/// the command itself are skipped if the command consists of more than the path of the binary,
/// which is its last word.
pub(crate) fn run_files(checkout: &Path, command: &[OsString], arguments: &[OsString]) -> bool {
    let is_command = command.len() == 1;
    let files = match lua_files(checkout) {
        Ok(files) if !files.is_empty() => files,
        Ok(_) => {
            eprintln!("{}: no Lua files; name the folder `testes`", checkout.display());
            return false;
        }
        Err(error) => {
            eprintln!("{}: {error}", checkout.display());
            return false;
        }
    };
    let mut failed = Vec::new();
    for file in &files {
        let start = Instant::now();
        let output = Command::new(&command[0])
            .current_dir(checkout)
            .args(&command[1..])
            .args(arguments)
            .args(["-e", &prelude(file, is_command)])
            .arg(file)
            .stdin(Stdio::null())
            .output();
        let seconds = start.elapsed().as_secs_f64();
        match output {
            Ok(output) if output.status.success() => println!("{file:<16} passed {seconds:6.1} s"),
            Ok(output) => {
                println!("{file:<16} FAILED {seconds:6.1} s");
                print!("{}", String::from_utf8_lossy(&output.stderr));
                failed.push(file.as_str());
            }
            Err(error) => {
                println!("{file:<16} {error}");
                failed.push(file.as_str());
            }
        }
    }
    println!("{} of {} passed", files.len() - failed.len(), files.len());
    failed.is_empty()
}

/// Returns the statements to be run before a file. `is_command`: the files may start the binary.
fn prelude(file: &str, is_command: bool) -> String {
    let port = if is_command && NOT_PORTABLE.contains(&file) { "" } else { "; _port=true" };
    format!("{USER_MODE}{port}")
}

/// Returns the names of the Lua files of a folder, in order.
fn lua_files(folder: &Path) -> std::io::Result<Vec<String>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name().into_string().unwrap_or_default();
        if name.ends_with(".lua") && !LEFT_OUT.contains(&name.as_str()) {
            files.push(name);
        }
    }
    files.sort();
    Ok(files)
}
