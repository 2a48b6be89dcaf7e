//! The parts of the generator that depend on the processor for which code is generated.

use cranelift_codegen::binemit::Reloc;
use perilune_semantics::Jump;

use crate::compiled::{Assembled, Compiled};
use crate::extracted::Extracted;
use crate::stencil::Hole;
use crate::symbol::Symbol;

/// Compiles a stencil, with the placeholder of a hole raised by a number.
pub(crate) type Compile<'a> = &'a dyn Fn(Option<(Hole, i32)>) -> Result<Compiled, String>;

/// A processor that code is generated for.
pub(crate) trait Target {
    /// Returns the name of the files.
    fn name(&self) -> &'static str;

    /// Returns the name that documents use.
    fn title(&self) -> &'static str;

    /// Returns the name by which Cranelift knows the processor and the system.
    fn triple(&self) -> &'static str;

    /// Returns how comments begin in assembly.
    fn comment(&self) -> &'static str;

    /// Returns whether each function links its native frame to that of its caller.
    fn keeps_frame_pointers(&self) -> bool;

    /// Returns whether code may contain references of this kind.
    fn accepts(&self, kind: Reloc, addend: i64) -> bool;

    /// Returns whether a function needs a native frame.
    fn needs_frame(&self, code: &Compiled) -> bool;

    /// Returns a function as assembly: bytes with a listing next to them, jumps and references by
    /// label, and unwind data.
    fn assemble(&self, symbol: Symbol, code: &Compiled) -> Result<Assembled, String>;

    /// Returns the function that returns the placeholder of a hole.
    fn placeholders(&self) -> fn(Hole) -> i32;

    /// Returns whether some operands do not fit into holes.
    fn has_small_holes(&self) -> bool;

    /// Returns whether numbers in holes may be negative.
    fn has_signed_holes(&self) -> bool;

    /// Creates a stencil from the function that `compile` compiles. Returns `None` if the code
    /// needs a native frame. A jump to `falls` at the end of the hot part is left out, since the
    /// code of that instruction follows.
    fn extract(
        &self,
        label: &str,
        falls: Option<Jump>,
        compile: Compile<'_>,
    ) -> Result<Option<Extracted>, String>;
}
