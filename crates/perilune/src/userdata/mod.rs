//! Host values inside Lua.

mod any;
mod borrow;
mod create;
mod held;
mod index;
mod members;
mod metamethod;
mod metatable;
mod method;
mod registry;
mod scoped;
mod shared;
mod target;
mod traits;

use std::ffi::c_void;

pub use borrow::{UserDataOwned, UserDataRef, UserDataRefMut};
pub use metamethod::MetaMethod;
pub use metatable::{UserDataMetatable, UserDataMetatablePairs};
pub use registry::UserDataRegistry;
pub(crate) use scoped::{Erased, Scoped};
pub(crate) use target::Target;
pub use traits::{UserData, UserDataFields, UserDataMethods};

use crate::WeakLua;
use crate::control::Handle;

/// A handle to a userdata.
#[derive(Clone, PartialEq)]
pub struct AnyUserData(pub(crate) Handle);

impl AnyUserData {
    /// Returns a weak reference to the userdata's state.
    pub fn weak_lua(&self) -> &WeakLua {
        &self.0.control.weak
    }

    /// Returns the address that identifies the userdata.
    pub fn to_pointer(&self) -> *const c_void {
        std::ptr::with_exposed_provenance(self.0.word().bits() as usize)
    }
}
