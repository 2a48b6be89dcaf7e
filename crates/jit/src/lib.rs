//! Machine code for hot methods: tier 1 on Cranelift, and who decides what is compiled when.
//!
//! Tier 1 translates each instruction to Cranelift IR. Paths for the operands that feedback has seen are inline; what else may come
//! is handled by calls into the runtime, never by leaving the code. All registers are in their home slots at the
//! borders of blocks and whenever the code calls out, so a frame of it can be read, yielded and finished like one of the interpreter.
//!
//! **Invariant:** a compile job owns a [`Snapshot`] of feedback and knows its proto, and looks at no heap.

#[cfg(target_arch = "x86_64")]
mod asm;
mod backend;
mod callgraph;
mod chaos;
mod dump;
mod engine;
mod fault;
mod flow;
mod gdb;
mod history;
mod image;
mod native_stack;
mod partition;
mod perf;
mod pipeline;
mod respecialize;
mod snapshot;
mod stats;
mod tier1;
mod types;
mod watch;

pub use dump::{DumpKind, DumpRequest};
pub use engine::{Jit, JitOptions, JitState};
#[doc(hidden)]
pub use fault::{Fault, Stage};
pub use perf::Perf;
pub use snapshot::Snapshot;
pub use watch::{Piece, VersionInfo};
