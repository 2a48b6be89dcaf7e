//! One instruction word.

use crate::opcode::Op;

/// A 32-bit instruction; see [`crate::opcode`] for the layout.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Instr(pub u32);

impl Instr {
    /// The largest `Bx`.
    pub const MAX_BX: u32 = 0xFFFF;
    /// The largest `Ax`.
    pub const MAX_AX: u32 = 0xFF_FFFF;
    /// The largest magnitude of `sJ` that can always be encoded.
    pub const MAX_SJ: i32 = 0x7F_FFFF;
    /// The number that is added to the signed `B` of comparisons with an immediate operand.
    pub const SB_BIAS: i32 = 128;

    /// The index of the byte in the word that is `A`, or the lowest of `sJ` and `Ax`.
    pub const A_BYTE: u32 = 1;
    /// The index of the byte in the word that is `B`, or the lowest of `Bx`.
    pub const B_BYTE: u32 = 2;
    /// The index of the byte in the word that is `C`.
    pub const C_BYTE: u32 = 3;

    /// Position of `A`, `sJ` and `Ax` in the word.
    pub const A_SHIFT: u32 = u8::BITS * Instr::A_BYTE;
    /// Position of `B` and `Bx` in the word.
    pub const B_SHIFT: u32 = u8::BITS * Instr::B_BYTE;
    /// Position of `C` in the word.
    pub const C_SHIFT: u32 = u8::BITS * Instr::C_BYTE;

    /// Makes `op A B C`.
    pub const fn abc(op: Op, a: u8, b: u8, c: u8) -> Instr {
        Instr(
            op as u32
                | (a as u32) << Instr::A_SHIFT
                | (b as u32) << Instr::B_SHIFT
                | (c as u32) << Instr::C_SHIFT,
        )
    }

    /// Makes `op A Bx`.
    pub const fn abx(op: Op, a: u8, bx: u16) -> Instr {
        Instr(op as u32 | (a as u32) << Instr::A_SHIFT | (bx as u32) << Instr::B_SHIFT)
    }

    /// Makes `op A sBx`.
    pub const fn asbx(op: Op, a: u8, sbx: i16) -> Instr {
        Instr::abx(op, a, sbx as u16)
    }

    /// Makes `op sJ`; `sj` fits in 24 bits.
    pub const fn sj(op: Op, sj: i32) -> Instr {
        Instr(op as u32 | (sj as u32) << Instr::A_SHIFT)
    }

    /// Makes `op Ax`; `ax` fits in 24 bits.
    pub const fn ax(op: Op, ax: u32) -> Instr {
        Instr(op as u32 | ax << Instr::A_SHIFT)
    }

    /// Returns the opcode byte; that of a verified instruction is always a valid [`Op`].
    #[inline(always)]
    pub const fn op_byte(self) -> u8 {
        self.0 as u8
    }

    /// Returns the opcode.
    ///
    /// # Panics
    /// Panics if the byte is not an opcode, which the verifier excludes.
    #[inline]
    pub const fn op(self) -> Op {
        Op::ALL[self.0 as u8 as usize]
    }

    /// Returns operand `A`.
    #[inline(always)]
    pub const fn a(self) -> usize {
        (self.0 >> Instr::A_SHIFT) as u8 as usize
    }

    /// Returns operand `B`.
    #[inline(always)]
    pub const fn b(self) -> usize {
        (self.0 >> Instr::B_SHIFT) as u8 as usize
    }

    /// Returns operand `C`.
    #[inline(always)]
    pub const fn c(self) -> usize {
        (self.0 >> Instr::C_SHIFT) as usize
    }

    /// Returns the signed `B` of comparisons with an immediate operand.
    #[inline(always)]
    pub const fn sb(self) -> i64 {
        self.b() as i64 - Instr::SB_BIAS as i64
    }

    /// Returns operand `Bx`.
    #[inline(always)]
    pub const fn bx(self) -> usize {
        (self.0 >> Instr::B_SHIFT) as usize
    }

    /// Returns operand `sBx`.
    #[inline(always)]
    pub const fn sbx(self) -> i64 {
        (self.0 as i32 >> Instr::B_SHIFT) as i64
    }

    /// Returns operand `sJ`.
    #[inline(always)]
    pub const fn sj_value(self) -> isize {
        (self.0 as i32 >> Instr::A_SHIFT) as isize
    }

    /// Returns operand `Ax`.
    #[inline(always)]
    pub const fn ax_value(self) -> usize {
        (self.0 >> Instr::A_SHIFT) as usize
    }

    /// Returns the same instruction with another `A`.
    pub(crate) const fn with_a(self, a: u8) -> Instr {
        Instr(self.0 & !(0xFF << Instr::A_SHIFT) | (a as u32) << Instr::A_SHIFT)
    }

    /// Returns the same instruction with another `C`.
    pub(crate) const fn with_c(self, c: u8) -> Instr {
        Instr(self.0 & !(0xFF << Instr::C_SHIFT) | (c as u32) << Instr::C_SHIFT)
    }

    /// Returns an instruction with the same operands and another opcode.
    pub(crate) const fn with_op(self, op: Op) -> Instr {
        Instr(self.0 & !0xFF | op as u32)
    }
}
