//! Values that the host keeps under registry keys and names.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use crate::stack::Raw;
use crate::traits::{FromLua, IntoLua};
use crate::{Error, Lua, Result, Value};

/// Dropped keys of one state, which the state frees later.
#[derive(Default)]
pub(crate) struct Keys {
    dropped: Mutex<Vec<u32>>,
}

impl Keys {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<u32>> {
        self.dropped.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The key of a value of a state ([`Lua::create_registry_value`]). Unlike a handle it may be kept
/// on any thread.
pub struct RegistryKey {
    slot: u32,
    keys: Arc<Keys>,
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

impl Lua {
    /// Stores a value under a name in the registry.
    ///
    /// # Errors
    /// Returns the error of the conversion.
    pub fn set_named_registry_value(&self, key: &str, value: impl IntoLua) -> Result<()> {
        let value = value.into_lua(self)?;
        self.registry_table().raw_set(key, value)
    }

    /// Returns the value under a name in the registry.
    ///
    /// # Errors
    /// Returns the error of the conversion.
    pub fn named_registry_value<T: FromLua>(&self, key: &str) -> Result<T> {
        self.registry_table().raw_get(key)
    }

    /// Removes a name from the registry.
    ///
    /// # Errors
    /// None at present.
    pub fn unset_named_registry_value(&self, key: &str) -> Result<()> {
        self.set_named_registry_value(key, Value::Nil)
    }

    fn registry_table(&self) -> crate::Table {
        let entry = self.enter();
        let s = entry.stack();
        let t = s.cx().registry().val().raw();
        crate::Table(s.handle(Raw(t)))
    }

    /// Stores a value in the registry until the key is dropped.
    ///
    /// # Errors
    /// Returns the error of the conversion.
    pub fn create_registry_value(&self, value: impl IntoLua) -> Result<RegistryKey> {
        self.expire_registry_values();
        let entry = self.enter();
        let s = entry.stack();
        // SAFETY: P4; the value goes into a slot at once.
        let slot = unsafe {
            let raw = value.into_lua_raw(s)?;
            (*s.st).add_host_root(raw.0)
        };
        Ok(RegistryKey { slot, keys: self.control.keys.clone() })
    }

    /// Returns the value of a key.
    ///
    /// # Errors
    /// Returns [`Error::MismatchedRegistryKey`], or the error of the conversion.
    pub fn registry_value<T: FromLua>(&self, key: &RegistryKey) -> Result<T> {
        self.check_key(key)?;
        let entry = self.enter();
        let s = entry.stack();
        // SAFETY: P4: the slot is the key's; the value is given away at once.
        unsafe { T::from_lua_raw(Raw((*s.st).host_roots.get(key.slot)), s) }
    }

    /// Removes a key and its value.
    ///
    /// # Errors
    /// Returns [`Error::MismatchedRegistryKey`].
    pub fn remove_registry_value(&self, key: RegistryKey) -> Result<()> {
        self.check_key(&key)?;
        drop(key);
        self.expire_registry_values();
        Ok(())
    }

    /// Replaces the value of a key.
    ///
    /// # Errors
    /// Returns [`Error::MismatchedRegistryKey`], or the error of the conversion.
    pub fn replace_registry_value(&self, key: &mut RegistryKey, value: impl IntoLua) -> Result<()> {
        self.check_key(key)?;
        let entry = self.enter();
        let s = entry.stack();
        // SAFETY: P4: the slot is the key's.
        unsafe {
            let raw = value.into_lua_raw(s)?;
            (*s.st).host_roots.set(key.slot, raw.0);
        }
        Ok(())
    }

    /// Returns whether a key belongs to this state.
    pub fn owns_registry_value(&self, key: &RegistryKey) -> bool {
        Arc::ptr_eq(&self.control.keys, &key.keys)
    }

    fn check_key(&self, key: &RegistryKey) -> Result<()> {
        if self.owns_registry_value(key) { Ok(()) } else { Err(Error::MismatchedRegistryKey) }
    }

    /// Removes the values whose keys were dropped. Creating a key does this, too.
    pub fn expire_registry_values(&self) {
        let dropped = std::mem::take(&mut *self.control.keys.lock());
        if dropped.is_empty() {
            return;
        }
        let entry = self.enter();
        for slot in dropped {
            // SAFETY: P4: the slot was the key's alone.
            unsafe { (*entry.st).host_roots.release(slot) };
        }
    }
}
