//! Operations on the stack (manual 4.6): positions, copies, room.

use std::ffi::c_int;

use perilune_runtime::native::Cx;
use perilune_runtime::state::State;
use perilune_runtime::thread::{MAX_STACK, Thread};
use perilune_runtime::value::{SlotExt, Value};

use crate::arch::{begin_line, stub};
use crate::entry::{Entry, is_running};
use crate::index::{self, absolute, value_or_nil};
use crate::outcome::{Outcome, guarded, infallible};
use crate::run::close_from;
use crate::state::LuaState;

infallible! {
    fn lua_absindex(l, index: c_int) -> c_int |e| {
        absolute(e.st, index)
    }

    fn lua_gettop(l) -> c_int |e| {
        (*e.st).top.offset_from((*e.st).base) as c_int
    }
}

/// `lua_settop`, with the common cases; [`set_top`] does the rest. This function has no
/// destructors, so an error that [`set_top`] raises skips nothing on its way through.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_settop(l: *mut LuaState, index: c_int) {
    if !is_running(l) {
        begin_line!();
        return set_top(l, index);
    }
    let st = LuaState::state(l);
    let mut top = (*st).top;
    let new =
        if index >= 0 { (*st).base.add(index as usize) } else { top.offset(index as isize + 1) };
    debug_assert!(new >= (*st).base, "invalid index {index}");
    if new > top {
        if new > (*st).limit {
            return set_top(l, index);
        }
        while top < new {
            top.put(Value::NIL);
            top = top.add(1);
        }
    } else {
        let th = (*st).thread;
        let pending = (&(*th).to_close).last();
        if pending.is_some_and(|&slot| (*th).stack.add(slot as usize) >= new) {
            return set_top(l, index);
        }
    }
    (*st).top = new;
}

/// `lua_settop` for any coroutine. It makes room and closes to-be-closed variables, whose errors it
/// raises.
#[cold]
#[unsafe(naked)]
unsafe extern "C" fn set_top(l: *mut LuaState, index: c_int) {
    unsafe extern "C" fn body(l: *mut LuaState, index: c_int) -> Outcome {
        guarded(l, move |e| {
            let st = e.st;
            let size = (*st).top.offset_from((*st).base);
            let want = if index >= 0 { index as isize } else { size + index as isize + 1 };
            for _ in size..want {
                e.push(Value::NIL);
            }
            close_from(st, want as usize, None)?;
            (*st).top = (*st).base.offset(want);
            Ok(())
        })
    }
    stub!(body)
}

infallible! {
    fn lua_pushvalue(l, index: c_int) |e| {
        let v = value_or_nil(e.st, index);
        e.push(v);
    }
}

unsafe fn reverse(mut from: *mut Value, mut to: *mut Value) {
    while from < to {
        let v = from.get();
        from.put(to.get());
        to.put(v);
        from = from.add(1);
        to = to.sub(1);
    }
}

infallible! {
    fn lua_rotate(l, index: c_int, n: c_int) |e| {
        let Some(first) = index::place(e.st, index) else { return };
        let last = (*e.st).top.sub(1);
        // the last of the values that move to the front
        let middle = if n >= 0 { last.sub(n as usize) } else { first.sub(1).add(-n as usize) };
        reverse(first, middle);
        reverse(middle.add(1), last);
        reverse(first, last);
    }

    fn lua_copy(l, from: c_int, to: c_int) |e| {
        let v = value_or_nil(e.st, from);
        index::store(e.st, to, v);
    }

    fn lua_checkstack(l, n: c_int) -> c_int |e| {
        c_int::from(room_for(e.cx(), n.max(0) as usize))
    }
}

/// Makes room for `n` more values. Returns false, without an error, if there is no room.
pub(crate) fn room_for(cx: &mut Cx, n: usize) -> bool {
    // SAFETY: N1.
    unsafe {
        let st = cx.state();
        let used = (*st).top.offset_from((*(*st).thread).stack) as usize;
        if used + n > MAX_STACK {
            return false;
        }
        let made = State::reserve(st, n).is_ok();
        if !made {
            (*st).error = Value::NIL;
        }
        made
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_xmove(from: *mut LuaState, to: *mut LuaState, n: c_int) {
    if from == to {
        return;
    }
    let n = n as usize;
    move_values(LuaState::state(from), (*from).thread, to, n);
}

/// Moves the last `n` values of a coroutine to another one.
///
/// # Safety
/// Both are live coroutines of `st`, and `from` has at least `n` values.
pub(crate) unsafe fn move_values(st: *mut State, from: *mut Thread, to: *mut LuaState, n: usize) {
    if (*st).thread != from {
        Thread::make_bottom(from);
    }
    let e = Entry::new(to);
    // No pointer is held while the stack of the receiver may move, and nothing is collected.
    for i in 0..n {
        let end = if (*st).thread == from { (*st).top } else { (*from).top };
        e.push(end.sub(n - i).get());
    }
    drop(e);
    if (*st).thread == from {
        (*st).top = (*st).top.sub(n);
    } else {
        (*from).top = (*from).top.sub(n);
    }
}
