//! Decides which successor of a branch is laid out next.

use cranelift_codegen::entity::{EntitySet, SecondaryMap};

use crate::tier2::ir::{Block, Function};

/// The loops of a function, for the order of its blocks in memory.
///
/// Cranelift lays out the second block of a branch next. If that block stays in the loop, an
/// iteration takes one jump, the back edge; otherwise it takes two.
pub(super) struct BlockLayout {
    loops: Vec<EntitySet<Block>>,
    /// The innermost loop that a block is in.
    innermost: SecondaryMap<Block, Option<usize>>,
}

impl BlockLayout {
    /// Finds the loops.
    pub(super) fn of(f: &Function) -> BlockLayout {
        let mut layout = BlockLayout { loops: Vec::new(), innermost: SecondaryMap::new() };
        if !f.order.iter().any(|&block| f.blocks[block].is_loop) {
            return layout;
        }
        let mut place: SecondaryMap<Block, usize> = SecondaryMap::new();
        let mut predecessors: SecondaryMap<Block, Vec<Block>> = SecondaryMap::new();
        for (n, &block) in f.order.iter().enumerate() {
            place[block] = n;
            for target in f.blocks[block].end.targets() {
                predecessors[target.block].push(block);
            }
        }
        // inner loops come after the heads of those around them
        for &head in f.order.iter().filter(|&&block| f.blocks[block].is_loop) {
            let mut members = EntitySet::new();
            members.insert(head);
            let ends = predecessors[head].iter().filter(|&&block| place[block] >= place[head]);
            let mut todo: Vec<Block> = ends.copied().collect();
            while let Some(block) = todo.pop() {
                if members.insert(block) {
                    todo.extend(&predecessors[block]);
                }
            }
            for &block in f.order.iter().filter(|&&block| members.contains(block)) {
                layout.innermost[block] = Some(layout.loops.len());
            }
            layout.loops.push(members);
        }
        layout
    }

    /// Returns whether a branch at the end of `from` stays in the loop at `yes` and leaves it at
    /// `no`.
    pub(super) fn stays(&self, from: Block, yes: Block, no: Block) -> bool {
        let members = self.innermost[from].map(|n| &self.loops[n]);
        members.is_some_and(|members| members.contains(yes) && !members.contains(no))
    }
}
