//! Combines the load of a field with the guard of its tag.
//!
//! A field that is loaded may be nil, and then metatables must be searched. If the same block
//! guards the tag of the value, the load exits unless the field has that tag: this takes one
//! comparison, and metatables need not be searched. The exit may be earlier than that of the guard,
//! but it is before the load, so nothing is executed twice.

use cranelift_codegen::entity::SecondaryMap;
use perilune_runtime::value::Tag;

use super::params::rename;
use crate::hash::HashMap;
use crate::tier2::ir::{Function, Op, Type, Value};

/// Runs the pass.
pub(super) fn run(f: &mut Function) {
    let mut replaced: SecondaryMap<Value, Option<Value>> = SecondaryMap::new();
    let mut is_changed = false;
    for data in f.blocks.values_mut() {
        // the loads of the block whose values have not been guarded yet
        let mut loads: HashMap<Value, usize> = HashMap::default();
        let mut n = 0;
        while n < data.insts.len() {
            let inst = data.insts[n];
            match (inst.op, inst.result) {
                (Op::Field(..), Some(v)) => {
                    loads.insert(v, n);
                }
                (Op::Guard(v, tag, _) | Op::Speculate(v, tag, _), Some(guarded))
                    if tag != Tag::NIL =>
                {
                    if let Some(at) = loads.remove(&v)
                        && let Op::Field(table, slot, _, state) = data.insts[at].op
                    {
                        data.insts[at].op = Op::FieldOf(table, slot, tag, state);
                        f.values[v].ty = Type::Is(tag);
                        replaced[guarded] = Some(v);
                        is_changed = true;
                        data.insts.remove(n);
                        continue;
                    }
                }
                _ => {}
            }
            n += 1;
        }
    }
    if is_changed {
        rename(f, &replaced);
    }
}
