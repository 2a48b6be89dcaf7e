//! The C API of Lua 5.4, with which compiled modules written for PUC Lua run in states of the
//! engine.
//!
//! The functions have the names, types and semantics of `lua.h`, `lauxlib.h` and `lualib.h`;
//! modules are compiled with these headers and need no changes. Rust programs use [`CModules`] to
//! let a state load modules.
//!
//! **Invariants** (referred to by name in `SAFETY` comments; the contract of the C functions is the
//! manual's):
//! * **C1** C code passes the `lua_State` of a live coroutine, on the thread of its state, while a
//!   frame of a native function or of the host is on top;
//! * **C2** a native closure whose code is [`run::run`] contains the address of a C function;
//! * **C3** the host that allows C modules is responsible for what they do.

#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

mod access;
mod arch;
mod auxiliary;
mod calls;
mod coroutines;
mod debug;
mod embed;
mod entry;
mod errors;
mod exports;
mod files;
mod format;
mod functions;
mod gc;
mod get;
mod hooks;
mod index;
mod life;
mod load;
mod new_hooks;
mod operators;
mod outcome;
mod package;
mod push;
mod run;
mod set;
mod stack;
mod state;
mod status;
mod targets;
mod texts;
mod thunk;
mod userdata;

pub use embed::CModules;
pub use state::{CFunction, LuaState};
