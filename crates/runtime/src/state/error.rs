//! Raising errors.

use super::State;
use crate::raised::{ErrorKind, Raised};
use crate::value::Value;

impl State {
    /// Raises `value` as an error for which message handlers run.
    #[inline]
    pub fn raise(&mut self, value: Value) -> Raised {
        self.error = value;
        self.error_kind = ErrorKind::Value;
        self.error_handled = false;
        self.raised_at = None;
        Raised::new()
    }

    /// Raises `value` as an error for which no message handler runs.
    #[inline]
    pub fn raise_handled(&mut self, value: Value) -> Raised {
        let raised = self.raise(value);
        self.error_handled = true;
        raised
    }

    /// Raises "error in error handling", for which no message handler runs.
    ///
    /// # Safety
    /// `st` is alive.
    #[cold]
    pub unsafe fn raise_in_handler(st: *mut State) -> Raised {
        let message = (*st).intern(b"error in error handling");
        let raised = (*st).raise_handled(Value::string(message));
        (*st).error_kind = ErrorKind::Handler;
        raised
    }

    /// Raises the error of the limit that stands, for which no message handler runs.
    ///
    /// # Safety
    /// `st` is alive.
    #[cold]
    pub unsafe fn raise_limit(st: *mut State) -> Raised {
        let message = (*st).take_interrupt();
        let message = (*st).intern(message.as_bytes());
        (*st).raise_handled(Value::string(message))
    }

    /// Raises "not enough memory", without allocating. No message handler runs, since it would need
    /// memory (manual 4.4.1).
    #[cold]
    pub fn raise_memory(&mut self) -> Raised {
        self.error = Value::string(self.memory_message);
        self.error_kind = ErrorKind::Memory;
        self.error_handled = true;
        self.raised_at = None;
        Raised::new()
    }

    /// Raises a value that a function of the library or the host passes on, as `lua_error` does.
    /// The string "not enough memory" without a position is raised as a memory error again, so that
    /// a program can catch that error and raise it again.
    #[inline]
    pub fn raise_again(&mut self, value: Value) -> Raised {
        if value.same_bits(Value::string(self.memory_message)) {
            return self.raise_memory();
        }
        self.raise(value)
    }
}
