//! Feedback of the interpreter and of compiled code, in the form that compile jobs own.

pub(crate) mod arguments;
pub(crate) mod callees;
pub(crate) mod inlinee;
pub(crate) mod merge;
pub(crate) mod snapshot;
