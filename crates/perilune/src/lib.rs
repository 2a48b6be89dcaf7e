//! Lua 5.4 in pure Rust.
//!
//! An [`Engine`] is shared by threads; a [`Lua`] is one state of it: one heap and one set of globals, which stays on its thread.
//!
//! ```
//! let lua = perilune::Lua::new();
//! lua.load("x = 6 * 7").exec()?;
//! assert_eq!(lua.load("return x").eval_string()?, "42");
//! # Ok::<(), perilune::Error>(())
//! ```
//!
//! **Invariant:** this crate does the wiring; the language lives in the crates below it.

mod call;
mod chunk;
mod engine;
mod error;
mod interrupt;
mod listing;
mod lua;
mod program;
mod report;
pub mod syntax;

pub use call::call_with_handler;
pub use chunk::Chunk;
pub use engine::Engine;
pub use error::Error;
pub use interrupt::{Interrupt, SignalTrap, end_on_broken_pipe};
pub use listing::{listing, listings_of};
pub use lua::Lua;
pub use perilune_jit::{DumpKind, DumpRequest, JitOptions, Perf};
#[doc(hidden)]
pub use perilune_jit::{Fault, Stage};
pub use program::Program;
pub use report::{report_at_exit, report_now};

/// What native functions see of a state, for the command and for libraries that come with it.
pub use perilune_runtime::native;
/// The standard library, for programs that open it themselves or share its streams.
pub use perilune_stdlib as stdlib;
