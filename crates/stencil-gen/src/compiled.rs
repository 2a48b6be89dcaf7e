//! Compiled functions.

use std::ops::Range;

use cranelift_codegen::binemit::Reloc;

use crate::symbol::Symbol;

/// A reference to another function.
#[derive(Clone, Copy)]
pub(crate) struct Reference {
    /// The position of the bytes that refer to it.
    pub(crate) at: usize,
    /// How they refer to it.
    pub(crate) kind: Reloc,
    /// The symbol that is referred to.
    pub(crate) to: Symbol,
}

/// A compiled function.
pub(crate) struct Compiled {
    /// The bytes.
    pub(crate) bytes: Vec<u8>,
    /// The references to other functions.
    pub(crate) references: Vec<Reference>,
    /// The ranges of bytes with a source location, in ascending order, and whether they are cold.
    pub(crate) places: Vec<(Range<usize>, bool)>,
}

/// A function as assembly.
pub(crate) struct Assembled {
    /// The text of the function.
    pub(crate) text: String,
    /// The number of instructions.
    pub(crate) count: usize,
    /// Whether the function creates a native frame.
    pub(crate) has_frame: bool,
}
