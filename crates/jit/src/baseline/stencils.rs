//! The stencils, by opcode.

use perilune_bytecode::Op;

use super::stencil::Stencil;

#[cfg(target_arch = "x86_64")]
mod generated {
    use super::super::stencil::Kind::*;
    use super::super::stencil::{Part, Patch, Speculative, Stencil};

    include!("x86_64.inc");
}

#[cfg(target_arch = "aarch64")]
mod generated {
    use super::super::stencil::Kind::*;
    use super::super::stencil::{Part, Patch, Speculative, Stencil};

    include!("aarch64.inc");
}

/// There are no stencils for this processor, and no handlers that could request them.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod generated {
    use super::super::stencil::{Part, Speculative, Stencil};

    const NOTHING: Part = Part { code: &[], patches: &[] };
    pub(in crate::baseline) static PROLOGUE: Stencil =
        Stencil { name: "", hot: NOTHING, cold: NOTHING, falls: None };
    pub(in crate::baseline) static STENCILS: [[&Stencil; 4]; super::Op::COUNT] =
        [[&PROLOGUE; 4]; super::Op::COUNT];
    pub(in crate::baseline) static SPECULATIVE: [&[Speculative]; super::Op::COUNT] =
        [&[]; super::Op::COUNT];
}

pub(super) use generated::{PROLOGUE, SPECULATIVE, STENCILS};

/// Returns the stencil that leaves an instruction to its handler, for operands that do not fit into
/// holes.
#[cfg(target_arch = "aarch64")]
pub(super) fn leaving(op: Op) -> &'static Stencil {
    generated::LEAVING[op as usize]
}

#[cfg(not(target_arch = "aarch64"))]
pub(super) fn leaving(_: Op) -> &'static Stencil {
    unreachable!("all operands fit")
}
