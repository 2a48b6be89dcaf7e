//! Fields of tables, and their shapes.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F64, I64};
use cranelift_codegen::ir::{self, InstBuilder};
use perilune_runtime::instance::FieldEntry;
use perilune_runtime::meta::Event;
use perilune_runtime::value::Tag;

use super::Lower;
use crate::codegen::value::Known;
use crate::feedback::snapshot::Slot;
use crate::generic::single::Payload;
use crate::tier2::ir::{Chain, Entries, Gain, Inst, Metatable, State, StringMethod, Value};
use crate::tier2::shapes::Shapes;

impl Lower<'_, '_> {
    pub(super) fn field_of(
        &mut self,
        inst: &Inst,
        table: Value,
        (slot, tag): (Slot, Tag),
        state: State,
    ) {
        let other = self.exit(state);
        let table = self.bits(table);
        let (payload, found) = self.load_of_tag(table, (slot, tag), other);
        let bits = match payload {
            Payload::Float(float) => self.emit().float_bits(float),
            Payload::Bits(bits) => bits,
        };
        let key = self.instr(inst).c();
        self.emit().verify_field(inst.pc, table, key, (bits, found));
        self.set_lua(inst, payload, Known::Tag(tag));
    }

    /// Loads the payload and the tag of a field; branches to `other` unless it has this tag.
    fn load_of_tag(
        &mut self,
        table: ir::Value,
        (slot, tag): (Slot, Tag),
        other: ir::Block,
    ) -> (Payload, ir::Value) {
        let ty = if tag == Tag::FLOAT { F64 } else { I64 };
        let (payload, found) = self.emit().load_field_as(table, slot, ty);
        let same = self.emit().is_tag(found, tag);
        self.emit().guard(same, other);
        (if ty == F64 { Payload::Float(payload) } else { Payload::Bits(payload) }, found)
    }

    pub(super) fn reload(
        &mut self,
        inst: &Inst,
        table: Value,
        slot: Slot,
        (tag, method): (Tag, Option<usize>),
        state: State,
    ) {
        let other = self.exit(state);
        let table = self.bits(table);
        let (payload, _) = self.load_of_tag(table, (slot, tag), other);
        if let (Some(method), Payload::Bits(closure)) = (method, payload) {
            self.guard_method(closure, method, other);
        }
        self.set_lua(inst, payload, Known::Tag(tag));
    }

    /// Branches to `other` unless a closure has the method whose slot is at this address.
    pub(super) fn guard_method(&mut self, closure: ir::Value, slot: usize, other: ir::Block) {
        let found = self.emit().slot_of(closure);
        let slot = self.emit().int(slot as i64);
        let same = self.emit().ins().icmp(IntCC::Equal, found, slot);
        self.emit().guard(same, other);
    }

    pub(super) fn field(
        &mut self,
        inst: &Inst,
        object: Value,
        (slot, absent): (Slot, Entries),
        state: State,
    ) {
        let other = self.exit(state);
        let table = self.bits(object);
        let (bits, tag) = self.emit().load_field(table, slot);
        let key = self.instr(inst).c();
        self.emit().verify_field(inst.pc, table, key, (bits, tag));
        let (done, value) = self.emit().block_of(&[I64, I64]);
        let (some, nil) = (self.emit().block(), self.emit().cold_block());
        self.emit().branch(tag, some, nil);
        self.emit().switch_to(some);
        self.emit().jump_with_all(done, &[bits, tag]);
        self.emit().switch_to(nil);
        let meta = self.emit().meta(table);
        let zero = self.emit().int(0);
        let mut entries = absent.iter().peekable();
        if entries.peek().is_none() {
            self.emit().guard_not(meta, other);
        } else {
            let (has_meta, lacks) = (self.emit().next_block(), self.emit().next_block());
            self.emit().branch(meta, has_meta, lacks);
            self.emit().switch_to(has_meta);
            let shape = self.emit().shape(table);
            let tag = self.tag(object);
            while let Some(entry) = entries.next() {
                let next = if entries.peek().is_some() { self.emit().next_block() } else { other };
                let cache = self.generic.record_number(inst.pc);
                let record = self.emit().record(cache, entry, next);
                self.emit().guard_record(record, shape, next);
                self.emit().guard_no_holder(record, next);
                self.emit().guard_chain(record, meta, next, next);
                self.emit().verify_lookup(inst.pc, (table, tag), (zero, zero));
                self.emit().jump(lacks);
                self.emit().switch_to(if next == other { lacks } else { next });
            }
        }
        self.emit().jump_with_all(done, &[zero, zero]);
        self.emit().switch_to(done);
        self.set_any(inst, (value[0], value[1]));
    }

    pub(super) fn add_field(
        &mut self,
        inst: &Inst,
        table: Value,
        v: Value,
        gain: Gain,
        state: State,
    ) {
        let other = self.exit(state);
        let (bits, tag) = (self.bits(v), self.tag(v));
        let table = self.bits(table);
        let flags = self.emit().flags(table);
        self.emit().guard_not_watched(flags, other);
        let record = self.emit().record(gain.cache, gain.entry, other);
        self.emit().guard_record_id(record, gain.shape, other);
        if !gain.plain {
            self.emit().guard_lacks(table, Event::NewIndex, other);
        }
        let place = (gain.slot, Some(gain.to));
        let next = self.emit().add_field(table, place, record, (bits, tag), other);
        self.emit().barrier_of_gain(table, next, (bits, tag));
        let key = self.instr(inst).b();
        let tag = self.emit().tag_value(tag);
        self.emit().verify_field(inst.pc, table, key, (bits, tag));
    }

