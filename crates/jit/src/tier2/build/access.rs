//! Fields, elements and lengths.

use perilune_bytecode::Op as Bytecode;
use perilune_bytecode::feedback::access;
use perilune_runtime::value::Tag;

use super::Builder;
use crate::analysis::facts::facts;
use crate::entity::RegisterOperands;
use crate::feedback::snapshot::{FieldPath, Slot};
use crate::tier2::ir::{Chain, Checks, Gain, Op, Type, Value};

impl Builder<'_> {
    /// GETFIELD and SELF, of tables of one shape.
    pub(super) fn get_field(&mut self) {
        let i = self.instr(self.pc);
        let snapshot = self.source.snapshot;
        let object = self.read(i.rb());
        let Some(path) = self.path(object) else { return self.fast_path() };
        if snapshot.general || self.is_never(object, Tag::TABLE) {
            return self.generic();
        }
        let found = match path {
            FieldPath::Own { shape, slot, absent } => {
                let table = self.guard(object, Tag::TABLE);
                self.guard_shape(table, shape);
                self.field(table, slot, absent)
            }
            FieldPath::Chain { shape, entry, dictionary, method } => {
                let table = self.guard(object, Tag::TABLE);
                self.guard_shape(table, shape);
                let cache = snapshot.cell(self.pc) as usize;
                let chain = Chain { cache, entry, shape, dictionary, method };
                let state = self.state();
                let ty = if method { Type::Is(Tag::FUNCTION) } else { Type::Any };
                self.value(ty, Op::ChainField(table, chain, state))
            }
            _ => return self.fast_path(),
        };
        if i.op() == Bytecode::SelfK {
            let object = self.read(i.rb());
            self.write(i.ra() + 2, object);
        }
        self.write(i.ra(), found);
    }

    /// Returns the path to the field of an object: the only one that feedback has, or that of the
    /// shape which the object is known to have.
    fn path(&self, object: Value) -> Option<FieldPath> {
        let paths = &self.source.snapshot.field(self.pc).paths;
        if let [path] = paths[..] {
            return Some(path);
        }
        let shape = self.known.shape(self.f.origin(object))?;
        paths.iter().find(|path| path.shape() == Some(shape)).copied()
    }

    fn guard_shape(&mut self, table: Value, shape: u32) {
        let origin = self.f.origin(table);
        if self.known.shape(origin) != Some(shape) {
            let state = self.state();
            self.push(Op::GuardShape(table, shape, state));
            self.known.note_shape(origin, shape);
        }
    }

    /// Returns the field in a slot of a table whose shape is guarded.
    fn field(&mut self, table: Value, slot: Slot, absent: Option<usize>) -> Value {
        let origin = self.f.origin(table);
        if let Some(v) = self.known.field(origin, slot.number) {
            self.check(Op::CheckField(table, v));
            return v;
        }
        let state = self.state();
        let v = self.value(Type::Any, Op::Field(table, slot, absent, state));
        self.known.note_field(origin, slot.number, v);
        v
    }

    /// SETFIELD, to fields that tables of one shape have.
    pub(super) fn set_field(&mut self) {
        let i = self.instr(self.pc);
        let snapshot = self.source.snapshot;
        let object = self.read(i.ra());
        let (shape, gain) = match self.path(object) {
            Some(FieldPath::Own { shape, slot, .. }) => (shape, Err(slot)),
            Some(FieldPath::Gain { shape, slot, to, entry, plain }) => {
                let cache = snapshot.cell(self.pc) as usize;
                (shape, Ok(Gain { cache, entry, shape, slot, to, plain }))
            }
            _ => return self.fast_path(),
        };
        if snapshot.general || self.is_never(object, Tag::TABLE) {
            return self.generic();
        }
        let table = self.guard(object, Tag::TABLE);
        self.guard_shape(table, shape);
        let v = match i.op() {
            Bytecode::SetFieldK => self.constant(i.c()),
            _ => self.read(i.rc()),
        };
        if gain.is_ok() && self.f.ty(v) == Type::Is(Tag::NIL) {
            // the fast path does not add a field that is nil
            return self.generic();
        }
        let state = self.state();
        let origin = self.f.origin(table);
        let is_there = self.f.ty(v).tag().is_some_and(|tag| tag != Tag::NIL);
        let held = is_there.then_some(v);
        match gain {
            Err(slot) => {
                let before = self.known.field(origin, slot.number).map(|v| self.refined(v));
                let before = before.and_then(|v| self.f.ty(v).tag());
                let checks = Checks {
                    watched: !self.known.is_unwatched(origin),
                    absent: before.is_none_or(|tag| tag == Tag::NIL),
                    tag: before.is_none() || self.f.ty(v).tag() != before,
                };
                self.push(Op::SetField(table, slot, v, checks, state));
                self.known.note_unwatched(origin);
                self.noise.tables += 1;
                self.known.store_field(origin, slot.number, held);
            }
            Ok(gain) => {
                self.noise.tables += 1;
                self.push(Op::AddField(table, v, gain, state));
                self.known.note_unwatched(origin);
                // another table of this shape may be the same
                self.known.forget_shape(shape);
                self.known.note_shape(origin, gain.to);
                self.known.store_field(origin, gain.slot.number, held);
            }
        }
    }

    /// SETTABLE and SETI, of arrays.
    pub(super) fn set_element(&mut self) {
        let (pc, i) = (self.pc, self.instr(self.pc));
        let snapshot = self.source.snapshot;
        let seen = snapshot.cell(pc) & access::ALL;
        let others = access::STRING | access::OTHER | access::NO_TABLE;
        if snapshot.general || seen & access::ARRAY == 0 || seen & others != 0 {
            return self.fast_path();
        }
        let object = self.read(i.ra());
        let key = match i.op() {
            Bytecode::SetI | Bytecode::SetIK => self.integer(i.b() as i64),
            _ => self.read(i.rb()),
        };
        if self.is_never(object, Tag::TABLE) || self.is_never(key, Tag::INTEGER) {
            return self.fast_path();
        }
        let table = self.guard(object, Tag::TABLE);
        let key = self.guard(key, Tag::INTEGER);
        let v = match i.op() {
            Bytecode::SetTableK | Bytecode::SetIK => self.constant(i.c()),
            _ => self.read(i.rc()),
        };
        let state = self.state();
        self.push(Op::SetElement(table, key, v, state));
    }

    /// GETTABUP.
    pub(super) fn get_global(&mut self) {
        let i = self.instr(self.pc);
        let key = (self.closure, i.b(), i.c());
        let v = match self.known.global(key) {
            Some(v) => {
                self.check(Op::CheckGlobal(self.closure, v));
                v
            }
            None => {
                let state = self.state();
                let v = self.value(Type::Any, Op::Global(self.closure, state));
                self.known.note_global(key, v);
                v
            }
        };
        self.write(i.ra(), v);
    }

    /// GETTABLE and GETI, of arrays.
    pub(super) fn get_element(&mut self) {
        let (pc, i) = (self.pc, self.instr(self.pc));
        let snapshot = self.source.snapshot;
        let seen = snapshot.cell(pc) & access::ALL;
        let others = access::STRING | access::OTHER | access::NO_TABLE;
        if snapshot.general || seen & access::ARRAY == 0 || seen & others != 0 {
            return self.fast_path();
        }
        let object = self.read(i.rb());
        let key = match i.op() {
            Bytecode::GetI => self.integer(i.c() as i64),
            _ => self.read(i.rc()),
        };
        if self.is_never(object, Tag::TABLE) || self.is_never(key, Tag::INTEGER) {
            return self.fast_path();
        }
        let table = self.guard(object, Tag::TABLE);
        let key = self.guard(key, Tag::INTEGER);
        let state = self.state();
        if snapshot.failed.contains(&pc.as_u32()) {
            return self.set(i.ra(), Type::Any, Op::ElementOrNil(table, key, state));
        }
        match facts(snapshot, pc, i).result {
            Some(tag) => self.set(i.ra(), Type::Is(tag), Op::Number(table, key, tag, state)),
            None if seen == access::ARRAY | access::ANY => {
                self.set(i.ra(), Type::Any, Op::Element(table, key, state));
            }
            None => self.set(i.ra(), Type::Any, Op::ElementOrNil(table, key, state)),
        }
    }

    /// LEN, of what is known to be a table or a string.
    pub(super) fn length(&mut self) {
        let i = self.instr(self.pc);
        let v = self.read(i.rb());
        if !matches!(self.f.ty(v), Type::Is(Tag::TABLE | Tag::STRING)) {
            return self.fast_path();
        }
        let state = self.state();
        self.set(i.ra(), Type::Is(Tag::INTEGER), Op::Length(v, state));
    }
}
