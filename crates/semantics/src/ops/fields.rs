//! Accesses to fields with constant names, through inline caches.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I32, I64};
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value};
use perilune_runtime::instance::{FieldCache, FieldEntry};
use perilune_runtime::layout::{self, field_cache};
use perilune_runtime::meta::Event;
use perilune_runtime::table::{MegamorphicCache, TAGGED, WATCHED};
use perilune_runtime::value::Tag;

use crate::emitter::Emitter;
use crate::form::{Field, Form, Place};
use crate::runtime::Runtime;

/// Logarithm to base 2 of the size of a cache.
const LOG_CACHE: u32 = 6;
/// Size of an entry of a cache.
const ENTRY: i64 = size_of::<FieldEntry>() as i64;
/// The tag with which the runtime says that it has no result.
pub(super) const MISS: i64 = 0xFF;

/// A field that is to be looked up in a table.
struct Lookup {
    object: Value,
    shape: Value,
    /// Whether the instruction is SELF.
    method: bool,
    /// The block that uses caches of the state and cells of environments.
    indirect: Block,
}

impl<F: Form> Emitter<'_, F> {
    /// Returns the place of the slot in a table that a cache names.
    fn slot(&mut self, cache: Value, table: Value) -> Place {
        let slot = self.load32(cache, field_cache::SLOT);
        let fields = self.load64(table, layout::table::FIELDS);
        let base = self.element(fields, slot, layout::value::LOG_SIZE);
        Place { base, offset: 0 }
    }

    /// Emits `R[A]` := `R[B][K[C]]`; for SELF, also `R[A+2]` := `R[B]`.
    ///
    /// Part 2 is for the further entries of the cache, part 4 for the cache of the state, part 3
    /// for methods of strings, and part 1 for fields that the runtime finds through the caches,
    /// such as those of environments, whose values are in cells.
    pub(super) fn get_field(&mut self, part: usize, method: bool) {
        let from = self.register(Field::B);
        let object = self.bits(from);
        if part == 1 {
            let cache = self.record(layout::instance::FIELDS, LOG_CACHE);
            let found = self.call(Runtime::GetField, &[cache, object]);
            let hit = self.b.ins().icmp_imm_u(IntCC::NotEqual, found[1], MISS);
            self.guard(hit);
            let tag = self.b.ins().ireduce(I8, found[1]);
            let from = self.register(Field::B);
            let tag_of_object = self.tag(from);
            return self.found_field(method, (object, tag_of_object), (found[0], tag));
        }
        let indirect = self.cold();
        if part == 2 {
            let cache = self.record(layout::instance::FIELDS, LOG_CACHE);
            let shape = self.load32(object, layout::header::WORD);
            let megamorphic = self.block();
            let (entries, end) = self.further_entries(cache, megamorphic);
            let (attempt, next) = (self.block(), self.block());
            let entry = self.b.append_block_param(attempt, I64);
            self.b.ins().jump(attempt, &[BlockArg::from(entries)]);
            self.switch(megamorphic);
            self.part(4);
            self.switch(attempt);
            self.try_entry(&Lookup { object, shape, method, indirect }, entry, next);
            self.switch(next);
            let after = self.b.ins().iadd_imm_s(entry, ENTRY);
            let more = self.b.ins().icmp(IntCC::UnsignedLessThan, after, end);
            let slow = self.slow();
            self.b.ins().brif(more, attempt, &[BlockArg::from(after)], slow, &[]);
            self.switch(indirect);
            return self.part(1);
        }
        if part == 3 {
            return self.get_method(method);
        }
        if part == 4 {
            let place = self.megamorphic_slot(object, indirect);
            let tag = self.tag(place);
            let (absent, nothing) = (self.cold(), self.cold());
            self.check(tag, absent);
            let v = self.bits(place);
            let table = self.b.ins().iconst(I8, i64::from(Tag::TABLE.0));
            self.found_field(method, (object, table), (v, tag));
            self.switch(absent);
            let meta = self.load64(object, layout::table::META);
            self.b.ins().brif(meta, indirect, &[], nothing, &[]);
            self.switch(nothing);
            let zero = self.int(0);
            let table = self.b.ins().iconst(I8, i64::from(Tag::TABLE.0));
            self.found_field(method, (object, table), (zero, tag));
            self.switch(indirect);
            return self.part(1);
        }
        let tag = self.tag(from);
        let no_table = self.cold();
        let is_table = self.has_tag(tag, Tag::TABLE);
        self.check(is_table, no_table);

        let cache = self.record(layout::instance::FIELDS, LOG_CACHE);
        let shape = self.load32(object, layout::header::WORD);
        let further = self.alternative();
        self.try_entry(&Lookup { object, shape, method, indirect }, cache, further);
        self.switch(further);
        self.part(2);
        self.switch(indirect);
        self.part(1);

        self.switch(no_table);
        self.part(3);
    }

    /// Emits `R[A]` := a method of the string `R[B]`.
    fn get_method(&mut self, method: bool) {
        let from = self.register(Field::B);
        let (object, tag) = (self.bits(from), self.tag(from));
        self.guard_tag(tag, Tag::STRING);
        let cache = self.record(layout::instance::FIELDS, LOG_CACHE);
        let state = self.state();
        let at = self.at(cache, field_cache::CHAIN_SHAPE);
        let chain_shape = self.load(I32, at);
        let strings = i64::from(FieldEntry::STRING_SHAPE);
        let c = self.b.ins().icmp_imm_u(IntCC::Equal, chain_shape, strings);
        self.guard(c);
        let (meta, wanted) = (
            self.load64(state, layout::state::STRING_METATABLE),
            self.load64(cache, field_cache::META),
        );
        let c = self.b.ins().icmp(IntCC::Equal, meta, wanted);
        self.guard(c);
        let epoch = self.load64(state, layout::state::META_EPOCH);
        let known = self.load64(cache, field_cache::EPOCH);
        let c = self.b.ins().icmp(IntCC::Equal, epoch, known);
        self.guard(c);
        let holder = self.load64(cache, field_cache::HOLDER);
        self.guard(holder);
        let holder_shape = self.load32(cache, field_cache::HOLDER_SHAPE);
        self.guard(holder_shape);
        let slot = self.slot(cache, holder);
        let found_tag = self.tag(slot);
        self.guard(found_tag);
        let v = self.bits(slot);
        self.found_field(method, (object, tag), (v, found_tag));
    }

    /// Looks up a field through one entry of a cache; goes to `other` if the entry is for other
    /// tables.
    fn try_entry(&mut self, lookup: &Lookup, entry: Value, other: Block) {
        let &Lookup { object, shape, method, indirect } = lookup;
        let table_tag = self.b.ins().iconst(I8, i64::from(Tag::TABLE.0));
        let receiver = (object, table_tag);
        let not_own = if method { self.block() } else { self.alternative() };
        let own = self.load32(entry, field_cache::OWN_SHAPE);
        let c = self.b.ins().icmp(IntCC::Equal, shape, own);
        self.check(c, not_own);
        let slot = self.slot(entry, object);
        let tag = self.tag(slot);
        let (own_nil, absent) = (self.cold(), self.cold());
        self.check(tag, own_nil);
        let v = self.bits(slot);
        self.found_field(method, receiver, (v, tag));
        // The result is nil if there is no metatable, or if the entry knows that the chain does not
        // have the field either.
        self.switch(own_nil);
        let meta = self.load64(object, layout::table::META);
        self.b.ins().brif(meta, not_own, &[], absent, &[]);

        self.switch(not_own);
        let chain_shape = self.load32(entry, field_cache::CHAIN_SHAPE);
        let c = self.b.ins().icmp(IntCC::Equal, shape, chain_shape);
        self.check(c, other);
        let meta = self.load64(object, layout::table::META);
        let wanted = self.load64(entry, field_cache::META);
        let c = self.b.ins().icmp(IntCC::Equal, meta, wanted);
        self.check(c, other);
        let state = self.state();
        let epoch = self.load64(state, layout::state::META_EPOCH);
        let known = self.load64(entry, field_cache::EPOCH);
        let c = self.b.ins().icmp(IntCC::Equal, epoch, known);
        self.check(c, other);

        // The field is in a table of the chain.
        let holder = self.load64(entry, field_cache::HOLDER);
        self.check(holder, absent);
        let holder_shape = self.load32(entry, field_cache::HOLDER_SHAPE);
        let dictionary = self.block();
        self.check(holder_shape, dictionary);
        let slot = self.slot(entry, holder);
        let tag = self.tag(slot);
        self.guard(tag);
        let v = self.bits(slot);
        self.found_field(method, receiver, (v, tag));
        self.switch(dictionary);
        let number = self.load32(entry, field_cache::SLOT);
        let nodes = self.load64(holder, layout::table::NODES);
        // A node has 24 bytes.
        let eight = self.b.ins().ishl_imm_u(number, 3);
        let node = self.element(nodes, number, 4);
        let node = self.b.ins().iadd(node, eight);
        let tag_at = self.at(node, layout::node::VALUE_TAG);
        let tag = self.load(I8, tag_at);
        self.guard(tag);
        let cell = self.has_tag(tag, Tag::CELL);
        self.check_not(cell, indirect);
        let v = self.load64(node, layout::node::VALUE_BITS);
        self.found_field(method, receiver, (v, tag));
        self.switch(absent);
        let nil = self.b.ins().iconst(I8, i64::from(Tag::NIL.0));
        let zero = self.int(0);
        self.found_field(method, receiver, (zero, nil));
    }

    /// Returns the place of the field in a table according to the cache of the state; goes to
    /// `other` if that has no entry for it.
    fn megamorphic_slot(&mut self, table: Value, other: Block) -> Place {
        let cache = self.record(layout::instance::FIELDS, LOG_CACHE);
        let more = self.load64(cache, field_cache::MORE);
        let name = self.load64(more, layout::further_entries::NAME);
        let shape = self.load32(table, layout::header::WORD);
        let state = self.state();
        let entries = self.load64(state, layout::state::MEGAMORPHIC);
        self.check(entries, other);
        let of_name = self.b.ins().ushr_imm_u(name, i64::from(MegamorphicCache::SHIFT));
        let of_shape = self.b.ins().imul_imm_s(shape, MegamorphicCache::FACTOR as i64);
        let place = self.b.ins().bxor(of_name, of_shape);
        let place = self.b.ins().band_imm_u(place, MegamorphicCache::SIZE as i64 - 1);
        let entry = self.element(entries, place, layout::megamorphic::LOG_SIZE);
        let known = self.load64(entry, layout::megamorphic::NAME);
        let same = self.b.ins().icmp(IntCC::Equal, known, name);
        self.check(same, other);
        let known = self.load32(entry, layout::megamorphic::SHAPE);
        let same = self.b.ins().icmp(IntCC::Equal, known, shape);
        self.check(same, other);
        let slot = self.load32(entry, layout::megamorphic::SLOT);
        let fields = self.load64(table, layout::table::FIELDS);
        let base = self.element(fields, slot, layout::value::LOG_SIZE);
        Place { base, offset: 0 }
    }

    /// Returns the first of a cache's further entries, and their end; goes to `megamorphic` if the
    /// cache of the state has to be used. Without further entries, the runtime executes the
    /// instruction.
    fn further_entries(&mut self, cache: Value, megamorphic: Block) -> (Value, Value) {
        let entries = self.load64(cache, field_cache::MORE);
        self.guard(entries);
        let misses = self.load32(cache, field_cache::MISSES);
        let limit = i64::from(FieldCache::MEGAMORPHIC);
        let few = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, misses, limit);
        self.check(few, megamorphic);
        let end = self.b.ins().iadd_imm_s(entries, FieldCache::MORE as i64 * ENTRY);
        (entries, end)
    }

    /// Stores the object of a method call and the value that was found.
    pub(super) fn found_field(
        &mut self,
        method: bool,
        object: (Value, Value),
        found: (Value, Value),
    ) {
        let to = self.register(Field::A);
        if method {
            self.put(to.plus(layout::value::nth(2)), object.0, object.1);
        }
        self.put(to, found.0, found.1);
        self.next();
    }

    /// Emits `R[A][K[B]]` := the value at a place, with parts as for [`Emitter::get_field`].
    pub(super) fn set_field(&mut self, part: usize, from: impl FnOnce(&mut Self) -> Place) {
        let to = self.register(Field::A);
        let from = from(self);
        let table = self.bits(to);
        let (bits, tag) = (self.bits(from), self.tag(from));
        let cache = self.record(layout::instance::FIELDS, LOG_CACHE);
        if part == 1 {
            let tag = self.b.ins().uextend(I64, tag);
            let stored = self.call(Runtime::SetField, &[cache, table, bits, tag])[0];
            self.guard(stored);
            return self.next();
        }
        if part == 0 {
            let tag_of_object = self.tag(to);
            self.guard_tag(tag_of_object, Tag::TABLE);
        }
        let other = self.cold();
        if part == 3 {
            let slot = self.megamorphic_slot(table, other);
            self.set_slot(table, slot, (bits, tag), other);
            self.switch(other);
            return self.part(1);
        }
        let shape = self.load32(table, layout::header::WORD);
        if part == 0 {
            let further = self.block();
            let own = self.load32(cache, field_cache::OWN_SHAPE);
            let c = self.b.ins().icmp(IntCC::Equal, shape, own);
            self.check(c, further);
            self.set_own(table, cache, (bits, tag), other);
            self.switch(other);
            self.part(1);
            self.switch(further);
            return self.part(2);
        }
        let chain_shape = self.load32(cache, field_cache::CHAIN_SHAPE);
        let c = self.b.ins().icmp(IntCC::Equal, shape, chain_shape);
        self.check_not(c, other);
        let megamorphic = self.block();
        let (entries, end) = self.further_entries(cache, megamorphic);
        let (attempt, next) = (self.block(), self.block());
        let entry = self.b.append_block_param(attempt, I64);
        self.b.ins().jump(attempt, &[BlockArg::from(entries)]);
        self.switch(megamorphic);
        self.part(3);
        self.switch(attempt);
        let own = self.load32(entry, field_cache::OWN_SHAPE);
        let c = self.b.ins().icmp(IntCC::Equal, shape, own);
        self.check(c, next);
        self.set_own(table, entry, (bits, tag), other);
        self.switch(next);
        let after = self.b.ins().iadd_imm_s(entry, ENTRY);
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, after, end);
        self.b.ins().brif(more, attempt, &[BlockArg::from(after)], other, &[]);
        self.switch(other);
        self.part(1);
    }

    /// Ends the block: goes to `lacks` if the bits of the table's metatable rule out a
    /// `__newindex`, and to `unknown` if not.
    fn without_newindex(&mut self, table: Value, lacks: Block, unknown: Block) {
        let meta = self.load64(table, layout::table::META);
        let (some, real) = (self.block(), self.block());
        self.b.ins().brif(meta, some, &[], lacks, &[]);
        self.switch(some);
        let tagged = self.b.ins().band_imm_u(meta, TAGGED as i64);
        self.b.ins().brif(tagged, lacks, &[], real, &[]);
        self.switch(real);
        let absent = self.load8(meta, layout::table::ABSENT);
        let absent = self.b.ins().band_imm_u(absent, 1 << Event::NewIndex as u8);
        self.b.ins().brif(absent, lacks, &[], unknown, &[]);
    }

    /// Stores a value in the slot that an entry of a cache names, and ends the instruction; goes to
    /// `other` if more has to be done.
    fn set_own(&mut self, table: Value, entry: Value, v: (Value, Value), other: Block) {
        let slot = self.slot(entry, table);
        self.set_slot(table, slot, v, other);
    }

    /// Like [`Emitter::set_own`], for a given slot.
    fn set_slot(&mut self, table: Value, slot: Place, v: (Value, Value), other: Block) {
        let old = self.tag(slot);
        let (absent, present) = (self.cold(), self.block());
        self.b.ins().brif(old, present, &[], absent, &[]);
        self.switch(absent);
        self.without_newindex(table, present, other);
        self.switch(present);
        let flags = self.at(table, layout::header::FLAGS);
        let flags = self.load(I8, flags);
        let unlogged = self.unlogged_of(v.1);
        let matter = self.b.ins().bor_imm_u(unlogged, i64::from(WATCHED));
        let cold = self.b.ins().band(flags, matter);
        self.check_not(cold, other);
        self.put(slot, v.0, v.1);
        self.next();
    }
}
