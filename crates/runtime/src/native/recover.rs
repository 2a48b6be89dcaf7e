//! Catching an error of a call made from native code.

use super::Cx;
use crate::state::{State, StateRef};
use crate::thread::Thread;
use crate::value::{SlotExt, Value};

impl Cx {
    /// Recovers from a failed call: removes its frames from the stack, closes the variables that
    /// they left pending, and pushes the error value above the first `kept` values.
    pub fn recover(&mut self, kept: usize) {
        self.recover_and(kept, false);
    }

    /// Like [`Cx::recover`], in a frame that is itself protected: the message handler, if the frame
    /// has one, also receives the errors of closing the variables.
    pub fn recover_protected(&mut self, kept: usize) {
        self.recover_and(kept, true);
    }

    fn recover_and(&mut self, kept: usize, handles: bool) {
        // SAFETY: N1; the frame of this function is still on top, as calls that fail restore it.
        unsafe {
            let st = self.state();
            let base = (*st).base.offset_from((*(*st).thread).stack) as usize;
            State::recover(st, base, kept, handles);
        }
    }
}

impl State {
    /// Recovers from a failed call of native code: removes the frames of the call from the stack,
    /// closes the variables that they left pending, and pushes the error value above `kept` values
    /// of the calling frame, whose base is `base` slots above the bottom. If `handles` is set, a
    /// variable that cannot be closed is an error for the message handler of that frame.
    ///
    /// # Safety
    /// `st` is live, the frame at `base` is the one that made the call, and `kept` values were
    /// below the callee at the call.
    pub(crate) unsafe fn recover(st: *mut State, base: usize, kept: usize, handles: bool) {
        let mut s = StateRef::new(st);
        let th = s.thread;
        let level = base + kept;
        let mut caught = (s.error_handled, s.error_kind);
        s.base = (*th).stack.add(base);
        s.close_upvalues((*th).stack.add(level));
        (&mut (*th).returning).retain(|r| (r.0 as usize) < level);
        // The slot of the callee is below all pending variables.
        (*th).stack.add(level).put(s.error);
        s.error = Value::NIL;
        s.raised_at = None;
        loop {
            let mut end = level + 1;
            s.top = (*th).stack.add(end);
            let closed = match State::take_pending(st, level) {
                Ok(None) => break,
                Ok(Some(pending)) => {
                    end = end.max(pending.slot + 1);
                    let callee = pending.push_call(st, (*th).stack.add(level).get());
                    (s.vm.call)(st, callee, 2).map(|_| ())
                }
                Err(e) => Err(e),
            };
            if closed.is_err() {
                if handles {
                    s.top = (*th).stack.add(end);
                    (s.vm.handle)(st);
                }
                s.close_upvalues((*th).stack.add(level));
                (&mut (*th).returning).retain(|r| (r.0 as usize) < level);
                caught = (s.error_handled, s.error_kind);
                (*th).stack.add(level).put(s.error);
                s.error = Value::NIL;
            }
        }
        (s.error_handled, s.error_kind) = caught;
        Thread::shrink_after_error(st);
    }
}
