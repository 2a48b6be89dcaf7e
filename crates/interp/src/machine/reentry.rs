//! Enters the interpreter from machine code.

use perilune_runtime::frame::{Frame, flags};
use perilune_runtime::layout;
use perilune_runtime::state::{State, StateRef};
use perilune_runtime::tier::status;
use perilune_runtime::value::{SlotExt, Value};

use super::inlined::{caller_of_inlined, make_slots};
use super::panics::guarded;
use super::{entry_of, is_idle};
use crate::enter::enter_interpreted;
use crate::execute::execute;
use crate::handler::handle;
use crate::step::{Entered, Exit, Step};

// The conventions are those of `entry.rs`.
#[cfg(target_arch = "x86_64")]
std::arch::global_asm!(
    // The entry of the interpreter, with the convention of machine code.
    ".globl perilune_interpret",
    ".type perilune_interpret, @function",
    "perilune_interpret:",
    "push rbp",
    "mov rbp, rsp",
    "mov rdi, r15",
    "call {interpret}",
    "mov rcx, [r15 + {bits}]",
    "mov rdx, [r15 + {tag}]",
    "mov rsi, [r15 + {base}]",
    "pop rbp",
    "ret",
    ".size perilune_interpret, . - perilune_interpret",
    // The target of code whose frame was deoptimized.
    ".globl perilune_resume",
    ".type perilune_resume, @function",
    "perilune_resume:",
    "push rbp",
    "mov rbp, rsp",
    "mov rdi, r15",
    "mov rsi, rdx",
    "call {resume}",
    "mov rcx, [r15 + {bits}]",
    "mov rdx, [r15 + {tag}]",
    "mov rsi, [r15 + {base}]",
    "pop rbp",
    "ret",
    ".size perilune_resume, . - perilune_resume",
    interpret = sym interpret,
    resume = sym resume,
    bits = const layout::state::RETURNED_BITS,
    tag = const layout::state::RETURNED_TAG,
    base = const layout::state::BASE,
);

#[cfg(target_arch = "aarch64")]
std::arch::global_asm!(
    // The entry of the interpreter, with the convention of machine code.
    ".globl perilune_interpret",
    ".type perilune_interpret, @function",
    "perilune_interpret:",
    "stp x29, x30, [sp, #-16]!",
    "mov x29, sp",
    "mov x0, x21",
    "mov x1, x3",
    "mov x2, x4",
    "bl {interpret}",
    "b 1f",
    ".size perilune_interpret, . - perilune_interpret",
    // The target of code whose frame was deoptimized.
    ".globl perilune_resume",
    ".type perilune_resume, @function",
    "perilune_resume:",
    "stp x29, x30, [sp, #-16]!",
    "mov x29, sp",
    "mov x0, x21",
    "mov x1, x4",
    "bl {resume}",
    "1:",
    "mov x2, x0",
    "ldr x3, [x21, #{bits}]",
    "ldr x4, [x21, #{tag}]",
    "ldr x5, [x21, #{base}]",
    "ldp x29, x30, [sp], #16",
    "ret",
    ".size perilune_resume, . - perilune_resume",
    interpret = sym interpret,
    resume = sym resume,
    bits = const layout::state::RETURNED_BITS,
    tag = const layout::state::RETURNED_TAG,
    base = const layout::state::BASE,
);

/// Runs the function at `base` with `nargs` arguments in the interpreter, for a call through the
/// slot of a method without code. A frame of machine code called it and has stored its link.
unsafe extern "C" fn interpret(st: *mut State, base: *mut Value, nargs: usize) -> u64 {
    guarded(st, || do_interpret(st, base, nargs))
}

#[inline(always)]
unsafe fn do_interpret(st: *mut State, base: *mut Value, nargs: usize) -> u64 {
    let link = Frame(base).link();
    let mut s = StateRef::new(st);
    s.base = match link.distance() {
        0 => (*s.thread).stack,
        d => base.sub(d),
    };
    let at = base.offset_from((*s.thread).stack);
    let inst = (*Frame(base).callee().as_function()).instance;
    if !is_idle(entry_of(inst)) {
        // its code called this function because the stack had no room for it or for functions
        // inlined into it
        make_slots(st, base, inst);
    }
    let base = (*s.thread).stack.offset(at);
    let r = match enter_interpreted(st, base.sub(2), nargs, link.flags() | flags::NATIVE_CALLER) {
        Ok(Entered::Lua) => execute(st),
        Ok(_) => unreachable!("it is a Lua function"),
        Err(Exit::Error) => {
            // The stack could not grow, or a call hook has failed. The caller computes its base
            // from that of this frame.
            handle(st);
            (*st).base = (*(*st).thread).stack.offset(at);
            return status::ERROR;
        }
        Err(e) => Err(e),
    };
    finished(st, r)
}

/// Continues the deoptimized frames of code: the frame on top, and below it one caller for each of
/// the `inlined` functions.
unsafe extern "C" fn resume(st: *mut State, inlined: usize) -> u64 {
    guarded(st, || do_resume(st, inlined))
}

#[inline(always)]
unsafe fn do_resume(st: *mut State, inlined: usize) -> u64 {
    let mut frame = Frame((*st).base);
    for _ in 0..inlined {
        frame = caller_of_inlined(frame);
    }
    frame.add_flags(flags::NATIVE_CALLER);
    let r = execute(st);
    finished(st, r)
}

/// Returns the status and results, for native code, of a frame that the interpreter has run to
/// completion.
pub(super) unsafe fn finished(st: *mut State, r: Step) -> u64 {
    let mut s = StateRef::new(st);
    match r {
        Err(Exit::Done) => {
            let first = s.base.sub(2);
            let n = s.top.offset_from(first) as u64;
            let v = if n > 0 { first.get() } else { Value::NIL };
            s.returned.bits = v.bits();
            s.returned.tag = v.tag().0 as u64;
            n << 32
        }
        Err(Exit::Error) => status::ERROR,
        Err(Exit::Yield) => status::YIELD,
        Err(Exit::Switch | Exit::Stepped) | Ok(()) => unreachable!("the loop ends with a result"),
    }
}
