//! The interface between the interpreter and machine code: entering it, being called by it, and the
//! functions that it calls.
//!
//! A frame of machine code has its registers in their home slots whenever other code can access
//! them, so it looks like any other frame; the code id in its frame word indicates that native code
//! is waiting for it. Therefore the interpreter's loop ends when it would continue with such a
//! frame (`Exit::Done`), or with a frame that has the flag `NATIVE_CALLER`. Errors propagate
//! through native frames as a status.

pub(crate) mod builtin;
mod calls;
mod entry;
mod float;
mod handler;
mod inlined;
mod leaf;
mod miss;
mod native_stack;
mod panics;
mod preserve;
#[cfg(handlers)]
mod reentry;
mod stub;
mod verify;
mod virtuals;

pub use calls::CALLS;
pub(crate) use entry::{call_code, call_code_from_native, enter_code, enter_loop, left_code};
pub(crate) use native_stack::{has_reserve, has_room, measure};
#[cfg(debug_assertions)]
pub use panics::injected::panic_in_leaf;
pub(crate) use panics::{is_pending as has_panicked, resume as resume_panic};
#[cfg(handlers)]
pub(crate) use stub::perilune_interpret;
pub(crate) use stub::{IDLE_SLOT, entry_of, is_idle};

use perilune_runtime::frame::{Frame, FrameWord, flags};
use perilune_runtime::frames::Frames;
use perilune_runtime::state::State;
use perilune_runtime::state::Tier;
use perilune_runtime::thread::Thread;

/// Runs `f` with the compiler's data in the state, if there is any. It is returned to the state
/// even after a panic.
///
/// # Safety
/// The state is alive.
pub(crate) unsafe fn with_tier<R>(st: *mut State, f: impl FnOnce(&mut dyn Tier) -> R) -> Option<R> {
    struct Lent(*mut State, Option<Box<dyn Tier>>);

    impl Drop for Lent {
        fn drop(&mut self) {
            // SAFETY: the state is alive for as long as `with_tier` runs.
            unsafe { (*self.0).tier = self.1.take() };
        }
    }

    let mut lent = Lent(st, (*st).tier.take());
    lent.1.as_mut().map(|tier| f(&mut **tier))
}

/// Hands the frames of the coroutine `th`, which has yielded or died, over to the interpreter,
/// since native code no longer waits for them. The walk ends at the frame that was on top at the
/// previous suspension ([`flags::SUSPENDED`]), so that deeply recursive generators yield in
/// constant time.
///
/// # Safety
/// `th` does not run, and its saved base is that of its top frame.
#[inline(always)]
pub(crate) unsafe fn abandon_frames(th: *mut Thread) {
    const HELD: u16 = flags::NATIVE_CALLER | flags::LEAVE;
    let top = Frame((*th).base);
    let is_interpreted = |frame: Frame| {
        let word = frame.word();
        !word.is_machine() && !word.is_announced() && frame.link().flags() & HELD == 0
    };
    // In most cases the interpreter has called `coroutine.yield` in the frame of the last
    // suspension.
    if let Some(caller) = top.caller()
        && caller.link().flags() & flags::SUSPENDED != 0
        && is_interpreted(top)
        && is_interpreted(caller)
    {
        return;
    }
    let mut frames = Frames::from(top);
    for frame in frames.by_ref() {
        let word = frame.word();
        if word.is_machine() {
            frame.set_word(FrameWord::new(FrameWord::INTERPRETER, word.pc()));
        } else if word.is_announced() {
            // the announcement no longer applies to the frame
            frame.set_word(word.at(word.pc()));
        }
        let link = frame.link();
        if link.flags() & HELD != 0 {
            frame.clear_flags(HELD);
        }
        if link.flags() & flags::SUSPENDED != 0 {
            break;
        }
    }
    debug_assert!(frames.all(is_interpreted));
    // a frame of `coroutine.yield` is gone after the next resume
    top.caller().unwrap_or(top).add_flags(flags::SUSPENDED);
}

/// Returns whether a frame of the running coroutine, or of a coroutine that is waiting for it, is
/// in code that it must leave.
///
/// # Safety
/// I2.
#[cold]
pub(crate) unsafe fn is_left_by_some(st: *mut State) -> bool {
    Frames::of_active(st).any(|f| f.link().flags() & flags::LEAVE != 0)
}
