//! Panics of native functions: through frames of machine code, which cannot be unwound, they pass as a status.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use perilune_runtime::state::State;
use perilune_runtime::tier::status;

/// What machine code calls does its work in here: a panic is kept in the state, and the status says so.
///
/// # Safety
/// The state is alive.
#[inline(always)]
pub(super) unsafe fn guarded(st: *mut State, f: impl FnOnce() -> u64) -> u64 {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(status) => status,
        Err(panic) => {
            (*st).panic = Some(panic);
            status::PANIC
        }
    }
}

/// Machine code was left with the status [`status::PANIC`]: the panic goes on.
///
/// # Safety
/// As [`guarded`].
#[cold]
pub(super) unsafe fn go_on(st: *mut State) -> ! {
    let panic = (*st).panic.take();
    resume_unwind(panic.expect("the status says that there is one"))
}
