//! The pipeline from jobs to published code, which compile threads run.

pub(crate) mod compile;
pub(crate) mod input;
pub(crate) mod job;
mod passes;
mod sink;
mod staging;
pub(crate) mod symbols;
pub(crate) mod worker;
