//! Values, heap and object model of the Perilune Lua engine.
//!
//! **Invariant:** the engine-wide parts ([`engine`]) never hold a pointer into a state's heap.

#![allow(clippy::missing_safety_doc)]

pub mod arith;
pub mod cfmt;
pub mod chaos;
pub mod closure;
pub mod compare;
pub mod convert;
pub mod debug;
mod decimal;
pub mod engine;
pub mod epoch;
pub mod exit_stress;
mod first_panic;
pub mod frame;
pub mod frames;
pub mod header;
pub mod heap;
pub mod hook;
pub mod host;
pub mod instance;
pub mod interrupt;
pub mod layout;
pub mod load;
pub mod meta;
pub mod native;
pub mod pending;
pub mod raised;
pub mod random;
mod remainder;
pub mod reserve;
pub mod resident;
pub mod state;
pub mod string;
pub mod strings;
pub mod sys;
pub mod table;
pub mod thread;
pub mod tier;
pub mod transient;
pub mod upvalue;
pub mod userdata;
pub mod value;

pub use first_panic::{FirstPanic, discard_panic};
