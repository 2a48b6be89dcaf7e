//! The loops around blocks.

use cranelift_codegen::entity::{EntitySet, SecondaryMap};

use crate::tier2::ir::{Block, Function};

/// The loops that contain blocks. An iteration that was peeled from a loop counts as part of it.
pub(super) struct Loops {
    /// The numbers of the loops around a block.
    around: SecondaryMap<Block, Vec<usize>>,
}

impl Loops {
    /// Finds the loops.
    pub(super) fn of(f: &Function) -> Loops {
        let predecessors = f.predecessors();
        let mut place: SecondaryMap<Block, usize> = SecondaryMap::new();
        f.order.iter().enumerate().for_each(|(n, &block)| place[block] = n);
        let mut around: SecondaryMap<Block, Vec<usize>> = SecondaryMap::new();
        for (n, &head) in f.order.iter().enumerate().filter(|&(_, &b)| f.blocks[b].is_loop) {
            let mut members = EntitySet::new();
            members.insert(head);
            // the iteration that was peeled from the loop is in front of it
            let peeled = f.order[..n].iter().rev().take_while(|&&b| f.blocks[b].is_peeled).count();
            let is_part = |from: &Block| place[*from] >= n - peeled;
            let mut todo: Vec<Block> = predecessors[head].iter().copied().filter(is_part).collect();
            while let Some(block) = todo.pop() {
                if members.insert(block) {
                    todo.extend(predecessors[block].iter().filter(|from| is_part(from)));
                }
            }
            for &block in f.order.iter().filter(|&&block| members.contains(block)) {
                around[block].push(n);
            }
        }
        Loops { around }
    }

    /// Returns whether all loops around a block are also around another one.
    pub(super) fn are_around(&self, block: Block, other: Block) -> bool {
        self.around[block].iter().all(|l| self.around[other].contains(l))
    }
}
