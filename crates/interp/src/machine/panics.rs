//! Panics in functions that machine code calls. Frames of machine code cannot be unwound, so panics
//! propagate through them as a status.
//!
//! A function that returns a status returns [`status::PANIC`]. The others, the leaves, report that
//! they do not handle the case; the code then calls a function with a status for the same
//! instruction, which reports the panic immediately. The next poll reports it in any case.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use perilune_runtime::state::{State, poll};
use perilune_runtime::tier::status;

/// Runs the work of a function that machine code calls and that returns a status. A panic in this
/// work, or in a leaf before it, is kept in the state.
///
/// # Safety
/// The state is alive.
#[inline(always)]
pub(super) unsafe fn guarded(st: *mut State, f: impl FnOnce() -> u64) -> u64 {
    if (*st).panic.is_some() {
        return status::PANIC;
    }
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(status) => status,
        Err(panic) => {
            (*st).panic = Some(panic);
            status::PANIC
        }
    }
}

/// Runs the work of a function that machine code calls and that returns no status. After a panic,
/// which is kept in the state, returns `no_answer`.
///
/// # Safety
/// The state is alive.
#[inline(always)]
pub(super) unsafe fn leaf<R>(st: *mut State, no_answer: R, f: impl FnOnce() -> R) -> R {
    let work = || {
        #[cfg(debug_assertions)]
        injected::count();
        f()
    };
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(answer) => answer,
        Err(panic) => {
            (*st).panic = Some(panic);
            // a safepoint reports the panic if nothing reports it earlier
            (*st).request(poll::QUIESCENCE);
            no_answer
        }
    }
}

/// Returns whether a leaf has panicked.
///
/// # Safety
/// As [`guarded`].
#[inline(always)]
pub(crate) unsafe fn is_pending(st: *mut State) -> bool {
    (*st).panic.is_some()
}

/// Resumes the panic that is kept in the state: machine code returned [`status::PANIC`].
///
/// # Safety
/// As [`guarded`]; a panic is pending.
#[cold]
pub(crate) unsafe fn resume(st: *mut State) -> ! {
    let panic = (*st).panic.take();
    resume_unwind(panic.expect("the status says so"))
}

/// Panics that tests request.
#[cfg(debug_assertions)]
pub(crate) mod injected {
    use std::cell::Cell;

    thread_local! {
        /// The number of leaf calls until one panics; 0 if none is to panic.
        static LEFT: Cell<u32> = const { Cell::new(0) };
    }

    /// Makes the `n`th call of a leaf from now on panic on this thread, or none if `n` is 0.
    pub fn panic_in_leaf(n: u32) {
        LEFT.set(n);
    }

    /// Counts a call of a leaf, and panics if a test has requested it.
    #[inline(always)]
    pub(super) fn count() {
        let left = LEFT.get();
        if left > 0 {
            LEFT.set(left - 1);
            assert!(left > 1, "injected panic");
        }
    }
}
