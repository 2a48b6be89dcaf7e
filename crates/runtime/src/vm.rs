//! What the runtime asks of the interpreter, without depending on it.

use std::sync::atomic::AtomicPtr;

use crate::native::Raised;
use crate::state::State;
use crate::thread::Thread;
use crate::value::Value;

/// Entry points of the interpreter.
pub struct Vm {
    /// Calls the function at `callee` (followed by its header slot and `nargs` arguments ending at `State::top`) from a native frame and runs it
    /// to its end. Leaves the results at `callee` on and `top` behind them; returns their number. Cannot yield.
    pub call: unsafe fn(st: *mut State, callee: *mut Value, nargs: usize) -> Result<usize, Raised>,
    /// Calls like `call`, for the host: an error that leaves the call comes with [`State::traceback`].
    pub traced:
        unsafe fn(st: *mut State, callee: *mut Value, nargs: usize) -> Result<usize, Raised>,
    /// Calls a finalizer like `call`, as a call of its own: message handlers of the interrupted program do not see its errors.
    pub finalize:
        unsafe fn(st: *mut State, callee: *mut Value, nargs: usize) -> Result<usize, Raised>,
    /// Runs the innermost message handler on `State::error`, unless one saw it already, as if the running native frame were left by it.
    pub handle: unsafe fn(st: *mut State),
    /// Resumes `co` with the top `nargs` values of the running native frame, which are removed. Its results or yielded values are
    /// pushed in their place and counted. On error the error value is in `State::error`.
    pub resume: unsafe fn(st: *mut State, co: *mut Thread, nargs: usize) -> Result<usize, Raised>,
    /// The slot of functions that no compiler looks after: it holds the entry of the interpreter.
    pub idle_slot: &'static AtomicPtr<u8>,
    /// Closes a suspended or dead coroutine (its pending variables included). `Err` with its error in `State::error` if it died by one.
    pub close: unsafe fn(st: *mut State, co: *mut Thread) -> Result<(), Raised>,
}
