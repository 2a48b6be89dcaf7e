//! Code for aarch64.

mod assemble;
mod extract;
mod frame;
mod instr;

use cranelift_codegen::binemit::Reloc;
use perilune_semantics::Jump;

use crate::compiled::{Assembled, Compiled};
use crate::extracted::Extracted;
use crate::stencil::Hole;
use crate::symbol::Symbol;
use crate::target::{Compile, Target};

/// Processors with the instruction set Armv8.0-A.
pub(crate) struct Aarch64;

impl Target for Aarch64 {
    fn name(&self) -> &'static str {
        "aarch64"
    }

    fn title(&self) -> &'static str {
        "aarch64"
    }

    fn triple(&self) -> &'static str {
        "aarch64-unknown-linux-gnu"
    }

    fn comment(&self) -> &'static str {
        "//"
    }

    fn keeps_frame_pointers(&self) -> bool {
        // Functions that neither call nor spill need no frame.
        false
    }

    fn accepts(&self, kind: Reloc, addend: i64) -> bool {
        let known = matches!(
            kind,
            Reloc::Arm64Call
                | Reloc::Aarch64AdrPrelPgHi21
                | Reloc::Aarch64AddAbsLo12Nc
                | Reloc::Aarch64AdrGotPage21
                | Reloc::Aarch64Ld64GotLo12Nc
        );
        known && addend == 0
    }

    fn needs_frame(&self, code: &Compiled) -> bool {
        frame::body(&code.bytes).is_ok_and(|body| body.has_frame)
    }

    fn assemble(&self, symbol: Symbol, code: &Compiled) -> Result<Assembled, String> {
        assemble::assemble(symbol, code)
    }

    fn placeholders(&self) -> fn(Hole) -> i32 {
        extract::placeholder
    }

    fn has_small_holes(&self) -> bool {
        true
    }

    fn has_signed_holes(&self) -> bool {
        false
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
