//! The pipeline from jobs to published code, which compile threads run.

mod cold;
pub(crate) mod compile;
pub(crate) mod input;
pub(crate) mod job;
mod loops;
mod passes;
mod sink;
mod spill;
mod staging;
pub(crate) mod symbols;
mod targets;
pub(crate) mod worker;
