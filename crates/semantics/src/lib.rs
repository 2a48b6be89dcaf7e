//! The meaning of each opcode, written once, as a function that emits Cranelift IR.
//!
//! A definition ([`define`]) is generic over a [`Form`]: how operands are read ([`Operands`]) and
//! how an instruction is left ([`Exits`]). The form of the generated interpreter decodes operands
//! from the instruction word, and leaves an instruction by a jump to the handler of the next one.
//! The operands, the feedback and the effects of an opcode are those that `perilune-bytecode`
//! defines.
//!
//! **Invariant:** an instruction is left to the runtime ([`Exits::slow`]) before it has had an
//! effect other than setting bits of feedback or closing upvalues, which may be done twice. The
//! runtime executes it from its beginning.
#![forbid(unsafe_code)]

mod emitter;
mod facts;
mod form;
mod ops;
mod runtime;
mod speculation;

pub use emitter::{COLD, Define, Emitter, switch};
pub use facts::{Fact, facts};
pub use form::{Exits, Field, Form, Jump, Operands, Place};
pub use ops::{define, parts, step};
pub use runtime::{Runtime, Width};
pub use speculation::{Condition, Speculation, carried, carries, condition, speculations};
