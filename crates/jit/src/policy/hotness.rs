//! Decides which methods are worth compiling, on which thread, and in what order.

use perilune_bytecode::flow::{Next, next};
use perilune_bytecode::{Instr, Op, Proto};
use perilune_runtime::instance::Instance;

/// The largest function that is compiled, in instructions.
const MAX_CODE: usize = 5_000;

/// The largest function that is compiled on the thread that runs the program, in instructions; it
/// takes milliseconds. For larger functions the program waits for a compile thread, so that it
/// obeys limits and interrupts in the meantime.
const MAX_INLINE: usize = 48;

/// The approximate cost of an exit besides the rest of the function, in bytecodes. Leaving code
/// costs 40; loops of the functions that it is inlined in continue in the interpreter as well.
const EXIT: u64 = 300;

/// Returns whether a function is too large to be compiled.
pub(crate) fn is_too_large(proto: &Proto) -> bool {
    proto.code.len() > MAX_CODE
}

/// Returns whether a synchronous compile of a function is short enough for the thread that runs the
/// program.
pub(crate) fn is_quick(proto: &Proto) -> bool {
    proto.code.len() <= MAX_INLINE
}

/// Returns how hot a function or its loop at `entry` is: how often its entire code has run.
///
/// Both the time that its code has taken and the time to compile it are proportional to its length,
/// so this is the quotient of the two, by which jobs are ordered. An iteration of a loop counts in
/// proportion to the loop's part of the function.
///
/// # Safety
/// `inst` is a live instance of the state that runs on this thread.
pub(crate) unsafe fn hotness(inst: *mut Instance, loops: &Loops, entry: Option<u32>) -> u64 {
    // SAFETY: a live instance has one cell for each instruction.
    let rounds = |pc| unsafe { *(*inst).cells.add(pc) };
    loops.hotness((&(*inst).proto).code.len(), rounds, (*inst).entries, entry)
}

/// Returns the number of entries after which a function is stitched while `live` bytes of machine
/// code exist: `usual * (1 + (live / footprint)²)`. The largest integer stands for never, and is
/// returned only if `usual` is the largest integer.
pub(crate) fn stitch_threshold(usual: u32, live: usize, footprint: usize) -> u32 {
    let (live, footprint) = (live as u128, footprint.max(1) as u128);
    let times = 1 + live * live / (footprint * footprint);
    let threshold = u128::from(usual).saturating_mul(times);
    if usual == u32::MAX { usual } else { threshold.min(u128::from(u32::MAX - 1)) as u32 }
}

/// Returns the cost of an exit from the code of a function, in bytecodes: the interpreter runs the
/// rest of the function.
pub(crate) fn cost_of_exit(proto: &Proto) -> u64 {
    proto.code.len() as u64 + EXIT
}

/// Returns how much hotter exits from its code make a function: the time that they cost, in the
/// units of [`hotness`].
pub(crate) fn hotness_of_exits(proto: &Proto, exits: u64) -> u64 {
    exits.saturating_mul(cost_of_exit(proto)) / proto.code.len().max(1) as u64
}

/// The loops of a function: the pcs of their first and last instructions.
pub(crate) struct Loops(Box<[(u32, u32)]>);

impl Loops {
    /// Finds the loops of code.
    pub(crate) fn of(code: &[Instr]) -> Loops {
        let found = |end| loop_start(code, end).map(|start| (start as u32, end as u32));
        Loops((0..code.len()).filter_map(found).collect())
    }

    /// Returns whether the instruction at `pc` is in a loop.
    pub(crate) fn contain(&self, pc: u32) -> bool {
        self.0.iter().any(|&(start, end)| start <= pc && pc <= end)
    }

    /// Returns the [`hotness`] of a function with `length` instructions whose loops have made
    /// `rounds` iterations, counted at the last instruction of each loop.
    fn hotness(
        &self,
        length: usize,
        rounds: impl Fn(usize) -> u32,
        entries: u32,
        entry: Option<u32>,
    ) -> u64 {
        let loops = self.0.iter().filter(|&&(start, _)| entry.is_none_or(|entry| entry == start));
        let hotness = |&(start, end): &(u32, u32)| {
            u64::from(rounds(end as usize)) * u64::from(end + 1 - start) / length as u64
        };
        loops.map(hotness).sum::<u64>() + if entry.is_none() { entries.into() } else { 0 }
    }
}

