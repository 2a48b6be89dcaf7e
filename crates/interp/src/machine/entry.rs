//! Entering machine code.

use std::mem::MaybeUninit;

use perilune_runtime::closure::LuaClosure;
use perilune_runtime::frame::{Frame, FrameWord, Link, flags};
use perilune_runtime::state::{Returned, State, StateRef};
use perilune_runtime::tier::{Left, status};
use perilune_runtime::value::{SlotExt, Tag, Value};

use super::inlined::{caller_of_inlined, make_slots};
use super::panics;
use crate::ret;
use crate::slots::callee_slot;
use crate::step::{Entered, Exit};

#[cfg(handlers)]
mod native {
    use super::*;

    // Cranelift's `tail` convention: arguments in rdi, rsi, rdx; results in rax, rcx, rdx, rsi.
    // rbx, rbp and r12 to r14 are preserved, as in System V; r15, which System V also preserves, is
    // the pinned register and holds the state.
    #[cfg(target_arch = "x86_64")]
    std::arch::global_asm!(
        // Left perilune_enter(st: rdi, entry: rsi, callee: rdx, base: rcx, nargs: r8, first: r9)
        ".globl perilune_enter",
        ".type perilune_enter, @function",
        "perilune_enter:",
        "push rbp",
        "mov rbp, rsp",
        "push r15",
        "push r9",
        "mov r15, rdi",
        "mov rax, rsi",
        "mov rdi, rdx",
        "mov rsi, rcx",
        "mov rdx, r8",
        "call rax",
        "pop r9",
        "mov [r9], rcx",
        "mov [r9 + 8], rdx",
        "mov rdx, rsi",
        "pop r15",
        "pop rbp",
        "ret",
        ".size perilune_enter, . - perilune_enter",
    );

    // The same convention: arguments in x2, x3, x4; results in x2 to x5. x19 to x28 and d8 to d15
    // are preserved, as in AAPCS64, except x21, which is the pinned register.
    #[cfg(target_arch = "aarch64")]
    std::arch::global_asm!(
        // Left perilune_enter(st: x0, entry: x1, callee: x2, base: x3, nargs: x4, first: x5)
        ".globl perilune_enter",
        ".type perilune_enter, @function",
        "perilune_enter:",
        "stp x29, x30, [sp, #-32]!",
        "mov x29, sp",
        "stp x21, x5, [sp, #16]",
        "mov x21, x0",
        "blr x1",
        "ldp x21, x9, [sp, #16]",
        "stp x3, x4, [x9]",
        "mov x0, x2",
        "mov x1, x5",
        "ldp x29, x30, [sp], #32",
        "ret",
        ".size perilune_enter, . - perilune_enter",
    );

    // The assembly only passes the pointers through.
    #[allow(improper_ctypes)]
    unsafe extern "C" {
        pub(super) fn perilune_enter(
            st: *mut State,
            entry: *const u8,
            callee: *mut LuaClosure,
            base: *mut Value,
            nargs: usize,
            first: *mut Returned,
        ) -> Left;
    }
}

#[cfg(not(handlers))]
mod native {
    use super::*;

    pub(super) unsafe extern "C" fn perilune_enter(
        _: *mut State,
        _: *const u8,
        _: *mut LuaClosure,
        _: *mut Value,
        _: usize,
        _: *mut Returned,
    ) -> Left {
        unreachable!("there is no machine code on this target");
    }
}

/// Calls machine code for the function at `callee`, whose arguments follow it, in a frame with
/// these flags, on top of the frame `State::base`. Returns the kind of frame that is on top
/// afterwards.
///
/// # Safety
/// I2; `entry` was just loaded from the slot of the function at `callee`.
pub(crate) unsafe fn enter_code(
    st: *mut State,
    callee: *mut Value,
    entry: *const u8,
    nargs: usize,
    frame_flags: u16,
) -> Result<Entered, Exit> {
    let (link, at) = link_of(st, callee, frame_flags);
    let mut first = MaybeUninit::uninit();
    let left = run_code(st, callee, entry, nargs, link, first.as_mut_ptr());
    left_code(st, left, &*first.as_ptr(), link, at)
}

/// As [`enter_code`], for a CALL at which the top frame, run by the interpreter, is; `wanted` is
/// the operand C. Afterwards the frame has its results, or another frame is on top.
///
/// # Safety
/// As for [`enter_code`].
#[inline(never)]
pub(crate) unsafe fn call_code(
    st: *mut State,
    callee: *mut Value,
    entry: *const u8,
    nargs: usize,
    wanted: usize,
) -> Result<Entered, Exit> {
    let base = callee.add(2);
    let distance = base.offset_from((*st).base) as usize;
    let at = base.offset_from((*(*st).thread).stack);
    let link = Link::new(0, 0, distance);
    let mut first = MaybeUninit::uninit();
    let left = run_code(st, callee, entry, nargs, link, first.as_mut_ptr());
    let first: &Returned = &*first.as_ptr();
    if left.status as u32 as u64 == status::OK && matches!(wanted, 1 | 2) {
        if wanted == 2 {
            match left.status >> 32 {
                0 => left.base.sub(2).put(Value::NIL),
                1 => left.base.sub(2).put(Value::from_parts(first.bits, Tag(first.tag as u8))),
                // the first of several results is already in its place
                _ => {}
            }
        }
        let caller = Frame(left.base.sub(distance));
        let inst = (*caller.callee().as_function()).instance;
        (*st).base = caller.0;
        (*st).top = caller.0.add((*inst).max_stack as usize);
        return Ok(Entered::Lua);
    }
    left_code(st, left, first, link, at)
}

