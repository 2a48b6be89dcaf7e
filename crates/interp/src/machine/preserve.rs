//! Runtime functions with Cranelift's calling convention `preserve_all`, which preserves all
//! registers.
//!
//! Code calls them on rare paths. A call with the system's convention would slow down the
//! surrounding hot path as well: in a loop, all floats and most other values would be spilled and
//! reloaded in each iteration. Even a single argument has that effect on the register in which it
//! is passed, so these functions take their arguments from the frame or from the state. The
//! convention does not support results, which are therefore stored in the state.

#[cfg(handlers)]
mod native {
    use perilune_runtime::layout::frame;
    use perilune_runtime::layout::state::{BASE, PASSED, RETURNED_BITS, RETURNED_TAG};
    use perilune_runtime::state::MAX_PASSED;

    use crate::machine::calls;

    /// Defines `$name`, which executes the call `$call` with the state and what the lines
    /// `$argument` put into registers, and leaves the results in `State::returned`. `$operand` are
    /// the operands of the call and of these lines.
    ///
    /// The stack is aligned at the call: above the floats are the return address, rbp, nine
    /// registers and eight bytes. Code uses only scalars, so wider registers are not saved.
    #[cfg(target_arch = "x86_64")]
    macro_rules! preserving {
        ($name:literal, $call:literal, $($argument:literal)*, $($operand:tt)*) => {
            std::arch::global_asm!(
                concat!(".globl ", $name),
                concat!(".type ", $name, ", @function"),
                concat!($name, ":"),
                "push rbp",
                "mov rbp, rsp",
                "push rax",
                "push rcx",
                "push rdx",
                "push rsi",
                "push rdi",
                "push r8",
                "push r9",
                "push r10",
                "push r11",
                "sub rsp, 264",
                "movaps [rsp], xmm0",
                "movaps [rsp + 16], xmm1",
                "movaps [rsp + 32], xmm2",
                "movaps [rsp + 48], xmm3",
                "movaps [rsp + 64], xmm4",
                "movaps [rsp + 80], xmm5",
                "movaps [rsp + 96], xmm6",
                "movaps [rsp + 112], xmm7",
                "movaps [rsp + 128], xmm8",
                "movaps [rsp + 144], xmm9",
                "movaps [rsp + 160], xmm10",
                "movaps [rsp + 176], xmm11",
                "movaps [rsp + 192], xmm12",
                "movaps [rsp + 208], xmm13",
                "movaps [rsp + 224], xmm14",
                "movaps [rsp + 240], xmm15",
                $($argument,)*
                "mov rdi, r15",
                $call,
                "mov [r15 + {result}], rax",
                "mov [r15 + {second}], rdx",
                "movaps xmm0, [rsp]",
                "movaps xmm1, [rsp + 16]",
                "movaps xmm2, [rsp + 32]",
                "movaps xmm3, [rsp + 48]",
                "movaps xmm4, [rsp + 64]",
                "movaps xmm5, [rsp + 80]",
                "movaps xmm6, [rsp + 96]",
                "movaps xmm7, [rsp + 112]",
                "movaps xmm8, [rsp + 128]",
                "movaps xmm9, [rsp + 144]",
                "movaps xmm10, [rsp + 160]",
                "movaps xmm11, [rsp + 176]",
                "movaps xmm12, [rsp + 192]",
                "movaps xmm13, [rsp + 208]",
                "movaps xmm14, [rsp + 224]",
                "movaps xmm15, [rsp + 240]",
                "add rsp, 264",
                "pop r11",
                "pop r10",
                "pop r9",
                "pop r8",
                "pop rdi",
                "pop rsi",
                "pop rdx",
                "pop rcx",
                "pop rax",
                "pop rbp",
                "ret",
                concat!(".size ", $name, ", . - ", $name),
                result = const RETURNED_BITS,
                second = const RETURNED_TAG,
                $($operand)*
            );
        };
    }

