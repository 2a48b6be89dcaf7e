//! Entering machine code, and being entered by it.

use std::sync::atomic::{AtomicPtr, Ordering};

use perilune_runtime::closure::LuaClosure;
use perilune_runtime::frame::{Frame, FrameWord, Link, flags};
use perilune_runtime::instance::Instance;
use perilune_runtime::state::{State, StateRef};
use perilune_runtime::tier::{Left, status};
use perilune_runtime::value::{SlotExt, Tag, Value};

use super::panics::{self, guarded};
use crate::call::Entered;
use crate::ret;
use crate::run;
use crate::step::{Exit, Step};

/// The slot of methods that are not to be compiled.
pub(crate) static IDLE_SLOT: AtomicPtr<u8> = AtomicPtr::new(stub() as *mut u8);

#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
mod native {
    use super::*;
    use perilune_runtime::layout;

    // Cranelift's `tail` convention: arguments in rdi, rsi, rdx; results in rax, rcx, rdx, rsi.
    // rbx, rbp and r12 to r14 are preserved, as System V has it; r15, which System V preserves too,
    // is the pinned register and holds the state.
    std::arch::global_asm!(
        // Left perilune_enter(st: rdi, entry: rsi, callee: rdx, base: rcx, nargs: r8, left: r9)
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
        "mov [r9], rax",
        "mov [r9 + 8], rcx",
        "mov [r9 + 16], rdx",
        "mov [r9 + 24], rsi",
        "pop r15",
        "pop rbp",
        "ret",
        ".size perilune_enter, . - perilune_enter",
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
        // The end of code whose frame was deoptimized.
        ".globl perilune_resume",
        ".type perilune_resume, @function",
        "perilune_resume:",
        "push rbp",
        "mov rbp, rsp",
        "mov rdi, r15",
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

    // The assembly only passes the pointers on.
    #[allow(improper_ctypes)]
    unsafe extern "C" {
        pub(super) fn perilune_enter(
            st: *mut State,
            entry: *const u8,
            callee: *mut LuaClosure,
            base: *mut Value,
            nargs: usize,
            left: *mut Left,
        );
        pub(super) fn perilune_interpret();
        pub(super) fn perilune_resume();
    }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux", not(miri))))]
mod native {
    use super::*;

    pub(super) unsafe extern "C" fn perilune_enter(
        _: *mut State,
        _: *const u8,
        _: *mut LuaClosure,
        _: *mut Value,
        _: usize,
        _: *mut Left,
    ) {
        unreachable!("there is no machine code on this target");
    }
    pub(super) unsafe extern "C" fn perilune_interpret() {
        unreachable!("there is no machine code on this target");
    }
    pub(super) unsafe extern "C" fn perilune_resume() {
        unreachable!("there is no machine code on this target");
    }
}

/// [`stub`] as a function.
pub(super) const INTERPRET: unsafe extern "C" fn() = native::perilune_interpret;

/// [`resume`] for machine code.
pub(super) const RESUME: unsafe extern "C" fn() = native::perilune_resume;

/// The address that stands in slots of methods without code.
pub(crate) const fn stub() -> *const () {
    native::perilune_interpret as *const ()
}

/// The entry in a method's slot.
#[inline(always)]
pub(crate) unsafe fn entry_of(inst: *mut Instance) -> *const u8 {
    (*(*inst).slot).load(Ordering::Acquire)
}

/// Does `entry` lead to the interpreter?
#[inline(always)]
pub(crate) fn is_idle(entry: *const u8) -> bool {
    entry.addr() == stub().addr()
}

/// A slot's call of a method without code: runs the function at `base` with `nargs` arguments in
/// the interpreter. Its link is stored, a frame of machine code called it.
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
    let r = match crate::call::enter_interpreted(
        st,
        base.sub(2),
        nargs,
        link.flags() | flags::NATIVE_CALLER,
    ) {
        Ok(Entered::Lua) => run::execute(st),
        Ok(Entered::Native) => unreachable!("it is a Lua function"),
        Err(Exit::Error) => {
            // the stack could not grow: the frame was not made, and the caller is on top
            crate::error::handle(st);
            (*st).base = (*(*st).thread).stack.offset(at);
            return status::ERROR;
        }
        Err(e) => Err(e),
    };
    finished(st, r)
}

/// What code jumps to whose frame, on top, was deoptimized.
unsafe extern "C" fn resume(st: *mut State) -> u64 {
    guarded(st, || do_resume(st))
}

#[inline(always)]
unsafe fn do_resume(st: *mut State) -> u64 {
    Frame((*st).base).add_flags(flags::NATIVE_CALLER);
    let r = run::execute(st);
    finished(st, r)
}

/// The status and results for native code of a frame that the interpreter has run to its end.
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
        Err(Exit::Switch) | Ok(()) => unreachable!("the loop ends with a result"),
    }
}

/// Calls machine code for the function at `callee`, whose arguments follow, in a frame with these
/// flags, on top of the frame `State::base`. Says what is on top then.
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
    let mut left = Left::default();
    run_code(st, callee, entry, nargs, link, &mut left);
    left_code(st, &left, link, at)
}

