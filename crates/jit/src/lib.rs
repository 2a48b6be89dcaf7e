//! Machine code for hot methods: two compilers, and the policy that decides what to compile and
//! when.
//!
//! | Module | Contents |
//! |---|---|
//! | `engine` | options, the compiler of an engine, its data in each state |
//! | `policy` | decides what is compiled, when, and together with what |
//! | `feedback` | the copy of inline caches and counters that a compile job owns |
//! | `entity` | the indices of analyses and compilers: instructions and registers |
//! | `analysis` | control flow, liveness, tags of registers, constructors of tables |
//! | `codegen` | emits Cranelift IR for the compilers: frames, guards, calls and the like |
//! | `exits` | the points where code leaves a frame, and the frame states there |
//! | `baseline` | the baseline compiler, which stitches code together from stencils |
//! | `tier2` | the optimizing compiler: an intermediate representation, and passes over it |
//! | `generic` | the code of single instructions for which `tier2` has no operations |
//! | `pipeline` | jobs, compile threads, modules of machine code |
//! | `observe` | dumps, metrics, profilers and debuggers |
//! | `testing` | faults and chaos, for tests |
//!
//! Compiled code has inline paths for the operands that feedback has recorded. For other operands
//! it calls the runtime, or deoptimizes to the interpreter. Live registers are in their home slots
//! at calls, so that a frame of compiled code can be read, suspended and completed like a frame of
//! the interpreter.
//!
//! **Invariant:** a compile job owns a [`Snapshot`] of feedback and refers to its proto; no compile
//! thread accesses a heap.

mod analysis;
mod baseline;
mod codegen;
mod engine;
mod entity;
mod exits;
mod feedback;
mod generic;
mod hash;
mod observe;
mod pipeline;
mod policy;
mod testing;
mod tier2;

pub use engine::jit::Jit;
pub use engine::options::JitOptions;
pub use engine::state::JitState;
pub use feedback::snapshot::Snapshot;
pub use observe::dump::{DumpKind, DumpRequest};
pub use observe::observation::VersionInfo;
pub use observe::perf::Perf;
pub use observe::source_map::Piece;
#[doc(hidden)]
pub use testing::fault::{Fault, Stage};
