//! Builds accesses to fields and methods of tables of several shapes.
//!
//! If tables have the field in different slots, the code branches on the shape and contains a copy
//! of the load for each. If the field is a method that is inlined, there is a copy of the whole
//! call for each shape, provided that the code that computes the arguments is short. In each copy
//! the shape is known, in the inlined method as well.

use cranelift_codegen::entity::EntityRef;
use perilune_bytecode::Op as Bytecode;
use perilune_runtime::value::Tag;

use super::{Builder, Start};
use crate::entity::{Pc, RegisterOperands};
use crate::feedback::callees::method_lookup;
use crate::feedback::snapshot::FieldPath;
use crate::tier2::ir::{Op, Type};
use crate::tier2::shapes::Shapes;

/// A load of a field, or the call of a method, for each of several shapes.
pub(super) struct Dispatch {
    /// The GETFIELD or SELF.
    lookup: Pc,
    /// The last instruction that is copied for each shape: the CALL, or the lookup itself.
    pub(super) last: Pc,
    shapes: Shapes,
}

impl Builder<'_> {
    /// Returns the dispatch to build at `pc`, if code is to be copied there for several shapes.
    pub(super) fn dispatch_at(&mut self, pc: Pc) -> Option<Dispatch> {
        let snapshot = self.source.snapshot;
        let i = self.instr(pc);
        let has_failed = snapshot.general || snapshot.failed.contains(&pc.as_u32());
        let is_lookup = matches!(i.op(), Bytecode::GetField | Bytecode::SelfK);
        if !is_lookup || has_failed || self.source.flow.cold[pc] {
            return None;
        }
        let field = snapshot.field(pc);
        if field.dictionaries || field.is_megamorphic() {
            return None;
        }
        let call = self.call_of(pc);
        if call.is_none() && field.paths.len() < 2 {
            return None;
        }
        (self.pc, self.state) = (pc, None);
        let object = self.read(i.rb());
        if self.is_never(object, Tag::TABLE) {
            return None;
        }
        let paths = self.paths(object);
        let shapes = Shapes::of(paths.iter().filter_map(FieldPath::shape))?;
        let is_chain = |path: &FieldPath| matches!(path, FieldPath::Chain { .. });
        let is_place = |path: &FieldPath| is_chain(path) || matches!(path, FieldPath::Own { .. });
        if shapes.ids().len() != paths.len() || !paths.iter().all(is_place) {
            return None;
        }
        let call = call.filter(|_| paths.iter().all(is_chain));
        // one load suffices if all tables have the field in the same slot
        let is_worth = call.is_some() || self.path(object).is_none();
        let last = call.unwrap_or(pc);
        is_worth.then_some(Dispatch { lookup: pc, last, shapes })
    }

    /// Returns the call of a method that is looked up at `pc`, if several methods are inlined
    /// there.
    fn call_of(&self, pc: Pc) -> Option<Pc> {
        let (proto, flow) = (self.source.proto, self.source.flow);
        let is_call = |to: &Pc| method_lookup(&proto.code, to.index()) == Some(pc.index());
        let call = self.source.calls.keys().map(|&to| Pc::new(to as usize)).find(is_call)?;
        let is_one_of_several = |&n: &usize| !self.candidates[n].inlinee.shapes.is_empty();
        let are_several = self.source.calls[&call.as_u32()].iter().all(is_one_of_several);
        let mut copied = (pc.index() + 1..=call.index()).map(Pc::new);
        let is_straight = copied.all(|pc| !flow.leader[pc] && !flow.cold[pc]);
        let is_counted = self.instr(call).c() != 0;
        (are_several && is_straight && is_counted).then_some(call)
    }

    /// Builds the copy for each shape, and exits for others; returns whether control continues.
    pub(super) fn dispatch(&mut self, dispatch: &Dispatch) -> bool {
        let &Dispatch { lookup, last, shapes } = dispatch;
        (self.pc, self.state) = (lookup, None);
        let object = self.read(self.instr(lookup).rb());
        let table = self.guard(object, Tag::TABLE);
        let (&first, others) = shapes.ids().split_first().expect("there is one");
        if others.is_empty() {
            return self.with_shape(first, dispatch);
        }
        let after = last + 1;
        let mut tags = None;
        // the shape seen last is the most likely one: others may have occurred only at the
        // beginning
        for &shape in others.iter().rev() {
            let is = self.value(Type::Condition, Op::HasShape(table, shape));
            let (yes, no) = self.branch(is);
            let before = (self.registers.clone(), self.known.clone(), self.tags.clone());
            self.switch_to(yes);
            let one = Shapes::of([shape]).expect("it is one");
            self.known.note_shapes(self.f.origin(table), one);
            if self.with_shape(shape, dispatch) {
                tags = Some(self.tags.clone());
                self.fall(after);
            }
            (self.registers, self.known, self.tags) = before;
            (self.pc, self.state) = (lookup, None);
            self.switch_to(no);
        }
        if self.with_shape(first, dispatch) {
            tags = Some(self.tags.clone());
            self.fall(after);
        }
        let Some(tags) = tags.filter(|_| !self.source.flow.leader[after]) else { return false };
        let begins = self.begin_with(after, tags);
        self.starts[after] = Start::default();
        begins
    }

    /// Builds the copy for one shape, with a guard unless the shape is known; returns whether
    /// control continues after the copy.
    fn with_shape(&mut self, shape: u32, &Dispatch { lookup, last, .. }: &Dispatch) -> bool {
        let object = self.read(self.instr(lookup).rb());
        let table = self.guard(object, Tag::TABLE);
        self.guard_shapes(table, Shapes::of([shape]).expect("it is one"));
        self.receiver = Some(shape);
        let is_open = (lookup.index()..=last.index()).all(|pc| self.step(Pc::new(pc)));
        self.receiver = None;
        is_open
    }
}
