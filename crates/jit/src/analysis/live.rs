//! Liveness: which registers may be read before they are written again.

use cranelift_codegen::entity::{EntityRef, SecondaryMap};
use perilune_bytecode::effects::effects;
use perilune_bytecode::{Op, Proto, active_locals};

use crate::analysis::flow::Flow;
use crate::entity::{Pc, Reg};

/// The number of registers that an instruction can name.
const ALL: usize = 256;

/// A set of registers, a bit for each.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Set([u64; ALL / 64]);

impl Set {
    fn has(&self, r: Reg) -> bool {
        self.0[r.index() / 64] >> (r.index() % 64) & 1 != 0
    }

    fn add(&mut self, from: usize, count: usize) {
        for r in from..(from + count).min(ALL) {
            self.0[r / 64] |= 1 << (r % 64);
        }
    }

    fn remove(&mut self, from: usize, count: usize) {
        for r in from..(from + count).min(ALL) {
            self.0[r / 64] &= !(1 << (r % 64));
        }
    }

    fn join(&mut self, other: &Set) {
        for (a, b) in self.0.iter_mut().zip(other.0) {
            *a |= b;
        }
    }
}

/// The live registers before each reachable instruction.
#[derive(Clone)]
pub(crate) struct Live(SecondaryMap<Pc, Set>);

impl Live {
    /// Analyses a function.
    pub(crate) fn new(proto: &Proto, flow: &Flow) -> Live {
        Live::analyse(proto, Some(flow))
    }

    /// Analyses a function for the interpreter, which may continue anywhere: all code is reachable,
    /// and a local variable is live while it is in scope, since debuggers may look at it.
    pub(crate) fn in_interpreter(proto: &Proto) -> Live {
        Live::analyse(proto, None)
    }

    fn analyse(proto: &Proto, flow: Option<&Flow>) -> Live {
        let mut at: SecondaryMap<Pc, Set> = SecondaryMap::with_capacity(proto.code.len());
        let mut changed = true;
        while changed {
            changed = false;
            for pc in Pc::all(proto).rev() {
                let (next, jump) = match flow {
                    Some(flow) if !flow.reached[pc] => continue,
                    Some(flow) => flow.successors(proto, pc),
                    None => pc.successors(proto),
                };
                let i = pc.instr(proto);
                let e = effects(i);
                let mut live = jump.map(|to| at[to]).unwrap_or_default();
                let mut falls_through = next.map(|to| at[to]).unwrap_or_default();
                match i.op() {
                    // It copies the value only if it jumps.
                    Op::TestSet => live.remove(i.a(), 1),
                    // The variable of a loop is written where its body begins.
                    Op::ForPrep => falls_through.remove(i.a() + 3, 1),
                    Op::ForLoop => live.remove(i.a() + 3, 1),
                    _ => {}
                }
                live.join(&falls_through);
                for (from, count) in e.writes {
                    live.remove(from, count);
                }
                if let Some(from) = e.releases {
                    // results, and registers that are written before they are read
                    live.remove(from, ALL - from);
                }
                for (from, count) in e.reads {
                    live.add(from, count);
                }
                if flow.is_none() {
                    // the position of a traversal by `next`, which is no local variable in
                    // functions without debug information
                    if i.op() == Op::TForCall {
                        live.add(i.a() + 3, 1);
                    }
                    for variable in active_locals(proto, pc.index()) {
                        live.add(variable.register.into(), 1);
                    }
                }
                let open = matches!(i.op(), Op::Call | Op::TailCall | Op::Return | Op::SetList);
                if open && i.b() == 0 {
                    live.add(i.a(), ALL - i.a());
                }
                if live != at[pc] {
                    at[pc] = live;
                    changed = true;
                }
            }
        }
        Live(at)
    }

