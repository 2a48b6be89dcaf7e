//! Exits as data: the points at which code leaves a frame to the interpreter, and their frame
//! states.
//!
//! Compilers create a frame state, `codegen` emits the code for it, and the states of a body form
//! its exit map, which dumps show.

pub(crate) mod map;
pub(crate) mod share;
pub(crate) mod state;
