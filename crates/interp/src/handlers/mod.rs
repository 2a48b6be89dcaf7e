//! The generated interpreter: a handler for each opcode, generated from the definitions in
//! `crates/semantics` (see `docs/semantics.md`).
//!
//! A handler ends with a jump to the handler of the next instruction, so all handlers run in one
//! native frame, that of `perilune_run`. The state is in the pinned register (r15, or x21 on
//! aarch64); base, pc, instance, constants, the distance to the feedback cells and the table of
//! handlers are in argument registers. If a handler does not cover a case, it leaves the
//! instruction to the loop of [`crate::run`] before it has had any side effect: the loop executes
//! that one instruction, and the handlers continue with the frame that is then on top.

mod layout;
mod runtime;
mod steps;

use std::sync::atomic::Ordering;

use perilune_runtime::frame::Frame;
use perilune_runtime::state::{State, poll};

use crate::step::Exit;

/// Includes assembly that contains handlers, with the functions to which these refer.
macro_rules! assembly {
    ($($line:expr,)+) => {
        std::arch::global_asm!(
            $($line,)+
            interpret = sym crate::machine::perilune_interpret,
            single = sym runtime::single,
            stitch = sym runtime::stitch,
            poll = sym runtime::poll,
            get_field = sym runtime::get_field,
            set_field = sym runtime::set_field,
            get_any = sym runtime::get_any,
            get_str = sym runtime::get_str,
            set_int = sym runtime::set_int,
            set_str = sym runtime::set_str,
            new_table = sym runtime::new_table,
            closure = sym runtime::closure,
            for_next = sym runtime::for_next,
            for_start = sym runtime::for_start,
            string_less = sym runtime::string_less,
            string_less_equal = sym runtime::string_less_equal,
            var_arg = sym runtime::var_arg,
            set_class = sym runtime::set_class,
            set_list = sym runtime::set_list,
            close = sym runtime::close,
            mark_to_close = sym runtime::mark_to_close,
            pow = sym runtime::pow,
            float_mod = sym runtime::float_mod,
            float_floor = sym runtime::float_floor,
            call_native = sym runtime::call_native,
            call_code = sym runtime::call_code,
            tail_call_native = sym runtime::tail_call_native,
            concat = sym runtime::concat,
            step_get_field = sym steps::get_field,
            step_get = sym steps::get,
            step_get_global = sym steps::get_global,
            step_set_field = sym steps::set_field,
            step_set = sym steps::set,
            step_length = sym steps::length,
            step_equal = sym steps::equal,
            step_order = sym steps::order,
            step_call = sym steps::call,
            step_tail_call = sym steps::tail,
            step_return = sym steps::leave,
            step_prepare = sym steps::prepare,
            step_iterate = sym steps::iterate,
        );
    };
}

// The convention of handlers is Cranelift's `tail`. They may overwrite all registers except the
// frame pointer, the stack pointer, the pinned register and, on aarch64, the link register, which
// contains the return address. The unwind data allows panics of native functions to unwind through
// them.

// The arguments of handlers are in rdi, rsi, rdx, rcx, r8 and r9.
#[cfg(target_arch = "x86_64")]
assembly! {
    include_str!("x86_64.s"),
    // u64 perilune_run(st: rdi, table: rsi)
    "    .section .text.perilune_handlers, \"ax\", @progbits",
    "    .p2align 4",
    "    .globl perilune_run",
    "    .hidden perilune_run",
    "    .type perilune_run, @function",
    "perilune_run:",
    "    .cfi_startproc",
    "    push rbp",
    "    .cfi_def_cfa_offset 16",
    "    .cfi_offset rbp, -16",
    "    mov rbp, rsp",
    "    .cfi_def_cfa_register rbp",
    "    push r15",
    "    push r14",
    "    push r13",
    "    push r12",
    "    push rbx",
    "    sub rsp, 8",
    "    .cfi_offset r15, -24",
    "    .cfi_offset r14, -32",
    "    .cfi_offset r13, -40",
    "    .cfi_offset r12, -48",
    "    .cfi_offset rbx, -56",
    "    mov r15, rdi",
    "    mov r9, rsi",
    "    call perilune_CONTINUE",
    "    add rsp, 8",
    "    pop rbx",
    "    pop r12",
    "    pop r13",
    "    pop r14",
    "    pop r15",
    "    pop rbp",
    "    .cfi_def_cfa rsp, 8",
    "    ret",
    "    .cfi_endproc",
    "    .size perilune_run, . - perilune_run",
    "    .text",
}

