//! Lua 5.4 in pure Rust, with a just-in-time compiler.
//!
//! An [`Engine`] can be shared by several threads. A [`Lua`] is a state of an engine: a heap and a
//! set of globals, used by one thread at a time.
//!
//! ```
//! let lua = perilune::Lua::new();
//! lua.load("x = 6 * 7").exec()?;
//! assert_eq!(lua.load("x").eval::<i64>()?, 42);
//! # Ok::<(), perilune::Error>(())
//! ```
//!
//! Names and semantics follow [mlua](https://docs.rs/mlua) where both crates offer the same
//! feature. The repository has a guide, `docs/embedding.md`, which walks through the programs in
//! `examples`; `docs/migrating-from-mlua.md` lists the differences.
//!
//! # Features
//!
//! - `serde`: conversions between Rust and Lua values with serde (`LuaSerdeExt`).
//! - `async`: functions that await futures, and calls that return futures
//!   (`Lua::create_async_function`, [`Function`]`::call_async`).
//! - `send`: states and handles are `Send` and `Sync`; each operation locks its state.
//! - `macros`: `#[derive(UserData)]`, `#[derive(FromLua)]`, `userdata_impl`, `chunk!`.
//! - `anyhow`: conversions from `anyhow::Error`.
//! - `error-send` and `serialize`: accepted for compatibility with mlua. Errors are always `Send`
//!   and `Sync`; `serialize` is another name for `serde`.
//!
//! **Invariant:** this crate only connects the others; they implement the language.

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
pub use detached::{DetachError, Detached};
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
pub use thread::{Thread, ThreadEvent, ThreadStatus, ThreadTriggers};
pub use traits::{FromLua, FromLuaMulti, IntoLua, IntoLuaMulti};
pub use types::{Integer, LightUserData, MaybeSend, MaybeSync, Number, VmState};
#[doc(inline)]
pub use userdata::{
    AnyUserData, MetaMethod, UserData, UserDataFields, UserDataMetatable, UserDataMethods,
    UserDataOwned, UserDataRef, UserDataRefMut, UserDataRegistry,
};
pub use value::{Nil, Value};

/// Creates a chunk from Lua source written inline in Rust code, for [`Lua::load`]. `$name` captures
/// a Rust variable: the variable is moved into the chunk and becomes a global variable of that
/// chunk.
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
/// The source consists of Rust tokens: strings are written in double quotes with Rust's escapes,
/// and `//` begins a comment.
#[cfg(feature = "macros")]
pub use perilune_derive::chunk;

/// Derives `FromLua` for a userdata type: the conversion clones the value out of the userdata.
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

/// Implements [`UserData`](trait@UserData) for a struct, whose named fields become fields of the
/// userdata. Items of [`userdata_impl`](macro@userdata_impl) blocks for the type are added to them.
/// Types with generic parameters are not supported.
///
/// | `#[lua(..)]` on a field | |
/// |---|---|
/// | `get` | The field can be read; its type must be `Clone`. |
/// | `set` | The field can be written. |
/// | `skip` | The field is hidden from Lua. |
/// | `name = ".."` | Its name in Lua. |
///
/// A field with neither `get` nor `set` can be both read and written.
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

/// Turns the functions and constants of an `impl` block, including private ones, into methods and
/// fields of a type that derives [`UserData`](derive@UserData). A type may have several such
/// blocks.
///
/// Functions with the receiver `&self`, `&mut self` or `self` become methods, which borrow the
/// value, borrow it mutably or take it; functions without a receiver stay functions. They return
/// [`Result`] unless they are `infallible`. They may be `async` (feature `async`). If the first
/// parameter has the type `&Lua` or `Lua`, it receives the state. Other parameters of reference
/// types borrow arguments: `&str`, `&[u8]`, and `&T` and `&mut T` for userdata, also as
/// `Option<&T>`.
///
/// | `#[lua(..)]` | |
/// |---|---|
/// | `skip` | The item is hidden from Lua. |
/// | `name = ".."` | Its name in Lua. |
/// | `infallible` | The function does not return a `Result`. |
/// | `getter`, `setter` | The function reads or writes a field. |
/// | `field` | The result is a field that all values of the type share, as a constant is. |
/// | `meta` | A metamethod or, with `field` or on a constant, a metatable field such as `__name`. |
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

/// The interface of native functions, used by the command and the libraries that come with it.
pub use perilune_runtime::native;
/// The standard library, for programs that open it themselves or share its streams.
pub use perilune_stdlib as stdlib;

/// The examples of the guide.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/embedding.md")]
struct Guide;
