//! Control flow of bytecode as the translation needs it.

use perilune_bytecode::Proto;
use perilune_bytecode::flow::{is_test, successors};

use crate::analysis::types::is_cold;
use crate::feedback::snapshot::Snapshot;

/// Where control can come from, per instruction that can be reached.
pub(crate) struct Flow {
    /// Never executed: the frame is deoptimized there.
    pub(crate) cold: Box<[bool]>,
    /// Reached at all.
    pub(crate) reached: Box<[bool]>,
    /// It needs a block of its own: jumped to, or reached from more than one place.
    pub(crate) leader: Box<[bool]>,
    /// The target of a backward jump: the head of a loop.
    pub(crate) is_loop: Box<[bool]>,
    /// Number of places that it is reached from.
    pub(crate) preds: Box<[u32]>,
    /// Registers that closures made here share: they live in memory only.
    pub(crate) captured: [bool; 256],
}

impl Flow {
    /// Successors of the instruction at `pc`: in sequence, and by jumps.
    pub(crate) fn successors(&self, proto: &Proto, pc: usize) -> (Option<usize>, Option<usize>) {
        if self.cold[pc] {
            return (None, None);
        }
        let to = successors(&proto.code, pc);
        (to.sequence, to.jump)
    }

    /// Of a function entered at `entry`.
    pub(crate) fn new(proto: &Proto, snapshot: &Snapshot, entry: usize) -> Flow {
        let n = proto.code.len();
        let cold = proto.code.iter().enumerate().map(|(pc, &i)| is_cold(snapshot, pc, i));
        let mut flow = Flow {
            cold: cold.collect(),
            reached: vec![false; n].into(),
            leader: vec![false; n].into(),
            is_loop: vec![false; n].into(),
            preds: vec![0; n].into(),
            captured: [false; 256],
        };
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
        for pc in 0..n {
            // another jump leads to the JMP after a test: what follows is reached from both
            if flow.reached[pc]
                && !flow.cold[pc]
                && is_test(proto.code[pc].op())
                && flow.reached[pc + 1]
            {
                flow.leader[pc + 2] = true;
                flow.preds[pc + 2] += 2;
            }
        }
        for p in &proto.protos {
            for u in &p.upvalues {
                if u.in_stack {
                    flow.captured[u.index as usize] = true;
                }
            }
        }
        flow
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use perilune_bytecode::Op;
    use perilune_bytecode::flow::jump_target;

    use super::*;

    fn flow(source: &str) -> (Arc<Proto>, Flow) {
        let chunk = perilune_bytecode::compile_source(source.as_bytes(), b"=test", 0);
        let proto = chunk.unwrap_or_else(|_| panic!("it compiles"));
        let snapshot = Snapshot::before_run(&proto);
        let flow = Flow::new(&proto, &snapshot, 0);
        (proto, flow)
    }

    fn all(proto: &Proto, op: Op) -> Vec<usize> {
        (0..proto.code.len()).filter(|&pc| proto.code[pc].op() == op).collect()
    }

    #[test]
    fn loops_begin_where_jumps_go_back_to() {
        let (p, flow) = flow("local n = 0 while n < 9 do n = n + 1 end return n");
        let back = all(&p, Op::Jmp).into_iter().find(|&pc| jump_target(&p.code, pc) <= pc);
        let head = jump_target(&p.code, back.expect("it goes round"));
        assert!(flow.is_loop[head] && flow.leader[head] && flow.preds[head] == 2);
        assert_eq!(flow.is_loop.iter().filter(|&&is_loop| is_loop).count(), 1);
        let (p, flow) = self::flow("for i = 1, 9 do print(i) end");
        let prep = all(&p, Op::ForPrep)[0];
        assert!(flow.is_loop[prep + 1] && flow.leader[prep + 1]);
    }

    #[test]
    fn what_follows_a_return_is_not_reached() {
        let (p, flow) = flow("do return 1 end print(2)");
        let returns =
            p.code.iter().position(|i| matches!(i.op(), Op::Return | Op::Return0 | Op::Return1));
        let first = returns.expect("it returns");
        assert!(flow.reached[first] && !flow.reached[first + 1]);
    }

    #[test]
    fn a_loop_that_always_ends_at_once_is_none() {
        let (p, flow) = flow("for i = 1, 9 do return i end");
        let prep = all(&p, Op::ForPrep)[0];
        assert!(!flow.is_loop[prep + 1] && !flow.leader[prep + 1]);
        assert_eq!(flow.preds[prep + 1], 1);
    }

    #[test]
    fn variables_of_closures_are_captured() {
        let (_, flow) = flow("local a, b, c = 1, 2, 3 return function() return b end");
        assert_eq!(flow.captured[..4], [false, true, false, false]);
    }

    #[test]
    fn what_was_never_executed_is_cold_where_code_is_pruned() {
        let chunk = perilune_bytecode::compile_source(b"local a = ... return a + 1", b"=test", 0);
        let p = chunk.unwrap_or_else(|_| panic!("it compiles"));
        let mut snapshot = Snapshot::before_run(&p);
        let add = all(&p, Op::AddI)[0];
        assert!(!Flow::new(&p, &snapshot, 0).cold[add]);
        snapshot.prunes = true;
        let flow = Flow::new(&p, &snapshot, 0);
        assert!(flow.cold[add] && flow.reached[add] && !flow.reached[add + 1]);
        snapshot.cells[add] = 1;
        assert!(!Flow::new(&p, &snapshot, 0).cold[add]);
    }
}
