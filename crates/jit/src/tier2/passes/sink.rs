//! Moves loads of parameters to their uses.
//!
//! A parameter is in its home slot when a function is called. Many functions test one parameter and
//! return before they use the others, or use them only after a loop. A parameter that is loaded at
//! the entry takes a machine register until its use, or is spilled to the native stack and
//! reloaded.

use std::collections::HashSet;

use cranelift_codegen::entity::SecondaryMap;

use super::homes::{self, Homes};
use crate::entity::Reg;
use crate::tier2::dominators::Dominators;
use crate::tier2::ir::{Block, Function, Op, State, Value, VirtualTable};
use crate::tier2::loops::NaturalLoops;

/// A load in the first block.
struct Load {
    value: Value,
    register: Reg,
    /// The position of the last block that dominates all uses.
    at: Option<usize>,
    /// The states that contain the value for its own register. For each use of a state: the
    /// position of the block, and whether the home slot holds the value there.
    states: Vec<(State, usize, bool)>,
}

/// Runs the pass: moves loads of registers from the first block to the last one that dominates
/// their uses and is in no loop, if the home slot holds the value there. States that are used
/// before that block no longer contain the value, which is in its home slot there.
pub(super) fn run(f: &mut Function) {
    let first = f.blocks[f.order[0]].insts.iter();
    let loads = first.filter_map(|inst| match (inst.op, inst.result) {
        (Op::Register(register), Some(value)) if !f.captured.contains(register) => {
            Some(Load { value, register, at: None, states: Vec::new() })
        }
        _ => None,
    });
    let mut loads: Vec<Load> = loads.collect();
    if loads.is_empty() {
        return;
    }
    let dominators = Dominators::of(f).expect("blocks are in the order where they are reached");
    let homes = homes::analyse(f);
    find_uses(f, &dominators, &homes, &mut loads);
    let loops = NaturalLoops::of(f);
    // in reverse, so that moved loads keep their order
    for Load { value, register, at, states } in loads.into_iter().rev() {
        let Some(mut at) = at else { continue };
        while at != 0 && loops.innermost(f.order[at]).is_some() {
            at = dominators.immediate(at);
        }
        let to = f.order[at];
        let is_home = homes[to].as_ref().is_some_and(|homes| homes.get(register) == Some(value));
        let early = states.iter().filter(|(_, place, _)| !dominators.dominates(at, *place));
        let early: HashSet<State> = early.map(|&(state, ..)| state).collect();
        let mut early_uses = states.iter().filter(|(state, ..)| early.contains(state));
        if at == 0 || !is_home || !early_uses.all(|&(.., is_home)| is_home) {
            continue;
        }
        for &state in &early {
            f.states[state].registers.retain(|&(_, v)| v != value);
        }
        let insts = &mut f.blocks[f.order[0]].insts;
        let n = insts.iter().position(|inst| inst.result == Some(value)).expect("it is there");
        let inst = insts.remove(n);
        f.blocks[to].insts.insert(0, inst);
    }
}

/// Finds where the values of loads are used.
fn find_uses(
    f: &Function,
    dominators: &Dominators,
    homes: &SecondaryMap<Block, Option<Homes>>,
    loads: &mut [Load],
) {
    let mut index: SecondaryMap<Value, Option<usize>> = SecondaryMap::new();
    for (n, load) in loads.iter().enumerate() {
        index[load.value] = Some(n);
    }
    for (place, &block) in f.order.iter().enumerate() {
        let mut homes = homes[block].clone().expect("every block is reached");
        let mut note = |homes: &Homes, v: Value, home: Option<(Reg, State)>| {
            let Some(load) = index[v].map(|n| &mut loads[n]) else { return };
            match home {
                Some((r, state)) if r == load.register => {
                    load.states.push((state, place, homes.get(r) == Some(v)));
                }
                _ => {
                    let at = load.at.map_or(place, |at| dominators.common(at, place));
                    load.at = Some(at);
                }
            }
        };
        let mut note_state = |homes: &Homes, state: Option<State>| {
            let Some(state) = state else { return };
            for &(r, v) in &f.states[state].registers {
                note(homes, v, Some((r, state)));
            }
            let virtuals = f.states[state].virtuals.iter();
            virtuals.flat_map(VirtualTable::values).for_each(|v| note(homes, v, None));
        };
        let data = &f.blocks[block];
        for inst in &data.insts {
            note_state(&homes, inst.op.state());
            homes.step(f, inst);
        }
        note_state(&homes, data.end.state());
        let args = data.insts.iter().flat_map(|inst| f.args(&inst.op));
        let passed = data.end.targets().flat_map(|target| target.args.iter().copied());
        for v in args.chain(data.end.arg()).chain(passed) {
            note(&homes, v, None);
        }
    }
}
