//! The parts of the C API that are written in assembly, for x86-64 and the System V convention.
//!
//! An error in a function of the API must leave the C function that called it, as `longjmp` does in
//! PUC. No Rust frame may be skipped on the way, since its destructors would not run. Therefore C
//! code is called through `try_call`, which saves the callee-saved registers, and an API function
//! that can raise an error is a *stub*: it calls its body, a Rust function that returns normally,
//! and only then jumps to the innermost `try_call`, if the result of the body requires it.

use std::arch::naked_asm;

use super::{Jump, Left};

/// Calls `f` with four words as arguments. When the call returns, also through [`throw`], the
/// callee-saved registers have their previous values.
///
/// # Safety
/// `f` is a C function that takes up to four words. `jump` is not passed to [`throw`] after the
/// call has ended.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn try_call(
    jump: *mut Jump,
    f: *const (),
    a: usize,
    b: usize,
    c: usize,
    d: usize,
) -> Left {
    naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "push rdi",
        "mov [rdi], rsp",
        "mov rax, rsi",
        "mov rdi, rdx",
        "mov rsi, rcx",
        "mov rdx, r8",
        "mov rcx, r9",
        "call rax",
        ".globl perilune_called",
        ".hidden perilune_called",
        "perilune_called:",
        "pop rdi",
        "mov rdx, [rdi + 8]",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    )
}

/// Continues after the call of the [`try_call`] whose jump is in `rdx`. A stub has jumped here, so
/// its return address is on top of the stack.
///
/// The processor predicts the targets of returns from a stack of the calls that have not returned
/// yet. So this executes one return for each such call, since otherwise all later returns would be
/// mispredicted by one: one for the call of the C function, and one for its call of the stub,
/// unless the C function has jumped to the stub, as compilers do for `return lua_error(L)`. Whether
/// it has called other C functions in between is not known.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn throw() {
    naked_asm!(
        "lea rax, [rip + perilune_called]",
        "cmp [rsp], rax",
        "mov rsp, [rdx]",
        "push rax",
        "je 2f",
        "lea rax, [rip + 2f]",
        "push rax",
        "ret",
        "2:",
        "ret",
    )
}

/// The code of a stub: calls the body with the same arguments, and returns its result or throws.
macro_rules! stub {
    ($body:path) => {
        std::arch::naked_asm!(
            "sub rsp, 8",
            "call {body}",
            "add rsp, 8",
            "test rdx, rdx",
            "jne {throw}",
            "ret",
            body = sym $body,
            throw = sym $crate::arch::throw,
        )
    };
}

/// A stub for a function that returns a double, which the body returns as a word.
macro_rules! stub_double {
    ($body:path) => {
        std::arch::naked_asm!(
            "sub rsp, 8",
            "call {body}",
            "add rsp, 8",
            "test rdx, rdx",
            "jne {throw}",
            "movq xmm0, rax",
            "ret",
            body = sym $body,
            throw = sym $crate::arch::throw,
        )
    };
}

/// A stub for a function with two named arguments and any number of others: the body gets their
/// address as a third argument, a `va_list`.
macro_rules! stub_variadic {
    ($body:path) => {
        std::arch::naked_asm!(
            "sub rsp, 216",
            "mov [rsp], rdi",
            "mov [rsp + 8], rsi",
            "mov [rsp + 16], rdx",
            "mov [rsp + 24], rcx",
            "mov [rsp + 32], r8",
            "mov [rsp + 40], r9",
            "test al, al",
            "je 2f",
            "movaps [rsp + 48], xmm0",
            "movaps [rsp + 64], xmm1",
            "movaps [rsp + 80], xmm2",
            "movaps [rsp + 96], xmm3",
            "movaps [rsp + 112], xmm4",
            "movaps [rsp + 128], xmm5",
            "movaps [rsp + 144], xmm6",
            "movaps [rsp + 160], xmm7",
            "2:",
            "mov dword ptr [rsp + 176], 16",
            "mov dword ptr [rsp + 180], 48",
            "lea rax, [rsp + 224]",
            "mov [rsp + 184], rax",
            "mov [rsp + 192], rsp",
            "lea rdx, [rsp + 176]",
            "call {body}",
            "add rsp, 216",
            "test rdx, rdx",
            "jne {throw}",
            "ret",
            body = sym $body,
            throw = sym $crate::arch::throw,
        )
    };
}

