//! Decides which successor of a branch is placed next.

use crate::tier2::ir::{Block, Function};
use crate::tier2::loops::NaturalLoops;

/// The loops of a function, for the order of its blocks in memory.
///
/// Cranelift lays out the second block of a branch next. If that block stays in the loop, an
/// iteration takes one jump, the back edge; otherwise it takes two.
pub(super) struct BlockLayout(NaturalLoops);

impl BlockLayout {
    /// Finds the loops.
    pub(super) fn of(f: &Function) -> BlockLayout {
        BlockLayout(NaturalLoops::of(f))
    }

    /// Returns whether a branch at the end of `from` stays in the loop at `yes` and leaves it at
    /// `no`.
    pub(super) fn stays(&self, from: Block, yes: Block, no: Block) -> bool {
        let members = self.0.innermost(from);
        members.is_some_and(|members| members.contains(yes) && !members.contains(no))
    }
}
