//! The stencils, by opcode.

#[cfg(target_arch = "x86_64")]
mod generated {
    use super::super::stencil::Kind::*;
    use super::super::stencil::{Part, Patch, Stencil};

    include!("x86_64.inc");
}

/// There are no stencils for this processor, and no handlers that could request them.
#[cfg(not(target_arch = "x86_64"))]
mod generated {
    use super::super::stencil::{Part, Stencil};

    const NOTHING: Part = Part { code: &[], patches: &[] };
    pub(in crate::baseline) static PROLOGUE: Stencil = Stencil { hot: NOTHING, cold: NOTHING };
    pub(in crate::baseline) static STENCILS: [[&Stencil; 2]; perilune_bytecode::Op::COUNT] =
        [[&PROLOGUE; 2]; perilune_bytecode::Op::COUNT];
}

pub(super) use generated::{PROLOGUE, STENCILS};
