//! Frame states: the state in which code must leave a frame.

use std::fmt;

use cranelift_codegen::ir::Value;

use crate::codegen::value::Known;
use crate::entity::{Pc, Reg};

/// How far an instruction has been executed when code leaves the frame at it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Point {
    /// It has had no effect, and the interpreter executes it: it had never been executed when the
    /// code was compiled, or it begins a loop that was entered with unexpected tags.
    Before,
    /// Like `Before`, but the runtime first materializes the virtual tables of the state.
    Virtual,
    /// The runtime executes it during the exit, since its operands are not those for which the code
    /// was compiled.
    After,
    /// It is a FORPREP that has prepared its loop and enters it, with numbers of a different kind
    /// than those for which the code was compiled.
    Prepared,
}

/// A value to store to the home slot of a register before code leaves the frame.
#[derive(Clone, Copy)]
pub(crate) struct Home {
    pub(crate) register: Reg,
    pub(crate) payload: Value,
    /// The tag, unless the slot already has it.
    pub(crate) tag: Option<Known>,
}

/// The places of the registers of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Registers {
    /// Each is in its home slot, or is stored there during the exit.
    Home,
}

/// The state of a frame when code leaves it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FrameState {
    /// The number of the frame: 0 for the outermost frame, otherwise that of the frame of an
    /// inlined function. Emitting the exit sets it.
    pub(crate) frame: usize,
    /// The instruction that code could not execute.
    pub(crate) pc: Pc,
    /// How far it has been executed.
    pub(crate) point: Point,
    /// Where the registers are.
    pub(crate) registers: Registers,
}

impl FrameState {
    /// Returns the state at the instruction at `pc` with all registers in their home slots.
    pub(crate) fn home(pc: Pc, point: Point) -> FrameState {
        FrameState { frame: 0, pc, point, registers: Registers::Home }
    }

    /// Returns the same state of another frame.
    pub(crate) fn in_frame(self, frame: usize) -> FrameState {
        FrameState { frame, ..self }
    }

    /// Returns the pc that is stored in the frame word. It is that of the instruction which the
    /// interpreter executes next, as in its own frames while the runtime runs an instruction.
    pub(crate) fn frame_pc(&self) -> Pc {
        match self.point {
            Point::Before | Point::Virtual => self.pc,
            Point::After | Point::Prepared => self.pc + 1,
        }
    }
}

impl fmt::Display for FrameState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let point = match self.point {
            Point::Before => "before",
            Point::Virtual => "with virtual tables before",
            Point::After => "after",
            Point::Prepared => "in the loop of",
        };
        let registers = match self.registers {
            Registers::Home => "registers in home slots",
        };
        write!(f, "{point} {}, {registers}", self.pc)
    }
}

#[cfg(test)]
mod tests {
    use cranelift_codegen::entity::EntityRef;

    use super::*;

    #[test]
    fn states_say_where_the_interpreter_continues() {
        let at = |point| FrameState::home(Pc::new(3), point);
        assert_eq!(at(Point::Before).frame_pc(), Pc::new(3));
        assert_eq!(at(Point::After).frame_pc(), Pc::new(4));
        assert_eq!(at(Point::Prepared).frame_pc(), Pc::new(4));
        assert_eq!(at(Point::Before).to_string(), "before pc3, registers in home slots");
        assert_eq!(at(Point::Prepared).to_string(), "in the loop of pc3, registers in home slots");
    }
}
