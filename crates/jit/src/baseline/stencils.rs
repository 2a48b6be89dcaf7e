//! The stencils, by opcode.

#[cfg(target_arch = "x86_64")]
mod generated {
    use super::super::stencil::Kind::*;
    use super::super::stencil::{Part, Patch, Speculative, Stencil};

    include!("x86_64.inc");
}

/// There are no stencils for this processor, and no handlers that could request them.
#[cfg(not(target_arch = "x86_64"))]
mod generated {
    use super::super::stencil::{Part, Speculative, Stencil};

    const NOTHING: Part = Part { code: &[], patches: &[] };
    pub(in crate::baseline) static PROLOGUE: Stencil =
        Stencil { name: "", hot: NOTHING, cold: NOTHING, falls: None };
    pub(in crate::baseline) static STENCILS: [[&Stencil; 4]; perilune_bytecode::Op::COUNT] =
        [[&PROLOGUE; 4]; perilune_bytecode::Op::COUNT];
    pub(in crate::baseline) static SPECULATIVE: [&[Speculative]; perilune_bytecode::Op::COUNT] =
        [&[]; perilune_bytecode::Op::COUNT];
}

pub(super) use generated::{PROLOGUE, SPECULATIVE, STENCILS};
