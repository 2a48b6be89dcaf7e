//! Data that a host keeps for each coroutine.

use std::ptr::null_mut;

/// A block of memory that belongs to a coroutine and that only its owner, such as the C API,
/// accesses. Its address does not change, and it is freed with the coroutine.
pub struct Companion {
    block: *mut (),
    free: Option<unsafe fn(*mut ())>,
    /// The word in front of a block that is still to be made.
    word: u64,
}

impl Companion {
    /// No companion.
    pub const NONE: Companion = Companion { block: null_mut(), free: None, word: 0 };

    /// Makes a companion of a block, which `free` frees.
    ///
    /// # Safety
    /// `free` may be called once with `block`, on the state's thread. It does not use the state. In
    /// front of the block is a word that may be read until then.
    pub unsafe fn new(block: *mut (), free: unsafe fn(*mut ())) -> Companion {
        Companion { block, free: Some(free), word: 0 }
    }

    /// Returns the word in front of the block. A coroutine without a block has the one that the
    /// main coroutine had when it was created.
    pub fn word(&self) -> u64 {
        if self.block.is_null() {
            return self.word;
        }
        // SAFETY: the caller of `new` promised this.
        unsafe { self.block.cast::<u64>().sub(1).read() }
    }

    /// Returns the companion of a new coroutine, if this is the one of the main coroutine: it has
    /// no block yet.
    pub(crate) fn inherited(&self) -> Companion {
        Companion { word: self.word(), ..Companion::NONE }
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
