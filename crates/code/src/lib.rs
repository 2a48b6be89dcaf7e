//! The life of machine code: its memory, the slots that it is called through, versions, their
//! reclamation while other threads run, and the threads that compile. This crate knows neither Lua
//! nor the compiler.
//!
//! `docs/code-life.md` gives the protocol and the argument why no freed code runs. In short:
//!
//! - A [`Method`] has an [`EntrySlot`] that always holds a callable address. Machine code calls
//!   through the slot, and otherwise an address is only in a machine register between load and
//!   call, and in return addresses.
//! - [`Method::begin`] hands out the one [`Ticket`] for compiling it. Its holder takes
//!   [`CodeSpace::ids`], [`CodeSpace::reserve`]s memory, writes the code with
//!   [`Reservation::publish`], and hands all to [`CodeSpace::publish`], which swaps the slots and
//!   retires what was in them.
//! - Each state of the engine is a [`Mutator`]. It is online while it runs Lua, reports at its
//!   polls which versions its frames are in ([`Mutator::announce`]), and is walked on its behalf
//!   while it is offline. A retired version is freed when every state has reported since its
//!   retirement and none has a frame in it.
//! - Code that no frame names and that nothing returns into is a [`Placement`]. States keep its
//!   address, and forget it at their next announcement or entry after it is retired
//!   ([`Hooks::forget`]).
//! - [`Workers`] run compile jobs by priority.
//! - A process may [`fork`]: parent and child keep their code apart, and the child continues with
//!   the thread that it has.
//!
//! With `--cfg loom`, only the parts that the model of the protocol needs are built
//! (`tests/loom.rs`).

pub mod barrier;
pub mod fork;
mod id;
pub mod lock;
pub mod quiescence;
mod slot;
pub mod sync;

#[cfg(not(loom))]
mod cause;
#[cfg(not(loom))]
mod garbage;
#[cfg(not(loom))]
mod map;
#[cfg(not(loom))]
mod method;
#[cfg(not(loom))]
mod module;
#[cfg(not(loom))]
mod placement;
#[cfg(not(loom))]
mod queue;
#[cfg(not(loom))]
mod reclaimer;
#[cfg(not(loom))]
mod refusal;
#[cfg(not(loom))]
pub mod region;
mod room;
#[cfg(not(loom))]
mod space;
#[cfg(not(loom))]
mod stats;
#[cfg(not(loom))]
mod workers;

pub use id::{CodeId, CodeIds};
pub use quiescence::{Hooks, Mutator, PinnedFrame, Pins, Words};
pub use slot::EntrySlot;

#[cfg(not(loom))]
pub use cause::Cause;
#[cfg(not(loom))]
pub use method::{Life, Method, NotNow, Phase, Ticket};
#[cfg(not(loom))]
pub use module::{Member, Module, Version};
#[cfg(not(loom))]
pub use placement::Placement;
#[cfg(not(loom))]
pub use refusal::Refusal;
#[cfg(not(loom))]
pub use region::{CodeRange, Exhausted, MACHINE_CODE, MappingKind, Region, Reservation, Usage};
#[cfg(not(loom))]
pub use space::{CodeSpace, Hotness, Options, Published};
#[cfg(not(loom))]
pub use stats::{Counter, Stats};
#[cfg(not(loom))]
pub use workers::{Compiler, WorkerOptions, Workers};
