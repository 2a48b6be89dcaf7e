//! Moves loads of parameters to their uses.
//!
//! A parameter is in its home slot when a function is called. Many functions look at one parameter
//! and return before they use the others, or use them only after a loop. A parameter that is loaded
//! at once takes a machine register until its use, or is spilled to the native stack and reloaded.

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
    /// The place of the last block that dominates all uses.
    at: Option<usize>,
    /// The states that name the value for its own register. For each use of a state: the place of
    /// the block, and whether the home slot holds the value there.
    states: Vec<(State, usize, bool)>,
}

/// Runs the pass: moves loads of registers from the first block to the last one that dominates
/// their uses and is in no loop, if the home slot holds the value there. States that are used
/// before that block no longer name the value, which is in its home slot there.
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

#[cfg(test)]
mod tests {
    use cranelift_codegen::entity::EntityRef;

    use super::*;
    use crate::analysis::listing;
    use crate::entity::Pc;
    use crate::tier2::ir::{BlockData, End, FrameData, FrameState, Inst, Target, Type};
    use crate::tier2::verify::verify;

    /// Returns a function that loads two registers, tests the first, and then uses the second in
    /// one of two branches. The block with the test has `op`. If `loops`, the use of the second is
    /// in a loop.
    fn function(op: impl Fn(Value) -> Option<Op>, loops: bool) -> Function {
        let mut f = Function::default();
        let proto = listing::compile("local x, y = ... return y");
        let frame = f.frames.push(FrameData::outermost(proto));
        let pc = Pc::new(0);
        let [x, y] = [0, 1].map(|_| f.value(Type::Any));
        let condition = f.value(Type::Condition);
        let registers = vec![(Reg::new(0), x), (Reg::new(1), y)];
        let state = f.states.push(FrameState::new(frame, pc, registers));
        let inst = |op, result| Inst { pc, frame, result, op };
        let to = |n| Target { block: Block::new(n), args: Vec::new() };
        let loads = [(0, x), (1, y)].map(|(r, v)| inst(Op::Register(Reg::new(r)), Some(v)));
        let mut insts = vec![inst(Op::IsTrue(x), Some(condition))];
        insts.extend(op(x).map(|op| inst(op, None)));
        insts.push(inst(Op::GuardLibrary(x, 0, state), None));
        let end = match loops {
            true => End::Branch(condition, to(2), to(3)),
            false => End::Return(y),
        };
        let blocks = [
            (loads.to_vec(), End::Jump(to(1))),
            (insts, End::Branch(condition, to(2), to(3))),
            (vec![inst(Op::SetUpvalue(None, 0, y), None)], end),
            (Vec::new(), End::Return(x)),
        ];
        for (insts, end) in blocks {
            let block = f.blocks.push(BlockData { insts, end, ..BlockData::default() });
            f.order.push(block);
        }
        f.blocks[Block::new(2)].is_loop = loops;
        f
    }

    /// Runs the pass, and checks that the loads are in these blocks afterwards.
    #[track_caller]
    fn check(mut f: Function, expected: [usize; 2]) {
        run(&mut f);
        assert_eq!(verify(&f), Ok(()), "{f}");
        let found = [0, 1].map(|r| {
            let loads = |&block: &Block| {
                let mut insts = f.blocks[block].insts.iter();
                insts.any(|inst| matches!(inst.op, Op::Register(found) if found.index() == r))
            };
            f.order.iter().position(loads)
        });
        assert_eq!(found, expected.map(Some), "{f}");
    }

    #[test]
    fn parameters_are_loaded_before_their_uses() {
        check(function(|_| None, false), [1, 2]);
        // not in each iteration of a loop
        check(function(|_| None, true), [1, 1]);
        // another value is stored to the slot of the second
        check(function(|x| Some(Op::SetRegister(Reg::new(1), x)), false), [1, 0]);
        // a closure may change the first
        let mut f = function(|_| None, false);
        f.captured.insert(Reg::new(0));
        check(f, [0, 2]);
    }
}
