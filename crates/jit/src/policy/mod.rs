//! The policy: what to compile, when, and together with what.

pub(crate) mod budget;
pub(crate) mod call_graph;
pub(crate) mod history;
pub(crate) mod hotness;
pub(crate) mod pace;
pub(crate) mod partition;
pub(crate) mod recompile;
