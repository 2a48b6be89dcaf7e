//! Which methods are worth compiling, on which thread, and in what order.

use perilune_bytecode::Proto;

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

/// The priority of a function that was entered `entries` times: entries per instruction, so that
/// short functions, which are compiled soon, come first.
pub(crate) fn priority(proto: &Proto, entries: u32) -> u64 {
    u64::from(entries) * 1000 / proto.code.len() as u64
}

/// Estimates the bytes of code of a function. The estimate is the same on all machines.
pub(crate) fn estimated_size(proto: &Proto) -> usize {
    const PER_INSTRUCTION: usize = 128;
    proto.code.len() * PER_INSTRUCTION
}
