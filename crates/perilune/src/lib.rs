//! Lua 5.4 in pure Rust, with a just-in-time compiler.
//!
//! An [`Engine`] is shared by threads. A [`Lua`] is one of its states: a heap and a set of globals,
//! which stays on its thread.
//!
//! ```
//! let lua = perilune::Lua::new();
//! lua.load("x = 6 * 7").exec()?;
//! assert_eq!(lua.load("x").eval::<i64>()?, 42);
//! # Ok::<(), perilune::Error>(())
//! ```
//!
//! Names and meanings follow [mlua](https://docs.rs/mlua) where both crates offer the same. The
//! repository has a guide, `docs/embedding.md`, which walks through the programs in `examples`;
//! `docs/migrating-from-mlua.md` lists the differences.
//!
//! # Features
//!
//! - `serde`: conversions between Rust and Lua by serde (`LuaSerdeExt`).
//! - `async`: functions that await futures, and calls that are futures
//!   (`Lua::create_async_function`, [`Function`]`::call_async`).
//! - `send`: states and handles are `Send` and `Sync`; each operation locks its state.
//! - `macros`: `#[derive(UserData)]`, `#[derive(FromLua)]`, `userdata_impl`, `chunk!`.
//! - `anyhow`: conversions of `anyhow::Error`.
//! - `error-send` and `serialize`: accepted for programs written for mlua. Errors are always `Send`
//!   and `Sync`; `serialize` is `serde`.
//!
//! **Invariant:** this crate connects the others; the language is implemented in them.

#[cfg(feature = "macros")]
#[path = "macros.rs"]
#[doc(hidden)]
pub mod __private;
mod alarm;
mod app_data;
mod call;
mod callback;
mod cell;
pub mod chunk;
mod control;
mod convert;
pub mod debug;
mod detached;
mod engine;
pub mod error;
mod failure;
pub mod function;
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
pub mod prelude;
mod program;
mod registry;
mod registry_key;
mod report;
mod sandbox;
mod scope;
#[cfg(feature = "send")]
mod sendable;
#[cfg(feature = "serde")]
pub mod serde;
mod stack;
pub mod state;
pub mod string;
mod sync;
pub mod syntax;
pub mod table;
pub mod thread;
mod traits;
mod triggers;
mod types;
pub mod userdata;
mod value;
mod warning;

/// The global allocator that keeps a program alive when memory is exhausted.
pub mod alloc {
    pub use perilune_runtime::reserve::{DEFAULT_BYTES, Reserve};
    pub use perilune_runtime::resident::save_memory;
}

pub use app_data::{AppDataRef, AppDataRefMut};
pub use bstr::BString;
pub use call::call_with_handler;
#[doc(inline)]
pub use chunk::{AsChunk, Chunk, ChunkMode};
#[doc(inline)]
pub use debug::{Debug, DebugEvent, DebugNames, DebugSource, DebugStack, HookTriggers};
pub use detached::Detached;
pub use either::Either;
pub use engine::{Engine, EngineOptions};
#[doc(inline)]
pub use error::{Error, ErrorContext, ExternalError, ExternalResult, Result};
#[doc(inline)]
pub use function::{Function, FunctionInfo, LuaNativeFn, LuaNativeFnMut};
#[cfg(feature = "async")]
pub use futures::{AsyncCallFuture, AsyncThread, LuaNativeAsyncFn};
pub use gc::{GcGenParams, GcIncParams, GcMode, GcPart, GcPause};
pub use interrupt::{Interrupt, SignalTrap, end_on_broken_pipe};
pub use listing::{listing, listings_of};
#[doc(inline)]
pub use lua::{Lua, WeakLua};
pub use modules::LuaType;
pub use multi::{MultiValue, Variadic};
pub use object::ObjectLike;
pub use options::{LuaOptions, StdLib};
#[cfg(debug_assertions)]
#[doc(hidden)]
pub use perilune_interp::panic_in_leaf;
pub use perilune_jit::{DumpKind, DumpRequest, JitOptions, Perf};
#[doc(hidden)]
pub use perilune_jit::{Fault, Stage};
pub use program::Program;
pub use registry_key::RegistryKey;
pub use report::{report_at_exit, report_now};
pub use sandbox::{Limit, Sandbox, SandboxOptions};
pub use scope::Scope;
#[cfg(feature = "serde")]
pub use serde::{DeserializeOptions, LuaSerdeExt, SerializableValue, SerializeOptions};
#[doc(hidden)]
pub use stack::{Raw, Stack};
#[doc(inline)]
pub use string::{BorrowedBytes, BorrowedStr, LuaString};
#[doc(inline)]
pub use table::{Table, TablePairs, TableSequence};
#[doc(inline)]
pub use thread::{Thread, ThreadStatus};
pub use traits::{FromLua, FromLuaMulti, IntoLua, IntoLuaMulti};
pub use types::{Integer, LightUserData, MaybeSend, MaybeSync, Number, VmState};
#[doc(inline)]
pub use userdata::{
    AnyUserData, MetaMethod, UserData, UserDataFields, UserDataMetatable, UserDataMethods,
    UserDataOwned, UserDataRef, UserDataRefMut, UserDataRegistry,
};
pub use value::{Nil, Value};

