//! Runs the frames on top of the stack: selects the loop, and unwinds after errors.

use std::sync::atomic::Ordering;

use perilune_runtime::state::{State, poll};

use crate::error;
use crate::run::{COUNTED, HOOKED, PLAIN, run};
use crate::step::{Exit, Step};

/// Runs the Lua frame on top, and its callees, until the frame that was entered from the host
/// returns, an error propagates out of it, or the coroutine yields.
///
/// # Safety
/// I1, I2.
pub(crate) unsafe fn execute(st: *mut State) -> Step {
    loop {
        let hooked = (*st).poll.load(Ordering::Relaxed) & poll::HOOK != 0;
        let exit = if hooked {
            run::<HOOKED>(st)
        } else if (*st).counts {
            run::<COUNTED>(st)
        } else {
            plain(st)
        };
        match exit {
            Exit::Switch => {}
            Exit::Error => error::unwind(st)?,
            e => return Err(e),
        }
    }
}

/// Runs frames with the handlers, or with the loop if the loop is requested or the target has no
/// handlers.
///
/// # Safety
/// As [`execute`].
#[inline(always)]
unsafe fn plain(st: *mut State) -> Exit {
    #[cfg(handlers)]
    if !(*st).portable {
        return crate::handlers::run(st);
    }
    run::<PLAIN>(st)
}

/// Continues after an error that was raised before the loop ran.
///
/// # Safety
/// I2; the error is in `State::error`.
pub(crate) unsafe fn after_error(st: *mut State) -> Step {
    error::unwind(st)?;
    execute(st)
}
