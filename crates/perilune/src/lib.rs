//! Lua 5.4 in pure Rust.
//!
//! An [`Engine`] is shared by threads; a [`Lua`] is one state of it: one heap and one set of globals, which stays on its thread.
//!
//! ```
//! let lua = perilune::Lua::new();
//! lua.load("x = 6 * 7").exec()?;
//! assert_eq!(lua.load("x").eval::<i64>()?, 42);
//! # Ok::<(), perilune::Error>(())
//! ```
//!
//! # Features
//!
//! - `serde`: conversions between Rust and Lua by serde (`LuaSerdeExt`).
//! - `async`: functions that wait for futures, and calls that are futures (`Lua::create_async_function`, [`Function`]`::call_async`).
//! - `send`: states and handles are `Send` and `Sync`; operations lock their state.
//!
//! **Invariant:** this crate does the wiring; the language lives in the crates below it.

mod alarm;
mod app_data;
mod call;
mod callback;
mod cell;
mod chunk;
mod control;
mod convert;
mod debug;
mod detached;
mod engine;
mod error;
mod failure;
mod function;
#[cfg(feature = "async")]
mod futures;
mod gc;
mod interrupt;
mod limits;
mod listing;
mod lua;
mod modules;
mod multi;
mod object;
mod options;
mod path;
mod program;
mod registry;
mod report;
mod scope;
#[cfg(feature = "serde")]
pub mod serde;
mod stack;
mod string;
mod sync;
pub mod syntax;
mod table;
mod table_iter;
mod thread;
mod traits;
mod types;
mod userdata;
mod value;
mod warning;

pub use app_data::{AppDataRef, AppDataRefMut};
pub use call::call_with_handler;
pub use chunk::{AsChunk, Chunk, ChunkMode};
pub use debug::{Debug, DebugEvent, DebugNames, DebugSource, DebugStack, HookTriggers};
pub use detached::Detached;
pub use engine::{Engine, EngineOptions};
pub use error::{Error, ErrorContext, ExternalError, ExternalResult, Result};
pub use function::{Function, FunctionInfo, LuaNativeFn, LuaNativeFnMut};
#[cfg(feature = "async")]
pub use futures::{AsyncCallFuture, AsyncThread, LuaNativeAsyncFn};
pub use gc::{GcGenParams, GcIncParams, GcMode};
pub use interrupt::{Interrupt, SignalTrap, end_on_broken_pipe};
pub use listing::{listing, listings_of};
pub use lua::{Lua, WeakLua};
pub use modules::LuaType;
pub use multi::{MultiValue, Variadic};
pub use object::ObjectLike;
pub use options::{LuaOptions, StdLib};
pub use perilune_jit::{DumpKind, DumpRequest, JitOptions, Perf};
#[doc(hidden)]
pub use perilune_jit::{Fault, Stage};
pub use program::Program;
pub use registry::RegistryKey;
pub use report::{report_at_exit, report_now};
pub use scope::Scope;
#[cfg(feature = "serde")]
pub use serde::{DeserializeOptions, LuaSerdeExt, SerializableValue, SerializeOptions};
#[doc(hidden)]
pub use stack::{Raw, Stack};
pub use string::{BorrowedBytes, BorrowedStr, LuaString};
pub use table::Table;
pub use table_iter::{TablePairs, TableSequence};
pub use thread::{Thread, ThreadStatus};
pub use traits::{FromLua, FromLuaMulti, IntoLua, IntoLuaMulti};
pub use types::{Either, Integer, LightUserData, MaybeSend, MaybeSync, Number, VmState};
pub use userdata::{
    AnyUserData, MetaMethod, UserData, UserDataFields, UserDataMetatable, UserDataMethods,
    UserDataOwned, UserDataRef, UserDataRefMut, UserDataRegistry,
};
pub use value::{Nil, Value};

/// What native functions see of a state, for the command and for libraries that come with it.
pub use perilune_runtime::native;
/// The standard library, for programs that open it themselves or share its streams.
pub use perilune_stdlib as stdlib;
