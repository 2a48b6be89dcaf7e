//! Code for x86-64.

mod assemble;
mod extract;
mod frame;
mod layout;
mod pinned;

use cranelift_codegen::binemit::Reloc;
use perilune_semantics::Jump;

use crate::compiled::{Assembled, Compiled};
use crate::extracted::Extracted;
use crate::stencil::Hole;
use crate::symbol::Symbol;
use crate::target::{Compile, Target};

/// Processors with the baseline instruction set of x86-64.
pub(crate) struct X86_64;

impl Target for X86_64 {
    fn name(&self) -> &'static str {
        "x86_64"
    }

    fn title(&self) -> &'static str {
        "x86-64"
    }

    fn triple(&self) -> &'static str {
        "x86_64-unknown-linux-gnu"
    }

    fn comment(&self) -> &'static str {
        "#"
    }

    fn keeps_frame_pointers(&self) -> bool {
        true
    }

    fn accepts(&self, kind: Reloc, addend: i64) -> bool {
        matches!(kind, Reloc::X86CallPCRel4 | Reloc::X86GOTPCRel4) && addend == -4
    }

    fn needs_frame(&self, code: &Compiled) -> bool {
        frame::without_frame(&code.bytes).is_none()
    }

    fn assemble(&self, symbol: Symbol, code: &Compiled) -> Result<Assembled, String> {
        assemble::assemble(symbol, code)
    }

    fn placeholders(&self) -> fn(Hole) -> i32 {
        extract::placeholder
    }

    fn has_small_holes(&self) -> bool {
        false
    }

    fn has_signed_holes(&self) -> bool {
        true
    }

    fn extract(
        &self,
        label: &str,
        falls: Option<Jump>,
        compile: Compile<'_>,
    ) -> Result<Option<Extracted>, String> {
        extract::extract(label, falls, compile)
    }
}
