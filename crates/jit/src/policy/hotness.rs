//! Which methods are worth compiling, on which thread, and in what order.

use perilune_bytecode::flow::{Next, next};
use perilune_bytecode::{Op, Proto};
use perilune_runtime::instance::Instance;

/// The largest function that is compiled, in instructions.
const MAX_CODE: usize = 5_000;

/// The largest function that is compiled on the thread that runs the program, in instructions; it
/// takes milliseconds. For others the program waits, so that it obeys limits and interrupts
/// meanwhile.
const MAX_INLINE: usize = 48;

/// Whether a function is too large to be compiled.
pub(crate) fn is_too_large(proto: &Proto) -> bool {
    proto.code.len() > MAX_CODE
}

/// Whether a synchronous compile of a function is short enough for the thread that runs the
/// program.
pub(crate) fn is_quick(proto: &Proto) -> bool {
    proto.code.len() <= MAX_INLINE
}

/// Returns how hot a function is, or its loop at `entry`: how often its code has run as a whole.
///
/// Both the time that its code has taken and the time to compile it are proportional to its length,
/// so this is the quotient of the two, by which jobs are ordered. A round of a loop counts as the
/// part of the function that it is.
///
/// # Safety
/// `inst` is a live instance of the state that runs on this thread.
pub(crate) unsafe fn heat(inst: *mut Instance, entry: Option<u32>) -> u64 {
    let code = &(&(*inst).proto).code;
    let loops = (0..code.len()).filter_map(|pc| {
        let start = match (code[pc].op(), next(code, pc)) {
            (Op::ForLoop | Op::TForLoop, Next::Branches(target)) => target,
            (Op::Jmp, Next::Goes(target)) if target <= pc => target,
            _ => return None,
        };
        let rounds = u64::from(*(*inst).cells.add(pc));
        let heat = rounds * (pc + 1 - start) as u64 / code.len() as u64;
        entry.is_none_or(|entry| entry as usize == start).then_some(heat)
    });
    loops.sum::<u64>() + if entry.is_none() { (*inst).entries.into() } else { 0 }
}

/// Estimates the bytes of code of a function. The estimate is the same on all machines.
pub(crate) fn estimated_size(proto: &Proto) -> usize {
    const PER_INSTRUCTION: usize = 128;
    proto.code.len() * PER_INSTRUCTION
}
