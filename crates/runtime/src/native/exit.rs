//! The end of a state's life at the request of the program (manual 6.9, `os.exit`).

use super::{Cx, Val};
use crate::meta::Event;
use crate::value::SlotExt;

impl Cx {
    /// Ends the state as far as a program can observe: closes the pending variables of the main
    /// coroutine and calls all finalizers. For `os.exit`.
    pub fn close_state(&mut self) {
        // SAFETY: N1; `&mut self` ends the life of every value. A pending variable's slot is alive.
        unsafe {
            let main = (*self.state()).main_thread;
            let mut error = None;
            while let Some(slot) = (&mut (*main).to_close).pop() {
                let v = Val::new((*main).stack.add(slot as usize).get());
                let h = self.metamethod(v, Event::Close);
                self.push_callee(h);
                self.push(v);
                // the error of a variable is for the variables after it, and for nothing else
                self.push(error.map_or(Val::NIL, |at| self.get(at)));
                if self.call_protected(2).is_err() {
                    error = Some(self.top() - 1);
                }
            }
            (*self.state()).gc_close();
        }
    }
}
