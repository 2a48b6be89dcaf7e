//! Indices of the stack, and pseudo-indices.

use std::ffi::c_int;

use perilune_runtime::closure::NativeClosure;
use perilune_runtime::frame::Frame;
use perilune_runtime::state::State;
use perilune_runtime::value::{SlotExt, Tag, Value};

use crate::status::REGISTRY;

/// Returns the slot of a value on the stack or of an upvalue; `None` if there is no value at the
/// index, or the index is that of the registry.
///
/// # Safety
/// `st` is live. The slot is valid until the stack moves.
#[inline(always)]
pub(crate) unsafe fn place(st: *mut State, index: c_int) -> Option<*mut Value> {
    let (base, top) = ((*st).base, (*st).top);
    if index > 0 {
        let p = base.add(index as usize - 1);
        (p < top).then_some(p)
    } else if index > REGISTRY {
        debug_assert!(index != 0 && top.offset(index as isize) >= base, "invalid index {index}");
        Some(top.offset(index as isize))
    } else {
        upvalue(st, index)
    }
}

#[cold]
unsafe fn upvalue(st: *mut State, index: c_int) -> Option<*mut Value> {
    let n = REGISTRY.wrapping_sub(index) as usize;
    let f = Frame((*st).base).callee();
    let exists = f.tag() == Tag::NATIVE && n >= 1 && n <= (*f.as_native()).header.aux as usize;
    exists.then(|| NativeClosure::bound(f.as_native(), n - 1))
}

/// Returns the value at an index; `None` if no value exists there.
///
/// # Safety
/// `st` is live.
#[inline(always)]
pub(crate) unsafe fn value(st: *mut State, index: c_int) -> Option<Value> {
    match place(st, index) {
        Some(p) => Some(p.get()),
        None if index == REGISTRY => Some(Value::table((*st).registry)),
        None => None,
    }
}

/// Returns the value at an index; nil if no value exists there.
///
/// # Safety
/// `st` is live.
#[inline(always)]
pub(crate) unsafe fn value_or_nil(st: *mut State, index: c_int) -> Value {
    value(st, index).unwrap_or(Value::NIL)
}

/// Stores a value at an index.
///
/// # Safety
/// `st` is live, and the index is that of a value other than the registry.
pub(crate) unsafe fn store(st: *mut State, index: c_int, v: Value) {
    let Some(p) = place(st, index) else { return };
    p.put(v);
    if index < REGISTRY {
        (*st).barrier(Frame((*st).base).callee().as_header());
    }
}

/// Returns an index that stays valid when values are pushed.
///
/// # Safety
/// `st` is live.
#[inline(always)]
pub(crate) unsafe fn absolute(st: *mut State, index: c_int) -> c_int {
    if index > 0 || index <= REGISTRY {
        index
    } else {
        (*st).top.offset_from((*st).base) as c_int + index + 1
    }
}
