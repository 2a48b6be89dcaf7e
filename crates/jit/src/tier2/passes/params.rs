//! Removes block parameters that always have the same value, or the value of another parameter.
//!
//! The builder makes each live register a parameter of a loop's head, but the loop changes only a
//! few of them. See Braun et al., *Simple and Efficient Construction of Static Single Assignment
//! Form*, 2013, section 3.1.

use cranelift_codegen::entity::SecondaryMap;

use crate::tier2::ir::{Block, Function, Type, Value};

/// Runs the pass.
pub(super) fn run(f: &mut Function) {
    let mut replaced: SecondaryMap<Value, Option<Value>> = SecondaryMap::new();
    let mut changed = true;
    while changed {
        changed = false;
        for n in 0..f.order.len() {
            let block = f.order[n];
            let mut index = 0;
            while index < f.blocks[block].params.len() {
                let param = f.blocks[block].params[index].0;
                match passed(f, &replaced, block, index, param) {
                    Some(value) => {
                        replaced[param] = Some(value);
                        remove(f, block, index);
                        changed = true;
                    }
                    None => index += 1,
                }
            }
        }
        changed = changed || merge_equal(f, &mut replaced);
    }
    rename(f, &replaced);
}

/// Returns the value that replaces `v`, or `v` itself.
fn resolve(replaced: &SecondaryMap<Value, Option<Value>>, mut v: Value) -> Value {
    while let Some(by) = replaced[v] {
        v = by;
    }
    v
}

/// Returns the value that a parameter always has.
fn passed(
    f: &Function,
    replaced: &SecondaryMap<Value, Option<Value>>,
    block: Block,
    index: usize,
    param: Value,
) -> Option<Value> {
    let origin = |v: Value| resolve(replaced, f.origin(resolve(replaced, v)));
    let mut same = None;
    let mut same_origin = None;
    let mut is_one = true;
    for &from in &f.order {
        for target in f.blocks[from].end.targets().filter(|t| t.block == block) {
            let arg = resolve(replaced, target.args[index]);
            let first = origin(arg);
            if arg == param || first == param {
                // a guarded copy of the parameter is the parameter
                continue;
            }
            is_one &= *same.get_or_insert(arg) == arg;
            if *same_origin.get_or_insert(first) != first {
                return None;
            }
        }
    }
    match f.ty(param) {
        _ if is_one => same,
        // the value before the guards dominates all guarded values
        Type::Any => same_origin,
        _ => None,
    }
}

/// Finds parameters of a block that are always equal, such as the control variable of a numeric
/// `for` and its hidden index, and replaces them with the first of these. Returns whether there
/// were any.
///
/// Parameters of a block are equal if the values passed for them are, which may be parameters that
/// are equal in turn. Therefore all parameters of one type are first assumed to be equal, and the
/// classes are split until the values that are passed agree. See Alpern, Wegman and Zadeck,
/// *Detecting Equality of Variables in Programs*, 1988.
fn merge_equal(f: &mut Function, replaced: &mut SecondaryMap<Value, Option<Value>>) -> bool {
    // for each parameter, the first parameter that is equal to it
    let mut equal: SecondaryMap<Value, Option<Value>> = SecondaryMap::new();
    let blocks: Vec<Block> =
        f.order.iter().copied().filter(|&block| f.blocks[block].params.len() > 1).collect();
    for &block in &blocks {
        let params = &f.blocks[block].params;
        for &(param, _) in params {
            let same = params.iter().find(|&&(other, _)| f.ty(other) == f.ty(param));
            equal[param] = same.map(|&(first, _)| first);
        }
    }
    let mut edges: SecondaryMap<Block, Vec<Vec<Value>>> = SecondaryMap::new();
    for &from in &f.order {
        for target in f.blocks[from].end.targets() {
            let args = target.args.iter().map(|&arg| resolve(replaced, arg));
            edges[target.block].push(args.collect());
        }
    }
    let mut changed = true;
    while changed {
        changed = false;
        for &block in &blocks {
            let params = &f.blocks[block].params;
            let class = |v: Value| equal[v].unwrap_or(v);
            let passes_same = |n: usize, m: usize| {
                edges[block].iter().all(|args| class(args[n]) == class(args[m]))
            };
            let is_like =
                |n: usize, m: usize| class(params[n].0) == class(params[m].0) && passes_same(n, m);
            let first = |n: usize| (0..n).find(|&m| is_like(n, m)).unwrap_or(n);
            let firsts: Vec<Value> = (0..params.len()).map(|n| params[first(n)].0).collect();
            for (&(param, _), first) in params.iter().zip(firsts) {
                changed |= equal[param].replace(first) != Some(first);
            }
        }
    }
    let mut is_any = false;
    for block in blocks {
        for index in (0..f.blocks[block].params.len()).rev() {
            let (param, _) = f.blocks[block].params[index];
            if let Some(first) = equal[param].filter(|&first| first != param) {
                replaced[param] = Some(first);
                remove(f, block, index);
                is_any = true;
            }
        }
    }
    is_any
}

fn remove(f: &mut Function, block: Block, index: usize) {
    f.blocks[block].params.remove(index);
    for n in 0..f.order.len() {
        let from = f.order[n];
        for target in f.blocks[from].end.targets_mut().filter(|t| t.block == block) {
            target.args.remove(index);
        }
    }
}

/// Replaces values by others in the whole function.
pub(super) fn rename(f: &mut Function, replaced: &SecondaryMap<Value, Option<Value>>) {
    for block in f.blocks.keys() {
        let mut insts = std::mem::take(&mut f.blocks[block].insts);
        insts.iter_mut().for_each(|inst| f.map_args(&mut inst.op, |v| resolve(replaced, v)));
        f.blocks[block].insts = insts;
        f.blocks[block].end.map(|v| resolve(replaced, v));
    }
    for state in f.states.values_mut() {
        for (_, v) in &mut state.registers {
            *v = resolve(replaced, *v);
        }
        state.virtuals.iter_mut().for_each(|table| table.map(|v| resolve(replaced, v)));
    }
    f.rename_consulted(|v| resolve(replaced, v));
    let origins: Vec<(Value, Value)> =
        f.values.iter().filter_map(|(v, data)| Some((v, data.origin?))).collect();
    for (v, origin) in origins {
        let origin = resolve(replaced, origin);
        f.values[v].origin = Some(f.origin(origin));
    }
}
