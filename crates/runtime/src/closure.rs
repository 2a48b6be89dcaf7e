//! Functions: Lua closures and native closures.

use crate::header::{GcHeader, Kind};
use crate::instance::{CalleeCache, Instance};
use crate::native::NativeFn;
use crate::state::State;
use crate::upvalue::Upvalue;
use crate::value::{Tag, Value};

/// A Lua function: an instance of its code, followed by its upvalues.
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

/// A function of the host, followed by its bound values.
#[repr(C)]
pub struct NativeClosure {
    /// `aux` is the number of bound values; `word` is the [`crate::native::Builtin`] number.
    pub header: GcHeader,
    /// The code.
    pub func: NativeFn,
    /// The foreign code that `func` runs, or null. All functions of a foreign language may share
    /// one `func`.
    pub foreign: *const (),
    // [Value; aux] follow
}

impl NativeClosure {
    /// Returns the value that identifies the function in a [`CalleeCache`]: its number in
    /// [`crate::native::Builtin`], if it has one, and otherwise the address of its code.
    ///
    /// # Safety
    /// `this` is live.
    #[inline(always)]
    pub unsafe fn callee(this: *const NativeClosure) -> usize {
        let number = (*this).header.word as usize;
        let identity = if number == 0 { (*this).func as usize } else { number };
        identity | CalleeCache::NATIVE
    }

    /// Returns the size in bytes of a closure with `n` bound values.
    pub const fn size_for(n: usize) -> usize {
        (size_of::<NativeClosure>() + n * size_of::<Value>() + 15) & !15
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

impl Value {
    /// Makes the value that refers to a Lua closure.
    #[inline(always)]
    pub fn function(p: *mut LuaClosure) -> Value {
        Value::object(p, Tag::FUNCTION)
    }
    /// Makes the value that refers to a native closure.
    #[inline(always)]
    pub fn native(p: *mut NativeClosure) -> Value {
        Value::object(p, Tag::NATIVE)
    }
    /// Returns the payload as a Lua closure.
    #[inline(always)]
    pub fn as_function(self) -> *mut LuaClosure {
        self.as_ptr()
    }
    /// Returns the payload as a native closure.
    #[inline(always)]
    pub fn as_native(self) -> *mut NativeClosure {
        self.as_ptr()
    }
}

impl State {
    /// Creates a closure whose upvalues the caller must fill in immediately.
    ///
    /// # Safety
    /// `instance` is a live instance of the state. No safepoint happens before the upvalues are
    /// filled in.
    #[inline(always)]
    pub unsafe fn new_closure(
        &mut self,
        instance: *mut Instance,
        upvalues: usize,
    ) -> *mut LuaClosure {
        let c = self.alloc(Kind::LuaClosure, LuaClosure::size_for(upvalues)).cast::<LuaClosure>();
        (*c).header.aux = upvalues as u8;
        (*c).instance = instance;
        c
    }
}
