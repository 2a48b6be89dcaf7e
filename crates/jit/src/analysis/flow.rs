//! The control flow of bytecode, in the form that the compilers need.

use cranelift_codegen::entity::{EntityRef, EntitySet, SecondaryMap};
use perilune_bytecode::flow::is_test;
use perilune_bytecode::{Op, Proto};

use crate::analysis::facts::is_cold;
use crate::entity::{Pc, Reg};
use crate::feedback::snapshot::Snapshot;

/// The control flow to each reachable instruction.
#[derive(Clone)]
pub(crate) struct Flow {
    /// Whether it was never executed: the frame is deoptimized there.
    pub(crate) cold: SecondaryMap<Pc, bool>,
    /// Whether it is reachable.
    pub(crate) reached: SecondaryMap<Pc, bool>,
    /// Whether it begins a block: it is the target of a jump, or has several predecessors.
    pub(crate) leader: SecondaryMap<Pc, bool>,
    /// Whether it is the target of a backward jump: the head of a loop.
    pub(crate) is_loop: SecondaryMap<Pc, bool>,
    /// The number of its predecessors.
    pub(crate) preds: SecondaryMap<Pc, u32>,
    /// Whether closures created here share a register: it lives in memory only.
    pub(crate) captured: SecondaryMap<Reg, bool>,
}

impl Flow {
    /// Returns the successors of the instruction at `pc`: in sequence, and by a jump.
    pub(crate) fn successors(&self, proto: &Proto, pc: Pc) -> (Option<Pc>, Option<Pc>) {
        if self.cold[pc] { (None, None) } else { pc.successors(proto) }
    }

    /// Analyses a function that is entered at `entry`.
    pub(crate) fn new(proto: &Proto, snapshot: &Snapshot, entry: Pc) -> Flow {
        let mut flow = Flow {
            cold: SecondaryMap::with_capacity(proto.code.len()),
            reached: SecondaryMap::with_capacity(proto.code.len()),
            leader: SecondaryMap::with_capacity(proto.code.len()),
            is_loop: SecondaryMap::with_capacity(proto.code.len()),
            preds: SecondaryMap::with_capacity(proto.code.len()),
            captured: SecondaryMap::new(),
        };
        for pc in Pc::all(proto) {
            flow.cold[pc] = is_cold(snapshot, pc, pc.instr(proto));
        }
        flow.leader[entry] = true;
        flow.preds[entry] = 2;
        let mut todo = vec![entry];
        while let Some(pc) = todo.pop() {
            if std::mem::replace(&mut flow.reached[pc], true) {
                continue;
            }
            let (next, jump) = flow.successors(proto, pc);
            for (to, jumped) in [(next, false), (jump, true)] {
                let Some(to) = to else { continue };
                flow.preds[to] += 1;
                flow.is_loop[to] |= to <= pc;
                if jumped || flow.preds[to] > 1 {
                    flow.leader[to] = true;
                }
                todo.push(to);
            }
        }
        for pc in Pc::all(proto) {
            // if another jump leads to the JMP after a test, its target is reached from both
            if flow.reached[pc]
                && !flow.cold[pc]
                && is_test(pc.instr(proto).op())
                && flow.reached[pc + 1]
            {
                flow.leader[pc + 2] = true;
                flow.preds[pc + 2] += 2;
            }
        }
        flow.begin_blocks_after_loops(proto);
        for u in proto.protos.iter().flat_map(|p| &p.upvalues) {
            if u.in_stack {
                flow.captured[Reg::new(u.index.into())] = true;
            }
        }
        flow
    }

    /// Returns the predecessors of each reachable instruction.
    pub(crate) fn predecessors(&self, proto: &Proto) -> SecondaryMap<Pc, Vec<Pc>> {
        let mut predecessors: SecondaryMap<Pc, Vec<Pc>> = SecondaryMap::new();
        for pc in Pc::all(proto).filter(|&pc| self.reached[pc]) {
            let (next, jump) = self.successors(proto, pc);
            next.into_iter().chain(jump).for_each(|to| predecessors[to].push(pc));
        }
        predecessors
    }

    /// Makes the instructions that loops exit to begin blocks, so that no block is only partly in a
    /// loop.
    fn begin_blocks_after_loops(&mut self, proto: &Proto) {
        let reached: Vec<Pc> = Pc::all(proto).filter(|&pc| self.reached[pc]).collect();
        let heads: Vec<Pc> = reached.iter().copied().filter(|&pc| self.is_loop[pc]).collect();
        if heads.is_empty() {
            return;
        }
        let predecessors = self.predecessors(proto);
        for head in heads {
            let members = loop_members(proto, &predecessors, head);
            for &pc in reached.iter().filter(|&&pc| members.contains(pc)) {
                if let (Some(next), _) = self.successors(proto, pc)
                    && !members.contains(next)
                {
                    self.leader[next] = true;
                }
            }
        }
    }
}

