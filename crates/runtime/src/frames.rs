//! Walks over the frames of coroutines.
//!
//! The collector does not need one: registers are in their home slots, so it scans the slots of a
//! stack without regard to frames.

use crate::frame::Frame;
use crate::state::State;
use crate::thread::Thread;

/// The frames of one coroutine, from the innermost outwards.
pub struct Frames(Option<Frame>);

impl Frames {
    /// Begins a walk at `frame`.
    ///
    /// # Safety
    /// The stack of the frame neither moves nor loses the frames outside of the last one that the
    /// walk has returned, as long as the walk continues.
    #[inline(always)]
    pub unsafe fn from(frame: Frame) -> Frames {
        Frames(Some(frame))
    }

    /// Walks over the frames of the running coroutine, and then over those of each coroutine that
    /// waits for it, the last one first.
    ///
    /// # Safety
    /// `st` is live. The stacks of these coroutines do not change during the walk.
    pub unsafe fn of_active(st: *mut State) -> ActiveFrames {
        ActiveFrames { thread: (*st).thread, frames: Frames::from(Frame((*st).base)) }
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

/// The frames of all coroutines that have been entered; see [`Frames::of_active`].
pub struct ActiveFrames {
    thread: *mut Thread,
    frames: Frames,
}

impl Iterator for ActiveFrames {
    type Item = Frame;

    fn next(&mut self) -> Option<Frame> {
        loop {
            if let Some(frame) = self.frames.next() {
                return Some(frame);
            }
            if self.thread.is_null() {
                return None;
            }
            // SAFETY: the coroutines are alive, as the caller of `of_active` has promised, and a
            // coroutine that waits has saved its registers.
            unsafe {
                self.thread = (*self.thread).resumer;
                if !self.thread.is_null() {
                    self.frames = Frames::from(Frame((*self.thread).base));
                }
            }
        }
    }
}
