//! What a step of the interpreter ends with.

use perilune_runtime::native::Raised;

/// Why the loop does not simply go on from the top frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exit {
    /// An error, whose value is in `State::error`; the frame that raised it is on top.
    Error,
    /// The coroutine yields: its top frame is that of the native function that asked for it.
    Yield,
    /// The frame that was entered from the host has returned.
    Done,
    /// Hooks were switched on or off: the other loop goes on.
    Switch,
}

/// Result of a step: the loop goes on from `State::base` at the pc in its frame word, or leaves.
pub(crate) type Step = Result<(), Exit>;

/// An error of the runtime as an exit.
#[inline(always)]
pub(crate) fn raised<T>(r: Result<T, Raised>) -> Result<T, Exit> {
    match r {
        Ok(v) => Ok(v),
        Err(_) => Err(Exit::Error),
    }
}
