//! Tail calls.

use perilune_runtime::frame::{Frame, Link, flags};
use perilune_runtime::state::{State, StateRef};
use perilune_runtime::value::{SlotExt, Tag, Value};

use crate::enter::{become_metamethod, enter};
use crate::native::{call_for_instruction, run_to_lua};
use crate::slots::{callee_slot, move_values};
use crate::step::{Exit, Step};

/// The callee of a TAILCALL.
pub(crate) enum TailCallee {
    /// A native function at this address, with this number of arguments. It is called in the
    /// ordinary way, and the RETURN after the TAILCALL returns its results.
    Native(*mut Value, usize),
    /// A Lua function. It and its arguments were moved to where the function on top was called.
    Lua {
        /// The address of the function after the move.
        callee: *mut Value,
        /// The number of arguments.
        nargs: usize,
        /// The new frame's link.
        link: Link,
    },
}

/// Finds the callee of a TAILCALL of the top frame, following `__call`, and moves it into place.
///
/// # Safety
/// I2; pc stored; callee, header slot and `nargs` arguments are at `ra`. Unless the result is a
/// native function, nothing of the top frame is used afterwards.
#[inline(always)]
pub(crate) unsafe fn tail_callee(
    st: *mut State,
    mut ra: *mut Value,
    mut nargs: usize,
    close: bool,
) -> Result<TailCallee, Exit> {
    let mut s = StateRef::new(st);
    if close {
        let base = s.base;
        s.close_upvalues(base);
    }
    while ra.get().tag() != Tag::FUNCTION {
        if ra.get().tag() == Tag::NATIVE {
            return Ok(TailCallee::Native(ra, nargs));
        }
        (ra, nargs) = become_metamethod(st, ra, nargs)?;
    }
    let base = s.base;
    let link = Frame(base).link();
    let callee = callee_slot(base);
    // a frame with extra arguments begins after them, and the new one does not
    let shift = base.offset_from(callee) as usize - Frame::RESERVED;
    callee.put(ra.get());
    move_values(ra.add(Frame::RESERVED), callee.add(Frame::RESERVED), nargs);
    let distance = if link.distance() == 0 { 0 } else { link.distance() - shift };
    let link = Link::new((link.flags() & flags::TAIL_KEEPS) | flags::TAIL, 0, distance);
    Ok(TailCallee::Lua { callee, nargs, link })
}

/// Replaces the top frame by that of the callee, for TAILCALL. A native callee is called in the
/// ordinary way, and the RETURN after the TAILCALL returns its results.
///
/// # Safety
/// I2; pc stored; callee, header slot and `nargs` arguments are at `ra`.
#[inline(never)]
pub(crate) unsafe fn tail_call(st: *mut State, ra: *mut Value, nargs: usize, close: bool) -> Step {
    match tail_callee(st, ra, nargs, close)? {
        TailCallee::Native(callee, nargs) => call_for_instruction(st, callee, nargs),
        TailCallee::Lua { callee, nargs, link } => {
            let base = callee.add(Frame::RESERVED);
            (*st).base = match link.distance() {
                0 => (*(*st).thread).stack,
                distance => base.sub(distance),
            };
            // for a native function, machine code may have run the callee
            run_to_lua(st, enter(st, callee, nargs, link.flags()))
        }
    }
}
