//! Elements of tables: accesses by integer keys, and by computed keys.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I32, I64};
use cranelift_codegen::ir::{Block, InstBuilder, Value};
use perilune_bytecode::feedback::access;
use perilune_runtime::layout;
use perilune_runtime::string::LuaString;
use perilune_runtime::table::ArrayKind;
use perilune_runtime::value::Tag;

use super::fields::MISS;
use crate::emitter::Emitter;
use crate::form::{Field, Form, Place};
use crate::runtime::Runtime;
use crate::speculation::Speculation;

/// The difference between the tag of the elements of an array of numbers and its kind.
const TAG_OF_KIND: i64 = (Tag::INTEGER.0 - ArrayKind::Int as u8) as i64;

/// Logarithm to base 2 of the feedback of an array of numbers, divided by its kind.
const LOG_SEEN_OF_KIND: i64 = access::INTS.trailing_zeros() as i64;

// No value has the tag at this distance from the kind of arrays of booleans.
const _: () = assert!(Tag::ITER.0 - ArrayKind::Bool as u8 == Tag::INTEGER.0 - ArrayKind::Int as u8);
const _: () = assert!(
    access::INTS == (ArrayKind::Int as u32) << LOG_SEEN_OF_KIND
        && access::FLOATS == (ArrayKind::Float as u32) << LOG_SEEN_OF_KIND
);
const _: () = assert!(Tag::FALSE.0 == 1 && Tag::TRUE.0 == 2 && Tag::NIL.0 == 0);

/// An element of the array part of a table.
struct Element {
    table: Value,
    key: Value,
    /// The index, counted from 0.
    index: Value,
    array: Value,
}

