//! The baseline compiler: copy and patch.
//!
//! The code of a function is put together from a stencil for each of its instructions, which were
//! generated from the definitions in `crates/semantics`. This takes a fraction of a microsecond an
//! instruction, so it is done on the thread that needs the code. See `docs/semantics.md`.

mod stencil;
mod stencils;
mod stitch;

pub(crate) use stitch::{pieces, stitch};
