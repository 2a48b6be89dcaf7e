//! Combines the load of a field with the guard of its tag.
//!
//! A field that is loaded may be nil, and then metatables have to be asked. If the same block
//! guards the tag of the value, the load exits unless the field has that tag: this takes one
//! comparison, and metatables need not be asked. The exit may be earlier than that of the guard,
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

#[cfg(test)]
mod tests {
    use cranelift_codegen::entity::EntityRef;

    use super::*;
    use crate::entity::Pc;
    use crate::feedback::snapshot::Slot;
    use crate::tier2::ir::{BlockData, End, Entries, Frame, FrameState, Inst, State};

    fn slot(number: u32) -> Slot {
        Slot { number, is_inline: true }
    }

    /// Returns a function that loads two fields of a table, guards the first and returns a sum with
    /// it.
    fn function() -> (Function, [Value; 5]) {
        let mut f = Function::default();
        let frame = Frame::new(0);
        let pc = Pc::new(0);
        let state: State = f.states.push(FrameState::new(frame, pc, Vec::new()));
        let table = f.value(Type::Is(Tag::TABLE));
        let [x, y] = [0, 1].map(|_| f.value(Type::Any));
        let guarded = f.value(Type::Is(Tag::INTEGER));
        f.values[guarded].origin = Some(x);
        let sum = f.value(Type::Is(Tag::INTEGER));
        let op = |op, result| Inst { pc, frame, result: Some(result), op };
        let insts = vec![
            op(Op::Field(table, slot(3), Entries::default(), state), x),
            op(Op::Field(table, slot(4), Entries::default(), state), y),
            op(Op::Guard(x, Tag::INTEGER, state), guarded),
            op(Op::Rounds(guarded, guarded), sum),
        ];
        let data = BlockData { insts, end: End::Return(sum), ..BlockData::default() };
        f.order = vec![f.blocks.push(data)];
        (f, [table, x, y, guarded, sum])
    }

    #[test]
    fn a_guarded_field_is_loaded_as_what_it_is() {
        let (mut f, [table, x, y, _, sum]) = function();
        run(&mut f);
        let ops: Vec<Op> = f.blocks[f.order[0]].insts.iter().map(|inst| inst.op).collect();
        let state = State::new(0);
        let wanted = [
            Op::FieldOf(table, slot(3), Tag::INTEGER, state),
            Op::Field(table, slot(4), Entries::default(), state),
            Op::Rounds(x, x),
        ];
        assert_eq!(ops, wanted);
        assert_eq!(f.ty(x), Type::Is(Tag::INTEGER));
        assert_eq!(f.ty(y), Type::Any);
        assert_eq!(f.blocks[f.order[0]].insts[2].result, Some(sum));
    }
}