/// Returns the first instruction of the loop whose last instruction is at `pc`, if that ends a
/// loop.
fn loop_start(code: &[Instr], pc: usize) -> Option<usize> {
    match (code[pc].op(), next(code, pc)) {
        (Op::ForLoop | Op::TForLoop, Next::Branches(target)) => Some(target),
        (Op::Jmp, Next::Goes(target)) if target <= pc => Some(target),
        _ => None,
    }
}

/// Estimates the bytes of code of a function. The estimate is the same on all machines.
pub(crate) fn estimated_size(proto: &Proto) -> usize {
    const PER_INSTRUCTION: usize = 128;
    proto.code.len() * PER_INSTRUCTION
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::listing;

    #[test]
    fn more_code_takes_hotter_functions() {
        let threshold = |live| stitch_threshold(128, live, 1000);
        assert_eq!([0, 999, 1000, 3000].map(threshold), [128, 128, 256, 1280]);
        assert_eq!(threshold(usize::MAX), u32::MAX - 1);
        assert_eq!(stitch_threshold(1, 1 << 30, usize::MAX), 1);
        assert_eq!(stitch_threshold(u32::MAX, 0, 1000), u32::MAX);
    }

    #[test]
    fn loops_are_found_around_calls() {
        let proto = listing::compile("local f, n = ...; f(n) while n > 0 do n = f(n) end f(n)");
        let calls = (0..proto.code.len()).filter(|&pc| proto.code[pc].op() == Op::Call);
        let loops = Loops::of(&proto.code);
        let found: Vec<bool> = calls.map(|pc| loops.contain(pc as u32)).collect();
        assert_eq!(found, [false, true, false]);
    }

    #[test]
    fn rounds_count_as_the_part_of_the_function_that_they_run() {
        let source = "local n = ... for i = 1, n do n = n + i end while n > 0 do n = n - 1 end";
        let proto = listing::compile(source);
        let code = &proto.code;
        let backward = |pc: usize| match (code[pc].op(), next(code, pc)) {
            (Op::ForLoop, Next::Branches(start)) => Some(start),
            (Op::Jmp, Next::Goes(start)) if start <= pc => Some(start),
            _ => None,
        };
        let loops: Vec<(usize, usize)> =
            (0..code.len()).filter_map(|pc| Some((backward(pc)?, pc))).collect();
        let [(first, first_end), (second, second_end)] = loops[..] else { panic!("{loops:?}") };
        let length = |start: usize, end: usize| (end + 1 - start) as u64;

        let rounds = |pc| if pc == first_end { 1000 } else { 10 * u32::from(pc == second_end) };
        let entered_at = |start| Loops::of(code).hotness(code.len(), rounds, 7, start);
        let hot = 1000 * length(first, first_end) / code.len() as u64;
        let cold = 10 * length(second, second_end) / code.len() as u64;
        assert_eq!(entered_at(Some(first as u32)), hot);
        assert_eq!(entered_at(Some(second as u32)), cold);
        assert!(hot > cold && cold > 0);
        assert_eq!(entered_at(None), hot + cold + 7, "entries count for the whole function");

        // A longer function around the same loop is less hot after the same number of iterations.
        let longer = listing::compile(&format!("{source} {}", "n = n * n - n ".repeat(50)));
        assert!(
            Loops::of(&longer.code).hotness(longer.code.len(), rounds, 7, Some(first as u32)) < hot
        );
    }

    #[test]
    fn exits_count_for_what_they_take() {
        let short = listing::compile("local a, b = ... return a + b");
        let long = listing::compile(&format!("local n = ... {}", "n = n * n - n ".repeat(500)));
        let length = short.code.len() as u64;
        assert_eq!(hotness_of_exits(&short, 10 * length), 10 * (length + EXIT));
        assert!(hotness_of_exits(&short, 1) > EXIT / 16, "they take much longer than the function");
        assert!((10..15).contains(&hotness_of_exits(&long, 10)), "they take hardly longer");
    }
}
