//! The interface through which the runtime calls the interpreter, on whose crate it does not
//! depend.

use std::sync::atomic::AtomicPtr;

use super::State;
use crate::raised::Raised;
use crate::thread::Thread;
use crate::value::Value;

/// The result of a function that resumes a coroutine (the number of [`Ret`](crate::native::Ret)).
/// `None` means that nothing was done, and that the function itself must be called.
pub type Switched = Option<Result<i32, Raised>>;

/// Entry points of the interpreter.
pub struct Vm {
    /// Calls the function at `callee` (followed by its header slot and `nargs` arguments up to
    /// `State::top`) from a native frame and runs it to completion. Leaves the results from
    /// `callee` on, with `top` after them, and returns their number. Cannot yield.
    pub call: unsafe fn(st: *mut State, callee: *mut Value, nargs: usize) -> Result<usize, Raised>,
    /// Like `call`, but the callee may yield if the coroutine may; `None` means that it has
    /// yielded. The frame of the caller, whose step and kept values are set, then waits for the
    /// callee as after [`Ret::CALL`](crate::native::Ret::CALL), and the caller returns
    /// [`Ret::YIELD`](crate::native::Ret::YIELD) at once.
    pub continuable: unsafe fn(
        st: *mut State,
        callee: *mut Value,
        nargs: usize,
    ) -> Result<Option<usize>, Raised>,
    /// Like `call`, for the host: records the traceback of an error that propagates out of the call
    /// in [`State::traceback`].
    pub traced:
        unsafe fn(st: *mut State, callee: *mut Value, nargs: usize) -> Result<usize, Raised>,
    /// Calls a finalizer like `call`, as a separate call: message handlers of the interrupted
    /// program are not called for its errors.
    pub finalize:
        unsafe fn(st: *mut State, callee: *mut Value, nargs: usize) -> Result<usize, Raised>,
    /// Calls the function of a hook like `call`, in a frame that is marked as one of a hook.
    pub hook: unsafe fn(st: *mut State, callee: *mut Value, nargs: usize) -> Result<usize, Raised>,
    /// Runs the innermost message handler on `State::error`, unless a handler has already processed
    /// it, as if the error left the running native frame.
    pub handle: unsafe fn(st: *mut State),
    /// Resumes `co` with the top `nargs` values of the running native frame, which are removed.
    /// Pushes its results or yielded values and returns their number. On an error the error value
    /// is in `State::error`.
    pub resume: unsafe fn(st: *mut State, co: *mut Thread, nargs: usize) -> Result<usize, Raised>,
    /// Resumes a coroutine that is suspended in a call of `coroutine.yield`, for the function of
    /// the library whose frame is on top, at its first step.
    pub switch: unsafe fn(st: *mut State) -> Switched,
    /// The entry slot of functions when there is no compiler: it holds the entry of the
    /// interpreter.
    pub idle_slot: &'static AtomicPtr<u8>,
    /// Closes a suspended or dead coroutine and its pending variables. Returns `Err`, with its
    /// error in `State::error`, if an error ended it.
    pub close: unsafe fn(st: *mut State, co: *mut Thread) -> Result<(), Raised>,
}
