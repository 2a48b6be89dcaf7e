//! The life cycle of machine code: its memory, the slots through which it is called, versions,
//! their reclamation while other threads run, and the compile threads. This crate depends neither
//! on Lua nor on the compiler.
//!
//! `docs/code-life.md` describes the protocol and argues why freed code is never executed. In
//! short:
//!
//! - A [`Method`] has an [`EntrySlot`] that always holds a callable address. Machine code calls
//!   through the slot; apart from slots, addresses of versions are held only in a machine register
//!   between load and call, and in return addresses.
//! - [`Method::begin`] issues the only [`Ticket`] for compiling it. The holder of the ticket takes
//!   [`CodeSpace::ids`], [`CodeSpace::reserve`]s memory, writes the code with
//!   [`Reservation::publish`], and passes everything to [`CodeSpace::publish`], which swaps the
//!   slots and retires the code that was installed in them.
//! - Each state of the engine is a [`Mutator`]. It is online while it runs Lua, and reports at its
//!   polls in which versions it has frames ([`Mutator::announce`]); while it is offline, its stacks
//!   are walked on its behalf. A retired version is freed when every state has reported since its
//!   retirement and none has a frame in it.
//! - A [`Placement`] is code to which no frame refers and into which no return address leads.
//!   States keep its address, and discard it at their next announcement or entry after it is
//!   retired ([`Hooks::forget`]).
//! - [`Workers`] run compile jobs by priority.
//! - A process may [`fork`]: the code of parent and child is separate afterwards, and the child
//!   continues with its only thread.
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
