//! Tables: shapes, fields and metatables.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I32;
use cranelift_codegen::ir::{Block, InstBuilder, Type, Value};
use perilune_runtime::header::GcHeader;
use perilune_runtime::layout::{header, shape, state, string, table, userdata, value};
use perilune_runtime::meta::Event;
use perilune_runtime::table::{TAGGED, WATCHED};
use perilune_runtime::value::Tag;

use super::Emitter;
use super::cache::Record;
use super::memory::Region;
use super::value::Known;
use crate::feedback::snapshot::Slot;

/// A value to store: its payload, its tag as an SSA value, and the facts known about the tag.
#[derive(Clone, Copy)]
pub(crate) struct Stored {
    pub(crate) bits: Value,
    pub(crate) tag: Value,
    pub(crate) known: Known,
}

impl Stored {
    pub(super) fn parts(self) -> (Value, Value) {
        (self.bits, self.tag)
    }
}

/// Shapes, fields and metatables.
impl Emitter<'_> {
    /// Loads the id of a table's shape.
    pub(crate) fn shape(&mut self, table: Value) -> Value {
        self.load32(Region::Objects, table, header::WORD)
    }

    /// Continues in a block for tables whose shape is this one; returns the block for other shapes.
    pub(crate) fn shape_case(&mut self, shape: Value, id: u32) -> Block {
        let same = self.b.ins().icmp_imm_u(IntCC::Equal, shape, i64::from(id));
        self.case(same)
    }

    /// Loads the metatable word of a table.
    pub(crate) fn meta(&mut self, table: Value) -> Value {
        self.load64(Region::Objects, table, table::META)
    }

    /// Loads the metatable of a userdata.
    pub(crate) fn userdata_meta(&mut self, userdata: Value) -> Value {
        self.load64(Region::Objects, userdata, userdata::META)
    }

    /// Loads the metatable of strings.
    pub(crate) fn string_meta(&mut self) -> Value {
        let st = self.state();
        self.load64(Region::State, st, state::STRING_METATABLE)
    }

    /// Branches to `other` if a store to the table may invalidate caches, because the table is a
    /// metatable or a class.
    pub(crate) fn guard_not_watched(&mut self, flags: Value, other: Block) {
        let watched = self.b.ins().band_imm_u(flags, WATCHED as i64);
        self.guard_not(watched, other);
    }

    /// Returns where the field in a slot is, as an address and an offset.
    fn field_place(&mut self, table: Value, slot: Slot) -> (Value, usize) {
        let offset = slot.number as usize * value::SIZE;
        match slot.is_inline {
            true => (table, table::INLINE_FIELDS + offset),
            false => (self.load64(Region::Objects, table, table::FIELDS), offset),
        }
    }

    /// Loads the field in slot `slot`.
    pub(crate) fn load_field(&mut self, table: Value, slot: Slot) -> (Value, Value) {
        let (fields, at) = self.field_place(table, slot);
        self.load_value(Region::Fields, fields, at)
    }

    /// Loads the field in slot `slot`, its payload as a value of type `ty`.
    pub(crate) fn load_field_as(&mut self, table: Value, slot: Slot, ty: Type) -> (Value, Value) {
        let (fields, at) = self.field_place(table, slot);
        let payload = self.load(Region::Fields, ty, fields, at + value::BITS);
        (payload, self.load8(Region::Fields, fields, at + value::TAG))
    }

    /// Branches to `other` if the field in slot `slot` is nil and a store to it may call a
    /// metamethod.
    pub(crate) fn guard_stores_field(&mut self, table: Value, slot: Slot, other: Block) {
        let (fields, at) = self.field_place(table, slot);
        let old = self.load8(Region::Fields, fields, at + value::TAG);
        let (write, absent) = (self.block(), self.block());
        self.branch(old, write, absent);
        self.switch_to(absent);
        self.without_event(table, Event::NewIndex, write, other);
        self.switch_to(write);
    }

    /// Writes the field that the table has in slot `slot`, without a barrier. `has_other_tag`: the
    /// field may have a different tag than the value.
    pub(crate) fn store_field(&mut self, table: Value, slot: Slot, v: Stored, has_other_tag: bool) {
        let (fields, at) = self.field_place(table, slot);
        self.store(Region::Fields, v.bits, fields, at + value::BITS);
        if has_other_tag {
            self.store8(Region::Fields, v.tag, fields, at + value::TAG);
        }
    }

    /// Ends the block: goes to `lacks` if the bits of the table's metatable say that the table has
    /// no metamethod for this event.
    pub(super) fn without_event(
        &mut self,
        table: Value,
        event: Event,
        lacks: Block,
        unknown: Block,
    ) {
        let meta = self.meta(table);
        let (some, real) = (self.next_block(), self.next_block());
        self.branch(meta, some, lacks);
        self.switch_to(some);
        let tagged = self.b.ins().band_imm_u(meta, TAGGED as i64);
        self.branch(tagged, lacks, real);
        self.switch_to(real);
        let absent = self.load8(Region::Objects, meta, table::ABSENT);
        let absent = self.b.ins().band_imm_u(absent, 1 << event as u8);
        self.branch(absent, lacks, unknown);
    }

    /// Branches to `other` unless the table has no metamethod for this event.
    pub(crate) fn guard_lacks(&mut self, table: Value, event: Event, other: Block) {
        let lacks = self.block();
        self.without_event(table, event, lacks, other);
        self.switch_to(lacks);
    }

    /// Adds, in slot `slot`, the additional field of the shape that follows an entry's shape;
    /// branches to `other` if the value is nil, or if there is no room. `to`: the following shape,
    /// with the facts known about it. The slots are enlarged unless those of its tables must be
    /// inline. Returns the following shape; the caller is responsible for the barrier.
    pub(crate) fn add_field(
        &mut self,
        table: Value,
        (slot, to): (Slot, Option<u32>),
        r: Record,
        (bits, tag): (Value, Known),
        other: Block,
    ) -> Value {
        let next = self.successor(r, other);
        let mut id = self.load32(Region::Objects, next, header::WORD);
        if let Some(to) = to {
            // The same shape may have led to the one whose slots are inline in another state.
            let same = self.b.ins().icmp_imm_u(IntCC::Equal, id, i64::from(to));
            self.guard(same, other);
            id = self.b.ins().iconst(I32, i64::from(to));
        }
        let t = self.tag_value(tag);
        if !matches!(tag, Known::Tag(known) if known != Tag::NIL) {
            self.guard(t, other);
        }
        let cap = self.load8(Region::Objects, table, table::FIELDS_CAP);
        let number = i64::from(slot.number);
        let room = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, cap, number);
        if to.is_some() && !slot.is_inline {
            let (full, on) = (self.cold_block(), self.block());
            self.branch(room, on, full);
            self.switch_to(full);
            let st = self.state();
            let grown = self.runtime_word(self.body.calls.grow_fields as usize, &[st, table]);
            self.branch(grown, on, other);
            self.switch_to(on);
        } else {
            self.guard(room, other);
        }
        // the entry may lead to another shape than the one with this slot
        let (fields, at) = self.field_place(table, Slot { is_inline: false, ..slot });
        self.store_value(Region::Fields, (bits, t), fields, at);
        self.store(Region::Objects, next, table, table::SHAPE);
        self.store(Region::Objects, id, table, header::WORD);
        next
    }

    /// Gives a table a metatable `{__index = class}`, as `Table::set_meta_index` does; branches to
    /// `other` if that takes more than a few stores.
    pub(crate) fn set_class(&mut self, table: Value, class: Value, marks: bool, other: Block) {
        self.guard_class(class, marks, other);
        // The shape needs no separate barrier, since the current shape of the table keeps it alive.
        self.before_field_store(table, (class, Known::Tag(Tag::TABLE)), other);
        let meta = self.load64(Region::Objects, table, table::META);
        let (first, again, done) = (self.block(), self.cold_block(), self.block());
        self.branch(meta, again, first);
        self.switch_to(again);
        let tagged = self.b.ins().band_imm_u(meta, TAGGED as i64);
        self.branch(tagged, done, other);
        self.switch_to(first);
        self.gain_metatable(table, other);
        self.jump(done);
        self.switch_to(done);
        let word = self.class_word(class);
        self.store(Region::Objects, word, table, table::META);
    }

    /// Returns the metatable word of tables with a metatable `{__index = class}`.
    pub(crate) fn class_word(&mut self, class: Value) -> Value {
        self.b.ins().bor_imm_u(class, TAGGED as i64)
    }

    /// Ensures that a table is marked as the class of some metatable, since caches rely on that:
    /// marks it if `marks` is set, and otherwise branches to `other` if it is not marked.
    pub(crate) fn guard_class(&mut self, class: Value, marks: bool, other: Block) {
        let flags = self.flags(class);
        let is_class = self.b.ins().band_imm_u(flags, i64::from(GcHeader::INDEX_TARGET));
        if !marks {
            return self.guard(is_class, other);
        }
        let (first, marked) = (self.cold_block(), self.block());
        self.branch(is_class, marked, first);
        self.switch_to(first);
        let flags = self.b.ins().bor_imm_u(flags, i64::from(GcHeader::INDEX_TARGET));
        self.store8(Region::Flags, flags, class, header::FLAGS);
        self.jump(marked);
        self.switch_to(marked);
    }

    /// Ensures that a table is marked as a metatable without `__gc`: marks it if `marks` is set,
    /// and otherwise branches to `other` if it is not marked. Branches to `other` if it has `__gc`.
    pub(crate) fn guard_metatable(&mut self, meta: Value, marks: bool, other: Block) {
        let first = if marks { self.cold_block() } else { other };
        let flags = self.flags(meta);
        let is_meta = self.b.ins().band_imm_u(flags, i64::from(GcHeader::IS_META));
        self.guard(is_meta, first);
        self.guard_event_absent(meta, Event::Gc, first);
        if !marks {
            return;
        }
        let marked = self.block();
        self.jump(marked);
        self.switch_to(first);
        let note_metatable = self.body.calls.note_metatable as usize;
        let (lacks_gc, _) = self.quiet_leaf(note_metatable, &[meta]);
        // its class is marked as well
        self.available.change(self.b.func, Region::Flags);
        self.branch(lacks_gc, marked, other);
        self.switch_to(marked);
    }

    /// Branches to `other` unless a metatable is known to have no metamethod for this event.
    pub(crate) fn guard_event_absent(&mut self, meta: Value, event: Event, other: Block) {
        let absent = self.load8(Region::Objects, meta, table::ABSENT);
        let lacks_it = self.b.ins().band_imm_u(absent, 1 << event as u8);
        self.guard(lacks_it, other);
    }

    /// Sets the metatable of a table without one, as `Table::set_metatable` does; branches to
    /// `other` if the table has a metatable, or if the change takes more than a few stores.
    pub(crate) fn set_metatable(&mut self, table: Value, meta: Value, marks: bool, other: Block) {
        self.guard_metatable(meta, marks, other);
        self.before_field_store(table, (meta, Known::Tag(Tag::TABLE)), other);
        let before = self.load64(Region::Objects, table, table::META);
        self.guard_not(before, other);
        self.gain_metatable(table, other);
        self.store(Region::Objects, meta, table, table::META);
    }

    /// Changes the shape of a table to the corresponding shape with a metatable; branches to
    /// `other` if the table is a dictionary, or if that shape is not known.
    fn gain_metatable(&mut self, table: Value, other: Block) {
        let before = self.load64(Region::Objects, table, table::SHAPE);
        self.guard(before, other);
        let next = self.load64(Region::Objects, before, shape::WITH_META);
        self.guard(next, other);
        let id = self.load32(Region::Objects, next, header::WORD);
        self.store(Region::Objects, next, table, table::SHAPE);
        self.store(Region::Objects, id, table, header::WORD);
    }

    /// Loads the length of a string.
    pub(crate) fn string_len(&mut self, string: Value) -> Value {
        self.load_u32(Region::Objects, string, string::LEN)
    }
}
