//! From jobs to published code: what compile threads do.

pub(crate) mod compile;
pub(crate) mod input;
mod staging;
pub(crate) mod symbols;
