//! Removes instructions and block parameters whose values are not used.
//!
//! A value also counts as used if its type has determined what was built ([`Function::consult`]): a
//! test of an integer is not built, and a store over an integer does not store the tag. In that
//! case the speculation that establishes the type must be kept, where the value is defined or where
//! a block parameter is passed.

use cranelift_codegen::entity::SecondaryMap;

use crate::tier2::ir::{Block, Function, Op, State, Type, Value};

/// Runs the pass.
pub(super) fn run(f: &mut Function) {
    let used = used(f);
    for n in 0..f.order.len() {
        let block = f.order[n];
        let data = &mut f.blocks[block];
        data.insts.retain(|inst| !inst.op.is_removable() || inst.result.is_none_or(|v| used[v]));
        let kept: Vec<bool> = data.params.iter().map(|&(v, _)| used[v]).collect();
        retain(&mut data.params, &kept);
        for m in 0..f.order.len() {
            let from = f.order[m];
            for target in f.blocks[from].end.targets_mut().filter(|t| t.block == block) {
                retain(&mut target.args, &kept);
            }
        }
    }
}

/// Removes the elements that are not kept.
pub(super) fn retain<T>(of: &mut Vec<T>, kept: &[bool]) {
    let mut kept = kept.iter();
    of.retain(|_| *kept.next().expect("as many as there were"));
}

/// Returns for each value whether an instruction that is kept uses it.
fn used(f: &Function) -> SecondaryMap<Value, bool> {
    let mut marks =
        Marks { used: SecondaryMap::new(), states: SecondaryMap::new(), todo: Vec::new() };
    let mut definitions: SecondaryMap<Value, Option<(Block, usize)>> = SecondaryMap::new();
    let mut params: SecondaryMap<Value, Option<(Block, usize)>> = SecondaryMap::new();
    for &block in &f.order {
        let data = &f.blocks[block];
        for (n, &(param, _)) in data.params.iter().enumerate() {
            params[param] = Some((block, n));
            if f.ty(param) != Type::Any && f.is_consulted(param) {
                marks.mark(param);
            }
        }
        for (n, inst) in data.insts.iter().enumerate() {
            if let Some(v) = inst.result {
                definitions[v] = Some((block, n));
                let speculates = matches!(inst.op, Op::Speculate(..) | Op::Reload(..));
                if speculates && f.is_consulted(v) {
                    marks.mark(v);
                }
            }
            if !inst.op.is_removable() {
                f.args(&inst.op).for_each(|v| marks.mark(v));
                marks.mark_state(f, inst.op.state());
            }
        }
        if let Some(v) = data.end.arg() {
            marks.mark(v);
        }
        marks.mark_state(f, data.end.state());
    }
    while let Some(v) = marks.todo.pop() {
        if let Some((block, n)) = definitions[v] {
            let op = f.blocks[block].insts[n].op;
            f.args(&op).for_each(|v| marks.mark(v));
            marks.mark_state(f, op.state());
        }
        if let Some((block, n)) = params[v] {
            for &from in &f.order {
                for target in f.blocks[from].end.targets().filter(|t| t.block == block) {
                    marks.mark(target.args[n]);
                }
            }
        }
    }
    marks.used
}

struct Marks {
    used: SecondaryMap<Value, bool>,
    states: SecondaryMap<State, bool>,
    todo: Vec<Value>,
}

impl Marks {
    fn mark(&mut self, v: Value) {
        if !std::mem::replace(&mut self.used[v], true) {
            self.todo.push(v);
        }
    }

    fn mark_state(&mut self, f: &Function, state: Option<State>) {
        let Some(state) = state else { return };
        if !std::mem::replace(&mut self.states[state], true) {
            f.states[state].values().for_each(|v| self.mark(v));
        }
    }
}
