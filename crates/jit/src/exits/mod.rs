//! Exits as data: where code leaves a frame to the interpreter, and in which state.
//!
//! Compilers describe the state, `codegen` emits what it asks for, and the states of a body are its
//! exit map, which dumps show.

pub(crate) mod map;
pub(crate) mod share;
pub(crate) mod state;
