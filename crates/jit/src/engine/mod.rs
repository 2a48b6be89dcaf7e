//! The compiler of an engine, and what each of its states has of it.

pub(crate) mod attached;
pub(crate) mod jit;
mod native_stack;
pub(crate) mod options;
pub(crate) mod state;
mod walk;
