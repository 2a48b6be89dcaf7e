//! Removes the allocation of tables that no other code can see, and replaces their fields with
//! values.
//!
//! A table need not be allocated if all its uses are known. Its fields become SSA values, and at
//! exits, the frame state specifies how to build the table ([`VirtualTable`]). A table may be
//! passed through block parameters, like one that a loop replaces in each iteration. Then each of
//! its fields is passed through a separate parameter. See Stadler, Würthinger and Mössenböck,
//! *Partial Escape Analysis and Scalar Replacement for Java*, 2014. In contrast to that paper, a
//! table that escapes on one path is allocated on all paths.
//!
//! [`VirtualTable`]: crate::tier2::ir::VirtualTable

mod keys;
mod loops;
mod replace;
mod uses;

use crate::tier2::ir::{Function, Op};

/// Runs the pass; returns whether it has changed the function.
pub(super) fn run(f: &mut Function) -> bool {
    let is_allocation = |block: &crate::tier2::ir::Block| {
        f.blocks[*block].insts.iter().any(|inst| matches!(inst.op, Op::NewTable(..)))
    };
    if !f.order.iter().any(is_allocation) {
        return false;
    }
    let tables = uses::analyse(f);
    if tables.is_empty() {
        return false;
    }
    replace::run(f, &tables);
    true
}