/// As [`enter_code`], for a caller in native code, with the flag BOUNDARY. Returns the number of
/// results, which are from the callee's slot up to the top. If the code did not simply return,
/// returns its status and the frame's link, for [`left_code`].
///
/// # Safety
/// As for [`enter_code`].
#[inline(always)]
pub(crate) unsafe fn call_code_from_native(
    st: *mut State,
    callee: *mut Value,
    entry: *const u8,
    nargs: usize,
    frame_flags: u16,
    first: *mut Returned,
) -> Result<usize, (Left, Link)> {
    let (link, _) = link_of(st, callee, frame_flags);
    let left = run_code(st, callee, entry, nargs, link, first);
    if left.status as u32 as u64 != status::OK {
        return Err((left, link));
    }
    let n = (left.status >> 32) as usize;
    let dst = left.base.sub(2);
    if n == 1 {
        dst.put(Value::from_parts((*first).bits, Tag((*first).tag as u8)));
    }
    (*st).top = dst.add(n);
    (*st).base = left.base.sub(link.distance());
    Ok(n)
}

/// Returns the link of a frame for the function at `callee` on top of the frame `State::base`, and
/// the position of its base as an offset, since the stack may move.
#[inline(always)]
unsafe fn link_of(st: *mut State, callee: *mut Value, frame_flags: u16) -> (Link, isize) {
    let stack = (*(*st).thread).stack;
    let base = callee.add(2);
    let distance = if base == stack.add(2) { 0 } else { base.offset_from((*st).base) as usize };
    (Link::new(frame_flags, 0, distance), base.offset_from(stack))
}

/// Runs `entry` for the function at `callee` in a frame with this link. The first result is not
/// copied: a wider load would stall until the narrower stores of its parts reach the cache.
#[inline(always)]
unsafe fn run_code(
    st: *mut State,
    callee: *mut Value,
    entry: *const u8,
    nargs: usize,
    link: Link,
    first: *mut Returned,
) -> Left {
    let (f, base) = (callee.get(), callee.add(2));
    let frame = Frame(base);
    frame.set_word(FrameWord::new(FrameWord::INTERPRETER, 0));
    frame.set_link(link.with_flags(link.flags() | flags::NATIVE_CALLER));
    native::perilune_enter(st, entry, f.as_function(), base, nargs, first)
}

/// Continues the top frame, a Lua frame at a loop's head, in machine code. The machine code runs
/// the frame to completion, unless it exits earlier; in that case the frame is on top again, at
/// another pc.
///
/// # Safety
/// I2; `entry` enters code of the function of the top frame for its pc.
pub(crate) unsafe fn enter_loop(st: *mut State, entry: *const u8) -> Result<Entered, Exit> {
    let inst = (*Frame((*st).base).callee().as_function()).instance;
    if !make_slots(st, (*st).base, inst) {
        return Ok(Entered::Lua);
    }
    let s = StateRef::new(st);
    let base = s.base;
    let frame = Frame(base);
    let link = frame.link();
    frame.add_flags(flags::NATIVE_CALLER);
    let at = base.offset_from((*s.thread).stack);
    // the position of a frame without extra arguments, where results are stored
    let shift = base.offset_from(callee_slot(base)) as usize - 2;
    let plain =
        Link::new(link.flags(), 0, if link.distance() == 0 { 0 } else { link.distance() - shift });
    let callee = frame.callee();
    let mut first = MaybeUninit::uninit();
    let p = first.as_mut_ptr();
    let left = native::perilune_enter(st, entry, callee.as_function(), base, 0, p);
    if left.status as u32 as u64 == status::RESUME {
        let entered = Frame((*s.thread).stack.offset(at));
        let mut frame = Frame((*st).base);
        while frame != entered {
            frame = caller_of_inlined(frame);
        }
        if link.flags() & flags::NATIVE_CALLER == 0 {
            entered.clear_flags(flags::NATIVE_CALLER);
        }
        return Ok(Entered::Lua);
    }
    left_code(st, left, &*p, plain, at - shift as isize)
}

/// Continues after machine code for a frame with this link has ended with a status; `at` is the
/// base of the frame as an offset in the stack.
///
/// # Safety
/// I2, except that the frame is that of machine code that has just ended.
pub(crate) unsafe fn left_code(
    st: *mut State,
    left: Left,
    first: &Returned,
    link: Link,
    at: isize,
) -> Result<Entered, Exit> {
    let mut s = StateRef::new(st);
    match left.status as u32 as u64 {
        status::OK => {
            debug_assert_eq!(
                left.base.offset_from((*s.thread).stack),
                at,
                "a frame stays at its place in the stack"
            );
            let n = (left.status >> 32) as usize;
            let dst = left.base.sub(2);
            if n == 1 {
                dst.put(Value::from_parts(first.bits, Tag(first.tag as u8)));
            }
            ret::give(st, left.base, link, dst, n)
        }
        status::YIELD => Err(Exit::Yield),
        status::PANIC => panics::resume(st),
        _ => {
            // unwinding begins at the frame, which belongs to the interpreter again. Its function
            // may have been replaced by a tail call, and only the new function is certainly still
            // alive.
            let frame = Frame((*s.thread).stack.offset(at));
            s.base = frame.0;
            frame.set_word(FrameWord::new(FrameWord::INTERPRETER, frame.word().pc()));
            let tail = frame.link().flags() & flags::TAIL;
            frame.set_link(link.with_flags(link.flags() | flags::FAILED | tail));
            Err(Exit::Error)
        }
    }
}
