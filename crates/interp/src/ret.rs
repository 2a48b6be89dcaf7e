//! Returns: pops a frame, and passes its results to the caller.

use perilune_bytecode::Op;
use perilune_runtime::frame::{Frame, Link, flags};
use perilune_runtime::state::{State, StateRef};
use perilune_runtime::value::{SlotExt, Value};

use crate::slots::{callee_slot, kept, move_values};
use crate::step::{Entered, Exit};

/// Pops the top frame, which returns `n` values at `src`. Returns the kind of frame that is then on
/// top.
///
/// # Safety
/// I2.
pub(crate) unsafe fn leave(st: *mut State, src: *mut Value, n: usize) -> Result<Entered, Exit> {
    let mut s = StateRef::new(st);
    let base = s.base;
    let link = Frame(base).link();
    if link.flags() & (flags::BOUNDARY | flags::NATIVE_CALLER) != 0 {
        let dst = callee_slot(base);
        move_values(src, dst, n);
        s.top = dst.add(n);
        let native = link.flags() & flags::NATIVE_CALLER != 0;
        s.base = if native { dst.add(2) } else { base.sub(link.distance()) };
        return Err(Exit::Done);
    }
    give(st, base, link, src, n)
}

/// Passes the `n` results at `src` of the frame that was at `base` to its caller, according to its
/// link. Returns the kind of frame that is then on top.
///
/// # Safety
/// I2, except that the frame itself need not be intact.
pub(crate) unsafe fn give(
    st: *mut State,
    base: *mut Value,
    link: Link,
    src: *mut Value,
    n: usize,
) -> Result<Entered, Exit> {
    let mut s = StateRef::new(st);
    if link.flags() & flags::NATIVE_CALLER != 0 {
        // machine code of this frame returned to a loop for which other native code is waiting
        s.top = src.add(n);
        s.base = base;
        return Err(Exit::Done);
    }
    if link.flags() & flags::BOUNDARY != 0 {
        // the results are where the host expects them
        s.top = src.add(n);
        s.base = base.sub(link.distance());
        return Err(Exit::Done);
    }
    let caller = base.sub(link.distance());
    if link.flags() & flags::CONTINUED != 0 {
        let dst = caller.add(kept(caller));
        s.base = caller;
        s.native_depth = (*s.thread).depth + Frame(caller).link().extra() as u32;
        if Frame(caller).link().flags() & flags::CLOSING != 0 {
            // a variable was closed after an error
            return Ok(Entered::Closing);
        }
        move_values(src, dst, n);
        s.top = dst.add(n);
        return Ok(Entered::Native);
    }
    s.base = caller;
    deliver(st, src, n)
}

/// Passes `n` results at `src` to the Lua frame on top, which is waiting for them at its current
/// instruction. Returns whether the frame is ready to run, or is at a CONCAT with more values to
/// join.
///
/// # Safety
/// I2; the top frame is a Lua frame and its pc is after an instruction that called.
pub(crate) unsafe fn deliver(st: *mut State, src: *mut Value, n: usize) -> Result<Entered, Exit> {
    let mut s = StateRef::new(st);
    let base = s.base;
    let frame = Frame(base);
    let inst = (*frame.callee().as_function()).instance;
    let pc = frame.word().pc();
    let i = *(*inst).code.add(pc as usize - 1);
    let set_pc = |pc: u32| frame.set_word(frame.word().at(pc));
    let first = || if n > 0 { src.get() } else { Value::NIL };
    s.top = base.add((*inst).max_stack as usize);
    match i.op() {
        Op::Call | Op::CallMeta => {
            let ra = base.add(i.a());
            match i.c() {
                0 => {
                    move_values(src, ra, n);
                    s.top = ra.add(n);
                }
                c => {
                    let want = c - 1;
                    let k = n.min(want);
                    move_values(src, ra, k);
                    for j in k..want {
                        ra.add(j).put(Value::NIL);
                    }
                }
            }
        }
        Op::TailCall => {
            let ra = base.add(i.a());
            move_values(src, ra, n);
            s.top = ra.add(n);
        }
        Op::TForCall => {
            let ra = base.add(i.a() + 4);
            let want = i.c();
            let k = n.min(want);
            move_values(src, ra, k);
            for j in k..want {
                ra.add(j).put(Value::NIL);
            }
        }
        Op::Eq | Op::Lt | Op::Le | Op::EqK | Op::EqI | Op::LtI | Op::LeI | Op::GtI | Op::GeI => {
            let cond = first().truthy();
            if cond != (i.c() & 1 != 0) {
                set_pc(pc + 1);
            }
        }
        Op::Concat => {
            // the result replaces the last two of the remaining values, whose number is kept above
            // the registers
            let left = base.add((*inst).max_stack as usize);
            let n = left.get().as_int() as usize;
            base.add(i.a() + n - 2).put(first());
            left.put(Value::int(n as i64 - 1));
            if n > 2 {
                return Ok(Entered::Concat);
            }
        }
        Op::Close | Op::Return => {
            // run the instruction again, for the next variable to close
            set_pc(pc - 1);
            if i.op() == Op::Return && i.b() == 0 {
                let offset = base.offset_from((*s.thread).stack) as u32;
                if let Some(&(b, count)) = (*s.thread).returning.last()
                    && b == offset
                {
                    s.top = base.add(i.a() + count as usize);
                }
            }
        }
        Op::SetTabUp
        | Op::SetTabUpK
        | Op::SetTable
        | Op::SetTableK
        | Op::SetI
        | Op::SetIK
        | Op::SetField
        | Op::SetFieldK => {}
        _ => base.add(i.a()).put(first()),
    }
    Ok(Entered::Lua)
}
