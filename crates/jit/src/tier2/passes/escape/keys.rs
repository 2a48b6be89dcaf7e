//! The fields of tables that do not escape.

use cranelift_codegen::entity::EntitySet;

use super::uses::{Allocation, Tables, stored_key};
use crate::entity::Pc;
use crate::tier2::dominators::Dominators;
use crate::tier2::ir::{Block, Frame, Function, Value};

/// A field that a table may have.
#[derive(Clone, Copy)]
pub(super) struct Key {
    /// An instruction that stores it, and its frame.
    pub(super) store: (Frame, Pc),
    /// The block of the instruction, if the function that stores the field is not the one that
    /// allocates the table. The function of the frame is known in blocks that this block dominates,
    /// and the field is nil before it.
    pub(super) since: Option<Block>,
}

impl Key {
    /// Returns the name of the field.
    pub(super) fn name(self, f: &Function) -> Option<&[u8]> {
        let (frame, pc) = self.store;
        stored_key(&f.frames[frame].proto, pc)
    }
}

impl Tables {
    /// Returns whether the names of all fields are known where the table may have to be allocated:
    /// the blocks that use it dominate the store of each field that another function stores, or are
    /// dominated by it.
    pub(super) fn has_known_keys(
        &self,
        f: &Function,
        dominators: &Dominators,
        made: &Allocation,
    ) -> bool {
        let mut since: Vec<Block> = made.keys.iter().filter_map(|key| key.since).collect();
        since.dedup();
        if since.is_empty() || !self.is_virtual(made.table) {
            return true;
        }
        let class = self.class(made.table);
        let is_table = |v: &Value| self.class(*v) == class;
        let is_content =
            |other: &Allocation| self.contents(f, other).any(|v| self.class(v) == class);
        if class.is_some_and(|class| self.passed.contains(class))
            || self.allocations.iter().any(is_content)
        {
            return false;
        }
        let place = dominators.place(made.block);
        let is_used = |block: Block| {
            let data = &f.blocks[block];
            let states = data.insts.iter().filter_map(|inst| inst.op.state());
            let mut states = states.chain(data.end.state());
            states.any(|state| f.states[state].values().any(|v| is_table(&v)))
                || data.insts.iter().any(|inst| f.args(&inst.op).any(|v| is_table(&v)))
                || data.end.arg().is_some_and(|v| is_table(&v))
        };
        let used = f.order.iter().copied().filter(|&block| is_used(block));
        let used: Vec<usize> = used
            .chain(self.places.get(&made.table).copied())
            .map(|b| dominators.place(b))
            .collect();
        since.into_iter().all(|block| {
            let store = dominators.place(block);
            dominators.dominates(place, store)
                && used.iter().all(|&at| {
                    dominators.dominates(store, at)
                        || dominators.dominates(at, store) && dominators.dominates(place, at)
                })
                && self.is_stored_once(f, made.block, block)
        })
    }

    /// Returns whether every path from a block to itself passes through the block that allocates
    /// the table.
    fn is_stored_once(&self, f: &Function, made: Block, block: Block) -> bool {
        let mut reached: EntitySet<Block> = EntitySet::new();
        let mut todo: Vec<Block> = vec![block];
        while let Some(from) = todo.pop() {
            for to in f.blocks[from].end.targets().map(|target| target.block) {
                if to != made && reached.insert(to) {
                    todo.push(to);
                }
            }
        }
        made == block || !reached.contains(block)
    }
}
