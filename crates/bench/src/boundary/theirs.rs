//! The lines, compiled against `mlua`.

pub(super) use mlua as api;

#[path = "lines.rs"]
mod lines;
pub(super) use lines::lines;
