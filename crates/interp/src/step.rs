//! The results of steps of the interpreter.

use perilune_runtime::native::Raised;

/// The reason why the loop does not simply continue from the top frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exit {
    /// An error, whose value is in `State::error`; the frame that raised it is on top.
    Error,
    /// The coroutine yields: its top frame is that of the native function that requested it.
    Yield,
    /// The frame that was entered from the host has returned.
    Done,
    /// Hooks were switched on or off: the other loop continues.
    Switch,
    /// The single instruction that the loop was to execute is completed, and the loop can run the
    /// frame on top.
    Stepped,
}

/// The result of a step: the loop continues from `State::base` at the pc in its frame word, or
/// ends.
pub(crate) type Step = Result<(), Exit>;

/// Turns an error of the runtime into an exit.
#[inline(always)]
pub(crate) fn raised<T>(r: Result<T, Raised>) -> Result<T, Exit> {
    match r {
        Ok(v) => Ok(v),
        Err(_) => Err(Exit::Error),
    }
}

/// The frame on top after a call or a return.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entered {
    /// A frame of a Lua function, ready to run.
    Lua,
    /// A frame of a native function, whose next step has not run yet.
    Native,
    /// A frame of a native function with the flag CLOSING, whose next variable is to be closed.
    Closing,
    /// A frame of a Lua function whose CONCAT has more values to join.
    Concat,
}

/// Conversion of errors into exits.
pub(crate) trait IntoExit {
    /// Returns the exit.
    fn into_exit(self) -> Exit;
}

impl IntoExit for Raised {
    #[inline(always)]
    fn into_exit(self) -> Exit {
        Exit::Error
    }
}
