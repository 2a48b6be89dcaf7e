//! The meaning of each opcode, written once, as a function that emits Cranelift IR.
//!
//! A definition ([`define`]) is generic over a [`Form`]: how operands are read ([`Operands`]) and
//! how an instruction is left ([`Exits`]). The form of the generated interpreter decodes operands
//! from the instruction word and leaves by a jump to the handler of the next instruction. The
//! number of bytes, the feedback and the effects of an opcode are those that `perilune-bytecode`
//! states.
//!
//! **Invariant:** an instruction is left for the runtime ([`Exits::slow`]) before it has had an
//! effect other than to set bits of feedback. The runtime executes it from its beginning.
#![forbid(unsafe_code)]

mod emitter;
mod facts;
mod form;
mod ops;
mod runtime;

pub use emitter::{COLD, Define, Emitter, switch};
pub use facts::{Fact, facts};
pub use form::{Exits, Field, Form, Jump, Operands, Place};
pub use ops::{define, parts, step};
pub use runtime::{Runtime, Width};