/// Aligns the enclosing function to a cache line: a call of a short function that spans two lines
/// takes longer. The macro emits code that is executed, so it belongs on a rarely taken path.
macro_rules! begin_line {
    () => {
        std::hint::cold_path();
        // SAFETY: the directive only emits padding. It raises the alignment of the function's
        // section.
        std::arch::asm!(".p2align 6", options(nomem, nostack, preserves_flags))
    };
}

pub(crate) use {begin_line, stub, stub_double, stub_variadic};

/// The number of thunks.
pub(crate) const THUNKS: usize = 1024;
/// The size of a thunk in bytes.
const THUNK: usize = 16;

/// Defines the thunks: numbered C functions, each of which passes its number to a function as the
/// second argument.
macro_rules! thunks {
    ($call:path) => {
        std::arch::global_asm!(
            ".pushsection .text.perilune_thunks, \"ax\", @progbits",
            ".p2align 4",
            ".hidden perilune_thunks",
            ".globl perilune_thunks",
            "perilune_thunks:",
            ".set perilune_thunk, 0",
            ".rept {count}",
            "mov esi, perilune_thunk",
            "jmp {call}",
            ".p2align 4",
            ".set perilune_thunk, perilune_thunk + 1",
            ".endr",
            ".popsection",
            count = const $crate::arch::THUNKS,
            call = sym $call,
        );
    };
}

pub(crate) use thunks;

unsafe extern "C" {
    static perilune_thunks: [[u8; THUNK]; THUNKS];
}

/// Returns the thunk with this number, which is less than [`THUNKS`].
pub(crate) fn thunk(number: usize) -> *const () {
    // SAFETY: the address is inside the code of the thunks, which is not read.
    unsafe { (&raw const perilune_thunks).cast::<u8>().add(number * THUNK).cast() }
}

/// Returns the number of the thunk at an address, if there is one.
pub(crate) fn thunk_number(code: *const ()) -> Option<usize> {
    let first = (&raw const perilune_thunks).addr();
    let offset = code.addr().checked_sub(first)?;
    (offset < THUNKS * THUNK).then_some(offset / THUNK)
}

/// C's `va_list`, as the System V convention defines it.
#[repr(C)]
pub(crate) struct VaList {
    general: u32,
    floating: u32,
    overflow: *const u8,
    saved: *const u8,
}

/// The size of the part of `saved` for general registers, and of the whole.
const GENERAL_END: u32 = 48;
const FLOATING_END: u32 = 176;

impl VaList {
    /// Takes the next argument, an integer or a pointer.
    ///
    /// # Safety
    /// The caller has passed such an argument.
    pub(crate) unsafe fn word(&mut self) -> u64 {
        if self.general < GENERAL_END {
            let p = self.saved.add(self.general as usize);
            self.general += 8;
            return p.cast::<u64>().read();
        }
        self.stacked()
    }

    /// Takes the next argument, a double.
    ///
    /// # Safety
    /// The caller has passed such an argument.
    pub(crate) unsafe fn double(&mut self) -> f64 {
        if self.floating < FLOATING_END {
            let p = self.saved.add(self.floating as usize);
            self.floating += 16;
            return p.cast::<f64>().read();
        }
        f64::from_bits(self.stacked())
    }

    unsafe fn stacked(&mut self) -> u64 {
        let p = self.overflow.cast::<u64>();
        self.overflow = p.add(1).cast();
        p.read()
    }
}
