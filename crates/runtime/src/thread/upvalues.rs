//! The open upvalues of a coroutine: variables of closures that are still on its stack.

use crate::header::Kind;
use crate::state::State;
use crate::upvalue::Upvalue;
use crate::value::{SlotExt, Value};

impl State {
    /// Finds or creates the open upvalue for a stack slot of the running coroutine.
    ///
    /// # Safety
    /// `place` is a slot of the running coroutine's stack.
    pub unsafe fn find_upvalue(&mut self, place: *mut Value) -> *mut Upvalue {
        let th = self.thread;
        let mut link: *mut *mut Upvalue = &raw mut (*th).open;
        loop {
            let up = *link;
            if up.is_null() || (*up).place < place {
                break;
            }
            if (*up).place == place {
                return up;
            }
            link = Upvalue::next_open(up);
        }
        let up = self.alloc(Kind::Upvalue, size_of::<Upvalue>()).cast::<Upvalue>();
        (*up).place = place;
        (&raw mut (*up).closed).put(Value::NIL);
        *Upvalue::next_open(up) = *link;
        *link = up;
        up
    }

    /// Closes the running coroutine's open upvalues at or above `level`.
    ///
    /// # Safety
    /// `level` is an address in the running coroutine's stack.
    #[inline]
    pub unsafe fn close_upvalues(&mut self, level: *mut Value) {
        loop {
            let up = (*self.thread).open;
            if up.is_null() || (*up).place < level {
                return;
            }
            (*self.thread).open = *Upvalue::next_open(up);
            let v = (*up).place.get();
            (&raw mut (*up).closed).put(v);
            (*up).place = &raw mut (*up).closed;
            if v.is_collectable() {
                self.barrier(up.cast());
            }
        }
    }
}
