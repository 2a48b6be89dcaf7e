//! Observability of the compiler: dumps, metrics, and interfaces to profilers and debuggers.

#[cfg(target_arch = "x86_64")]
mod asm;
mod clif;
pub(crate) mod clock;
pub(crate) mod dump;
pub(crate) mod exit_counts;
mod gdb;
mod image;
pub(crate) mod label;
pub(crate) mod metrics;
pub(crate) mod observation;
pub(crate) mod perf;
pub(crate) mod source_map;
mod why;