// The arguments of handlers are in x2 to x7.
#[cfg(target_arch = "aarch64")]
assembly! {
    include_str!("aarch64.s"),
    // u64 perilune_run(st: x0, table: x1)
    "    .section .text.perilune_handlers, \"ax\", @progbits",
    "    .p2align 4",
    "    .globl perilune_run",
    "    .hidden perilune_run",
    "    .type perilune_run, @function",
    "perilune_run:",
    "    .cfi_startproc",
    "    stp x29, x30, [sp, #-160]!",
    "    .cfi_def_cfa_offset 160",
    "    .cfi_offset x29, -160",
    "    .cfi_offset x30, -152",
    "    mov x29, sp",
    "    .cfi_def_cfa x29, 160",
    "    stp x19, x20, [sp, #16]",
    "    stp x21, x22, [sp, #32]",
    "    stp x23, x24, [sp, #48]",
    "    stp x25, x26, [sp, #64]",
    "    stp x27, x28, [sp, #80]",
    "    stp d8, d9, [sp, #96]",
    "    stp d10, d11, [sp, #112]",
    "    stp d12, d13, [sp, #128]",
    "    stp d14, d15, [sp, #144]",
    "    .cfi_offset x19, -144",
    "    .cfi_offset x20, -136",
    "    .cfi_offset x21, -128",
    "    .cfi_offset x22, -120",
    "    .cfi_offset x23, -112",
    "    .cfi_offset x24, -104",
    "    .cfi_offset x25, -96",
    "    .cfi_offset x26, -88",
    "    .cfi_offset x27, -80",
    "    .cfi_offset x28, -72",
    "    .cfi_offset d8, -64",
    "    .cfi_offset d9, -56",
    "    .cfi_offset d10, -48",
    "    .cfi_offset d11, -40",
    "    .cfi_offset d12, -32",
    "    .cfi_offset d13, -24",
    "    .cfi_offset d14, -16",
    "    .cfi_offset d15, -8",
    "    mov x21, x0",
    "    mov x7, x1",
    "    bl perilune_CONTINUE",
    "    mov x0, x2",
    "    ldp d14, d15, [sp, #144]",
    "    ldp d12, d13, [sp, #128]",
    "    ldp d10, d11, [sp, #112]",
    "    ldp d8, d9, [sp, #96]",
    "    ldp x27, x28, [sp, #80]",
    "    ldp x25, x26, [sp, #64]",
    "    ldp x23, x24, [sp, #48]",
    "    ldp x21, x22, [sp, #32]",
    "    ldp x19, x20, [sp, #16]",
    "    ldp x29, x30, [sp], #160",
    "    .cfi_def_cfa sp, 0",
    "    ret",
    "    .cfi_endproc",
    "    .size perilune_run, . - perilune_run",
    "    .text",
}

// The assembly only passes the pointers through.
#[allow(improper_ctypes)]
unsafe extern "C-unwind" {
    fn perilune_run(st: *mut State, table: *const u8) -> u64;
    static perilune_handlers: u8;
}

/// Runs frames with the handlers until the frame on top is one that handlers do not run.
///
/// # Safety
/// I1, I2.
pub(crate) unsafe fn run(st: *mut State) -> Exit {
    if Frame((*st).base).word().is_machine() {
        // native code is waiting for this frame
        return Exit::Done;
    }
    if (*st).poll.load(Ordering::Relaxed) & poll::HOOK != 0 {
        return Exit::Switch;
    }
    runtime::stitch_if_hot(st);
    runtime::exit(perilune_run(st, &raw const perilune_handlers))
}
