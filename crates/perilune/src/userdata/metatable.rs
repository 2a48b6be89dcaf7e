//! Metatables of userdata types.

use super::registry::check_meta_field;
use crate::traits::{FromLua, IntoLua};
use crate::{MetaMethod, Result, Table, TablePairs, Value};

/// The metatable of a type of userdata.
#[derive(Clone, Debug)]
pub struct UserDataMetatable(pub(crate) Table);

impl UserDataMetatable {
    /// Returns a field.
    ///
    /// # Errors
    /// Returns [`Error::MetaMethodRestricted`](crate::Error::MetaMethodRestricted), or the error of
    /// the conversion.
    pub fn get<V: FromLua>(&self, key: impl AsRef<str>) -> Result<V> {
        MetaMethod::validate(key.as_ref())?;
        self.0.raw_get(key.as_ref())
    }

    /// Sets a field.
    ///
    /// # Errors
    /// Returns [`Error::MetaMethodRestricted`](crate::Error::MetaMethodRestricted),
    /// [`Error::MetaMethodTypeError`](crate::Error::MetaMethodTypeError), or the error of the
    /// conversion.
    pub fn set(&self, key: impl AsRef<str>, value: impl IntoLua) -> Result<()> {
        let key = key.as_ref();
        MetaMethod::validate(key)?;
        let entry = self.0.0.enter();
        let value = check_meta_field(entry.lua, key, value)?;
        self.0.raw_set(key, value)
    }

    /// Returns whether a field is not nil.
    ///
    /// # Errors
    /// Returns [`Error::MetaMethodRestricted`](crate::Error::MetaMethodRestricted) for a restricted
    /// field.
    pub fn contains(&self, key: impl AsRef<str>) -> Result<bool> {
        Ok(!self.get::<Value>(key)?.is_nil())
    }

    /// Returns an iterator over the fields, without the restricted ones such as `__gc` and
    /// `__metatable`.
    pub fn pairs<V: FromLua>(&self) -> UserDataMetatablePairs<'_, V> {
        UserDataMetatablePairs(self.0.pairs())
    }
}

/// An iterator over the fields of a [`UserDataMetatable`], made by [`UserDataMetatable::pairs`].
///
/// An item is an error when the value cannot be converted to `V`.
pub struct UserDataMetatablePairs<'a, V>(TablePairs<'a, String, V>);

impl<V: FromLua> Iterator for UserDataMetatablePairs<'_, V> {
    type Item = Result<(String, V)>;

    fn next(&mut self) -> Option<Self::Item> {
        let is_restricted = |entry: &Self::Item| match entry {
            Ok((key, _)) => MetaMethod::validate(key).is_err(),
            Err(_) => false,
        };
        self.0.find(|entry| !is_restricted(entry))
    }
}