    /// As for x86-64. The callee preserves x19 to x28 and the lower halves of v8 to v15, which are
    /// the only parts of them that code uses. x16 and x17 contain nothing across a call.
    #[cfg(target_arch = "aarch64")]
    macro_rules! preserving {
        ($name:literal, $call:literal, $($argument:literal)*, $($operand:tt)*) => {
            std::arch::global_asm!(
                concat!(".globl ", $name),
                concat!(".type ", $name, ", @function"),
                concat!($name, ":"),
                "stp x29, x30, [sp, #-336]!",
                "mov x29, sp",
                "stp x0, x1, [sp, #16]",
                "stp x2, x3, [sp, #32]",
                "stp x4, x5, [sp, #48]",
                "stp x6, x7, [sp, #64]",
                "stp x8, x9, [sp, #80]",
                "stp x10, x11, [sp, #96]",
                "stp x12, x13, [sp, #112]",
                "stp x14, x15, [sp, #128]",
                "stp d0, d1, [sp, #144]",
                "stp d2, d3, [sp, #160]",
                "stp d4, d5, [sp, #176]",
                "stp d6, d7, [sp, #192]",
                "stp d16, d17, [sp, #208]",
                "stp d18, d19, [sp, #224]",
                "stp d20, d21, [sp, #240]",
                "stp d22, d23, [sp, #256]",
                "stp d24, d25, [sp, #272]",
                "stp d26, d27, [sp, #288]",
                "stp d28, d29, [sp, #304]",
                "stp d30, d31, [sp, #320]",
                $($argument,)*
                "mov x0, x21",
                $call,
                "str x0, [x21, #{result}]",
                "str x1, [x21, #{second}]",
                "ldp x0, x1, [sp, #16]",
                "ldp x2, x3, [sp, #32]",
                "ldp x4, x5, [sp, #48]",
                "ldp x6, x7, [sp, #64]",
                "ldp x8, x9, [sp, #80]",
                "ldp x10, x11, [sp, #96]",
                "ldp x12, x13, [sp, #112]",
                "ldp x14, x15, [sp, #128]",
                "ldp d0, d1, [sp, #144]",
                "ldp d2, d3, [sp, #160]",
                "ldp d4, d5, [sp, #176]",
                "ldp d6, d7, [sp, #192]",
                "ldp d16, d17, [sp, #208]",
                "ldp d18, d19, [sp, #224]",
                "ldp d20, d21, [sp, #240]",
                "ldp d22, d23, [sp, #256]",
                "ldp d24, d25, [sp, #272]",
                "ldp d26, d27, [sp, #288]",
                "ldp d28, d29, [sp, #304]",
                "ldp d30, d31, [sp, #320]",
                "ldp x29, x30, [sp], #336",
                "ret",
                concat!(".size ", $name, ", . - ", $name),
                result = const RETURNED_BITS,
                second = const RETURNED_TAG,
                $($operand)*
            );
        };
    }

    /// Defines functions that are passed the base of the top frame and its frame word.
    #[cfg(target_arch = "x86_64")]
    macro_rules! preserving_of_frame {
        ($($name:literal $function:path,)*) => {
            $(preserving! {
                $name, "call {function}",
                "mov rsi, [r15 + {base}]"
                "mov rdx, [rsi + {word}]",
                function = sym $function,
                base = const BASE,
                word = const frame::WORD,
            })*
        };
    }

    /// As for x86-64.
    #[cfg(target_arch = "aarch64")]
    macro_rules! preserving_of_frame {
        ($($name:literal $function:path,)*) => {
            $(preserving! {
                $name, "bl {function}",
                "ldr x1, [x21, #{base}]"
                "ldur x2, [x1, #{word}]",
                function = sym $function,
                base = const BASE,
                word = const frame::WORD,
            })*
        };
    }

    preserving_of_frame! {
        "perilune_preserving_one" calls::one,
        "perilune_preserving_get_field" calls::get_field,
        "perilune_preserving_set_field" calls::set_field,
        "perilune_preserving_poll" calls::poll_in_loop,
        "perilune_preserving_quiet_poll" calls::quiet_poll,
        "perilune_preserving_quiet_poll_to" calls::quiet_poll_to,
        "perilune_preserving_new_table" calls::new_table_of_frame,
        "perilune_preserving_virtuals" calls::allocate_virtuals,
    }

