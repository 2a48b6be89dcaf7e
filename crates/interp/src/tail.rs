//! Tail calls.

use perilune_runtime::frame::{Frame, flags};
use perilune_runtime::state::{State, StateRef};
use perilune_runtime::value::{SlotExt, Tag, Value};

use crate::enter::{become_metamethod, enter};
use crate::native::{call_for_instruction, run_to_lua};
use crate::slots::{callee_slot, move_values};
use crate::step::Step;

/// Replaces the top frame by that of the callee, for TAILCALL. A native callee is called in the
/// ordinary way, and the RETURN that follows returns its results.
///
/// # Safety
/// I2; pc stored; callee, header slot and `nargs` arguments are at `ra`.
#[inline(never)]
pub(crate) unsafe fn tail_call(
    st: *mut State,
    mut ra: *mut Value,
    mut nargs: usize,
    close: bool,
) -> Step {
    let mut s = StateRef::new(st);
    if close {
        let base = s.base;
        s.close_upvalues(base);
    }
    let mut tries = 0;
    while ra.get().tag() != Tag::FUNCTION {
        if ra.get().tag() == Tag::NATIVE {
            return call_for_instruction(st, ra, nargs);
        }
        ra = become_metamethod(st, ra, nargs, &mut tries)?;
        nargs += 1;
    }
    let base = s.base;
    let link = Frame(base).link();
    let dst = callee_slot(base);
    dst.put(ra.get());
    move_values(ra.add(2), dst.add(2), nargs);
    s.base = if link.distance() == 0 { (*s.thread).stack } else { base.sub(link.distance()) };
    let keep = link.flags() & flags::TAIL_KEEPS;
    // machine code may have run the callee, for a native function
    run_to_lua(st, enter(st, dst, nargs, keep | flags::TAIL))
}
