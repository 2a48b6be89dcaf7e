//! The lines, compiled against `perilune`.

pub(super) use perilune as api;

#[path = "lines.rs"]
mod lines;
pub(super) use lines::lines;
