//! The verifier: checks the invariants of functions that every pass relies on and preserves.

use cranelift_codegen::entity::{EntityRef, SecondaryMap};
use perilune_runtime::value::Tag;

use super::dominators::Dominators;
use super::ir::{Block, End, Frame, Function, Op, State, Type, Value};

/// Checks a function.
///
/// # Errors
/// Returns the first error: a value that is used where it is not defined or has a type that an
/// instruction does not accept, a table that is described where a function that it needs has not
/// begun, a block without an end, or arguments that do not match parameters.
pub(super) fn verify(f: &Function) -> Result<(), String> {
    let verifier = Verifier { f, dominators: Dominators::of(f)? };
    verifier.check()
}

struct Verifier<'a> {
    f: &'a Function,
    dominators: Dominators,
}

/// The definition of a value: the place of its block, and of its instruction in the block.
type Place = (usize, usize);

impl Verifier<'_> {
    /// Returns whether a value that is defined at one point can be used at another.
    fn dominates(&self, (block, inst): Place, (user, at): Place) -> bool {
        if user == block { inst < at } else { self.dominators.dominates(block, user) }
    }

    fn check(&self) -> Result<(), String> {
        let mut places: SecondaryMap<Value, Option<Place>> = SecondaryMap::new();
        for (n, &block) in self.f.order.iter().enumerate() {
            let data = &self.f.blocks[block];
            let params = data.params.iter().map(|&(v, _)| (v, 0));
            let results = data.insts.iter().enumerate();
            let results = results.filter_map(|(at, inst)| Some((inst.result?, at + 1)));
            for (v, at) in params.chain(results) {
                if places[v].replace((n, at)).is_some() {
                    return Err(format!("{v} is defined twice"));
                }
            }
        }
        let begins = self.begins();
        for (n, &block) in self.f.order.iter().enumerate() {
            let data = &self.f.blocks[block];
            let end = data.insts.len() + 1;
            let defined = |v: Value, at: usize| match places[v] {
                Some(place) if self.dominates(place, (n, at)) => Ok(()),
                _ => Err(format!("{v} is used in {block}, where it is not defined")),
            };
            let begun = |frame: Frame, at: usize| {
                let is_before = |&place: &Place| self.dominates(place, (n, at));
                match frame.index() == 0 || begins[frame].iter().any(is_before) {
                    true => Ok(()),
                    false => {
                        Err(format!("{block} describes a table of {frame}, which has not begun"))
                    }
                }
            };
            let state = |state: Option<State>, at| {
                let Some(state) = state else { return Ok(()) };
                let state = &self.f.states[state];
                let stores = state.virtuals.iter().flat_map(|table| &table.fields);
                let stores = stores.map(|&((frame, _), _)| frame);
                let sites = state.virtuals.iter().map(|table| table.site.0);
                sites.chain(stores).try_for_each(|frame| begun(frame, at))?;
                state.values().try_for_each(|v| defined(v, at))
            };
            for (at, inst) in data.insts.iter().enumerate() {
                self.f.args(&inst.op).try_for_each(|v| defined(v, at + 1))?;
                state(inst.op.state(), at + 1)?;
                if let Op::Equal(..) = inst.op
                    && (at + 1 != data.insts.len() || data.end.arg() != inst.result)
                {
                    return Err(format!("{block}: {:?} is not what its end branches on", inst.op));
                }
                self.check_types(&inst.op).map_err(|e| format!("{block}: {:?}: {e}", inst.op))?;
            }
            data.end.arg().map_or(Ok(()), |v| defined(v, end))?;
            state(data.end.state(), end)?;
            self.check_end(block, &data.end)?;
            for target in data.end.targets() {
                target.args.iter().try_for_each(|&v| defined(v, end))?;
            }
        }
        Ok(())
    }

    /// Returns the places where the functions of inlined frames begin.
    fn begins(&self) -> SecondaryMap<Frame, Vec<Place>> {
        let mut begins: SecondaryMap<Frame, Vec<Place>> = SecondaryMap::new();
        for (n, &block) in self.f.order.iter().enumerate() {
            for (at, inst) in self.f.blocks[block].insts.iter().enumerate() {
                if let Op::Inline(frame, _) | Op::InlineInner(frame, _) = inst.op {
                    begins[frame].push((n, at + 1));
                }
            }
        }
        begins
    }

    fn check_end(&self, block: Block, end: &End) -> Result<(), String> {
        if let End::Open = end {
            return Err(format!("{block} has no end"));
        }
        if let End::Branch(v, ..) = end {
            self.is(*v, Type::Condition)?;
        }
        for target in end.targets() {
            let params = &self.f.blocks[target.block].params;
            if params.len() != target.args.len() {
                return Err(format!("{block} passes too few or too many to {}", target.block));
            }
            for (&(param, _), &arg) in params.iter().zip(&target.args) {
                let ty = self.f.ty(param);
                if ty != Type::Any && self.f.ty(arg) != ty {
                    return Err(format!("{block} passes {arg} for {param}, a {ty}"));
                }
            }
        }
        Ok(())
    }

    fn is(&self, v: Value, ty: Type) -> Result<(), String> {
        let found = self.f.ty(v);
        if found == ty { Ok(()) } else { Err(format!("{v} is {found}, not {ty}")) }
    }

    fn check_types(&self, op: &Op) -> Result<(), String> {
        let (int, float) = (Type::Is(Tag::INTEGER), Type::Is(Tag::FLOAT));
        let table = Type::Is(Tag::TABLE);
        match *op {
            Op::IntArith(_, a, b, _) | Op::Rounds(a, b) | Op::CompareInt(_, a, b) => {
                self.is(a, int).and_then(|()| self.is(b, int))
            }
            Op::FloatArith(_, a, b) | Op::CompareFloat(_, a, b) => {
                self.is(a, float).and_then(|()| self.is(b, float))
            }
            Op::ToFloat(v) | Op::FloorQuotient(v, _) | Op::Select(v, ..) => self.is(v, int),
            Op::GuardNoMetatable(v, _) | Op::Traversal(v, _) => self.is(v, table),
            Op::Bound(v) => self.is(v, Type::Is(Tag::NATIVE)),
            Op::StringMethod(Some(v), ..) => self.is(v, Type::Is(Tag::STRING)),
            Op::GuardEpoch(v, _) => self.is(v, int),
            Op::GuardRange(t, [first, left], ..) => {
                self.is(t, table)?;
                self.is(first, int).and_then(|()| self.is(left, int))
            }
            Op::GuardShape(v, ..)
            | Op::HasShape(v, _)
            | Op::Field(v, ..)
            | Op::FieldOf(v, ..)
            | Op::Reload(v, ..)
            | Op::SetField(v, ..) => self.is(v, table),
            Op::Handler(meta, _)
            | Op::ChainField(meta, ..)
            | Op::GuardMetatable(meta, _)
            | Op::GuardNoNewIndex(meta, _) => self.is(meta.table(), table),
            Op::AddField(t, ..) | Op::SetList(t, ..) => self.is(t, table),
            Op::SetClass(t, other, _)
            | Op::SetMetatable(t, other, _)
            | Op::GuardDistinct(t, other, _) => {
                self.is(t, table).and_then(|()| self.is(other, table))
            }
            Op::Number(t, k, ..)
            | Op::Boolean(t, k, _)
            | Op::Element(t, k, _)
            | Op::ElementOrNil(t, k, _)
            | Op::SetElement(t, k, ..) => self.is(t, table).and_then(|()| self.is(k, int)),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use cranelift_codegen::entity::EntityRef;

    use super::super::ir::{BlockData, Frame, Inst, Target};
    use super::*;
    use crate::entity::Pc;

    /// Returns a function of two blocks: one defines an integer, the other returns it.
    fn function() -> (Function, Value) {
        let mut f = Function::default();
        let v = f.value(Type::Is(Tag::INTEGER));
        let op = Op::Integer(1);
        let frame = Frame::new(0);
        let insts = vec![Inst { pc: Pc::new(0), frame, result: Some(v), op }];
        let second = Block::new(1);
        let target = Target { block: second, args: Vec::new() };
        let first = BlockData { insts, end: End::Jump(target), ..BlockData::default() };
        let last = BlockData { end: End::Return(v), ..BlockData::default() };
        f.order = vec![f.blocks.push(first), f.blocks.push(last)];
        (f, v)
    }

    #[test]
    fn what_dominates_its_use_is_accepted() {
        assert_eq!(verify(&function().0), Ok(()));
    }

    #[test]
    fn faults_are_found() {
        let (mut f, _) = function();
        f.blocks[Block::new(0)].insts.clear();
        assert_eq!(verify(&f), Err("v0 is used in block1, where it is not defined".into()));
        let (mut f, v) = function();
        f.blocks[Block::new(1)].params.push((v, crate::entity::Reg::new(0)));
        assert_eq!(verify(&f), Err("v0 is defined twice".into()));
        let (mut f, v) = function();
        let other = f.value(Type::Any);
        f.blocks[Block::new(1)].params.push((other, crate::entity::Reg::new(0)));
        assert_eq!(verify(&f), Err("block0 passes too few or too many to block1".into()));
        let (mut f, _) = function();
        f.blocks[Block::new(1)].end = End::Branch(
            v,
            Target { block: Block::new(1), args: Vec::new() },
            Target { block: Block::new(1), args: Vec::new() },
        );
        assert_eq!(verify(&f), Err("v0 is integer, not condition".into()));
    }
}
