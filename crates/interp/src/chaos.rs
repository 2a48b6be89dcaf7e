//! Mode `chaos`: random actions at safepoints. See [`perilune_runtime::chaos`].

use std::sync::atomic::Ordering;

use perilune_runtime::chaos::Chaos;
use perilune_runtime::state::{State, StateRef, poll};
use perilune_runtime::thread::Thread;

use crate::machine;

/// Performs random actions that are allowed at a safepoint: collects, moves the stack, switches
/// loops, forbids or allows machine code, and lets the compiler act.
///
/// # Safety
/// A safepoint: I2, and `State::top` is the end of the live registers. `State::base` may be stale
/// afterwards, unless the stack has not moved.
#[cold]
pub(crate) unsafe fn act(st: *mut State) {
    let mut s = StateRef::new(st);
    let Some(mut chaos) = s.chaos.take() else { return };
    decide(st, &mut chaos);
    (*st).chaos = Some(chaos);
}

unsafe fn decide(st: *mut State, chaos: &mut Chaos) {
    let mut s = StateRef::new(st);
    // the work grows with the stack
    let slots = (*s.thread).capacity as u64;
    if slots > 2048 && !chaos.once_in(slots >> 9) {
        return;
    }
    let bits = chaos.draw();
    // the first bits decide whether to do anything, as there are many safepoints
    if bits & 0x7 == 0 {
        Thread::relocate(st);
    }
    if bits & 0x1F8 == 0 && s.gc_is_running() {
        let base = s.base.offset_from((*s.thread).stack);
        if chaos.once_in(8) {
            s.gc_full();
        } else {
            s.gc_step(0);
        }
        s.base = (*s.thread).stack.offset(base);
    }
    if bits & 0xFE00 == 0 {
        s.request(poll::HOOK);
    } else if bits & 0xC000 == 0 {
        s.sync_hook();
    }
    if bits & 0xFF_0000 == 0 {
        s.native_limit = usize::MAX;
    } else if bits & 0x1F_0000 == 0 {
        machine::measure(st);
    }
    if bits & 0x0F00_0000 == 0 {
        machine::with_tier(st, |tier| tier.chaos(st, chaos));
    }
    // sometimes the program is left undisturbed for a while
    if bits & 0x7F_0000_0000 == 0 {
        (*st).poll.fetch_and(!poll::CHAOS, Ordering::Relaxed);
    }
}