impl<F: Form> Emitter<'_, F> {
    /// Finds the element of the table under an integer key; goes to `outside` if there is none.
    fn array_element(&mut self, table: Value, key: Value, outside: Block) -> Element {
        let index = self.b.ins().iadd_imm_s(key, -1);
        let length = self.load32(table, layout::table::ARRAY_LEN);
        let c = self.b.ins().icmp(IntCC::UnsignedLessThan, index, length);
        self.check(c, outside);
        let array = self.load64(table, layout::table::ARRAY);
        Element { table, key, index, array }
    }

    fn payload(&mut self, e: &Element) -> Place {
        let base = self.element(e.array, e.index, 3);
        Place { base, offset: 0 }
    }

    /// Loads the payload by the key, which is in a register anyway.
    fn load_payload(&mut self, e: &Element) -> Value {
        let base = self.element(e.array, e.key, 3);
        self.load(I64, Place { base, offset: -8 })
    }

    /// Returns the place of the tag in an array of booleans.
    fn boolean(&mut self, e: &Element) -> Place {
        let base = self.b.ins().iadd(e.array, e.index);
        Place { base, offset: 0 }
    }

    /// Returns the place of the tag in an array of any values.
    fn element_tag(&mut self, e: &Element) -> Place {
        let capacity = self.load32(e.table, layout::table::ARRAY_CAP);
        let tags = self.element(e.array, capacity, 3);
        let base = self.b.ins().iadd(tags, e.index);
        Place { base, offset: 0 }
    }

    fn kind(&mut self, table: Value) -> Value {
        self.load8(table, layout::header::AUX)
    }

    /// Returns the tag of the elements of an array of numbers of this kind.
    fn number_tag(&mut self, kind: Value) -> Value {
        let tag = self.b.ins().iadd_imm_s(kind, TAG_OF_KIND);
        self.b.ins().ireduce(I8, tag)
    }

    fn is_kind(&mut self, kind: Value, wanted: ArrayKind) -> Value {
        self.b.ins().icmp_imm_u(IntCC::Equal, kind, wanted as i64)
    }

    /// Records the access to an array of numbers of this kind.
    fn note_numbers(&mut self, kind: Value) {
        let seen = self.b.ins().ishl_imm_u(kind, LOG_SEEN_OF_KIND);
        let seen = self.b.ins().iadd_imm_s(seen, i64::from(access::ARRAY));
        let seen = self.b.ins().ireduce(I32, seen);
        self.note_value(seen);
    }

    /// Emits `R[A]` := the element of a table under an integer key; goes to `outside` if the array
    /// has none.
    fn load_element(&mut self, table: Value, key: Value, outside: Block) {
        let e = self.array_element(table, key, outside);
        let kind = self.kind(table);
        if let Some(assumed) = self.assumed_kind() {
            let c = self.is_kind(kind, assumed);
            self.check(c, outside);
            return match assumed {
                ArrayKind::Int => self.load_number(&e, Tag::INTEGER),
                ArrayKind::Float => self.load_number(&e, Tag::FLOAT),
                ArrayKind::Bool => self.load_boolean(&e),
                _ => self.load_value(&e),
            };
        }
        let (others, float, any) = (self.block(), self.block(), self.block());
        let booleans = self.block();
        let c = self.is_kind(kind, ArrayKind::Int);
        self.check(c, others);
        self.load_number(&e, Tag::INTEGER);
        self.switch(others);
        let c = self.is_kind(kind, ArrayKind::Float);
        self.b.ins().brif(c, float, &[], any, &[]);
        self.switch(float);
        self.load_number(&e, Tag::FLOAT);
        self.switch(booleans);
        self.load_boolean(&e);
        self.switch(any);
        let c = self.is_kind(kind, ArrayKind::Any);
        self.check(c, booleans);
        self.load_value(&e);
    }

    /// Returns the kind of array that this variant of the instruction assumes.
    fn assumed_kind(&self) -> Option<ArrayKind> {
        match self.form.speculation() {
            Speculation::Nothing | Speculation::Mixed => None,
            Speculation::Integers => Some(ArrayKind::Int),
            Speculation::Floats => Some(ArrayKind::Float),
            Speculation::Values => Some(ArrayKind::Any),
            Speculation::Booleans => Some(ArrayKind::Bool),
        }
    }

    /// Emits `R[A]` := the element of an array of numbers with this tag.
    fn load_number(&mut self, e: &Element, tag: Tag) {
        let bits = self.load_payload(e);
        let kind = if tag == Tag::INTEGER { access::INTS } else { access::FLOATS };
        self.note(access::ARRAY | kind);
        let to = self.register(Field::A);
        self.put_tagged(to, bits, tag);
        self.next();
    }

    /// Emits `R[A]` := the element of an array of booleans.
    fn load_boolean(&mut self, e: &Element) {
        let at = self.boolean(e);
        let tag = self.load(I8, at);
        self.guard_found(e, tag);
        self.note(access::ARRAY | access::BOOLS);
        let to = self.register(Field::A);
        let zero = self.int(0);
        self.put(to, zero, tag);
        self.next();
    }

    /// Takes the slow path if an element with this tag is nil and the table has a metatable.
    fn guard_found(&mut self, e: &Element, tag: Value) {
        let (nil, found) = (self.cold(), self.block());
        self.b.ins().brif(tag, found, &[], nil, &[]);
        self.switch(nil);
        let meta = self.load64(e.table, layout::table::META);
        self.guard_not(meta);
        self.b.ins().jump(found, &[]);
        self.switch(found);
    }

    /// Emits `R[A]` := the element of an array of any values.
    fn load_value(&mut self, e: &Element) {
        let bits = self.load_payload(e);
        let at = self.element_tag(e);
        let tag = self.load(I8, at);
        self.guard_found(e, tag);
        self.note(access::ARRAY | access::ANY);
        let to = self.register(Field::A);
        self.put(to, bits, tag);
        self.next();
    }

    /// Emits `R[A]` := the value that the runtime finds in a table under a key. The runtime records
    /// the access.
    fn load_any(&mut self, table: Value, bits: Value, tag: Value) {
        let cell = self.cell();
        let found = self.call(Runtime::GetAny, &[table, bits, tag, cell]);
        self.loaded(&found);
    }

    /// Ends a load with the payload and the tag that the runtime has found.
    fn loaded(&mut self, found: &[Value]) {
        let hit = self.b.ins().icmp_imm_u(IntCC::NotEqual, found[1], MISS);
        self.guard(hit);
        let to = self.register(Field::A);
        self.put_pair(to, found[0], found[1]);
        self.next();
    }

    /// Continues in a new block if the value with this tag and payload is a short string, and in
    /// `other` if not.
    fn check_short(&mut self, tag: Value, string: Value, other: Block) {
        let is_string = self.has_tag(tag, Tag::STRING);
        self.check(is_string, other);
        self.check_class(string, other);
    }

    /// Continues in a new block if a string is short, and in `other` if not.
    fn check_class(&mut self, string: Value, other: Block) {
        let c = self.is_short(string);
        self.check(c, other);
    }

    fn is_short(&mut self, string: Value) -> Value {
        let class = self.at(string, layout::header::AUX);
        let class = self.load(I8, class);
        self.b.ins().icmp_imm_u(IntCC::Equal, class, i64::from(LuaString::SHORT))
    }

    /// Continues with a table and an integer key; returns the block for other keys.
    fn check_element(&mut self, object: Place, key_tag: Value) -> Block {
        let tag = self.tag(object);
        self.guard_tag(tag, Tag::TABLE);
        let other = self.cold();
        let c = self.has_tag(key_tag, Tag::INTEGER);
        self.check(c, other);
        other
    }

    /// Emits `R[A]` := `R[B][R[C]]`.
    pub(super) fn get_table(&mut self, part: usize) {
        let (object, key) = (self.register(Field::B), self.register(Field::C));
        let (table, bits) = (self.bits(object), self.bits(key));
        let key_tag = self.tag(key);
        if part == 0 {
            let other = self.check_element(object, key_tag);
            self.load_element(table, bits, other);
            self.switch(other);
            return self.part(1);
        }
        let other = self.block();
        self.check_short(key_tag, bits, other);
        self.note(access::STRING);
        let v = self.call(Runtime::GetStr, &[table, bits]);
        self.loaded(&v);
        self.switch(other);
        let key_tag = self.b.ins().uextend(I64, key_tag);
        self.load_any(table, bits, key_tag);
    }

    /// Emits `R[A+2]` := `R[B]` and `R[A]` := `R[B][R[C]]`, for a short string in `R[C]`.
    pub(super) fn get_named_method(&mut self) {
        let (object, key) = (self.register(Field::B), self.register(Field::C));
        let (table, string) = (self.bits(object), self.bits(key));
        let object_tag = self.tag(object);
        self.guard_tag(object_tag, Tag::TABLE);
        let key_tag = self.tag(key);
        self.guard_tag(key_tag, Tag::STRING);
        let short = self.is_short(string);
        self.guard(short);
        let found = self.call(Runtime::GetStr, &[table, string]);
        let hit = self.b.ins().icmp_imm_u(IntCC::NotEqual, found[1], MISS);
        self.guard(hit);
        let tag = self.b.ins().ireduce(I8, found[1]);
        self.found_field(true, (table, object_tag), (found[0], tag));
    }

    /// Emits `R[A]` := `R[B][integer C]`.
    pub(super) fn get_element(&mut self, part: usize) {
        let object = self.register(Field::B);
        let table = self.bits(object);
        let key = self.number(Field::C);
        if part == 0 {
            let tag = self.tag(object);
            self.guard_tag(tag, Tag::TABLE);
            let outside = self.cold();
            self.load_element(table, key, outside);
            self.switch(outside);
            return self.part(1);
        }
        let tag = self.int(i64::from(Tag::INTEGER.0));
        self.load_any(table, key, tag);
    }

    /// Stores a value in an element under an integer key; goes to `other` if the array part has
    /// none, or if more has to be done.
    fn store_element(&mut self, table: Value, key: Value, v: (Value, Value), other: Block) {
        let (bits, tag) = v;
        let e = self.array_element(table, key, other);
        let kind = self.kind(table);
        if let Some(assumed) = self.assumed_kind() {
            let c = self.is_kind(kind, assumed);
            self.check(c, other);
            match assumed {
                ArrayKind::Int | ArrayKind::Float => {
                    let int = assumed == ArrayKind::Int;
                    let wanted = if int { Tag::INTEGER } else { Tag::FLOAT };
                    let c = self.has_tag(tag, wanted);
                    self.check(c, other);
                    let payload = self.payload(&e);
                    self.store(bits, payload);
                    self.next();
                }
                ArrayKind::Bool => self.store_boolean(&e, tag, other),
                _ => self.store_value(&e, v, other),
            }
            return;
        }
        let (any, numbers, booleans) = (self.block(), self.block(), self.block());
        let c = self.is_kind(kind, ArrayKind::Any);
        self.b.ins().brif(c, any, &[], numbers, &[]);
        self.switch(numbers);
        let wanted = self.number_tag(kind);
        let c = self.b.ins().icmp(IntCC::Equal, wanted, tag);
        self.check(c, booleans);
        self.note_numbers(kind);
        let payload = self.payload(&e);
        self.store(bits, payload);
        self.next();
        self.switch(booleans);
        let c = self.is_kind(kind, ArrayKind::Bool);
        self.check(c, other);
        self.store_boolean(&e, tag, other);
        self.switch(any);
        self.store_value(&e, v, other);
    }

    /// Stores a value with this tag in an array of booleans, or goes to `other`.
    fn store_boolean(&mut self, e: &Element, tag: Value, other: Block) {
        // nil wraps around
        let c = self.b.ins().iadd_imm_s(tag, -i64::from(Tag::FALSE.0));
        let c = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, c, 2);
        self.check(c, other);
        let meta = self.load64(e.table, layout::table::META);
        self.check_not(meta, other);
        self.note(access::ARRAY | access::BOOLS);
        let at = self.boolean(e);
        self.store(tag, at);
        self.next();
    }

    /// Stores a value in an array of any values, or goes to `other`.
    fn store_value(&mut self, e: &Element, (bits, tag): (Value, Value), other: Block) {
        let payload = self.payload(e);
        self.check(tag, other);
        let meta = self.load64(e.table, layout::table::META);
        self.check_not(meta, other);
        let flags = self.at(e.table, layout::header::FLAGS);
        let flags = self.load(I8, flags);
        let collectable = self.unlogged_of(tag);
        let cold = self.b.ins().band(flags, collectable);
        self.check_not(cold, other);
        self.note(access::ARRAY | access::ANY);
        let at = self.element_tag(e);
        self.store(bits, payload);
        self.store(tag, at);
        self.next();
    }

    /// Returns the address of the instruction's feedback cell.
    fn cell(&mut self) -> Value {
        let cell = self.form.cell(&mut self.b);
        self.b.ins().iadd_imm_s(cell.base, i64::from(cell.offset))
    }

    /// Makes the runtime store a value under an integer key and record the access.
    fn store_int(&mut self, table: Value, key: Value, v: (Value, Value)) {
        let cell = self.cell();
        let tag = self.b.ins().uextend(I64, v.1);
        let stored = self.call(Runtime::SetInt, &[table, key, v.0, tag, cell])[0];
        self.guard(stored);
        self.next();
    }

    /// Emits `R[A][R[B]]` := the value at a place.
    pub(super) fn set_table(&mut self, part: usize, from: impl FnOnce(&mut Self) -> Place) {
        let (object, key) = (self.register(Field::A), self.register(Field::B));
        let from = from(self);
        let (table, bits) = (self.bits(object), self.bits(key));
        let key_tag = self.tag(key);
        let v = (self.bits(from), self.tag(from));
        if part == 0 {
            let other = self.check_element(object, key_tag);
            self.store_element(table, bits, v, other);
            self.switch(other);
            return self.part(1);
        }
        let other = self.block();
        let c = self.has_tag(key_tag, Tag::INTEGER);
        self.check(c, other);
        self.store_int(table, bits, v);
        self.switch(other);
        let slow = self.slow();
        self.check_short(key_tag, bits, slow);
        self.note(access::STRING);
        let tag = self.b.ins().uextend(I64, v.1);
        let stored = self.call(Runtime::SetStr, &[table, bits, v.0, tag])[0];
        self.guard(stored);
        self.next();
    }

    /// Emits `R[A][integer B]` := the value at a place.
    pub(super) fn set_element(&mut self, part: usize, from: impl FnOnce(&mut Self) -> Place) {
        let object = self.register(Field::A);
        let from = from(self);
        let table = self.bits(object);
        let key = self.number(Field::B);
        let v = (self.bits(from), self.tag(from));
        if part == 1 {
            return self.store_int(table, key, v);
        }
        let tag = self.tag(object);
        self.guard_tag(tag, Tag::TABLE);
        let other = self.cold();
        self.store_element(table, key, v, other);
        self.switch(other);
        self.part(1);
    }
}
