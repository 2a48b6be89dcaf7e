//! The bytecode interpreter: dispatch, calls, metamethods, errors, coroutines.
//!
//! One loop ([`run`]) executes frames of Lua functions; a Lua-to-Lua call changes frames and never recurses on the native stack.
//! Whatever is not on a hot path is a *step*: a function that gets the state, with the frame's pc stored in its frame word,
//! and leaves the state so that the loop can go on from its top frame. See `docs/architecture.md`.
//!
//! **Invariants** (referred to by number in `SAFETY` comments):
//! * **I1** code is verified: registers, constants, upvalues and jumps are in range, and operands have the kinds the opcode asks for;
//! * **I2** `State::base` is the base of the top frame of the running coroutine, and all frames below it are linked by their headers;
//! * **I3** addresses into the stack are taken anew from the state after every step (a step may move the stack);
//! * **I4** collections happen only in steps that poll, with `State::top` at the end of the live registers.

mod call;
mod chaos;
mod concat;
mod coroutine;
mod error;
mod for_loop;
mod hooks;
mod index;
mod machine;
mod operators;
mod poll;
mod ret;
mod room;
mod run;
mod step;
mod unwound;
mod userdata;

use perilune_runtime::vm::Vm;

/// The interpreter's entry points, for [`perilune_runtime::state::State::create`].
pub static VM: Vm = Vm {
    call: call::call_from_native,
    traced: call::call_traced,
    finalize: call::call_finalizer,
    handle: error::handle,
    resume: coroutine::resume,
    close: coroutine::close,
    idle_slot: &machine::IDLE_SLOT,
};

/// What machine code calls.
pub use machine::CALLS;
/// Makes helpers of machine code fail, for tests.
#[cfg(debug_assertions)]
#[doc(hidden)]
pub use machine::panic_in_leaf;
