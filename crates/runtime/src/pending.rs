//! To-be-closed variables that an error, a native function or `coroutine.close` closes
//! (manual 3.3.8).

use crate::meta::Event;
use crate::raised::Raised;
use crate::state::{State, StateRef};
use crate::table::Table;
use crate::value::{SlotExt, Tag, Value};

/// A variable to be closed.
pub struct Pending {
    /// Its place, counted from the bottom of the stack.
    pub slot: usize,
    /// Its value.
    pub value: Value,
    /// The value's `__close`.
    pub close: Value,
}

impl State {
    /// Takes the innermost of the running coroutine's pending variables that are in slot `level` or
    /// above, and makes room at `top`, and above the variable, for the call of its `__close`, by
    /// moving the stack if necessary. `None` means that none is left.
    ///
    /// # Errors
    /// Returns the error of a request to stop the script. The variable is still pending then, since
    /// the call would fail before it begins. Returns the error of a limit that stands after the
    /// variables that it keeps from being closed are dropped, and that of a stack that cannot grow
    /// after the variable is dropped. In each case the caller continues with the other variables.
    ///
    /// # Safety
    /// `st` is live, and the base of its frame on top is below the variables.
    pub unsafe fn take_pending(st: *mut State, level: usize) -> Result<Option<Pending>, Raised> {
        let mut s = StateRef::new(st);
        let th = s.thread;
        let mut is_stopped = false;
        loop {
            let last = (&(*th).to_close).last().map(|&slot| slot as usize);
            let Some(slot) = last.filter(|&slot| slot >= level) else {
                return if is_stopped { Err(State::raise_limit(st)) } else { Ok(None) };
            };
            if s.must_stop() && !s.limit_stands() {
                let why = s.take_interrupt();
                let message = s.intern(why.as_bytes());
                return Err(s.raise(Value::string(message)));
            }
            let value = (*th).stack.add(slot).get();
            let close = Table::metamethod(s.ptr(), value, Event::Close);
            if !s.calls_destructor(close) {
                (&mut (*th).to_close).pop();
                is_stopped = true;
                continue;
            }
            if is_stopped {
                return Err(State::raise_limit(st));
            }
            s.top = s.top.max((*th).stack.add(slot + 1));
            let room = room_for(close);
            // the error of a full stack makes room
            let reserved = State::reserve(st, room).or_else(|_| State::reserve(st, room));
            (&mut (*th).to_close).pop();
            return reserved.map(|()| Some(Pending { slot, value, close }));
        }
    }
}

/// Returns the number of slots that a call of `close` with two arguments needs at most.
unsafe fn room_for(close: Value) -> usize {
    let frame = if close.tag() == Tag::FUNCTION {
        let instance = (*close.as_function()).instance;
        (*instance).max_stack as usize + (*instance).num_params as usize
    } else {
        0
    };
    frame + 8
}

impl Pending {
    /// Pushes the call of `__close` with an error, or nil. Returns the callee's place.
    ///
    /// # Safety
    /// `top` is where [`State::take_pending`] has left it.
    pub unsafe fn push_call(&self, st: *mut State, error: Value) -> *mut Value {
        let callee = (*st).top;
        callee.put(self.close);
        callee.add(1).put(Value::NIL);
        callee.add(2).put(self.value);
        callee.add(3).put(error);
        (*st).top = callee.add(4);
        callee
    }
}