    /// Returns whether register `r` may be read from `pc` on.
    pub(crate) fn is_live(&self, pc: Pc, r: Reg) -> bool {
        self.0[pc].has(r)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::listing;
    use crate::feedback::snapshot::Snapshot;

    /// Checks the live registers before each instruction of a chunk.
    #[track_caller]
    fn check(source: &str, expected: &str) {
        let proto = listing::compile(source);
        let flow = Flow::new(&proto, &Snapshot::before_run(&proto), Pc::new(0));
        let live = Live::new(&proto, &flow);
        let describe = |pc: Pc| {
            let registers = Reg::new(0).range(proto.max_stack.into());
            let live = registers.filter(|&r| live.is_live(pc, r)).map(|r| r.to_string());
            live.collect::<Vec<_>>().join(" ")
        };
        listing::check(&proto, &flow, describe, expected);
    }

    #[test]
    fn registers_are_live_until_they_are_last_read() {
        check(
            "local a, b = ... local c = a + 1 return c + c",
            r"
            0 VARARGPREP 0
            1 VARARG 0 3
            2 ADDI 2 0 1: r0
            3 ADD 3 2 2: r2
            4 RETURN1 3: r3
        ",
        );
    }

    #[test]
    fn what_a_loop_reads_is_live_around_it() {
        check(
            "local n, m = ... while n < 9 do n = n + m end return n",
            r"
            0 VARARGPREP 0
            1 VARARG 0 3
            2 LTI 0 9 0: r0 r1
            4 ADD 0 0 1: r0 r1
            5 JMP -4: r0 r1
            6 RETURN1 0: r0
        ",
        );
    }

    #[test]
    fn multiple_values_are_live_up_to_the_top() {
        check(
            "local f, a = ... return f(a, ...)",
            r"
            0 VARARGPREP 0: r3
            1 VARARG 0 3: r3
            2 MOVE 2 0: r0 r1 r3
            3 MOVE 4 1: r1 r2 r3
            4 VARARG 5 0: r2 r3 r4
            5 TAILCALL 2 0 0: r2 r3 r4 r5
            6 RETURN 2 0 0: r2 r3 r4 r5
        ",
        );
    }

    #[test]
    fn a_test_writes_where_it_copies() {
        check(
            "local a, b = ... while a do local c = a or b b = c end return b",
            r"
            0 VARARGPREP 0
            1 VARARG 0 3
            2 TEST 0 0: r0 r1
            4 TESTSET 2 0 1: r0 r1
            6 MOVE 2 1: r0 r1
            7 MOVE 1 2: r0 r2
            8 JMP -7: r0 r1
            9 RETURN1 1: r1
        ",
        );
    }

    #[test]
    fn the_variable_of_a_loop_is_written_by_each_iteration() {
        check(
            "local n = ... for i = 1, n do for j = 1, i do n = n + j end end return n",
            r"
            0 VARARGPREP 0
            1 VARARG 0 2
            2 LOADI 1 1: r0
            3 MOVE 2 0: r0 r1
            4 LOADI 3 1: r0 r1 r2
            5 FORPREP 1 6: r0 r1 r2 r3
            6 LOADI 5 1: r0 r1 r2 r3 r4
            7 MOVE 6 4: r0 r1 r2 r3 r4 r5
            8 LOADI 7 1: r0 r1 r2 r3 r5 r6
            9 FORPREP 5 1: r0 r1 r2 r3 r5 r6 r7
            10 ADD 0 0 8: r0 r1 r2 r3 r5 r6 r7 r8
            11 FORLOOP 5 2: r0 r1 r2 r3 r5 r6 r7
            12 FORLOOP 1 7: r0 r1 r2 r3
            13 RETURN1 0: r0
        ",
        );
    }

    #[test]
    fn calls_release_what_lies_above_them() {
        check(
            "local f, a = ... while a do f(a or 1) end return a",
            r"
            0 VARARGPREP 0
            1 VARARG 0 3
            2 TEST 1 0: r0 r1
            4 MOVE 2 0: r0 r1
            5 TESTSET 4 1 1: r0 r1 r2
            7 LOADI 4 1: r0 r1 r2
            8 CALL 2 2 1: r0 r1 r2 r4
            9 JMP -8: r0 r1
            10 RETURN1 1: r1
        ",
        );
    }
}
