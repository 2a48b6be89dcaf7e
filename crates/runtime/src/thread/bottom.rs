//! The frame at the bottom of a coroutine's stack, in which the host keeps values. The main
//! coroutine has such a frame as well.

use super::{Status, Thread};
use crate::frame::{Frame, FrameWord, Link, flags};
use crate::value::{SlotExt, Value};

impl Thread {
    /// Gives the coroutine a frame at the bottom of its stack, if it has no frame at all. In this
    /// frame the host can push a function, which the next resume calls, and finds its results. If
    /// the coroutine was created with a function, that function becomes the first value of the
    /// frame.
    ///
    /// # Safety
    /// `th` is alive and not running. Its stack may have been scanned, so the caller must execute
    /// the write barrier.
    pub unsafe fn make_bottom(th: *mut Thread) {
        if (*th).base != (*th).stack {
            return;
        }
        let is_new = (*th).status == Status::Suspended;
        let first = (*th).stack;
        let function = first.get();
        first.put(Value::NIL);
        let bottom = Frame(first.add(Frame::RESERVED));
        bottom.set_word(FrameWord::new(FrameWord::NATIVE, 0));
        bottom.set_link(Link::new(flags::BOTTOM, 0, 0));
        (*th).base = bottom.0;
        (*th).top = bottom.0;
        (*th).has_bottom = true;
        if is_new {
            bottom.0.put(function);
            (*th).top = bottom.0.add(1);
        }
    }

    /// If the coroutine has ended or was closed, and the host has pushed another function since,
    /// makes it possible to resume the coroutine, which then calls that function.
    ///
    /// # Safety
    /// `th` is alive and does not run.
    pub unsafe fn begin_again(th: *mut Thread) {
        if Thread::can_begin_again(th) {
            (*th).status = Status::Suspended;
        }
    }

    /// Returns whether [`Thread::begin_again`] has an effect.
    ///
    /// # Safety
    /// As there.
    pub(crate) unsafe fn can_begin_again(th: *mut Thread) -> bool {
        let ended = (*th).status == Status::Dead && !(*th).failed;
        ended && Thread::is_idle(th) && (*th).top > (*th).base
    }

    /// Returns whether no function is active in the coroutine and it has a frame for values of the
    /// host.
    ///
    /// # Safety
    /// `th` is alive and does not run.
    #[inline(always)]
    pub unsafe fn is_idle(th: *mut Thread) -> bool {
        (*th).has_bottom && (*th).base == (*th).stack.add(Frame::RESERVED)
    }
}