    /// Computes the length of a table or string.
    pub(super) fn length(&mut self, inst: &Inst, v: Value, state: State) {
        let slow = self.exit(state);
        let (object, tag) = (self.bits(v), self.tag(v));
        let (done, length) = self.emit().block_of_word();
        let others = self.emit().block();
        if self.emit().require(&[tag], Tag::TABLE, others) {
            self.emit().guard_lacks(object, Event::Len, slow);
            let n = self.emit().array_len(object);
            self.emit().jump_with(done, n);
        } else {
            self.emit().jump(others);
        }
        self.emit().switch_to(others);
        if self.emit().require(&[tag], Tag::STRING, slow) {
            let n = self.emit().string_len(object);
            self.emit().jump_with(done, n);
        } else {
            self.emit().jump(slow);
        }
        self.emit().switch_to(done);
        self.set_int(inst, length);
    }

    /// Branches to `other` unless the table has one of the shapes.
    pub(super) fn guard_shape(&mut self, table: Value, shapes: Shapes, other: ir::Block) {
        let (&last, others) = shapes.ids().split_first().expect("there is one");
        let on = (!others.is_empty()).then(|| self.emit().block());
        // the shape that was recorded last is the most likely one: others may have occurred only at
        // the beginning
        for (&shape, &on) in others.iter().rev().zip(on.iter().cycle()) {
            let (same, next) = (self.has_shape(table, shape), self.emit().block());
            self.emit().branch(same, on, next);
            self.emit().switch_to(next);
        }
        let same = self.has_shape(table, last);
        self.emit().guard(same, other);
        if let Some(on) = on {
            self.emit().jump(on);
            self.emit().switch_to(on);
        }
    }

    pub(super) fn has_shape(&mut self, table: Value, shape: u32) -> ir::Value {
        let table = self.bits(table);
        let found = self.emit().shape(table);
        self.emit().ins().icmp_imm_u(IntCC::Equal, found, i64::from(shape))
    }

    /// Returns the metatable word of tables with this metatable.
    pub(super) fn metatable_word(&mut self, metatable: Metatable) -> ir::Value {
        let table = self.bits(metatable.table());
        match metatable {
            Metatable::Of(_) => self.emit().meta(table),
            Metatable::Is(_) => table,
            Metatable::WithIndex(_) => self.emit().class_word(table),
        }
    }

    pub(super) fn chain_field(
        &mut self,
        inst: &Inst,
        metatable: Metatable,
        chain: Chain,
        state: State,
    ) {
        let other = self.exit(state);
        let table = metatable.table();
        let object = self.bits(table);
        let record = self.emit().record(chain.cache, chain.entry, other);
        if !chain.method {
            let shape = self.emit().shape(object);
            self.emit().guard_record(record, shape, other);
        }
        let meta = self.metatable_word(metatable);
        if chain.renews
            && let Metatable::Of(_) = metatable
        {
            let (valid, stale) = (self.emit().block(), self.emit().cold_block());
            self.emit().guard_chain(record, meta, stale, stale);
            self.emit().jump(valid);
            self.emit().switch_to(stale);
            let key = self.instr(inst).c();
            self.emit().renew((chain.cache, chain.entry), (object, key), other);
            self.emit().jump(valid);
            self.emit().switch_to(valid);
        } else {
            self.emit().guard_chain(record, meta, other, other);
        }
        let value = if chain.method {
            // The entry may be for another shape in this state. If the metatable is the same and
            // tables of neither shape have the field, both find the same one.
            let method = self.emit().method(record, other);
            let tag = self.emit().tag_value(Known::Tag(Tag::FUNCTION));
            self.set_lua(inst, Payload::Bits(method), Known::Tag(Tag::FUNCTION));
            (method, tag)
        } else {
            let value = self.emit().load_from_holder(record, chain.dictionary, other, other);
            self.set_any(inst, value);
            value
        };
        if let Metatable::Of(_) = metatable {
            let tag = self.tag(table);
            self.emit().verify_lookup(inst.pc, (object, tag), value);
        }
    }

    pub(super) fn guard_epoch(&mut self, epoch: Value, state: State) {
        let other = self.exit(state);
        let (before, now) = (self.bits(epoch), self.emit().epoch());
        let same = self.emit().ins().icmp(IntCC::Equal, before, now);
        self.emit().guard(same, other);
    }

    pub(super) fn string_method(
        &mut self,
        inst: &Inst,
        string: Option<Value>,
        method: StringMethod,
        state: State,
    ) {
        let other = self.exit(state);
        let record = self.emit().record(method.cache, method.entry, other);
        self.emit().guard_record_id(record, FieldEntry::STRING_SHAPE, other);
        let meta = self.emit().string_meta();
        self.emit().guard_chain(record, meta, other, other);
        let value = if method.native {
            let native = self.emit().method(record, other);
            self.set_lua(inst, Payload::Bits(native), Known::Tag(Tag::NATIVE));
            (native, self.emit().tag_value(Known::Tag(Tag::NATIVE)))
        } else {
            let value = self.emit().load_from_holder(record, method.dictionary, other, other);
            self.set_any(inst, value);
            value
        };
        if let Some(string) = string {
            let object = (self.bits(string), self.tag(string));
            self.emit().verify_lookup(inst.pc, object, value);
        }
    }
}
