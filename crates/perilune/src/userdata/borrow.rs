//! Borrowed values of userdata.

use std::ops::{Deref, DerefMut};

use perilune_runtime::userdata::CellHead;

use super::held::{Held, Hold, hold_any, is_bound_to_thread};
use crate::cell::{HostCell, unavailable};
use crate::stack::{Raw, Stack};
use crate::traits::FromLua;
use crate::{AnyUserData, Error, Lua, Result, Value};

/// A borrowed value of a userdata. Keeps the userdata and its state alive.
pub struct UserDataRef<T: 'static> {
    at: *mut T,
    head: *const CellHead,
    held: Held<T>,
    _owner: (AnyUserData, Lua),
}

/// A mutably borrowed value of a userdata. Keeps the userdata and its state alive.
pub struct UserDataRefMut<T: 'static> {
    at: *mut T,
    head: *const CellHead,
    held: Held<T>,
    _owner: (AnyUserData, Lua),
}

/// A value taken out of its userdata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserDataOwned<T>(pub T);

/// Returns the cell of a userdata that contains its value. Values that a scope lends may be
/// borrowed only for the duration of a call, and are rejected.
pub(crate) fn cell_of<T: 'static>(s: Stack<'_>, v: Raw) -> Result<*mut HostCell<T>> {
    match HostCell::<T>::of(s, v) {
        // SAFETY: the cell is alive because its userdata is.
        Some(cell) if unsafe { (*cell).is_inside() } => Ok(cell),
        _ => Err(Error::UserDataTypeMismatch),
    }
}

macro_rules! begin {
    ($($t:ident $exclusive:literal $begin:ident;)*) => {$(
        impl<T: 'static> $t<T> {
            pub(crate) fn new(u: &AnyUserData) -> Result<$t<T>> {
                let entry = u.0.enter();
                let s = entry.stack();
                let owner = (u.clone(), entry.lua.clone());
                let Ok(cell) = cell_of::<T>(s, s.word(&u.0)) else {
                    return $t::shared(s, owner);
                };
                let head = cell.cast::<CellHead>();
                // SAFETY: the cell is alive because its userdata is.
                unsafe {
                    (*head).$begin().map_err(|n| unavailable(n, $exclusive))?;
                    let at = HostCell::value(cell);
                    Ok($t { at, head, held: Held::Nothing, _owner: owner })
                }
            }

            /// Borrows the value behind the pointer that a userdata holds.
            #[cold]
            fn shared(s: Stack<'_>, owner: (AnyUserData, Lua)) -> Result<$t<T>> {
                let v = s.word(&owner.0.0);
                let Hold { at, held, guard, own } = hold_any::<T>(s, v, $exclusive)?;
                if is_bound_to_thread(&held) || !own {
                    return Err(Error::UserDataTypeMismatch);
                }
                Ok($t { at, head: guard.into_head(), held, _owner: owner })
            }
        }
    )*};
}

begin! {
    UserDataRef false begin_shared;
    UserDataRefMut true begin_exclusive;
}

macro_rules! borrows {
    ($($t:ident)*) => {$(
        impl<T: 'static> Deref for $t<T> {
            type Target = T;
            #[inline]
            fn deref(&self) -> &T {
                // SAFETY: the value is borrowed, and its owner is held.
                unsafe { &*self.at }
            }
        }

        impl<T: 'static> Drop for $t<T> {
            fn drop(&mut self) {
                let _guard = self._owner.0.0.hold();
                self.held = Held::Nothing;
                // SAFETY: the owner is held until after this.
                unsafe { (*self.head).end() }
            }
        }

        impl<T: std::fmt::Debug + 'static> std::fmt::Debug for $t<T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<T: std::fmt::Display + 'static> std::fmt::Display for $t<T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<T: 'static> FromLua for $t<T> {
            fn from_lua(value: Value, _: &Lua) -> Result<$t<T>> {
                $t::new(&userdata::<T>(value)?)
            }
        }
    )*};
}

borrows!(UserDataRef UserDataRefMut);

impl<T: 'static> DerefMut for UserDataRefMut<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the value is mutably borrowed, and its owner is held.
        unsafe { &mut *self.at }
    }
}

impl<T: 'static> FromLua for UserDataOwned<T> {
    fn from_lua(value: Value, _: &Lua) -> Result<UserDataOwned<T>> {
        userdata::<T>(value)?.take().map(UserDataOwned)
    }
}

impl<T> Deref for UserDataOwned<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for UserDataOwned<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

fn userdata<T>(value: Value) -> Result<AnyUserData> {
    match value {
        Value::UserData(u) => Ok(u),
        v => Err(Error::from_lua_conversion(
            v.type_name(),
            "userdata",
            format!("expected userdata of type '{}'", crate::types::short_type_name::<T>()),
        )),
    }
}
