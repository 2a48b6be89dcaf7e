//! Data that a host keeps for each coroutine.

use std::ptr::null_mut;

/// A block of memory that belongs to a coroutine and that only its owner, such as the C API,
/// accesses. Its address does not change, and it is freed with the coroutine.
pub struct Companion {
    block: *mut (),
    free: Option<unsafe fn(*mut ())>,
}

impl Companion {
    /// No companion.
    pub const NONE: Companion = Companion { block: null_mut(), free: None };

    /// Makes a companion of a block, which `free` frees.
    ///
    /// # Safety
    /// `free` may be called once with `block`, on the state's thread. It does not use the state.
    pub unsafe fn new(block: *mut (), free: unsafe fn(*mut ())) -> Companion {
        Companion { block, free: Some(free) }
    }

    /// Returns the block, or null.
    #[inline(always)]
    pub fn block(&self) -> *mut () {
        self.block
    }
}

impl Drop for Companion {
    fn drop(&mut self) {
        if let Some(free) = self.free {
            // SAFETY: the caller of `new` promised this, and this is the only call.
            unsafe { free(self.block) }
        }
    }
}
