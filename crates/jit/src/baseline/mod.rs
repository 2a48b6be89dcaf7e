//! The baseline compiler, a copy-and-patch compiler.
//!
//! The code of a function consists of a stencil for each of its instructions. Stencils are
//! generated from the definitions in `crates/semantics`. Stitching takes a fraction of a
//! microsecond per instruction, so the thread that needs the code does it. See `docs/semantics.md`.

mod choice;
mod fill;
mod stencil;
mod stencils;
mod stitch;

pub(crate) use stitch::Plan;