/// Returns the instructions of the loop with this head: those from which a back edge to the head is
/// reached without passing the head. A generic loop jumps back to its body, its head here, but is
/// entered at the call of its iterator.
pub(crate) fn loop_members(
    proto: &Proto,
    predecessors: &SecondaryMap<Pc, Vec<Pc>>,
    head: Pc,
) -> EntitySet<Pc> {
    let is_entry = |pc: Pc| pc < head && pc.instr(proto).op() == Op::TForPrep;
    let mut members = EntitySet::new();
    members.insert(head);
    let mut todo: Vec<Pc> = predecessors[head].iter().copied().filter(|&pc| pc >= head).collect();
    while let Some(pc) = todo.pop() {
        if members.insert(pc) {
            todo.extend(predecessors[pc].iter().copied().filter(|&pc| !is_entry(pc)));
        }
    }
    members
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::listing;

    /// Checks the marks of the instructions of a chunk: beginnings of blocks with the number of
    /// predecessors, loops, and code that was never executed. `seen` are the instructions that were
    /// executed.
    #[track_caller]
    fn check(source: &str, entry: usize, seen: Option<&[usize]>, expected: &str) {
        let proto = listing::compile(source);
        let mut snapshot = Snapshot::before_run(&proto);
        snapshot.prunes = seen.is_some();
        for &pc in seen.unwrap_or_default() {
            snapshot.cells[pc] = 1;
        }
        let flow = Flow::new(&proto, &snapshot, Pc::new(entry));
        let describe = |pc: Pc| {
            let mut marks = Vec::new();
            if flow.is_loop[pc] {
                marks.push("loop".to_owned());
            }
            if flow.leader[pc] {
                marks.push(format!("block from {}", flow.preds[pc]));
            }
            if flow.cold[pc] {
                marks.push("cold".to_owned());
            }
            marks.join(", ")
        };
        listing::check(&proto, &flow, describe, expected);
    }

    #[test]
    fn loops_begin_where_jumps_go_back_to() {
        check(
            "local n = 0 while n < 9 do n = n + 1 end return n",
            0,
            None,
            r"
            0 VARARGPREP 0: block from 2
            1 LOADI 0 0
            2 LTI 0 9 0: loop, block from 2
            4 ADDI 0 0 1
            5 JMP -4
            6 RETURN1 0: block from 1
        ",
        );
        check(
            "for i = 1, 9 do print(i) end",
            0,
            None,
            r"
            0 VARARGPREP 0: block from 2
            1 LOADI 0 1
            2 LOADI 1 9
            3 LOADI 2 1
            4 FORPREP 0 3
            5 GETTABUP 4 0 0: loop, block from 2
            6 MOVE 6 3
            7 CALL 4 2 1
            8 FORLOOP 0 4
            9 RETURN0: block from 2
        ",
        );
    }

    #[test]
    fn what_follows_a_return_is_not_reached() {
        check(
            "do return 1 end print(2)",
            0,
            None,
            r"
            0 VARARGPREP 0: block from 2
            1 LOADI 0 1
            2 RETURN1 0
        ",
        );
    }

    #[test]
    fn a_loop_that_always_ends_at_once_is_none() {
        check(
            "for i = 1, 9 do return i end",
            0,
            None,
            r"
            0 VARARGPREP 0: block from 2
            1 LOADI 0 1
            2 LOADI 1 9
            3 LOADI 2 1
            4 FORPREP 0 1
            5 RETURN1 3
            7 RETURN0: block from 1
        ",
        );
    }

    #[test]
    fn what_follows_a_test_has_two_predecessors() {
        check(
            "local a, b = ... if a then b = 1 end return b",
            0,
            None,
            r"
            0 VARARGPREP 0: block from 2
            1 VARARG 0 3
            2 TEST 0 0
            4 LOADI 1 1
            5 RETURN1 1: block from 2
        ",
        );
        check(
            "local a, b = ... a = a and b return a",
            0,
            None,
            r"
            0 VARARGPREP 0: block from 2
            1 VARARG 0 3
            2 TEST 0 0
            4 MOVE 0 1
            5 RETURN1 0: block from 2
        ",
        );
    }

    #[test]
    fn only_what_the_loop_leads_to_is_reached_from_its_entry() {
        check(
            "local n = 0 while n < 9 do n = n + 1 end return n",
            2,
            None,
            r"
            2 LTI 0 9 0: loop, block from 3
            4 ADDI 0 0 1
            5 JMP -4
            6 RETURN1 0: block from 1
        ",
        );
    }

    #[test]
    fn what_was_never_executed_is_cold_where_code_is_pruned() {
        check(
            "local a = ... return a + 1",
            0,
            Some(&[]),
            r"
            0 VARARGPREP 0: block from 2
            1 VARARG 0 2
            2 ADDI 1 0 1: cold
        ",
        );
        check(
            "local a = ... return a + 1",
            0,
            Some(&[2]),
            r"
            0 VARARGPREP 0: block from 2
            1 VARARG 0 2
            2 ADDI 1 0 1
            3 RETURN1 1
        ",
        );
    }

    #[test]
    fn variables_of_closures_are_captured() {
        let proto = listing::compile("local a, b, c = 1, 2, 3 return function() return b end");
        let flow = Flow::new(&proto, &Snapshot::before_run(&proto), Pc::new(0));
        let captured: Vec<bool> = Reg::new(0).range(4).map(|r| flow.captured[r]).collect();
        assert_eq!(captured, [false, true, false, false]);
    }
}
