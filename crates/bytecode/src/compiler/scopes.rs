//! The data on blocks, active variables, labels and pending gotos of one function.

use perilune_syntax::Arena;
use perilune_syntax::ast::LabelId;

use super::jump_list::JumpList;
use super::list::{FEW, List};

/// An active local variable.
pub(super) struct Active {
    /// Its register; `None` if it is folded into its uses.
    pub(super) register: Option<u8>,
    /// Its entry in the debug information.
    pub(super) desc: usize,
    /// Whether leaving its scope must close it.
    pub(super) needs_close: bool,
    /// Whether it is a to-be-closed variable.
    pub(super) to_be_closed: bool,
}

pub(super) struct Block {
    /// Number of active variables outside the block.
    pub(super) active: usize,
    /// Number of pending gotos outside the block.
    pub(super) first_goto: usize,
    /// Target of `break`, if the block is a loop.
    pub(super) loop_end: Option<LabelId>,
}

#[derive(Clone, Copy)]
pub(super) struct Pending {
    pub(super) label: LabelId,
    pub(super) jumps: JumpList,
    /// Number of active variables at the goto, except those of blocks left since.
    pub(super) active: usize,
    /// Whether it has left the scope of a variable that must be closed.
    pub(super) close: bool,
}

#[derive(Clone, Copy)]
pub(super) struct Placed {
    pub(super) pc: u32,
    pub(super) active: usize,
}

/// The scopes of one function.
pub(super) struct Scopes<'c> {
    pub(super) active: List<'c, Active>,
    pub(super) blocks: List<'c, Block>,
    pub(super) gotos: List<'c, Pending>,
    pub(super) labels: List<'c, Option<Placed>>,
}

impl<'c> Scopes<'c> {
    pub(super) fn new(arena: &'c Arena) -> Scopes<'c> {
        Scopes {
            active: List::with_capacity_in(FEW, arena),
            blocks: List::with_capacity_in(FEW, arena),
            gotos: List::new_in(arena),
            labels: List::new_in(arena),
        }
    }

    /// Resets them to those of a function with `labels` labels, before its start.
    pub(super) fn reset(&mut self, labels: usize) {
        self.active.clear();
        self.blocks.clear();
        self.gotos.clear();
        self.labels.clear();
        self.labels.resize(labels, None);
    }

    /// Returns the number of registers held by the first `n` active variables.
    pub(super) fn registers(&self, n: usize) -> u8 {
        self.active[..n].iter().rev().find_map(|v| v.register).map_or(0, |r| r + 1)
    }

    pub(super) fn any_needs_close(&self, from: usize, to: usize) -> bool {
        self.active[from..to].iter().any(|v| v.needs_close)
    }
}
