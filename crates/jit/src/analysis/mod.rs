//! Analyses of bytecode: control flow, and types of registers.

pub(crate) mod flow;
pub(crate) mod types;
