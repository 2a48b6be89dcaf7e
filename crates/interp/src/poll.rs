//! Safepoints: the actions that are taken when the poll word is set.

use std::sync::atomic::Ordering;

use perilune_runtime::frames::Frames;
use perilune_runtime::state::{State, StateRef, poll};
use perilune_runtime::value::Value;

use crate::interrupt::interrupted;
use crate::machine;
use crate::step::{Exit, IntoExit, Step};

/// Handles the requests in the poll word. `top` is the end of the live registers.
///
/// # Safety
/// I2; pc stored; `top` is at or above the end of the top frame's live registers.
#[cold]
#[inline(never)]
pub(crate) unsafe fn safepoint(st: *mut State, top: *mut Value, hooks: bool) -> Step {
    let mut s = StateRef::new(st);
    let base = s.base.offset_from((*s.thread).stack);
    // code after a call with a variable number of results still needs their end
    let results = s.top.offset_from((*s.thread).stack);
    s.top = top;
    let bits = s.poll.load(Ordering::Relaxed);
    if bits & poll::INTERRUPT != 0 {
        return Err(interrupted(st));
    }
    if bits & poll::GC != 0 {
        let r = s.gc_poll();
        // finalizers ran above `top` and may have moved the stack
        s.base = (*s.thread).stack.offset(base);
        if r.is_err() {
            return Err(s.raise_memory().into_exit());
        }
    }
    if bits & poll::CHAOS != 0 {
        crate::chaos::act(st);
    }
    if bits & poll::LEAVE != 0 {
        Frames::flag_machine_code(st);
    }
    if bits & poll::LEAVE != 0 && !machine::is_left_by_some(st) {
        s.poll.fetch_and(!poll::LEAVE, Ordering::Relaxed);
    }
    if bits & poll::QUIESCENCE != 0 {
        s.poll.fetch_and(!poll::QUIESCENCE, Ordering::Relaxed);
        machine::with_tier(st, |tier| tier.announce(st));
        if machine::has_panicked(st) {
            machine::resume_panic(st);
        }
    }
    if bits & poll::HOST != 0 {
        s.poll.fetch_and(!poll::HOST, Ordering::Relaxed);
        if let Some(f) = s.host_poll {
            f(st);
        }
    }
    s.top = (*s.thread).stack.offset(results);
    // chaos may have changed it
    let bits = s.poll.load(Ordering::Relaxed);
    if (bits & poll::HOOK != 0) != hooks {
        return Err(Exit::Switch);
    }
    Ok(())
}
