//! Builds accesses to fields and elements, and lengths.

use cranelift_codegen::entity::EntityRef;
use perilune_bytecode::feedback::access;
use perilune_bytecode::{Instr, Op as Bytecode};
use perilune_runtime::native::Builtin;
use perilune_runtime::value::Tag;

use super::Builder;
use super::inline::Handler;
use crate::analysis::facts::{elements_seen, facts};
use crate::codegen::element::ArrayChanges;
use crate::entity::{Reg, RegisterOperands};
use crate::feedback::snapshot::{FieldPath, Slot};
use crate::tier2::ir::{
    Block, Chain, Checks, Entries, Gain, Library, Metatable, Op, StringMethod, Type, Value,
};
use crate::tier2::known::{Entry, Name, Wanted};
use crate::tier2::shapes::Shapes;

impl Builder<'_> {
    /// Builds GETFIELD or SELF, for tables that have the field in the same slot.
    pub(super) fn get_field(&mut self) {
        let i = self.instr(self.pc);
        let snapshot = self.source.snapshot;
        let object = self.read(i.rb());
        let field = snapshot.field(self.pc);
        if let &[FieldPath::Method { entry, dictionary, native }] = &*field.paths
            && !field.dictionaries
            && !snapshot.general
            && !self.is_never(object, Tag::STRING)
        {
            let cache = snapshot.cell(self.pc) as usize;
            return self.string_method(object, StringMethod { cache, entry, dictionary, native });
        }
        let has_shape = self.known.shapes(self.f.origin(object)).is_some();
        let path = (!field.is_megamorphic() || has_shape).then(|| self.path(object)).flatten();
        let Some((path, shapes)) = path else { return self.fast_path() };
        if snapshot.general || self.is_never(object, Tag::TABLE) {
            return self.generic();
        }
        let found = match path {
            FieldPath::Own { slot, .. } => {
                let table = self.guard(object, Tag::TABLE);
                self.guard_shapes(table, shapes);
                self.field(table, slot)
            }
            FieldPath::Chain { shape, entry, dictionary, method } => {
                let table = self.guard(object, Tag::TABLE);
                self.guard_shapes(table, shapes);
                let cache = snapshot.cell(self.pc) as usize;
                // a quiet loop relies on inline caches not to change
                let renews =
                    self.quiet.is_none() && !self.known.is_held(self.entry_of(Some(entry)));
                let chain = Chain { cache, entry, shape, dictionary, method, renews };
                let lookup = (Wanted::Field(self.name()), self.f.origin(table));
                if let Some(found) = self.known.lookup(lookup) {
                    found
                } else {
                    let state = self.state();
                    let ty = if method { Type::Is(Tag::FUNCTION) } else { Type::Any };
                    let mut found =
                        self.value(ty, Op::ChainField(Metatable::Of(table), chain, state));
                    if method {
                        found = self.known.hold(self.entry_of(Some(entry)), found);
                    }
                    self.known.note_lookup(lookup, found);
                    found
                }
            }
            _ => return self.fast_path(),
        };
        if i.op() == Bytecode::SelfK {
            let object = self.read(i.rb());
            self.write(i.ra() + 2, object);
        }
        self.write(i.ra(), found);
    }

    /// Builds an access to a method of strings.
    fn string_method(&mut self, object: Value, method: StringMethod) {
        let i = self.instr(self.pc);
        let string = self.guard(object, Tag::STRING);
        let lookup = (Wanted::Field(self.name()), self.f.origin(string));
        let known = self.known.lookup(lookup);
        let known = known.or_else(|| method.native.then(|| self.found_method()).flatten());
        let found = known.unwrap_or_else(|| {
            let state = self.state();
            let ty = if method.native { Type::Is(Tag::NATIVE) } else { Type::Any };
            self.value(ty, Op::StringMethod(Some(string), method, state))
        });
        self.known.note_lookup(lookup, found);
        if i.op() == Bytecode::SelfK {
            self.write(i.ra() + 2, string);
        }
        self.write(i.ra(), found);
    }

    /// Returns an entry of the instruction's inline cache, or the record of its metamethod.
    pub(super) fn entry_of(&self, entry: Option<usize>) -> Entry {
        let instruction = &self.source.proto.code[self.pc.index()];
        (self.closure, std::ptr::from_ref(instruction), entry)
    }

    /// Returns the name of the field that the instruction reads.
    pub(super) fn name(&self) -> Name {
        (std::ptr::from_ref(self.source.proto), self.instr(self.pc).c())
    }

    /// Builds GETFIELD of a table whose `__index` is a function; returns whether control continues
    /// after it.
    pub(super) fn computed_field(&mut self) -> bool {
        let i = self.instr(self.pc);
        let operands = [self.read(i.rb()), self.constant(i.c())];
        match self.handler_to_inline(&operands) {
            Some(handler) if handler.has_shape() => self.value_of_handler(handler, &operands),
            Some(handler) => self.load_or_call(handler, operands),
            None => {
                self.get_field();
                true
            }
        }
    }

    /// Returns the path to the field of an object, and the shapes for which it is valid. There is
    /// such a path if feedback has only one path for the shapes that the object may have, or if
    /// tables of all these shapes have the field in the same slot.
    pub(super) fn path(&self, object: Value) -> Option<(FieldPath, Shapes)> {
        let has_shape = self.known.shapes(self.f.origin(object)).is_some();
        if self.source.snapshot.field(self.pc).dictionaries && !has_shape {
            return None;
        }
        let paths = self.paths(object);
        let shapes = Shapes::of(paths.iter().filter_map(FieldPath::shape))?;
        let FieldPath::Own { mut slot, .. } = paths[0] else {
            return (paths.len() == 1).then_some((paths[0], shapes));
        };
        for path in &paths {
            let FieldPath::Own { slot: other, .. } = path else { return None };
            if other.number != slot.number {
                return None;
            }
            slot.is_inline &= other.is_inline;
        }
        Some((FieldPath::Own { shape: shapes.ids()[0], slot, absent: None }, shapes))
    }

    /// Returns the paths to the field of an object: those for the shapes that the object may have,
    /// if these are known, and otherwise all paths in the feedback.
    pub(super) fn paths(&self, object: Value) -> Vec<FieldPath> {
        let all = &self.source.snapshot.field(self.pc).paths;
        let Some(known) = self.known.shapes(self.f.origin(object)) else { return all.clone() };
        let is_for = |path: &FieldPath, id| path.shape() == Some(id);
        if !known.ids().iter().all(|&id| all.iter().any(|path| is_for(path, id))) {
            return all.clone();
        }
        let possible = all.iter().filter(|path| known.ids().iter().any(|&id| is_for(path, id)));
        possible.copied().collect()
    }

    pub(super) fn guard_shapes(&mut self, table: Value, shapes: Shapes) {
        let origin = self.f.origin(table);
        if !self.known.shapes(origin).is_some_and(|known| known.are_in(&shapes)) {
            let state = self.state();
            self.push(Op::GuardShape(table, shapes, state));
            self.known.note_shapes(origin, shapes);
        }
    }

    /// Returns the field in a slot of a table whose shape has been guarded.
    pub(super) fn field(&mut self, table: Value, slot: Slot) -> Value {
        let origin = self.f.origin(table);
        if let Some(v) = self.known.field(origin, slot.number) {
            self.check(Op::CheckField(table, v));
            return v;
        }
        let mut absent = Entries::default();
        for path in &self.source.snapshot.field(self.pc).paths {
            if let FieldPath::Own { absent: Some(entry), .. } = path {
                absent.add(*entry);
            }
        }
        let state = self.state();
        let v = self.value(Type::Any, Op::Field(table, slot, absent, state));
        self.known.note_field(origin, slot.number, v);
        v
    }

    /// Builds SETFIELD of a table whose `__newindex` is a function; returns whether control
    /// continues after it.
    pub(super) fn intercepted_field(&mut self) -> bool {
        let i = self.instr(self.pc);
        let operands = [self.read(i.ra()), self.constant(i.b()), self.stored(i)];
        match self.handler_to_inline(&operands) {
            Some(handler) if handler.has_shape() => {
                self.effects_of_handler(handler, &operands, None)
            }
            Some(handler) => self.store_or_call(handler, operands),
            None => {
                self.set_field();
                true
            }
        }
    }

    /// Builds SETFIELD, for tables that have the field in the same slot or gain it.
    pub(super) fn set_field(&mut self) {
        let i = self.instr(self.pc);
        let snapshot = self.source.snapshot;
        let object = self.read(i.ra());
        let (shapes, gain) = match self.path(object) {
            Some((FieldPath::Own { slot, .. }, shapes)) => (shapes, Err(slot)),
            Some((FieldPath::Gain { shape, slot, to, entry, plain }, shapes)) => {
                let cache = snapshot.cell(self.pc) as usize;
                (shapes, Ok(Gain { cache, entry, shape, slot, to, plain }))
            }
            _ => return self.fast_path(),
        };
        if snapshot.general || self.is_never(object, Tag::TABLE) {
            return self.generic();
        }
        let table = self.guard(object, Tag::TABLE);
        self.guard_shapes(table, shapes);
        let v = self.stored(i);
        if gain.is_ok() && self.f.consult(v) == Type::Is(Tag::NIL) {
            // the fast path does not add a field that is nil
            return self.generic();
        }
        let state = self.state();
        let origin = self.f.origin(table);
        self.share(v);
        let is_there = self.f.consult(v).tag().is_some_and(|tag| tag != Tag::NIL);
        let held = is_there.then_some(v);
        match gain {
            Err(slot) => {
                let before = self.known.field(origin, slot.number).map(|v| self.refined(v));
                let before = before.and_then(|v| self.f.consult(v).tag());
                let checks = Checks {
                    watched: !self.known.is_unwatched(origin),
                    absent: before.is_none_or(|tag| tag == Tag::NIL),
                    tag: before.is_none() || self.f.consult(v).tag() != before,
                };
                self.push(Op::SetField(table, slot, v, checks, state));
                self.known.note_unwatched(origin);
                self.note_store(origin, slot.number, false);
                self.known.store_field(origin, slot.number, held);
            }
            Ok(gain) => {
                self.note_store(origin, gain.slot.number, true);
                self.push(Op::AddField(table, v, gain, state));
                self.known.note_unwatched(origin);
                let gained = Shapes::of([gain.to]).expect("it is one");
                self.known.change_shape(origin, shapes, gained);
                self.known.store_field(origin, gain.slot.number, held);
            }
        }
    }

    /// Builds SETFIELD for a field that the constructor of the table has already stored; this takes
    /// at most a check.
    pub(super) fn check_constructed(&mut self) {
        if !self.source.verify_values {
            return;
        }
        let i = self.instr(self.pc);
        let v = self.stored(i);
        if self.f.consult(v) != Type::Is(Tag::NIL) {
            let table = self.read(i.ra());
            self.push(Op::CheckField(table, v));
        }
    }

    /// Returns the value that an instruction stores.
    pub(super) fn stored(&mut self, i: Instr) -> Value {
        match i.op() {
            Bytecode::SetFieldK | Bytecode::SetTableK | Bytecode::SetIK => self.constant(i.c()),
            _ => self.read(i.rc()),
        }
    }

    /// Returns the tag of a key if the access to an element speculates that it is an integer, or a
    /// float that is equal to one.
    fn tag_of_array_key(&self, key: Value) -> Option<Tag> {
        let snapshot = self.source.snapshot;
        let others = access::STRING | access::OTHER | access::NO_TABLE;
        let seen = snapshot.cell(self.pc);
        if snapshot.general || seen & others != 0 {
            return None;
        }
        let key = self.refined(key);
        let may_be = |bit, tag| seen & bit != 0 && !self.is_never(key, tag);
        match (may_be(access::ARRAY, Tag::INTEGER), may_be(access::INTEGRAL, Tag::FLOAT)) {
            (true, false) => Some(Tag::INTEGER),
            (false, true) => Some(Tag::FLOAT),
            _ => None,
        }
    }

    /// Returns the key, whose tag [`Builder::tag_of_array_key`] has returned, as an integer.
    fn array_key(&mut self, key: Value, tag: Tag) -> Value {
        let key = self.guard(key, tag);
        if tag == Tag::FLOAT { self.as_int(key) } else { key }
    }

    /// Builds SETTABLE or SETI of a table whose `__newindex` is a function; returns whether control
    /// continues after it.
    pub(super) fn intercepted_element(&mut self) -> bool {
        let [object, key] = self.stored_element();
        let operands = [object, key, self.stored(self.instr(self.pc))];
        match self.handler_to_inline(&operands) {
            Some(handler) => self.store_or_call(handler, operands),
            None => {
                self.set_element();
                true
            }
        }
    }

    /// Builds a store that calls a `__newindex` function if the table does not have the key;
    /// returns whether control continues after it.
    fn store_or_call(&mut self, handler: Handler, [object, key, v]: [Value; 3]) -> bool {
        let table = self.guard(object, Tag::TABLE);
        let (_, absent) = self.raw_element(table, key);
        let (known, registers) = (self.known.clone(), self.registers.clone());
        self.generic();
        let early = self.early_results(Vec::new());
        (self.known, self.registers, self.state) = (known, registers, None);
        self.switch_to(absent);
        self.effects_of_handler(handler, &[table, key, v], Some(early))
    }

    /// Returns the object and the key of SETTABLE or SETI.
    fn stored_element(&mut self) -> [Value; 2] {
        let i = self.instr(self.pc);
        let object = self.read(i.ra());
        let key = match i.op() {
            Bytecode::SetI | Bytecode::SetIK => self.integer(i.b() as i64),
            _ => self.read(i.rb()),
        };
        [object, key]
    }

    /// Builds SETTABLE or SETI, for arrays.
    pub(super) fn set_element(&mut self) {
        let i = self.instr(self.pc);
        let [object, key] = self.stored_element();
        let Some(tag) = self.tag_of_array_key(key).filter(|_| !self.is_never(object, Tag::TABLE))
        else {
            return self.fast_path();
        };
        let table = self.guard(object, Tag::TABLE);
        let key = self.array_key(key, tag);
        let v = self.stored(i);
        let seen = self.source.snapshot.cell(self.pc);
        let is_mixed = match self.f.consult(v) {
            Type::Is(Tag::INTEGER) => seen & access::FLOATS != 0,
            Type::Is(Tag::FLOAT) => seen & access::INTS != 0,
            Type::Any => seen & access::ANY != 0 && seen & (access::INTS | access::FLOATS) != 0,
            _ => false,
        };
        // a quiet loop relies on the kinds of arrays not to change
        let converts = is_mixed && self.quiet.is_none();
        let changes = ArrayChanges { converts, grows: seen & access::OUTSIDE != 0 };
        self.note_element_store(table, key);
        let state = self.state();
        self.push(Op::SetElement(table, key, v, changes, state));
        self.share(v);
    }

    /// Counts a store to a field of a table. A store to a fresh table is not counted, since it
    /// changes no facts about other tables.
    fn note_store(&mut self, table: Value, slot: u32, is_gained: bool) {
        if !self.known.is_fresh(table) {
            self.noise.add_field(slot, is_gained);
        }
    }

    /// Records that a value is stored or passed on.
    pub(super) fn share(&mut self, v: Value) {
        self.known.share(self.f.origin(v));
    }

    /// Builds GETTABLE or GETI of a table whose `__index` is a function; returns whether control
    /// continues after it.
    pub(super) fn computed_element(&mut self) -> bool {
        let operands = self.loaded_element();
        match self.handler_to_inline(&operands) {
            Some(handler) => self.load_or_call(handler, operands),
            None => {
                self.get_element();
                true
            }
        }
    }

    /// Builds a load that calls an `__index` function if the table does not have the key; returns
    /// whether control continues after it.
    fn load_or_call(&mut self, handler: Handler, [object, key]: [Value; 2]) -> bool {
        let table = self.guard(object, Tag::TABLE);
        let (found, absent) = self.raw_element(table, key);
        let early = self.early_results(vec![found]);
        self.switch_to(absent);
        let Some(v) = self.inline_handler(handler, &[table, key], Some(early)) else {
            return false;
        };
        self.write(self.instr(self.pc).ra(), v);
        true
    }

    /// Looks a key up in a table without metamethods. Continues where the table has it; returns the
    /// element, and the block where it is nil.
    fn raw_element(&mut self, table: Value, key: Value) -> (Value, Block) {
        let at = Reg::new(self.above());
        let library = Library { number: Builtin::RawGet as u32, inlined: None, tag: None, at };
        let op = Op::Library(library, [Some(table), Some(key), None], self.state());
        let found = self.value(Type::Any, op);
        let is_nil = self.value(Type::Condition, Op::HasTag(found, Tag::NIL));
        let (absent, present) = self.branch(is_nil);
        self.switch_to(present);
        (found, absent)
    }

    /// Returns the object and the key of GETTABLE or GETI.
    fn loaded_element(&mut self) -> [Value; 2] {
        let i = self.instr(self.pc);
        let object = self.read(i.rb());
        let key = match i.op() {
            Bytecode::GetI => self.integer(i.c() as i64),
            _ => self.read(i.rc()),
        };
        [object, key]
    }

    /// Builds GETTABLE or GETI, for arrays.
    pub(super) fn get_element(&mut self) {
        let (pc, i) = (self.pc, self.instr(self.pc));
        let snapshot = self.source.snapshot;
        let [object, key] = self.loaded_element();
        let Some(tag) = self.tag_of_array_key(key).filter(|_| !self.is_never(object, Tag::TABLE))
        else {
            return self.fast_path();
        };
        let table = self.guard(object, Tag::TABLE);
        let key = self.array_key(key, tag);
        let state = self.state();
        if snapshot.failed.contains(&pc.as_u32()) {
            return self.load_element(table, key, Op::ElementOrNil(table, key, state));
        }
        match facts(snapshot, pc, i).result {
            Some(tag) => self.set(i.ra(), Type::Is(tag), Op::Number(table, key, tag, false, state)),
            None if elements_seen(snapshot.cell(pc)) == access::ANY => {
                self.load_element(table, key, Op::Element(table, key, state));
            }
            None if elements_seen(snapshot.cell(pc)) == access::BOOLS => {
                self.set(i.ra(), Type::Any, Op::Boolean(table, key, state));
            }
            None => self.load_element(table, key, Op::ElementOrNil(table, key, state)),
        }
    }

    /// Builds LEN of a table with `__len`; returns whether control continues after it.
    pub(super) fn computed_length(&mut self) -> bool {
        let v = self.read(self.instr(self.pc).rb());
        match self.handler_to_inline(&[v, v]) {
            Some(handler) => self.value_of_handler(handler, &[v, v]),
            None => {
                self.length();
                true
            }
        }
    }

    /// Builds LEN of tables and strings.
    pub(super) fn length(&mut self) {
        let i = self.instr(self.pc);
        let v = self.read(i.rb());
        let may_have_length =
            matches!(self.f.consult(v), Type::Any | Type::Is(Tag::TABLE | Tag::STRING));
        if !may_have_length || self.source.snapshot.general {
            return self.generic();
        }
        let state = self.state();
        self.set(i.ra(), Type::Is(Tag::INTEGER), Op::Length(v, state));
    }
}
