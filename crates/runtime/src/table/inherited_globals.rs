//! The inline caches of globals that environments inherit, as those of sandboxes do:
//! `setmetatable(env, {__index = _G})`.
//!
//! Such a cache has the cell of another environment. The accesses that use it only check that the
//! function still has the same environment, not that this environment still lacks the global and
//! still inherits it from the other one. All tables of the chain are watched, and the name is
//! [`LuaString::INHERITED`], so the epoch changes when that may no longer be the case, and with
//! the epoch all these caches are emptied.
//!
//! [`LuaString::INHERITED`]: crate::string::LuaString::INHERITED

use crate::heap::try_push;
use crate::instance::GlobalCache;

/// The caches of a state that may have the cell of an inherited global. They belong to instances,
/// and are forgotten before instances are swept.
#[derive(Default)]
pub struct InheritedGlobals {
    caches: Vec<*mut GlobalCache>,
    /// How often they were emptied in this cycle of the collector.
    emptied: u32,
}

impl InheritedGlobals {
    /// The maximum number of caches.
    const MAX: usize = 1 << 12;
    /// The number of times that the caches are emptied in a cycle of the collector before no more
    /// of them are filled: a program may change the epoch all the time.
    const MAX_EMPTIED: u32 = 100;

    /// Notes that a cache is going to have the cell of an inherited global. Returns false if it
    /// must not.
    pub(super) fn note(&mut self, cache: *mut GlobalCache) -> bool {
        self.emptied < InheritedGlobals::MAX_EMPTIED
            && self.caches.len() < InheritedGlobals::MAX
            && try_push(&mut self.caches, cache)
    }

    /// Empties the caches.
    ///
    /// # Safety
    /// The instances of the noted caches have not been freed.
    pub(crate) unsafe fn empty(&mut self) {
        if self.caches.is_empty() {
            return;
        }
        self.emptied += 1;
        for cache in self.caches.drain(..) {
            *cache = GlobalCache::EMPTY;
        }
    }

    /// Empties the caches before objects are swept.
    ///
    /// # Safety
    /// As for [`InheritedGlobals::empty`].
    pub(crate) unsafe fn begin_cycle(&mut self) {
        self.empty();
        self.emptied = 0;
    }
}
