//! The daily tasks of Perilune's maintainers, as a library: the checks of the repository
//! ([`tidy`]), the lists of commands that the binary runs ([`task`]), and the order of the
//! command's functions (`order`, on Linux on x86-64).
#![forbid(unsafe_code)]

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub mod order;
pub mod task;
pub mod tidy;

use std::path::{Path, PathBuf};

/// Returns the root of the repository that this crate belongs to.
///
/// # Panics
/// Panics if the folder that this crate was built in is gone.
pub fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the repository is there")
}
