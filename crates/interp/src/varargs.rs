//! Handles extra arguments.

use perilune_runtime::frame::{Frame, Link};
use perilune_runtime::state::State;
use perilune_runtime::thread::Thread;
use perilune_runtime::value::{SlotExt, Value};

use crate::step::{Step, raised};

/// Lays out the frame of a vararg function with `np` parameters, called with `nargs` arguments at
/// `base`: moves the function and its parameters above the arguments. `link` is the link of a frame
/// at `base`. Returns the base of the frame and its link.
///
/// # Safety
/// I2; the function and its arguments are at `base` as for a call, with room for the larger of
/// `nargs` and `np` values, two slots and the frame's registers.
#[inline(always)]
pub(crate) unsafe fn lay_out(
    base: *mut Value,
    nargs: usize,
    np: usize,
    link: Link,
) -> (*mut Value, Link) {
    for i in nargs..np {
        base.add(i).put(Value::NIL);
    }
    let actual = nargs.max(np);
    let moved = base.add(actual + 2);
    moved.sub(2).put(base.sub(2).get());
    for i in 0..np {
        moved.add(i).put(base.add(i).get());
        base.add(i).put(Value::NIL);
    }
    // The abandoned header must not look like the header of a live frame.
    base.sub(1).put(Value::NIL);
    let distance = if link.distance() == 0 { 0 } else { link.distance() + actual + 2 };
    (moved, Link::new(link.flags(), actual - np, distance))
}

/// Copies the extra arguments of the frame at `base` to register `a` and those after it, for
/// VARARG: `c - 1` of them, or all when `c` is 0. Returns `false`, without an effect, if the stack
/// has no room for all.
///
/// # Safety
/// I2; `base` is that of a Lua frame.
#[inline(always)]
pub(crate) unsafe fn copy_extra(st: *mut State, base: *mut Value, a: usize, c: usize) -> bool {
    let n = Frame(base).link().extra();
    let ra = base.add(a);
    let wanted = if c == 0 {
        if (*st).limit.offset_from(ra) < n as isize {
            return false;
        }
        (*st).top = ra.add(n);
        n
    } else {
        c - 1
    };
    let from = base.sub(2 + n);
    let mut j = 0;
    while j < wanted {
        ra.add(j).put(if j < n { from.add(j).get() } else { Value::NIL });
        j += 1;
    }
    true
}

/// Makes room for all extra arguments of the top frame from its register `a` on, and copies them.
///
/// # Safety
/// I2; pc stored.
#[cold]
#[inline(never)]
pub(crate) unsafe fn grow_for_extra(st: *mut State, a: usize) -> Step {
    let base = (*st).base;
    (*st).top = base.add(a);
    raised(Thread::grow(st, Frame(base).link().extra()))?;
    let copied = copy_extra(st, (*st).base, a, 0);
    debug_assert!(copied, "the stack has grown");
    Ok(())
}
