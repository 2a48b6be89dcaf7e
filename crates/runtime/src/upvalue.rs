//! Variables that closures share.

use crate::header::GcHeader;
use crate::value::Value;

/// A variable shared by closures. While it is open, `place` points into a VM stack; after it is
/// closed, `place` points to the field `closed`.
#[repr(C)]
pub struct Upvalue {
    /// Header.
    pub header: GcHeader,
    /// The address of the value.
    pub place: *mut Value,
    /// The value of a closed upvalue. While it is open, the payload is the next open upvalue (lower
    /// in the stack) and the tag is nil.
    pub closed: Value,
}

const _: () = assert!(size_of::<Upvalue>() == 32);

impl Upvalue {
    /// Returns whether the variable is still on a stack.
    ///
    /// # Safety
    /// `this` is a live upvalue.
    #[inline(always)]
    pub unsafe fn is_open(this: *mut Upvalue) -> bool {
        (*this).place != &raw mut (*this).closed
    }

    /// Returns the place of an open upvalue's link to the next one: the payload of `closed`.
    ///
    /// # Safety
    /// `this` is a live open upvalue.
    #[inline(always)]
    pub(crate) unsafe fn next_open(this: *mut Upvalue) -> *mut *mut Upvalue {
        (&raw mut (*this).closed).cast::<*mut Upvalue>()
    }
}
