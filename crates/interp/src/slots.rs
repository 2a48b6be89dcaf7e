//! Slots of frames: where results are stored, and the values that a native frame keeps.

use perilune_runtime::frame::{Frame, FrameWord, flags};
use perilune_runtime::value::{SlotExt, Tag, Value};

/// Moves `n` values down (or up) within the stack.
#[inline(always)]
pub(crate) unsafe fn move_values(src: *mut Value, dst: *mut Value, n: usize) {
    for i in 0..n {
        dst.add(i).put(src.add(i).get());
    }
}

/// Sets the slots from `first + from` up to `first + to` to nil.
///
/// # Safety
/// They are slots of a live stack.
#[inline(always)]
pub(crate) unsafe fn clear(first: *mut Value, from: usize, to: usize) {
    let mut i = from;
    while i < to {
        first.add(i).put(Value::NIL);
        i += 1;
    }
}

/// Returns the slot in which the caller placed the callee, where results are stored.
///
/// # Safety
/// `base` is the base of a live frame.
pub(crate) unsafe fn callee_slot(base: *mut Value) -> *mut Value {
    let f = Frame(base);
    let v = f.callee();
    let failed = f.link().flags() & flags::FAILED != 0;
    // The slot of a native function may already contain its result, which may be a function.
    let native = f.word().code() == FrameWord::NATIVE;
    if v.tag() == Tag::FUNCTION && !failed && !native {
        let inst = (*v.as_function()).instance;
        if (*inst).is_vararg {
            return base.sub(2 + f.link().extra() + (*inst).num_params as usize + 2);
        }
    }
    base.sub(2)
}

/// Returns the number of values that the native frame at `base` keeps below the results for which
/// it is waiting.
pub(crate) unsafe fn kept(base: *mut Value) -> usize {
    (Frame(base).word().pc() >> 8) as usize
}
