//! Stencils: machine code with holes.

/// The machine code of an instruction.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Stencil {
    /// The opcode, and the variant if the opcode has several stencils.
    pub(super) name: &'static str,
    /// The code that is executed often. It ends where the code of the next instruction begins.
    pub(super) hot: Part,
    /// The code that is executed rarely.
    pub(super) cold: Part,
    /// The jump that is left out at the end of the code that is executed often, since it leads to
    /// the code that follows.
    pub(super) falls: Option<Kind>,
}

/// The stencils for a variant of an instruction whose operands are assumed to be of certain kinds.
/// It is chosen by feedback. For other operands it continues in the general variant.
#[allow(dead_code)] // some targets have no stencils
pub(super) struct Speculative {
    /// The bits of the feedback cell that matter.
    pub(super) mask: u32,
    /// The value of these bits for which the variant is chosen.
    pub(super) seen: u32,
    /// The constant that must have this tag.
    pub(super) constant: Option<(Kind, u8)>,
    /// Whether A, B and C name the register whose value, a float, the preceding instruction has
    /// left in a machine register.
    pub(super) carried: [bool; 3],
    /// Whether the variant leaves its result in that machine register.
    pub(super) carries: bool,
    /// The stencils for forward and backward jumps, first for operand C equal to 0, then for
    /// operand C equal to 1.
    pub(super) stencils: [&'static Stencil; 4],
    /// The stencil for other operands, which leaves the instruction to its handler.
    pub(super) otherwise: &'static Stencil,
}

/// A part of a stencil.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Part {
    pub(super) code: &'static [u8],
    pub(super) patches: &'static [Patch],
}

/// A hole: four bytes to be filled, or a field of the instruction in these bytes.
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
#[repr(u8)]
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
    /// Operand C.
    ImmediateC,
    /// Operand B, signed.
    ImmediateSignedB,
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
    /// The distance to the general variant of the instruction.
    General,
    /// The distance to a place in the cold part.
    Cold,
    /// The distance to a place in the hot part.
    Hot,
}

impl Kind {
    /// The number of kinds.
    pub(super) const COUNT: usize = Kind::Hot as usize + 1;

    /// Returns whether the hole contains the distance from its end to a place.
    pub(super) fn is_distance(self) -> bool {
        self as u8 >= Kind::Next as u8
    }
}
