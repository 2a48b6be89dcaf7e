//! Natural loops: for each loop head, the blocks from which control can return to it.

use cranelift_codegen::entity::{EntitySet, SecondaryMap};

use super::ir::{Block, Function};

/// The natural loops of a function.
pub(super) struct NaturalLoops {
    /// The blocks of each loop, its head included. A loop comes after those around it.
    loops: Vec<EntitySet<Block>>,
    /// The number of the innermost loop that a block is in.
    innermost: SecondaryMap<Block, Option<usize>>,
}

impl NaturalLoops {
    /// Finds the loops.
    pub(super) fn of(f: &Function) -> NaturalLoops {
        let mut found = NaturalLoops { loops: Vec::new(), innermost: SecondaryMap::new() };
        if !f.order.iter().any(|&block| f.blocks[block].is_loop) {
            return found;
        }
        let predecessors = f.predecessors();
        let mut place: SecondaryMap<Block, usize> = SecondaryMap::new();
        f.order.iter().enumerate().for_each(|(n, &block)| place[block] = n);
        // the heads of inner loops come after those of the loops around them
        for &head in f.order.iter().filter(|&&block| f.blocks[block].is_loop) {
            // a loop that is entered at several places has no head that comes before all of it
            let is_part = |block: &Block| place[*block] >= place[head];
            let mut todo: Vec<Block> = predecessors[head].iter().copied().filter(is_part).collect();
            if todo.is_empty() {
                continue;
            }
            let mut members = EntitySet::new();
            members.insert(head);
            while let Some(block) = todo.pop() {
                if members.insert(block) {
                    todo.extend(predecessors[block].iter().copied().filter(is_part));
                }
            }
            members.iter().for_each(|block| found.innermost[block] = Some(found.loops.len()));
            found.loops.push(members);
        }
        found
    }

    /// Returns the blocks of the innermost loop that a block is in, if it is in one.
    pub(super) fn innermost(&self, block: Block) -> Option<&EntitySet<Block>> {
        self.innermost[block].map(|n| &self.loops[n])
    }
}