/// As [`enter_code`], for the CALL that the frame on top, one of the interpreter, is at; `wanted`
/// is its operand C. It has its results then, or another frame is on top.
///
/// # Safety
/// As there.
#[inline(never)]
pub(crate) unsafe fn call_code(
    st: *mut State,
    callee: *mut Value,
    entry: *const u8,
    nargs: usize,
    wanted: usize,
) -> Step {
    let base = callee.add(2);
    let distance = base.offset_from((*st).base) as usize;
    let at = base.offset_from((*(*st).thread).stack);
    let link = Link::new(0, 0, distance);
    let mut left = Left::default();
    run_code(st, callee, entry, nargs, link, &mut left);
    if left.status as u32 as u64 == status::OK && matches!(wanted, 1 | 2) {
        if wanted == 2 {
            match left.status >> 32 {
                0 => left.base.sub(2).put(Value::NIL),
                1 => left.base.sub(2).put(Value::from_parts(left.bits, Tag(left.tag as u8))),
                // it is where it belongs, as the first of several
                _ => {}
            }
        }
        let caller = Frame(left.base.sub(distance));
        let inst = (*caller.callee().as_function()).instance;
        (*st).base = caller.0;
        (*st).top = caller.0.add((*inst).max_stack as usize);
        return Ok(());
    }
    match left_code(st, &left, link, at)? {
        Entered::Lua => Ok(()),
        Entered::Native => crate::call::run_native(st),
    }
}

/// As [`enter_code`], for a caller in native code, with the flag BOUNDARY: the number of results,
/// from the callee's slot on up to the top, or what [`enter_code`] says if that is not it.
///
/// # Safety
/// As there.
#[inline(always)]
pub(crate) unsafe fn call_code_from_native(
    st: *mut State,
    callee: *mut Value,
    entry: *const u8,
    nargs: usize,
    frame_flags: u16,
) -> Result<usize, Result<Entered, Exit>> {
    let (link, at) = link_of(st, callee, frame_flags);
    let mut left = Left::default();
    run_code(st, callee, entry, nargs, link, &mut left);
    if left.status as u32 as u64 != status::OK {
        return Err(left_code(st, &left, link, at));
    }
    let n = (left.status >> 32) as usize;
    let dst = left.base.sub(2);
    if n == 1 {
        dst.put(Value::from_parts(left.bits, Tag(left.tag as u8)));
    }
    (*st).top = dst.add(n);
    (*st).base = left.base.sub(link.distance());
    Ok(n)
}

/// The link of a frame for the function at `callee` on top of the frame `State::base`, and the
/// place of its base in the stack, which may move.
#[inline(always)]
unsafe fn link_of(st: *mut State, callee: *mut Value, frame_flags: u16) -> (Link, isize) {
    let stack = (*(*st).thread).stack;
    let base = callee.add(2);
    let distance = if base == stack.add(2) { 0 } else { base.offset_from((*st).base) as usize };
    (Link::new(frame_flags, 0, distance), base.offset_from(stack))
}

/// Runs `entry` for the function at `callee` in a frame with this link. How it was left is not
/// moved about: a copy in wider pieces would wait for its parts to reach the cache.
#[inline(always)]
unsafe fn run_code(
    st: *mut State,
    callee: *mut Value,
    entry: *const u8,
    nargs: usize,
    link: Link,
    left: &mut Left,
) {
    let (f, base) = (callee.get(), callee.add(2));
    let frame = Frame(base);
    frame.set_word(FrameWord::new(FrameWord::INTERPRETER, 0));
    frame.set_link(link.with_flags(link.flags() | flags::NATIVE_CALLER));
    native::perilune_enter(st, entry, f.as_function(), base, nargs, left);
}

/// Goes on with the top frame, a Lua frame at a loop's head, in machine code; it is finished there,
/// unless the code is left before: then the frame is on top again, somewhere else.
///
/// # Safety
/// I2; `entry` enters code of the function of the top frame for its pc.
pub(crate) unsafe fn enter_loop(st: *mut State, entry: *const u8) -> Result<Entered, Exit> {
    let s = StateRef::new(st);
    let base = s.base;
    let frame = Frame(base);
    let link = frame.link();
    frame.add_flags(flags::NATIVE_CALLER);
    let at = base.offset_from((*s.thread).stack);
    // where the frame would be if it had no extra arguments: results go there
    let shift = base.offset_from(ret::callee_slot(base)) as usize - 2;
    let plain =
        Link::new(link.flags(), 0, if link.distance() == 0 { 0 } else { link.distance() - shift });
    let callee = frame.callee();
    let mut left = Left::default();
    native::perilune_enter(st, entry, callee.as_function(), base, 0, &raw mut left);
    if left.status as u32 as u64 == status::RESUME {
        if link.flags() & flags::NATIVE_CALLER == 0 {
            Frame((*st).base).clear_flags(flags::NATIVE_CALLER);
        }
        return Ok(Entered::Lua);
    }
    left_code(st, &left, plain, at - shift as isize)
}

/// Machine code for a frame with this link was left; `at` is its base as an offset in the stack.
/// Does what its end asks for.
unsafe fn left_code(st: *mut State, left: &Left, link: Link, at: isize) -> Result<Entered, Exit> {
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
                dst.put(Value::from_parts(left.bits, Tag(left.tag as u8)));
            }
            ret::give(st, left.base, link, dst, n)
        }
        status::YIELD => Err(Exit::Yield),
        status::PANIC => panics::resume(st),
        _ => {
            // unwinding begins at the frame, which is one of the interpreter again. Its function
            // may be another by now: one that it has called as its end, and only that one is still
            // alive for sure.
            let frame = Frame((*s.thread).stack.offset(at));
            s.base = frame.0;
            frame.set_word(FrameWord::new(FrameWord::INTERPRETER, frame.word().pc()));
            frame.set_link(link.with_flags(link.flags() | flags::FAILED));
            Err(Exit::Error)
        }
    }
}
