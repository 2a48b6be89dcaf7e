//! Functions and their upvalues.

use crate::header::GcHeader;
use crate::instance::Instance;
use crate::native::NativeFn;
use crate::value::Value;

/// A Lua function: an instance of its code and its upvalues, which follow.
#[repr(C)]
pub struct LuaClosure {
    /// `aux` is the number of upvalues.
    pub header: GcHeader,
    /// The code's instance in this state.
    pub instance: *mut Instance,
    // [*mut Upvalue; aux] follow
}

impl LuaClosure {
    /// Returns the size in bytes of a closure with `n` upvalues.
    pub const fn size_for(n: usize) -> usize {
        (size_of::<LuaClosure>() + n * 8 + 15) & !15
    }
    /// Returns the place of upvalue `i`.
    ///
    /// # Safety
    /// `this` is a live closure with more than `i` upvalues.
    #[inline(always)]
    pub unsafe fn upvalue(this: *mut LuaClosure, i: usize) -> *mut *mut Upvalue {
        this.add(1).cast::<*mut Upvalue>().add(i)
    }
}

/// A function of the host; its bound values follow.
#[repr(C)]
pub struct NativeClosure {
    /// `aux` is the number of bound values; `word` is the [`crate::native::Builtin`] number.
    pub header: GcHeader,
    /// The code.
    pub func: NativeFn,
    // [Value; aux] follow
}

impl NativeClosure {
    /// Returns the size in bytes of a closure with `n` bound values.
    pub const fn size_for(n: usize) -> usize {
        (size_of::<NativeClosure>() + n * 16 + 15) & !15
    }
    /// Returns the place of bound value `i`.
    ///
    /// # Safety
    /// `this` is a live closure with more than `i` bound values.
    #[inline(always)]
    pub unsafe fn bound(this: *mut NativeClosure, i: usize) -> *mut Value {
        this.add(1).cast::<Value>().add(i)
    }
}

/// A variable shared by closures. While it is open, `place` points into a VM stack; once closed, at
/// its own `closed`.
#[repr(C)]
pub struct Upvalue {
    /// Header.
    pub header: GcHeader,
    /// The address of the value.
    pub place: *mut Value,
    /// The value once closed. While open, its payload is the next open upvalue (lower in the stack)
    /// and its tag is nil.
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
}
