//! Names of code versions.

use std::fmt;

/// Names one code version of an engine, for ever: ids are never reused. Frame words hold it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct CodeId(u32);

impl CodeId {
    /// The first id that is given out; smaller numbers are left to the user of this crate, who has frames without machine code.
    pub const FIRST: CodeId = CodeId(16);

    /// From its number, as a frame word holds it.
    #[inline(always)]
    pub const fn from_raw(raw: u32) -> CodeId {
        CodeId(raw)
    }
    /// Its number.
    #[inline(always)]
    pub const fn raw(self) -> u32 {
        self.0
    }
    /// Does it name machine code, and not one of the numbers below [`CodeId::FIRST`]?
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

/// A run of ids taken for the members of one module.
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
    /// The id of member `i`.
    ///
    /// # Panics
    /// If there are not that many.
    pub fn get(self, i: usize) -> CodeId {
        assert!(i < self.len(), "member {i} of {}", self.count);
        CodeId(self.first + i as u32)
    }
    /// How many.
    pub fn len(self) -> usize {
        self.count as usize
    }
    /// None at all?
    pub fn is_empty(self) -> bool {
        self.count == 0
    }
    /// All of them, in order.
    pub fn iter(self) -> impl Iterator<Item = CodeId> {
        (self.first..self.first + self.count).map(CodeId)
    }
}
