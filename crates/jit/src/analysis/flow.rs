//! Control flow of bytecode as the translation needs it.

use perilune_bytecode::Proto;
use perilune_bytecode::flow::{is_test, successors};

use crate::analysis::types::is_cold;
use crate::feedback::snapshot::Snapshot;

/// Where control can come from, per instruction that can be reached.
pub(crate) struct Flow {
    /// Never executed: the frame is left to the interpreter there.
    pub(crate) cold: Box<[bool]>,
    /// Reached at all.
    pub(crate) reached: Box<[bool]>,
    /// It needs a block of its own: jumped to, or reached from more than one place.
    pub(crate) leader: Box<[bool]>,
    /// Jumped to from behind: the beginning of a loop.
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
            // somebody else jumps to the JMP behind a test: what follows is reached from both
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
