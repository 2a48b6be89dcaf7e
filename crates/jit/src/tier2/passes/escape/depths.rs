//! How deep blocks are in loops.

use cranelift_codegen::entity::{EntitySet, SecondaryMap};

use crate::tier2::ir::{Block, Function};

/// Returns the number of loops around each block. An iteration that was peeled from a loop counts
/// as part of it.
pub(super) fn loop_depths(f: &Function) -> SecondaryMap<Block, u32> {
    let mut place: SecondaryMap<Block, usize> = SecondaryMap::new();
    let mut predecessors: SecondaryMap<Block, Vec<Block>> = SecondaryMap::new();
    for (n, &block) in f.order.iter().enumerate() {
        place[block] = n;
        for target in f.blocks[block].end.targets() {
            predecessors[target.block].push(block);
        }
    }
    let mut depths: SecondaryMap<Block, u32> = SecondaryMap::new();
    for &head in f.order.iter().filter(|&&block| f.blocks[block].is_loop) {
        let mut members = EntitySet::new();
        members.insert(head);
        let is_part = |from: &Block| {
            place[*from] >= place[head] || f.blocks[*from].is_peeled && !f.blocks[head].is_peeled
        };
        let mut todo: Vec<Block> = predecessors[head].iter().copied().filter(is_part).collect();
        while let Some(block) = todo.pop() {
            if members.insert(block) {
                // an iteration that was peeled begins where others lead to it
                todo.extend(predecessors[block].iter().filter(|from| is_part(from)));
            }
        }
        for &block in f.order.iter().filter(|&&block| members.contains(block)) {
            depths[block] += 1;
        }
    }
    depths
}
