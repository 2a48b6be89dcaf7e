//! Walks over the frames of coroutines.
//!
//! The collector does not walk over frames: registers are in their home slots, so it scans the
//! slots of a stack without regard to frames.

use crate::frame::{Frame, flags};
use crate::state::State;
use crate::thread::Thread;

/// The frames of one coroutine, from the innermost outwards.
pub struct Frames(Option<Frame>);

impl Frames {
    /// Begins a walk at `frame`.
    ///
    /// # Safety
    /// Until the walk ends, the stack of the frame does not move, and the frames that the walk has
    /// not yet returned stay on it.
    #[inline(always)]
    pub unsafe fn from(frame: Frame) -> Frames {
        Frames(Some(frame))
    }

    /// Walks over the frames of the running coroutine, and then over those of each coroutine that
    /// is waiting for it, the innermost first.
    ///
    /// # Safety
    /// As for [`Frames::by_coroutine`].
    pub unsafe fn of_active(st: *mut State) -> impl Iterator<Item = Frame> {
        Frames::by_coroutine(st).flat_map(|(_, frames)| frames)
    }

    /// Flags the frames of machine code to be deoptimized, if this was requested
    /// ([`State::leave_machine_code`]). Must be called at safepoints, and when control returns to a
    /// frame of machine code.
    ///
    /// # Safety
    /// As for [`Frames::by_coroutine`].
    pub unsafe fn flag_machine_code(st: *mut State) {
        if std::mem::take(&mut (*st).leaves_machine_code) {
            for frame in Frames::of_active(st).filter(|frame| frame.word().is_machine()) {
                frame.add_flags(flags::LEAVE);
            }
        }
    }

    /// Returns the running coroutine, and then each coroutine that is waiting for it, the innermost
    /// first, with its frames.
    ///
    /// # Safety
    /// `st` is live. The stacks of these coroutines do not change during the walk.
    pub unsafe fn by_coroutine(st: *mut State) -> impl Iterator<Item = (*mut Thread, Frames)> {
        let running = (*st).thread;
        let waiting = std::iter::successors(Some(running), |th| {
            // SAFETY: the coroutines are alive, as the caller has promised.
            let resumer = unsafe { (**th).resumer };
            (!resumer.is_null()).then_some(resumer)
        });
        waiting.map(move |th| {
            // SAFETY: as above; a coroutine that waits has saved its registers.
            unsafe {
                let base = if th == running { (*st).base } else { (*th).base };
                (th, Frames::from(Frame(base)))
            }
        })
    }
}

impl Iterator for Frames {
    type Item = Frame;

    #[inline(always)]
    fn next(&mut self) -> Option<Frame> {
        let frame = self.0?;
        // SAFETY: the frame is in place, as the caller of `from` has promised.
        self.0 = unsafe { frame.caller() };
        Some(frame)
    }
}
