//! Keys of values in the registry.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use perilune_code::lock::{Mutex, MutexGuard, lock};

/// The slots of the dropped keys of one state, which the state releases later.
#[derive(Default)]
pub(crate) struct Keys {
    dropped: Mutex<Vec<u32>>,
}

impl Keys {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Vec<u32>> {
        lock(&self.dropped)
    }
}

/// The key of a value of a state
/// ([`Lua::create_registry_value`](crate::Lua::create_registry_value)). Unlike a handle it may be
/// kept on any thread.
pub struct RegistryKey {
    pub(crate) slot: u32,
    pub(crate) keys: Arc<Keys>,
}

impl Drop for RegistryKey {
    fn drop(&mut self) {
        self.keys.lock().push(self.slot);
    }
}

impl std::fmt::Debug for RegistryKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RegistryKey({})", self.slot)
    }
}

impl Hash for RegistryKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.slot.hash(state);
    }
}

impl PartialEq for RegistryKey {
    fn eq(&self, other: &RegistryKey) -> bool {
        self.slot == other.slot && Arc::ptr_eq(&self.keys, &other.keys)
    }
}

impl Eq for RegistryKey {}
