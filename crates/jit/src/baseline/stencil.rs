//! Stencils: machine code with holes.

/// The machine code of an instruction.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Stencil {
    /// What is executed often. It ends where the code of the next instruction begins.
    pub(super) hot: Part,
    /// What is executed rarely.
    pub(super) cold: Part,
}

/// A part of a stencil.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Part {
    pub(super) code: &'static [u8],
    pub(super) patches: &'static [Patch],
}

/// Four bytes that are filled.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Patch {
    /// Where they are.
    pub(super) at: u16,
    /// What they are filled with.
    pub(super) kind: Kind,
    /// What is added to that.
    pub(super) addend: i32,
}

/// What holes are filled with.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))] // there are no stencils
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// The offset in the frame of the register that A names.
    RegisterA,
    /// That B names.
    RegisterB,
    /// That C names.
    RegisterC,
    /// The offset of the constant that B names.
    ConstantB,
    /// That C names.
    ConstantC,
    /// That Bx names.
    ConstantBx,
    /// That the operand of the next word names.
    ConstantExtra,
    /// The offset of the instruction in the code.
    Offset,
    /// The position of the next instruction.
    Position,
    /// The offset of the instruction's record in an instance.
    Record,
    /// The distance to the next instruction.
    Next,
    /// To the one after it.
    Skip,
    /// To where this jump leads.
    Own,
    /// To where the jump leads that follows this test.
    Following,
    /// To where a loop begins again.
    Back,
    /// To the instruction after a loop.
    Past,
    /// The distance to a place in the cold part.
    Cold,
    /// To a place in the hot part.
    Hot,
}
