//! What maintainers of Perilune do every day, as a library: the checks of the repository
//! ([`tidy`]) and the lists of commands that the binary runs ([`task`]).
#![forbid(unsafe_code)]

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
