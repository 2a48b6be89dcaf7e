//! Register bytecode of Lua 5.4: instruction set, compiler from the syntax tree, verifier,
//! disassembler, binary chunks.
//!
//! **Invariant:** a [`Proto`] is immutable, `Send + Sync`, and verified before it runs; this
//! crate knows nothing of values or the heap.
#![forbid(unsafe_code)]

mod binary;
mod compiler;
mod disassemble;
pub mod effects;
pub mod feedback;
pub mod flow;
mod instr;
mod names;
mod opcode;
mod proto;
mod source;
mod symbolic;
mod verify;

pub use binary::{UndumpError, dump, undump};
pub use compiler::{CompileError, MAX_ROOM, compile};
pub use disassemble::{disassemble, disassemble_function, disassemble_instruction};
pub use feedback::{FeedbackBit, FeedbackLayout, RecordCounts};
pub use instr::Instr;
pub use names::{inner_names, place};
pub use opcode::{Feedback, Op, Shape};
pub use proto::{Constant, LocalDesc, MethodCell, Proto, Text, UpvalDesc};
pub use source::{LoadError, compile_source, compile_watched};
pub use symbolic::{
    NameKind, Operand, active_locals, call_name, metamethod_event, operand_name, register_name,
};
pub use verify::{VerifyError, verify};

/// The largest length of a string that a field instruction takes as its key; longer keys go through
/// registers.
pub const MAX_FIELD_NAME: usize = 40;
