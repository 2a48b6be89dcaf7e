//! Analyses of bytecode: control flow, liveness, tags of registers, constructors of tables, and
//! calls.
//!
//! They work on the entities of [`crate::entity`], and do not depend on the code that is emitted.

pub(crate) mod complete;
pub(crate) mod constructor;
pub(crate) mod early;
pub(crate) mod facts;
pub(crate) mod flow;
#[cfg(test)]
pub(crate) mod listing;
pub(crate) mod live;
pub(crate) mod operation;
pub(crate) mod selector;
pub(crate) mod tags;
