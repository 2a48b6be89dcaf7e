//! Does without tables that no other code can see: replaces their fields by values.
//!
//! A table whose every use is known need not be allocated. Its fields become values in SSA form,
//! and where the frames are left, the state says how to build it ([`VirtualTable`]). A table may
//! pass through block parameters, as one that a loop replaces in each iteration does. Then each
//! field passes through a parameter of its own. See Stadler, Würthinger and Mössenböck, *Partial
//! Escape Analysis and Scalar Replacement for Java*, 2014. Unlike there, a table that escapes on
//! one path is allocated on all.
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
