//! The exits of one body of code.

use std::fmt::Write as _;

use cranelift_codegen::entity::EntityRef;
use perilune_bytecode::{Proto, disassemble_instruction};

use super::state::FrameState;

/// The frame states of the exits of a body of code, in order.
#[derive(Default)]
pub(crate) struct ExitMap(Vec<FrameState>);

impl ExitMap {
    /// Adds an exit.
    pub(crate) fn add(&mut self, state: FrameState) {
        self.0.push(state);
    }

    /// Returns a line for each exit, with its state and its instruction. `proto` returns the
    /// function of a frame, by number.
    pub(crate) fn text<'a>(&self, proto: impl Fn(usize) -> &'a Proto) -> String {
        let mut out = String::new();
        for (n, state) in self.0.iter().enumerate() {
            let proto = proto(state.frame);
            let instruction = disassemble_instruction(proto, state.pc.index());
            let _ = write!(out, "exit {n}: {state}: {}", instruction.trim());
            let _ = match state.frame {
                0 => writeln!(out),
                _ => writeln!(out, " inlined: line {}", proto.line_defined),
            };
        }
        out
    }
}
