//! Functions of the host, and the safe view of a state that they get.

use std::marker::PhantomData;

use crate::value::Value;

/// An error is on its way; its value is in [`crate::state::State::error`].
#[derive(Debug)]
pub struct Raised(pub(crate) ());

/// How a native function ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ret(pub i32);

/// Result of a native function.
pub type NativeResult = Result<Ret, Raised>;

/// A function of the host.
pub type NativeFn = fn(&mut Cx) -> NativeResult;

/// A state as native functions see it.
#[repr(transparent)]
pub struct Cx {
    state: std::cell::UnsafeCell<crate::state::State>,
}

/// A value that stays valid until the next operation on the [`Cx`] that may run Lua code or collect (those take `&mut self`).
#[derive(Clone, Copy)]
pub struct Val<'a> {
    v: Value,
    life: PhantomData<&'a Cx>,
}
