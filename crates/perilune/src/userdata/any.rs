//! Userdata of any type.

use std::ffi::c_void;

use crate::Result;
use crate::control::Handle;

/// A handle to a userdata.
#[derive(Clone, Debug, PartialEq)]
pub struct AnyUserData(pub(crate) Handle);

impl AnyUserData {
    /// Equality as `==` has it, `__eq` included.
    ///
    /// # Errors
    /// What `__eq` raises.
    pub fn equals(&self, other: &AnyUserData) -> Result<bool> {
        crate::value::metamethod_equals(&self.0, &other.0)
    }

    /// The address that identifies it.
    pub fn to_pointer(&self) -> *const c_void {
        std::ptr::with_exposed_provenance(self.0.word().bits() as usize)
    }
}
