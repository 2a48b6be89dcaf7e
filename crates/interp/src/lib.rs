//! The bytecode interpreter: dispatch, calls, metamethods, errors, coroutines.
//!
//! One loop ([`run`]) executes frames of Lua functions; a Lua-to-Lua call changes frames and never
//! recurses on the native stack. All slow paths are *steps*: a step is a function that receives the
//! state, with the frame's pc stored in its frame word, and leaves the state such that the loop can
//! continue with the frame that is then on top. See `docs/architecture.md`.
//!
//! **Invariants** (referred to by number in `SAFETY` comments):
//! * **I1** code is verified: registers, constants, upvalues and jumps are in range, and operands
//!   have the kinds that the opcode requires;
//! * **I2** `State::base` is the base of the top frame of the running coroutine, and all frames
//!   below it are linked by their headers;
//! * **I3** addresses into the stack are loaded again from the state after every step, since a step
//!   may move the stack;
//! * **I4** collections happen only in steps that poll, with `State::top` at the end of the live
//!   registers.

mod call;
mod call_native;
mod chaos;
mod class;
mod closing;
mod closing_scope;
mod closure;
mod concat;
mod coroutine;
mod depth;
mod enter;
mod error;
mod execute;
mod feedback;
mod for_loop;
mod handler;
#[cfg(handlers)]
mod handlers;
mod hooks;
mod host_call;
mod index;
mod interrupt;
mod loop_entry;
mod machine;
mod native;
mod numbers;
mod operators;
mod poll;
mod ret;
mod room;
mod run;
mod slots;
mod step;
mod switch;
mod tail;
mod unwound;
mod userdata;
mod varargs;

use perilune_runtime::state::Vm;

/// The interpreter's entry points, for [`perilune_runtime::state::State::create`].
pub static VM: Vm = Vm {
    call: call::call_from_native,
    continuable: call::call_continuable,
    traced: call::call_traced,
    finalize: call::call_finalizer,
    hook: call::call_hook,
    handle: handler::handle,
    resume: host_call::resume,
    switch: switch::switch,
    close: host_call::close,
    idle_slot: &machine::IDLE_SLOT,
};

/// Whether the interpreter can enter machine code on this target.
pub const ENTERS_CODE: bool = cfg!(handlers);

/// The functions that machine code calls.
pub use machine::CALLS;
/// Makes functions that machine code calls panic, for tests.
#[cfg(debug_assertions)]
#[doc(hidden)]
pub use machine::panic_in_leaf;
