//! Finds the values that are live across calls and should be loaded from their home slots
//! afterwards.
//!
//! Calls preserve no registers, so a value that is used after a call would be spilled and reloaded.
//! Its home slot already contains it, and loading it from there avoids the spill to the native
//! stack. In a loop without calls that follows a call, values stay in registers instead. The same
//! holds for the iteration peeled from such a loop, whose loads serve the loop.

use cranelift_codegen::entity::{EntitySet, SecondaryMap};

use crate::tier2::ir::{Block, End, Function, Inst, Op, Value};
use crate::tier2::loops::NaturalLoops;

/// The result of the analysis at the beginning of a block.
#[derive(Clone, Default)]
pub(crate) struct Crossings {
    /// The values that were live across a call on a path to the block.
    pub(crate) crossed: EntitySet<Value>,
    /// Whether the innermost loop around the block contains a call, or there is no such loop.
    pub(crate) calls: bool,
}

/// Analyses a function.
pub(crate) fn analyse(f: &Function) -> SecondaryMap<Block, Crossings> {
    let mut at: SecondaryMap<Block, Crossings> = SecondaryMap::new();
    flow(f, &mut at);
    let loops = NaturalLoops::of(f);
    for &block in &f.order {
        let has_call =
            loops.innermost(block).is_none_or(|l| l.iter().any(|member| calls(f, member)));
        at[block].calls = has_call && !f.blocks[block].is_peeled;
    }
    at
}

/// Returns whether an instruction makes a call.
fn is_call(inst: &Inst) -> bool {
    matches!(inst.op, Op::Generic(_) | Op::Call(_))
}

/// Returns whether the code of a block makes a call.
fn calls(f: &Function, block: Block) -> bool {
    let data = &f.blocks[block];
    matches!(data.end, End::Generic(..)) || data.insts.iter().any(is_call)
}

fn flow(f: &Function, at: &mut SecondaryMap<Block, Crossings>) {
    let mut changed = true;
    while changed {
        changed = false;
        for &block in &f.order {
            let mut crossed = at[block].crossed.clone();
            let data = &f.blocks[block];
            let defined = data.params.iter().map(|&(v, _)| v);
            let defined = defined.chain(data.insts.iter().filter_map(|inst| inst.result));
            if calls(f, block) {
                // all values cross the last call, except those that it or later instructions define
                f.values.keys().for_each(|v| {
                    crossed.insert(v);
                });
                if !matches!(data.end, End::Generic(..)) {
                    let last = data.insts.iter().rposition(is_call).unwrap_or(0);
                    data.insts[last..].iter().filter_map(|inst| inst.result).for_each(|v| {
                        crossed.remove(v);
                    });
                }
            } else {
                defined.for_each(|v| {
                    crossed.remove(v);
                });
            }
            for target in data.end.targets() {
                let into = &mut at[target.block].crossed;
                for v in crossed.iter() {
                    changed |= into.insert(v);
                }
            }
        }
    }
}
