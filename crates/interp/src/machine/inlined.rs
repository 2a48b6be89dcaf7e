//! Support for frames of functions that are inlined in machine code.

use perilune_runtime::frame::{Frame, FrameWord, flags};
use perilune_runtime::instance::Instance;
use perilune_runtime::state::State;
use perilune_runtime::thread::Thread;
use perilune_runtime::tier::INLINED_SLOTS;
use perilune_runtime::value::Value;

/// Makes room for a frame at `base` of a function of this instance, and for frames of functions
/// inlined into it, if the stack can grow; returns whether there is room. Addresses into the stack
/// are invalid afterwards.
///
/// # Safety
/// I2; `base` is in the stack.
pub(super) unsafe fn make_slots(st: *mut State, base: *mut Value, inst: *mut Instance) -> bool {
    let slots = (*inst).max_stack as usize + INLINED_SLOTS;
    (*st).limit.offset_from(base) >= slots as isize || Thread::widen(st, base, slots)
}

/// Hands the frame of the caller of `frame`, the frame of an inlined function, over to the
/// interpreter; returns it.
///
/// # Safety
/// `frame` was deoptimized, and its caller ran in the same code.
pub(super) unsafe fn caller_of_inlined(frame: Frame) -> Frame {
    let caller = frame.caller().expect("an inlined function has a caller");
    caller.set_word(FrameWord::new(FrameWord::INTERPRETER, caller.word().pc()));
    caller.clear_flags(flags::LEAVE);
    caller
}
