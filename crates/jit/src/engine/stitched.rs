//! The stitched code of a function.

use std::sync::Arc;

use perilune_code::Placement;

/// The stitched code of a function, which all states share.
#[derive(Default)]
pub(crate) struct Stitched {
    /// The code, which may be retired.
    pub(super) code: Option<Arc<Placement>>,
    /// The size in bytes, once it is known; `usize::MAX` if the function cannot be stitched.
    pub(super) size: Option<usize>,
    /// The feedback that the code assumes and does not record, by pc, if the optimizing compiler
    /// needs it.
    pub(super) assumed: Box<[(u32, u32)]>,
}

impl Stitched {
    /// Frees the code, as the proto is dropped: no instance and so no state has its address.
    pub(super) fn close(&mut self) {
        if let Some(code) = self.code.take() {
            code.close();
        }
    }
}