    #[cfg(target_arch = "x86_64")]
    preserving! {
        "perilune_preserving_for_next", "call {function}",,
        function = sym calls::for_next_of_state,
    }

    #[cfg(target_arch = "aarch64")]
    preserving! {
        "perilune_preserving_for_next", "bl {function}",,
        function = sym calls::for_next_of_state,
    }

    const _: () = assert!(MAX_PASSED == 5, "these are passed in registers");
    #[cfg(target_arch = "x86_64")]
    preserving! {
        "perilune_preserving_leaf", "call [r15 + {callee}]",
        "mov rsi, [r15 + {passed}]"
        "mov rdx, [r15 + {passed} + 8]"
        "mov rcx, [r15 + {passed} + 16]"
        "mov r8, [r15 + {passed} + 24]"
        "mov r9, [r15 + {passed} + 32]",
        callee = const PASSED + MAX_PASSED * size_of::<u64>(),
        passed = const PASSED,
    }

    #[cfg(target_arch = "aarch64")]
    preserving! {
        "perilune_preserving_leaf", "blr x16",
        "ldr x1, [x21, #{passed}]"
        "ldr x2, [x21, #{passed} + 8]"
        "ldr x3, [x21, #{passed} + 16]"
        "ldr x4, [x21, #{passed} + 24]"
        "ldr x5, [x21, #{passed} + 32]"
        "ldr x16, [x21, #{callee}]",
        callee = const PASSED + MAX_PASSED * size_of::<u64>(),
        passed = const PASSED,
    }

    unsafe extern "C" {
        pub(super) fn perilune_preserving_one();
        pub(super) fn perilune_preserving_get_field();
        pub(super) fn perilune_preserving_set_field();
        pub(super) fn perilune_preserving_poll();
        pub(super) fn perilune_preserving_quiet_poll();
        pub(super) fn perilune_preserving_quiet_poll_to();
        pub(super) fn perilune_preserving_for_next();
        pub(super) fn perilune_preserving_new_table();
        pub(super) fn perilune_preserving_virtuals();
        pub(super) fn perilune_preserving_leaf();
    }
}

#[cfg(not(handlers))]
mod native {
    pub(super) unsafe extern "C" fn perilune_preserving_one() {
        unreachable!("there is no machine code on this target");
    }
    pub(super) use perilune_preserving_one as perilune_preserving_get_field;
    pub(super) use perilune_preserving_one as perilune_preserving_set_field;
    pub(super) use perilune_preserving_one as perilune_preserving_poll;
    pub(super) use perilune_preserving_one as perilune_preserving_quiet_poll;
    pub(super) use perilune_preserving_one as perilune_preserving_quiet_poll_to;
    pub(super) use perilune_preserving_one as perilune_preserving_for_next;
    pub(super) use perilune_preserving_one as perilune_preserving_new_table;
    pub(super) use perilune_preserving_one as perilune_preserving_virtuals;
    pub(super) use perilune_preserving_one as perilune_preserving_leaf;
}

/// A function with this convention.
type Preserving = unsafe extern "C" fn();

pub(super) const ONE: Preserving = native::perilune_preserving_one;
pub(super) const GET_FIELD: Preserving = native::perilune_preserving_get_field;
pub(super) const SET_FIELD: Preserving = native::perilune_preserving_set_field;
pub(super) const POLL: Preserving = native::perilune_preserving_poll;
pub(super) const QUIET_POLL: Preserving = native::perilune_preserving_quiet_poll;
pub(super) const VIRTUALS: Preserving = native::perilune_preserving_virtuals;
pub(super) const QUIET_POLL_TO: Preserving = native::perilune_preserving_quiet_poll_to;
pub(super) const FOR_NEXT: Preserving = native::perilune_preserving_for_next;
pub(super) const NEW_TABLE: Preserving = native::perilune_preserving_new_table;
pub(super) const LEAF: Preserving = native::perilune_preserving_leaf;
