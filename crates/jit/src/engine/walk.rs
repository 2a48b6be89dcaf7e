//! Which versions the frames of a state are in, as reclamation asks.

use std::sync::atomic::Ordering;

use perilune_code::{CodeId, Hooks, Pins};
use perilune_runtime::frames::Frames;
use perilune_runtime::state::{State, poll};

/// What the reclaimer asks of a state.
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
        // SAFETY: the state is offline and claimed: no thread changes its stacks.
        unsafe { walk(self.state, pins) }
    }
}

/// Pins the versions of the frames of the running coroutine and of those that wait for it.
///
/// # Safety
/// The stacks of the state do not change meanwhile.
pub(super) unsafe fn walk(st: *mut State, pins: &mut Pins) {
    for frame in Frames::of_active(st).filter(|f| f.word().is_machine()) {
        pins.add(CodeId::from_raw(frame.word().code()));
    }
}