/// Makes a chunk of Lua source text in Rust code, for [`Lua::load`]. `$name` captures a Rust
/// variable: it is moved into the chunk, as a global variable of that chunk.
///
/// ```
/// use perilune::{Lua, chunk};
///
/// # fn main() -> perilune::Result<()> {
/// let lua = Lua::new();
/// let name = "moon";
/// let numbers = vec![1, 2, 3];
/// lua.load(chunk! {
///     local sum = 0
///     for _, n in ipairs($numbers) do
///         sum = sum + n
///     end
///     greeting = "Hello, " .. $name .. " " .. sum
/// })
/// .exec()?;
/// assert_eq!(lua.globals().get::<String>("greeting")?, "Hello, moon 6");
/// # Ok(())
/// # }
/// ```
///
/// The text consists of Rust tokens: strings are in double quotes and have Rust's escapes, and `//`
/// begins a comment.
#[cfg(feature = "macros")]
pub use perilune_derive::chunk;

/// Derives a conversion that clones the value of a userdata of this type.
///
/// ```
/// use perilune::{FromLua, Lua, UserData};
///
/// #[derive(Clone, FromLua, UserData)]
/// struct Point { x: i64, y: i64 }
///
/// # fn main() -> perilune::Result<()> {
/// let lua = Lua::new();
/// let sum = lua.create_function(|_, (a, b): (Point, Point)| {
///     Ok(Point { x: a.x + b.x, y: a.y + b.y })
/// })?;
/// let p: Point = sum.call((Point { x: 1, y: 2 }, Point { x: 3, y: 4 }))?;
/// assert_eq!((p.x, p.y), (4, 6));
/// # Ok(())
/// # }
/// ```
#[cfg(feature = "macros")]
pub use perilune_derive::FromLua;

/// Implements [`UserData`](trait@UserData) with the named fields of a struct as fields, and what
/// [`userdata_impl`](macro@userdata_impl) says of the type. Types with generic parameters are not
/// supported.
///
/// | `#[lua(..)]` on a field | |
/// |---|---|
/// | `get` | It can be read; its type is `Clone`. |
/// | `set` | It can be written. |
/// | `skip` | It is not there. |
/// | `name = ".."` | Its name in Lua. |
///
/// Without `get` and `set` it can be both read and written.
///
/// ```
/// use perilune::{Lua, UserData};
///
/// #[derive(UserData)]
/// struct Player {
///     name: String,
///     #[lua(get, name = "hp")]
///     health: u32,
///     #[lua(skip)]
///     secret: u64,
/// }
///
/// # fn main() -> perilune::Result<()> {
/// let lua = Lua::new();
/// let player = lua.create_userdata(Player { name: "Ada".into(), health: 10, secret: 7 })?;
/// lua.globals().set("p", &player)?;
/// lua.load("p.name = p.name .. p.hp assert(not pcall(function() p.hp = 1 end))").exec()?;
/// assert_eq!(player.borrow::<Player>()?.name, "Ada10");
/// # assert_eq!(player.borrow::<Player>()?.secret, 7);
/// # Ok(())
/// # }
/// ```
#[cfg(feature = "macros")]
pub use perilune_derive::UserData;

/// Makes the functions and constants of an `impl` block methods and fields of a type that derives
/// [`UserData`](derive@UserData), private ones too. A type may have several such blocks.
///
/// `&self`, `&mut self` and `self` make methods, which borrow the value, borrow it for writing or
/// take it; what has no receiver is a function. Methods that fail return [`Result`]. `async`
/// functions wait (feature `async`). A first parameter `&Lua` or `Lua` is the state. Other
/// references borrow arguments: `&str`, `&[u8]`, and `&T` and `&mut T` of userdata, also as
/// `Option<&T>`.
///
/// | `#[lua(..)]` | |
/// |---|---|
/// | `skip` | It is not for Lua. |
/// | `name = ".."` | Its name in Lua. |
/// | `infallible` | The function does not return a `Result`. |
/// | `getter`, `setter` | It reads or writes a field. |
/// | `field` | What it returns is a field that all values of the type share, as constants are. |
/// | `meta` | A metamethod or, with `field` or on a constant, a metatable field: `__name`. |
///
/// ```
/// use perilune::{Lua, Result, UserData, userdata_impl};
///
/// #[derive(Clone, UserData)]
/// struct Rectangle { w: u32, h: u32 }
///
/// #[userdata_impl]
/// impl Rectangle {
///     const SIDES: u32 = 4;
///
///     #[lua(infallible)]
///     fn new(w: u32, h: u32) -> Rectangle { Rectangle { w, h } }
///
///     #[lua(getter, infallible)]
///     fn area(&self) -> u32 { self.w * self.h }
///
///     fn scale(&mut self, by: u32) -> Result<()> {
///         self.w = self.w.checked_mul(by).ok_or(perilune::Error::runtime("too large"))?;
///         self.h *= by;
///         Ok(())
///     }
///
///     #[lua(meta, infallible)]
///     fn __eq(&self, other: &Self) -> bool { (self.w, self.h) == (other.w, other.h) }
/// }
///
/// # fn main() -> Result<()> {
/// let lua = Lua::new();
/// lua.globals().set("Rectangle", lua.create_proxy::<Rectangle>()?)?;
/// lua.load(r#"
///     local r = Rectangle.new(2, 3)
///     r:scale(2)
///     assert(r.area == 24 and r == Rectangle.new(4, 6) and r.SIDES == 4)
/// "#).exec()
/// # }
/// ```
#[cfg(feature = "macros")]
pub use perilune_derive::userdata_impl;

/// The interface of native functions, for the command and for libraries that come with it.
pub use perilune_runtime::native;
/// The standard library, for programs that open it themselves or share its streams.
pub use perilune_stdlib as stdlib;

/// The examples of the guide.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/embedding.md")]
struct Guide;
