//! Values that the host keeps under registry keys and names.

use std::sync::Arc;

use crate::stack::Raw;
use crate::traits::{FromLua, IntoLua};
use crate::{Error, Lua, RegistryKey, Result, Table, Value};

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
    /// Does not fail at present.
    pub fn unset_named_registry_value(&self, key: &str) -> Result<()> {
        self.set_named_registry_value(key, Value::Nil)
    }

    fn registry_table(&self) -> Table {
        let entry = self.enter();
        let s = entry.stack();
        let t = s.cx().registry().val().raw();
        Table(s.handle(Raw(t)))
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
    /// Returns [`Error::MismatchedRegistryKey`] if the key belongs to another state, or the error
    /// of the conversion.
    pub fn registry_value<T: FromLua>(&self, key: &RegistryKey) -> Result<T> {
        self.check_key(key)?;
        let entry = self.enter();
        let s = entry.stack();
        // SAFETY: P4: the slot is the key's; the value is passed on at once.
        unsafe { T::from_lua_raw(Raw((*s.st).host_roots.get(key.slot)), s) }
    }

    /// Removes a key and its value.
    ///
    /// # Errors
    /// Returns [`Error::MismatchedRegistryKey`] if the key belongs to another state.
    pub fn remove_registry_value(&self, key: RegistryKey) -> Result<()> {
        self.check_key(&key)?;
        drop(key);
        self.expire_registry_values();
        Ok(())
    }

    /// Replaces the value of a key.
    ///
    /// # Errors
    /// Returns [`Error::MismatchedRegistryKey`] if the key belongs to another state, or the error
    /// of the conversion.
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

    /// Removes the values whose keys were dropped. Creating a key does this as well.
    pub fn expire_registry_values(&self) {
        let dropped = std::mem::take(&mut *self.control.keys.lock());
        if dropped.is_empty() {
            return;
        }
        let entry = self.enter();
        for slot in dropped {
            // SAFETY: P4: only the dropped key referred to the slot.
            unsafe { (*entry.st).host_roots.release(slot) };
        }
    }
}
