//! Exits as data: the places where code leaves a frame to the interpreter, and the frame states
//! there.
//!
//! Compilers describe a state, `codegen` emits the code for it, and the states of a body form its
//! exit map, which dumps show.

pub(crate) mod map;
pub(crate) mod share;
pub(crate) mod state;
