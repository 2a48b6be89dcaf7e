//! The native frames of compiled functions.
//!
//! The registers that functions overwrite are saved where the interpreter is entered. Cranelift
//! saves them again, each pair or single register with a store that moves the stack pointer; these
//! instructions are removed. A function that neither calls nor spills then needs no frame, so the
//! instructions that create and remove it are removed as well.

use super::instr::{Instr, decode};

/// `stp x29, x30, [sp, #-16]!`
pub(super) const PUSH: u32 = 0xA9BF_7BFD;
/// `mov x29, sp`
pub(super) const LINK: u32 = 0x9100_03FD;
/// `ldp x29, x30, [sp], #16`
pub(super) const POP: u32 = 0xA8C1_7BFD;

/// A function without the instructions that it does not need.
pub(super) struct Body {
    /// The instructions.
    pub(super) list: Vec<Instr>,
    /// Whether it creates a native frame.
    pub(super) has_frame: bool,
}

/// Removes the instructions that are not needed.
pub(super) fn body(bytes: &[u8]) -> Result<Body, String> {
    let mut list = decode(bytes);
    list.retain(|&i| !saves(i));
    let mut has_frame = false;
    for &i in &list {
        has_frame |= i.is_call() || !is_of_frame(i) && i.uses_stack()?;
    }
    if !has_frame {
        list.retain(|&i| !is_of_frame(i));
    } else if !list.iter().map(|i| i.word).take(2).eq([PUSH, LINK]) {
        return Err("a frame that does not begin the function".to_owned());
    }
    Ok(Body { list, has_frame })
}

fn is_of_frame(i: Instr) -> bool {
    matches!(i.word, PUSH | LINK | POP)
}

/// Returns whether an instruction saves or restores registers for the caller.
fn saves(i: Instr) -> bool {
    let (first, second) = (i.word & 31, i.word >> 10 & 31);
    let integers = |r| (19..=28).contains(&r);
    let floats = |r| (8..=15).contains(&r);
    match (i.word & !0x7C1F, i.word & !0x1F) {
        // stp x, x, [sp, #-16]! and ldp x, x, [sp], #16
        (0xA9BF_03E0 | 0xA8C1_03E0, _) => integers(first) && integers(second),
        // the same of the lower halves of vectors
        (0x6DBF_03E0 | 0x6CC1_03E0, _) => floats(first) && floats(second),
        // str x, [sp, #-16]! and ldr x, [sp], #16
        (_, 0xF81F_0FE0 | 0xF841_07E0) => integers(first),
        (_, 0xFC1F_0FE0 | 0xFC41_07E0) => floats(first),
        _ => false,
    }
}
