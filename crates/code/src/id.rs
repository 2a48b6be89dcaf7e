//! The ids of code versions.

use std::fmt;

/// The id of one code version of an engine, which frame words hold.
///
/// Ids are never reused: when the 31 bits are used up, [`crate::CodeSpace`] refuses to compile.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct CodeId(u32);

impl CodeId {
    /// The first id that is assigned to code; smaller numbers are reserved for the user of this
    /// crate, for frames without machine code.
    pub const FIRST: CodeId = CodeId(16);

    /// The largest id that is assigned to code. Frame words hold an id and a bit ([`crate::Pins`]).
    pub const LAST: CodeId = CodeId(u32::MAX >> 1);

    /// Returns the id with this number, as a frame word holds it.
    #[inline(always)]
    pub const fn from_raw(raw: u32) -> CodeId {
        CodeId(raw)
    }
    /// Returns its number.
    #[inline(always)]
    pub const fn raw(self) -> u32 {
        self.0
    }
    /// Returns whether it refers to machine code, and is not one of the numbers below
    /// [`CodeId::FIRST`].
    #[inline(always)]
    pub const fn is_machine_code(self) -> bool {
        self.0 >= Self::FIRST.0
    }
}

impl fmt::Debug for CodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "code{}", self.0)
    }
}

impl fmt::Display for CodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// The ids that were allocated for the members of one module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeIds {
    first: u32,
    count: u32,
}

impl CodeIds {
    #[cfg(not(loom))]
    pub(crate) fn new(first: u32, count: u32) -> CodeIds {
        CodeIds { first, count }
    }
    /// Returns the id of member `i`.
    ///
    /// # Panics
    /// Panics if there are not that many.
    pub fn get(self, i: usize) -> CodeId {
        assert!(i < self.len(), "member {i} of {}", self.count);
        CodeId(self.first + i as u32)
    }
    /// Returns how many there are.
    pub fn len(self) -> usize {
        self.count as usize
    }
    /// Returns whether there are none.
    pub fn is_empty(self) -> bool {
        self.count == 0
    }
    /// Returns all of them, in order.
    pub fn iter(self) -> impl Iterator<Item = CodeId> {
        (self.first..self.first + self.count).map(CodeId)
    }
}
