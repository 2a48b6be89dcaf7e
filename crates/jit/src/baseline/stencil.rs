//! Stencils: machine code with holes.

/// The machine code of an instruction.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Stencil {
    /// The code that is executed often. It ends where the code of the next instruction begins.
    pub(super) hot: Part,
    /// The code that is executed rarely.
    pub(super) cold: Part,
}

/// A part of a stencil.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Part {
    pub(super) code: &'static [u8],
    pub(super) patches: &'static [Patch],
}

/// A hole: four bytes to be filled, or a field of the instruction that they are.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Patch {
    /// The offset of the hole.
    pub(super) at: u16,
    /// The kind of its content.
    pub(super) kind: Kind,
    /// The number to add to the content.
    pub(super) addend: i32,
}

/// The content of a hole.
#[allow(dead_code)] // some targets have no stencils, and some need fewer kinds
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// The offset in the frame of the register that A names.
    RegisterA,
    /// The offset in the frame of the register that B names.
    RegisterB,
    /// The offset in the frame of the register that C names.
    RegisterC,
    /// The offset of the constant that B names.
    ConstantB,
    /// The offset of the constant that C names.
    ConstantC,
    /// The offset of the constant that Bx names.
    ConstantBx,
    /// The offset of the constant that the operand of the next word names.
    ConstantExtra,
    /// The offset of the instruction in the code.
    Offset,
    /// The index of the next instruction.
    Position,
    /// The offset of the instruction's record in an instance.
    Record,
    /// The distance to the next instruction.
    Next,
    /// The distance to the instruction after the next one.
    Skip,
    /// The distance to the target of this jump.
    Own,
    /// The distance to the target of the jump after this test.
    Following,
    /// The distance to the head of a loop.
    Back,
    /// The distance to the instruction after a loop.
    Past,
    /// The distance to a place in the cold part.
    Cold,
    /// The distance to a place in the hot part.
    Hot,
}
