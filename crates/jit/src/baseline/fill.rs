//! Fills the holes of stencils.

#[cfg(target_arch = "aarch64")]
#[path = "fill_aarch64.rs"]
mod target;

/// On x86-64 a hole is a field of four bytes that ends an instruction or is followed by an
/// immediate; distances count from its end.
#[cfg(not(target_arch = "aarch64"))]
mod target {
    use perilune_bytecode::Instr;

    use super::super::stencil::Stencil;

    pub(in crate::baseline) const ORIGIN: usize = 4;

    pub(in crate::baseline) const LARGEST: usize = i32::MAX as usize;

    pub(in crate::baseline) const JUMP: [u8; 5] = [0xE9, 0, 0, 0, 0];

    pub(in crate::baseline) const JUMP_HOLE: u16 = 1;

    pub(in crate::baseline) fn fits(_: &Stencil, _: Instr) -> bool {
        true
    }

    #[inline]
    pub(in crate::baseline) fn fill(out: &mut [u8], at: usize, value: i32) {
        out[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
}

/// The place from which distances count, from the beginning of the hole.
pub(super) use target::ORIGIN;

/// The maximum size of code in bytes for which all distances fit.
pub(super) use target::LARGEST;

/// A jump, and the offset of the hole for its distance.
pub(super) use target::{JUMP, JUMP_HOLE};

/// Returns whether the operands of an instruction fit into the holes of a stencil.
pub(super) use target::fits;

/// Writes a number or a distance into the hole at `at`.
///
/// # Panics
/// Panics if it does not fit.
pub(super) use target::fill;
