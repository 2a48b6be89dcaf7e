//! Positions and error messages for native functions.

use super::level::Level;
use super::{errors, traceback};
use crate::native::{Cx, Raised, Val};

impl Cx {
    /// Returns level `n` of the running coroutine; 0 is the running native function.
    pub(crate) fn level(&self, n: usize) -> Option<Level> {
        // SAFETY: N1.
        unsafe { Level::at(self.state(), (*self.state()).thread, n) }
    }

    /// Returns `chunk:line: ` for level `n` (1: the caller of this function), empty if unknown
    /// (`luaL_where`).
    pub fn position(&self, n: usize) -> Vec<u8> {
        // SAFETY: N1: the stack does not change in between.
        self.level(n).and_then(|l| unsafe { l.position() }).unwrap_or_default()
    }

    /// Returns the message for the bad argument `i`, counted from 0 here. C code also passes
    /// numbers that are not arguments' indices.
    ///
    /// # Errors
    /// Returns a memory error if there is no memory for the message. The function may have a name
    /// of any length.
    pub(crate) fn argument_message(&self, i: usize, msg: &[u8]) -> Result<Vec<u8>, Raised> {
        let mut number = i as isize + 1;
        // SAFETY: N1.
        let (kind, name) = match unsafe { self.level(0).and_then(|l| l.name()) } {
            Some((kind, name)) => (kind, Some([name, b"", b""])),
            None => ("", None),
        };
        let name = name
            // SAFETY: N1.
            .or_else(|| unsafe {
                self.level(0).and_then(|l| traceback::exported_name(self.state(), l.function()))
            })
            .unwrap_or([b"?", b"", b""]);
        self.check_room(msg.len() + name.iter().map(|part| part.len()).sum::<usize>())?;
        let [a, b, c] = name;
        if kind == "method" {
            number -= 1;
            if number == 0 {
                return Ok([b"calling '", a, b, c, b"' on bad self (", msg, b")"].concat());
            }
        }
        let start = format!("bad argument #{number} to '");
        Ok([start.as_bytes(), a, b, c, b"' (", msg, b")"].concat())
    }

    /// Raises "attempt to index …" for a value that is not an operand of an instruction.
    pub(crate) fn index_error(&self, object: Val<'_>, key: Val<'_>) -> Raised {
        // SAFETY: N1.
        unsafe { errors::index_error(self.state(), object.raw(), key.raw()) }
    }

    /// Raises "attempt to `what` …" for a value that is not an operand of an instruction.
    pub(crate) fn operand_error(&self, what: &str, v: Val<'_>) -> Raised {
        // SAFETY: N1.
        unsafe { errors::operand_error(self.state(), what.as_bytes(), v.raw()) }
    }

    /// Raises "attempt to compare …".
    pub(crate) fn compare_error(&self, a: Val<'_>, b: Val<'_>) -> Raised {
        // SAFETY: N1.
        unsafe { errors::compare_error(self.state(), a.raw(), b.raw()) }
    }

    /// Returns a traceback of the coroutine `co` (default: the running one) from level `first` on.
    pub fn traceback(&self, co: Option<Val<'_>>, message: Option<&[u8]>, first: usize) -> Vec<u8> {
        // SAFETY: N1, N2; `co` is checked to be a coroutine.
        unsafe {
            let th = match co {
                Some(v) if v.is_thread() => v.raw().as_thread(),
                _ => (*self.state()).thread,
            };
            traceback::traceback(self.state(), th, message, first)
        }
    }

    /// Attaches a traceback to the error being raised, for the host that will receive it. After
    /// this, no message handler is called for the error.
    pub fn note_traceback(&self, text: Vec<u8>) {
        // SAFETY: N1.
        unsafe {
            (*self.state()).traceback = Some(text);
            (*self.state()).error_handled = true;
        }
    }

    /// Returns the value of the error being raised, for messages.
    pub fn error_value(&self) -> Val<'_> {
        // SAFETY: N1; `error` is a root.
        unsafe { Val::new((*self.state()).error) }
    }
}
