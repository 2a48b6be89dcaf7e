//! The compiler of an engine, and its data in each state.

pub(crate) mod attached;
pub(crate) mod jit;
mod link;
mod native_stack;
pub(crate) mod options;
mod reentry;
pub(crate) mod state;
mod stitched;
mod walk;
