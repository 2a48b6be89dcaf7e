//! Stencils that were extracted from compiled functions.

use perilune_semantics::Jump;

use crate::stencil::Hole;

/// The content of four bytes of a stencil.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Patch {
    /// A number, to which the addend is added.
    Hole(Hole),
    /// The distance to the code of another instruction.
    Jump(Jump),
    /// The distance to an offset in the cold part of the same stencil.
    Cold,
    /// The distance to an offset in the hot part.
    Hot,
}

/// Four bytes that are filled later.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// The offset of the bytes.
    pub(crate) at: usize,
    /// The content of the bytes.
    pub(crate) patch: Patch,
    /// The value that is added to a number, or the offset to which a distance leads.
    pub(crate) addend: i32,
}

/// A part of a stencil.
#[derive(Default)]
pub(crate) struct Part {
    pub(crate) bytes: Vec<u8>,
    pub(crate) places: Vec<Place>,
    /// The instructions, with the offsets of their ends.
    pub(crate) listing: Vec<(usize, String)>,
}

/// A finished stencil.
pub(crate) struct Extracted {
    /// The code that is executed often.
    pub(crate) hot: Part,
    /// The code that is rarely executed.
    pub(crate) cold: Part,
    /// The jump that is left out at the end of the hot part.
    pub(crate) falls: Option<Jump>,
}
