//! Builds allocations of tables and closures.

use std::sync::Arc;

use cranelift_codegen::entity::EntityRef;
use perilune_runtime::value::Tag;

use super::Builder;
use crate::analysis::constructor::{Constructor, Constructors, MAX_FIELDS, MAX_ITEMS, items};
use crate::entity::RegisterOperands;
use crate::feedback::snapshot::FieldPath;
use crate::testing::fault::Fault;
use crate::tier2::ir::{FirstField, NewObject, Op, Type, Value};
use crate::tier2::shapes::Shapes;

impl Builder<'_> {
    /// Builds NEWTABLE, with the stores of its constructor.
    pub(super) fn new_table(&mut self) {
        let (pc, i) = (self.pc, self.instr(self.pc));
        let (source, snapshot) = (self.source, self.source.snapshot);
        let is_unlinked = source.fault == Some(Fault::UnlinkedConstructor);
        let constructors =
            Constructors { proto: source.proto, snapshot, flow: source.flow, is_unlinked };
        self.built = pc..pc;
        let wanted = constructors.fields_wanted(pc);
        if wanted > MAX_FIELDS {
            return self.generic();
        }
        let is_plain = snapshot.general || snapshot.failed.contains(&pc.as_u32());
        let found = (!is_plain).then(|| constructors.constructed(pc)).flatten();
        let (constructor, slots) = found.unwrap_or((Constructor::without_stores(pc), 0));
        let Constructor { stores, end, first, last, shape } = constructor;
        let mut fields = Vec::with_capacity(stores.len());
        for (q, slot) in stores {
            let value = self.stored(self.instr(q));
            let gains = !matches!(snapshot.field(q).paths[..], [FieldPath::Own { .. }]);
            let is_there = self.f.consult(value).tag().is_some_and(|tag| tag != Tag::NIL);
            fields.push(FirstField { pc: q, slot, value, is_guarded: gains && !is_there });
        }
        self.built = pc + 1..end;
        for field in &fields {
            self.share(field.value);
        }
        let state = self.state();
        let slots = wanted.max(slots);
        let object = NewObject { fields: fields.clone(), slots, end, first, last, shape };
        let object = self.f.objects.push(object);
        let table = self.value(Type::Is(Tag::TABLE), Op::NewTable(object, state));
        self.forget();
        self.known.note_fresh(table);
        if let Some(shape) = shape {
            self.known.note_shapes(table, Shapes::of([shape]).expect("it is one"));
        }
        for field in fields {
            let is_there = self.f.consult(field.value).tag().is_some_and(|tag| tag != Tag::NIL);
            if field.is_guarded || is_there {
                self.known.note_field(table, field.slot, field.value);
            }
        }
        self.write(i.ra(), table);
    }

    /// Builds SETLIST.
    pub(super) fn set_list(&mut self) {
        let (pc, i) = (self.pc, self.instr(self.pc));
        let Some(items) = items(self.source.proto, pc) else { return self.generic() };
        let open = || Some(self.open()?.end.index() - i.a() - 1);
        let Some(count) = items.count.or_else(open).filter(|&count| count <= MAX_ITEMS) else {
            return self.generic();
        };
        if count == 0 {
            return;
        }
        let table = self.read(i.ra());
        let values: Vec<Value> = (1..=count).map(|n| self.read(i.ra() + n)).collect();
        let is_nil = |&v: &Value| self.f.consult(v) == Type::Is(Tag::NIL);
        if self.f.consult(table) != Type::Is(Tag::TABLE) || values.iter().any(is_nil) {
            return self.generic();
        }
        for &v in &values {
            self.share(v);
        }
        let state = self.state();
        let list = self.f.lists.push(values);
        self.push(Op::SetList(table, list, items.expected, state));
        self.forget();
    }

    /// Builds CLOSURE in the outermost function.
    pub(super) fn closure(&mut self) {
        let i = self.instr(self.pc);
        let state = self.state();
        let closure = self.value(Type::Is(Tag::FUNCTION), Op::Closure(i.bx(), state));
        self.forget();
        let inner = &self.source.proto.protos[i.bx()];
        let mut all = self.candidates.iter().map(|candidate| candidate.inlinee);
        if let Some(inlinee) = all.find(|inlinee| Arc::ptr_eq(&inlinee.proto, inner)) {
            self.known.note_method(closure, inlinee.slot);
        }
        self.write(i.ra(), closure);
    }
}
