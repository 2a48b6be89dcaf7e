//! Catching an error of a call made from native code.

use super::Cx;
use crate::meta::Event;
use crate::state::{State, StateRef};
use crate::table::Table;
use crate::thread::Thread;
use crate::value::{SlotExt, Value};

impl Cx {
    /// Recovers from a failed call: removes its frames from the stack, closes the variables that
    /// they left pending, and pushes the error value above the first `kept` values.
    pub fn recover(&mut self, kept: usize) {
        // SAFETY: N1; the frame of this function is still on top, as calls that fail restore it.
        unsafe {
            let st = self.state();
            let base = (*st).base.offset_from((*(*st).thread).stack) as usize;
            State::recover(st, base, kept);
        }
    }
}

impl State {
    /// Recovers from a failed call of native code: removes the frames of the call from the stack,
    /// closes the variables that they left pending, and pushes the error value above `kept` values
    /// of the calling frame, whose base is `base` slots above the bottom.
    ///
    /// # Safety
    /// `st` is live, the frame at `base` is the one that made the call, and `kept` values were
    /// below the callee at the call.
    pub(crate) unsafe fn recover(st: *mut State, base: usize, kept: usize) {
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
        // whether the limit that stands is the error already: there may be many variables
        let mut is_stopped = false;
        while let Some(&slot) = (&(*th).to_close).last() {
            if (slot as usize) < level {
                break;
            }
            (&mut (*th).to_close).pop();
            let v = (*th).stack.add(slot as usize).get();
            let function = Table::metamethod(s.ptr(), v, Event::Close);
            let is_called = s.calls_destructor(function);
            if !is_called && std::mem::replace(&mut is_stopped, true) {
                continue;
            }
            s.top = (*th).stack.add(slot as usize + 1);
            let closed = match is_called {
                true => close(st, v, function, level),
                false => Err(State::raise_limit(st)),
            };
            if closed.is_err() {
                s.close_upvalues((*th).stack.add(level));
                (&mut (*th).returning).retain(|r| (r.0 as usize) < level);
                caught = (s.error_handled, s.error_kind);
                (*th).stack.add(level).put(s.error);
                s.error = Value::NIL;
            }
        }
        (s.error_handled, s.error_kind) = caught;
        s.top = (*th).stack.add(level + 1);
        Thread::shrink_after_error(st);
    }
}

/// Calls `function`, the `__close` of `v`, with the error value, which is in slot `level` of the
/// stack.
unsafe fn close(
    st: *mut State,
    v: Value,
    function: Value,
    level: usize,
) -> Result<usize, crate::native::Raised> {
    let mut s = StateRef::new(st);
    State::reserve(st, 8)?;
    let callee = s.top;
    callee.put(function);
    callee.add(1).put(Value::NIL);
    callee.add(2).put(v);
    callee.add(3).put((*s.thread).stack.add(level).get());
    s.top = callee.add(4);
    (s.vm.call)(st, callee, 2)
}
