//! Dominators: which blocks lie on every path to a block.

use cranelift_codegen::entity::SecondaryMap;

use super::ir::{Block, Function};

/// The dominators of blocks. Blocks are identified by their positions in the order of the function.
pub(super) struct Dominators {
    place: SecondaryMap<Block, Option<usize>>,
    /// The place of the immediate dominator of each block.
    dominator: Vec<usize>,
}

impl Dominators {
    /// Finds the dominators, after Cooper, Harvey and Kennedy, *A Simple, Fast Dominance
    /// Algorithm*.
    ///
    /// # Errors
    /// Returns the block that is missing in the order, or is unreachable.
    pub(super) fn of(f: &Function) -> Result<Dominators, String> {
        let mut place: SecondaryMap<Block, Option<usize>> = SecondaryMap::new();
        for (n, &block) in f.order.iter().enumerate() {
            place[block] = Some(n);
        }
        let mut predecessors = vec![Vec::new(); f.order.len()];
        for (n, &block) in f.order.iter().enumerate() {
            for target in f.blocks[block].end.targets() {
                let to = place[target.block];
                predecessors[to.ok_or_else(|| format!("{} is in no order", target.block))?].push(n);
            }
        }
        let mut found: Vec<Option<usize>> = vec![None; f.order.len()];
        found[0] = Some(0);
        let mut changed = true;
        while changed {
            changed = false;
            for n in 1..found.len() {
                let known = predecessors[n].iter().copied().filter(|&p| found[p].is_some());
                let common = known.reduce(|a, b| common(&found, a, b));
                if common != found[n] {
                    found[n] = common;
                    changed = true;
                }
            }
        }
        let of_block = |(n, dominator): (usize, Option<usize>)| {
            dominator.ok_or_else(|| format!("{} is not reached", f.order[n]))
        };
        let dominator = found.into_iter().enumerate().map(of_block).collect::<Result<_, _>>()?;
        Ok(Dominators { place, dominator })
    }

    /// Returns the place of a block.
    pub(super) fn place(&self, block: Block) -> usize {
        self.place[block].expect("the block is in the order")
    }

    /// Returns the place of the immediate dominator of the block at a place.
    pub(super) fn immediate(&self, block: usize) -> usize {
        self.dominator[block]
    }

    /// Returns whether one block dominates another or is the same.
    pub(super) fn dominates(&self, block: usize, mut other: usize) -> bool {
        while other > block {
            other = self.dominator[other];
        }
        other == block
    }

    /// Returns the last block that dominates both.
    pub(super) fn common(&self, mut a: usize, mut b: usize) -> usize {
        while a != b {
            let later = if a > b { &mut a } else { &mut b };
            *later = self.dominator[*later];
        }
        a
    }
}

fn common(found: &[Option<usize>], mut a: usize, mut b: usize) -> usize {
    while a != b {
        let later = if a > b { &mut a } else { &mut b };
        *later = found[*later].expect("a block that was visited has one");
    }
    a
}
