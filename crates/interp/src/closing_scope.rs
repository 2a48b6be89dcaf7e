//! Closes variables at the end of blocks and functions.

use perilune_runtime::frame::Frame;
use perilune_runtime::meta::Event;
use perilune_runtime::state::{State, StateRef};
use perilune_runtime::table::Table;
use perilune_runtime::value::{SlotExt, Value};

use crate::interrupt::obey_interrupt;
use crate::native::call_for_instruction;
use crate::room;
use crate::step::{Exit, raised};

/// Calls `__close` of the innermost variable to close, for CLOSE and RETURN. Returns whether there
/// was such a variable.
///
/// # Safety
/// I2; pc stored; variables at `level` and above are closed.
#[inline(never)]
pub(crate) unsafe fn close_variable(
    st: *mut State,
    level: *mut Value,
    results_end: *mut Value,
) -> Result<bool, Exit> {
    let mut s = StateRef::new(st);
    let th = s.thread;
    let level = level.offset_from((*th).stack) as u32;
    let Some(&slot) = (&(*th).to_close).last().filter(|&&slot| slot >= level) else {
        return Ok(false);
    };
    // the variable stays pending if the call cannot begin
    obey_interrupt(st)?;
    let inst = (*Frame(s.base).callee().as_function()).instance;
    s.top = s.base.add((*inst).max_stack as usize).max(results_end);
    raised(State::reserve(st, 8))?;
    (&mut (*th).to_close).pop();
    let v = (*th).stack.add(slot as usize).get();
    let h = Table::metamethod(s.ptr(), v, Event::Close);
    let callee = s.top;
    callee.put(h);
    callee.add(1).put(Value::NIL);
    callee.add(2).put(v);
    callee.add(3).put(Value::NIL);
    call_for_instruction(st, callee, 2)?;
    Ok(true)
}

/// Closes upvalues and variables for RETURN. Returns `true` when a `__close` was called: the
/// instruction then runs again.
///
/// # Safety
/// I2; pc stored; the `n` results are at `src`.
#[inline(never)]
pub(crate) unsafe fn close_for_return(
    st: *mut State,
    src: *mut Value,
    n: usize,
) -> Result<bool, Exit> {
    let mut s = StateRef::new(st);
    let base = s.base;
    s.close_upvalues(base);
    let offset = base.offset_from((*s.thread).stack) as u32;
    let returning = &mut (*s.thread).returning;
    if (&(*s.thread).to_close).last().is_none_or(|&slot| slot < offset) {
        if returning.last().is_some_and(|r| r.0 == offset) {
            returning.pop();
        }
        return Ok(false);
    }
    if returning.last().is_none_or(|r| r.0 != offset) {
        if returning.try_reserve(1).is_err() {
            return Err(room::error(st));
        }
        returning.push((offset, n as u32));
    }
    let called = close_variable(st, base, src.add(n))?;
    if !called {
        (&mut (*s.thread).returning).pop();
    }
    Ok(called)
}
