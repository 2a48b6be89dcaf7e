//! The entities by which analyses and compilers index their tables: the instructions and registers
//! of a function.

use std::ops::{Add, Sub};

use cranelift_codegen::entity::{EntityRef, entity_impl};
use perilune_bytecode::flow::{self, jump_target};
use perilune_bytecode::{Instr, Proto};

/// The index of an instruction in its function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Pc(u32);
entity_impl!(Pc, "pc");

/// A register of a frame.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Reg(u32);
entity_impl!(Reg, "r");

impl Pc {
    /// Returns the pcs of all instructions of `proto`, in order.
    pub(crate) fn all(proto: &Proto) -> impl DoubleEndedIterator<Item = Pc> + use<> {
        (0..proto.code.len()).map(Pc::new)
    }

    /// Returns the instruction at this pc.
    pub(crate) fn instr(self, proto: &Proto) -> Instr {
        proto.code[self.index()]
    }

    /// Returns the target of the JMP at this pc.
    pub(crate) fn jump_target(self, proto: &Proto) -> Pc {
        Pc::new(jump_target(&proto.code, self.index()))
    }

    /// Returns the successors of the instruction at this pc: in sequence, and by a jump. A test and
    /// its JMP count as one instruction, and so do an instruction and its EXTRAARG.
    pub(crate) fn successors(self, proto: &Proto) -> (Option<Pc>, Option<Pc>) {
        let to = flow::successors(&proto.code, self.index());
        (to.sequence.map(Pc::new), to.jump.map(Pc::new))
    }
}

impl Add<usize> for Pc {
    type Output = Pc;

    fn add(self, words: usize) -> Pc {
        Pc::new(self.index() + words)
    }
}

impl Sub<usize> for Pc {
    type Output = Pc;

    fn sub(self, words: usize) -> Pc {
        Pc::new(self.index() - words)
    }
}

impl Sub for Pc {
    type Output = usize;

    fn sub(self, other: Pc) -> usize {
        self.index() - other.index()
    }
}

impl Reg {
    /// Returns `count` registers from this one on.
    pub(crate) fn range(self, count: usize) -> impl Iterator<Item = Reg> + use<> {
        (self.index()..self.index() + count).map(Reg::new)
    }
}

impl Add<usize> for Reg {
    type Output = Reg;

    fn add(self, registers: usize) -> Reg {
        Reg::new(self.index() + registers)
    }
}

/// The operands of an instruction that are registers.
pub(crate) trait RegisterOperands {
    /// Returns operand A.
    fn ra(self) -> Reg;
    /// Returns operand B.
    fn rb(self) -> Reg;
    /// Returns operand C.
    fn rc(self) -> Reg;
}

impl RegisterOperands for Instr {
    fn ra(self) -> Reg {
        Reg::new(self.a())
    }

    fn rb(self) -> Reg {
        Reg::new(self.b())
    }

    fn rc(self) -> Reg {
        Reg::new(self.c())
    }
}
