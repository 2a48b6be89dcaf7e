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
                let found = passed(f, &replaced, block, index, param);
                match found.or_else(|| twin(f, &replaced, block, index)) {
                    Some(value) => {
                        replaced[param] = Some(value);
                        remove(f, block, index);
                        changed = true;
                    }
                    None => index += 1,
                }
            }
        }
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

/// Returns an earlier parameter that is always passed the same values as the one at `index`, as the
/// control variable of a numeric `for` and its hidden index are.
fn twin(
    f: &Function,
    replaced: &SecondaryMap<Value, Option<Value>>,
    block: Block,
    index: usize,
) -> Option<Value> {
    let params = &f.blocks[block].params;
    let (param, _) = params[index];
    let is_twin = |&n: &usize| {
        let (other, _) = params[n];
        let targets = f.order.iter().flat_map(|&from| f.blocks[from].end.targets());
        let mut args = targets
            .filter(|t| t.block == block)
            .map(|t| (resolve(replaced, t.args[n]), resolve(replaced, t.args[index])));
        f.ty(other) == f.ty(param) && args.all(|(a, b)| a == b || (a, b) == (other, param))
    };
    (0..index).find(is_twin).map(|n| params[n].0)
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
    for data in f.blocks.values_mut() {
        for inst in &mut data.insts {
            inst.op.map(|v| resolve(replaced, v));
        }
        data.end.map(|v| resolve(replaced, v));
    }
    for object in f.objects.values_mut() {
        for field in &mut object.fields {
            field.value = resolve(replaced, field.value);
        }
    }
    for state in f.states.values_mut() {
        for (_, v) in &mut state.registers {
            *v = resolve(replaced, *v);
        }
        state.virtuals.iter_mut().for_each(|table| table.map(|v| resolve(replaced, v)));
    }
    let origins: Vec<(Value, Value)> =
        f.values.iter().filter_map(|(v, data)| Some((v, data.origin?))).collect();
    for (v, origin) in origins {
        let origin = resolve(replaced, origin);
        f.values[v].origin = Some(f.origin(origin));
    }
}
