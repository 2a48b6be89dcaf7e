//! Finds the versions in which a state has frames, for the reclaimer.

use std::sync::atomic::Ordering;

use perilune_code::{CodeId, Hooks, PinnedFrame, Pins};
use perilune_runtime::frame::{Frame, flags};
use perilune_runtime::frames::Frames;
use perilune_runtime::state::{State, poll};
use perilune_runtime::value::Value;

/// The hooks by which the reclaimer accesses a state.
pub(super) struct StateHooks {
    pub(super) state: *mut State,
}

// SAFETY: the poll word is atomic, and the stacks are read only while the state is claimed and
// offline (the protocol of `code`).
unsafe impl Send for StateHooks {}
// SAFETY: as above.
unsafe impl Sync for StateHooks {}

impl Hooks for StateHooks {
    fn arm(&self) {
        // SAFETY: the mutator is dropped before the state's memory, and this is not called after
        // that; the word is atomic.
        unsafe { (*self.state).poll.fetch_or(poll::QUIESCENCE, Ordering::Relaxed) };
    }

    fn walk(&self, pins: &mut Pins) {
        // SAFETY: the state is offline and claimed: no thread calls Lua in it. Outside of calls,
        // the host may change its stacks, but then no coroutine runs or waits, and the frames of
        // suspended ones are not in machine code.
        unsafe {
            if (*self.state).native_depth > 0 {
                walk(self.state, pins);
            }
        }
    }

    fn forget(&self) {
        // SAFETY: this is called on the state's thread, when it enters or announces: in the host or
        // in a function of the runtime, which handlers and stitched code leave by loading the
        // address of stitched code from the instance (J7).
        unsafe { State::forget_stitched(self.state) }
    }
}

/// A frame of a stack that does not move during a walk.
struct Walked {
    frame: Frame,
    stack: *mut Value,
}

// SAFETY of the blocks: the walk that created this value has not ended, so the frame has not moved.
impl PinnedFrame for Walked {
    fn place(&self) -> u32 {
        // SAFETY: see above.
        unsafe { self.frame.0.offset_from(self.stack) as u32 }
    }
    fn code(&self) -> CodeId {
        // SAFETY: see above.
        CodeId::from_raw(unsafe { self.frame.word().code() })
    }
    fn is_announced(&self) -> bool {
        // SAFETY: see above.
        unsafe { self.frame.word().is_announced() }
    }
    fn set_announced(&self) {
        // SAFETY: see above; only a state marks its own frames.
        unsafe {
            self.frame.set_word(self.frame.word().announced());
            self.frame.clear_flags(flags::SUSPENDED);
        }
    }
}

/// Pins the versions of the frames of the running coroutine and of the coroutines that wait for it.
///
/// # Safety
/// The stacks of the state do not change meanwhile.
pub(super) unsafe fn walk(st: *mut State, pins: &mut Pins) {
    for (thread, frames) in Frames::by_coroutine(st) {
        let stack = (*thread).stack;
        pins.add_stack(thread.addr(), frames.map(|frame| Walked { frame, stack }));
    }
}
