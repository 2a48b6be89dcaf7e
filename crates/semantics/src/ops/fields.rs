//! Fields with constant names, by inline caches.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I32, I64};
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value};
use perilune_runtime::instance::FieldEntry;
use perilune_runtime::layout::{self, field_cache};
use perilune_runtime::table::WATCHED;
use perilune_runtime::value::Tag;

use crate::emitter::Emitter;
use crate::form::{Field, Form, Place};
use crate::runtime::Runtime;

/// Logarithm to base 2 of the size of a cache.
const LOG_CACHE: u32 = 6;
/// The tag of a result of the runtime that is none.
pub(super) const MISS: i64 = 0xFF;

impl<F: Form> Emitter<'_, F> {
    /// Returns the place of the slot that a cache names, in a table.
    fn slot(&mut self, cache: Value, table: Value) -> Place {
        let slot = self.load32(cache, field_cache::SLOT);
        let fields = self.load64(table, layout::table::FIELDS);
        let base = self.element(fields, slot, layout::value::LOG_SIZE);
        Place { base, offset: 0 }
    }

    /// `R[A]` := `R[B][K[C]]`; for SELF, `R[A+2]` := `R[B]` as well.
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
        let tag = self.tag(from);
        let (no_table, not_own, done) = (self.cold(), self.block(), self.block());
        let indirect = self.cold();
        let bits = self.b.append_block_param(done, I64);
        let found = self.b.append_block_param(done, I8);
        let is_table = self.has_tag(tag, Tag::TABLE);
        self.check(is_table, no_table);

        let cache = self.record(layout::instance::FIELDS, LOG_CACHE);
        let shape = self.load32(object, layout::header::WORD);
        let own = self.load32(cache, field_cache::OWN_SHAPE);
        let c = self.b.ins().icmp(IntCC::Equal, shape, own);
        self.check(c, not_own);
        let slot = self.slot(cache, object);
        let tag_of_field = self.tag(slot);
        let (own_nil, absent) = (self.cold(), self.cold());
        self.check(tag_of_field, own_nil);
        let v = self.bits(slot);
        self.b.ins().jump(done, &[BlockArg::from(v), BlockArg::from(tag_of_field)]);
        // nil, without a metatable, or if the entry knows that the chain has no such field either
        self.switch(own_nil);
        let meta = self.load64(object, layout::table::META);
        self.b.ins().brif(meta, not_own, &[], absent, &[]);

        self.switch(not_own);
        let (other, chain) = (self.cold(), self.block());
        let state = self.state();
        let chain_shape = self.load32(cache, field_cache::CHAIN_SHAPE);
        let c = self.b.ins().icmp(IntCC::Equal, shape, chain_shape);
        self.check(c, other);
        let (meta, wanted) =
            (self.load64(object, layout::table::META), self.load64(cache, field_cache::META));
        let c = self.b.ins().icmp(IntCC::Equal, meta, wanted);
        self.check(c, other);
        let epoch = self.load64(state, layout::state::META_EPOCH);
        let known = self.load64(cache, field_cache::EPOCH);
        let c = self.b.ins().icmp(IntCC::Equal, epoch, known);
        self.check(c, other);
        self.b.ins().jump(chain, &[]);

        // in a table of the chain
        self.switch(chain);
        let holder = self.load64(cache, field_cache::HOLDER);
        self.check(holder, absent);
        let holder_shape = self.load32(cache, field_cache::HOLDER_SHAPE);
        let dictionary = self.block();
        self.check(holder_shape, dictionary);
        let slot = self.slot(cache, holder);
        let found_tag = self.tag(slot);
        self.guard(found_tag);
        let v = self.bits(slot);
        self.b.ins().jump(done, &[BlockArg::from(v), BlockArg::from(found_tag)]);
        self.switch(dictionary);
        let number = self.load32(cache, field_cache::SLOT);
        let nodes = self.load64(holder, layout::table::NODES);
        // a node has 24 bytes
        let eight = self.b.ins().ishl_imm_u(number, 3);
        let node = self.element(nodes, number, 4);
        let node = self.b.ins().iadd(node, eight);
        let tag_at = self.at(node, layout::node::VALUE_TAG);
        let found_tag = self.load(I8, tag_at);
        self.guard(found_tag);
        // the values of globals are in cells
        let cell = self.has_tag(found_tag, Tag::CELL);
        self.check_not(cell, indirect);
        let v = self.load64(node, layout::node::VALUE_BITS);
        self.b.ins().jump(done, &[BlockArg::from(v), BlockArg::from(found_tag)]);
        self.switch(absent);
        let nil = self.b.ins().iconst(I8, i64::from(Tag::NIL.0));
        let zero = self.int(0);
        self.b.ins().jump(done, &[BlockArg::from(zero), BlockArg::from(nil)]);

        // another entry of the cache
        self.switch(other);
        let more = self.load64(cache, field_cache::MORE);
        self.guard(more);
        self.b.ins().jump(indirect, &[]);
        self.switch(indirect);
        self.part(1);

        // a method of strings
        self.switch(no_table);
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
        self.b.ins().jump(done, &[BlockArg::from(v), BlockArg::from(found_tag)]);

        self.switch(done);
        self.found_field(method, (object, tag), (bits, found));
    }

    /// Stores the object of a method call and the value that was found.
    fn found_field(&mut self, method: bool, object: (Value, Value), found: (Value, Value)) {
        let to = self.register(Field::A);
        if method {
            self.put(to.plus(layout::value::nth(2)), object.0, object.1);
        }
        self.put(to, found.0, found.1);
        self.next();
    }

    /// `R[A][K[B]]` := the value at a place
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
        let tag_of_object = self.tag(to);
        self.guard_tag(tag_of_object, Tag::TABLE);
        let other = self.cold();
        let shape = self.load32(table, layout::header::WORD);
        let own = self.load32(cache, field_cache::OWN_SHAPE);
        let c = self.b.ins().icmp(IntCC::Equal, shape, own);
        self.check(c, other);
        let slot = self.slot(cache, table);
        let old = self.tag(slot);
        self.check(old, other);
        // The flag UNLOGGED matters only for collectable values, whose tags have bit 6.
        let flags = self.at(table, layout::header::FLAGS);
        let flags = self.load(I8, flags);
        let unlogged = self.b.ins().ushr_imm_u(tag, 6);
        let matter = self.b.ins().bor_imm_u(unlogged, i64::from(WATCHED));
        let cold = self.b.ins().band(flags, matter);
        self.check_not(cold, other);
        self.put(slot, bits, tag);
        self.next();
        self.switch(other);
        self.part(1);
    }
}
