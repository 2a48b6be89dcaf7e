//! A stand-in for the mapping on targets for which the engine generates no machine code.

use std::io;

use super::MappingKind;

/// No value of this type exists.
#[derive(Debug)]
pub(super) enum Mapping {}

impl Mapping {
    /// Returns the error for targets without machine code.
    pub(super) fn new(_size: usize, _kind: MappingKind) -> io::Result<Mapping> {
        let text = "no machine code is generated for this target";
        Err(io::Error::new(io::ErrorKind::Unsupported, text))
    }

    pub(super) fn is_page_exclusive(&self) -> bool {
        match *self {}
    }

    pub(super) fn code(&self) -> *const u8 {
        match *self {}
    }

    /// # Safety
    /// None: there is no mapping on this system.
    pub(super) unsafe fn write(&self, _: usize, _: usize, _: &[u8]) -> io::Result<()> {
        match *self {}
    }
}

/// Returns the number of bytes in a page.
pub(super) fn page_size() -> usize {
    4096
}
