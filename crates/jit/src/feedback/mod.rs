//! Feedback of the interpreter and of compiled code, as compile jobs own it.

pub(crate) mod callees;
pub(crate) mod inlinee;
pub(crate) mod merge;
pub(crate) mod snapshot;
