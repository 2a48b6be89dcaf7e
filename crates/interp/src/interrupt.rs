//! Interrupts: the error that stops a script.

use std::sync::atomic::Ordering;

use perilune_runtime::debug;
use perilune_runtime::state::{State, poll};

use crate::step::{Exit, IntoExit, Step};

/// Raises the error that stops the script, as requested by INTERRUPT.
///
/// # Safety
/// I2; pc stored.
#[cold]
pub(crate) unsafe fn interrupted(st: *mut State) -> Exit {
    let why = (*st).take_interrupt();
    debug::runtime_error(st, why.as_bytes()).into_exit()
}

/// Stops the script if it is interrupted. This is the part of a safepoint that is needed for calls
/// that are not made by call instructions.
///
/// # Safety
/// I2; pc stored.
#[inline(always)]
pub(crate) unsafe fn obey_interrupt(st: *mut State) -> Step {
    if (*st).poll.load(Ordering::Relaxed) & poll::INTERRUPT != 0 {
        return Err(interrupted(st));
    }
    Ok(())
}
