//! Finds the `perilune` binary to measure, building it first where possible.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;

/// Returns the given binary, or the release build next to this program.
///
/// Under `cargo run` the release build is always brought up to date, so that no stale binary is
/// measured; otherwise it is only built when it is missing.
///
/// # Errors
/// Returns an error when there is no binary and it cannot be built.
pub(crate) fn perilune(given: Option<&Path>) -> Result<PathBuf> {
    if let Some(path) = given {
        // A relative path must still work when a suite changes the directory.
        return path
            .canonicalize()
            .map_err(|error| format!("cannot find {}: {error}", path.display()));
    }
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let target = own.parent().and_then(Path::parent).ok_or("this program has no directory")?;
    let binary = target.join("release").join(format!("perilune{}", std::env::consts::EXE_SUFFIX));
    let cargo = std::env::var_os("CARGO");
    if cargo.is_some() || !binary.exists() {
        build(cargo.unwrap_or_else(|| "cargo".into()).as_ref(), target)?;
    }
    if !binary.exists() {
        return Err(format!("{} is missing after the build", binary.display()));
    }
    Ok(binary)
}

fn build(cargo: &Path, target: &Path) -> Result<()> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.toml");
    let status = Command::new(cargo)
        .args(["build", "--release", "--package", "perilune-cli", "--manifest-path"])
        .arg(manifest)
        .arg("--target-dir")
        .arg(target)
        .status()
        .map_err(|error| format!("cannot run cargo: {error}"))?;
    if status.success() { Ok(()) } else { Err("building perilune-cli failed".to_string()) }
}
