//! Inline caches of the instance: entries for fields, and cells of globals.

use cranelift_codegen::entity::EntityRef;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{Block, InstBuilder, Opcode, Type, Value};
use perilune_runtime::instance::{FieldCache, FieldEntry, GlobalCache};
use perilune_runtime::layout::{
    cell, field_cache, global_cache, inherited, instance, megamorphic, state, table, value,
};
use perilune_runtime::table::{Cell, InheritedCache, MegamorphicCache, Node};
use perilune_runtime::value::Tag;

use super::Emitter;
use super::memory::Region;
use super::table::Stored;
use crate::entity::Pc;

/// An entry of an inline cache in memory.
#[derive(Clone, Copy)]
pub(crate) struct Record {
    address: Value,
    offset: i32,
}

impl Emitter<'_> {
    /// Returns the first record of field cache `cache`.
    fn first_record(&self, cache: usize) -> Record {
        let at = self.frame().places.fields + cache * size_of::<FieldCache>();
        Record { address: self.instance(), offset: at as i32 }
    }

    /// Returns the address of field cache `cache`.
    pub(crate) fn field_cache_address(&mut self, cache: usize) -> Value {
        let cache = self.first_record(cache);
        self.b.ins().iadd_imm_s(cache.address, i64::from(cache.offset))
    }

    /// Returns entry `n` of field cache `cache`; branches to `slow` if this state has no such
    /// entry.
    pub(crate) fn record(&mut self, cache: usize, n: usize, slow: Block) -> Record {
        let cache = self.first_record(cache);
        let Some(n) = n.checked_sub(1) else { return cache };
        let more = self.of_record(I64, cache, field_cache::MORE);
        self.guard(more, slow);
        Record { address: more, offset: (n * size_of::<FieldEntry>()) as i32 }
    }

    /// Returns the record of the metamethods that the instruction at `pc` has called; branches to
    /// `slow` if it has called none in this state.
    pub(crate) fn handler_record(&mut self, pc: Pc, slow: Block) -> Record {
        let instance = self.instance();
        let all = self.load64(Region::Instances, instance, instance::HANDLERS);
        self.guard(all, slow);
        let address = self.load64(Region::Instances, all, pc.index() * size_of::<usize>());
        self.guard(address, slow);
        Record { address, offset: 0 }
    }

    fn of_record(&mut self, ty: Type, r: Record, field: usize) -> Value {
        self.load(Region::Instances, ty, r.address, r.offset + field as i32)
    }

    /// Loads the shape that tables have after the store for which an entry was recorded; branches
    /// to `slow` if there is none.
    pub(crate) fn successor(&mut self, r: Record, slow: Block) -> Value {
        let next = self.of_record(I64, r, field_cache::OUTCOME);
        self.guard(next, slow);
        next
    }

    /// Branches to `slow` unless an entry is still for this shape.
    pub(crate) fn guard_record(&mut self, r: Record, shape: Value, slow: Block) {
        let cached = self.of_record(I32, r, field_cache::CHAIN_SHAPE);
        let same = self.b.ins().icmp(IntCC::Equal, cached, shape);
        self.guard(same, slow);
    }

    /// Like [`Emitter::guard_record`], for a shape given by its id.
    pub(crate) fn guard_record_id(&mut self, r: Record, shape: u32, slow: Block) {
        let shape = self.b.ins().iconst(I32, i64::from(shape));
        self.guard_record(r, shape, slow);
    }

    /// Loads the own field of a table whose name is a computed string, through the cache of the
    /// state; branches to `absent` if the cache says that the table has no such field, and to
    /// `other` if the cache has no entry for the field, or if the field is nil.
    pub(crate) fn field_by_name(
        &mut self,
        table: Value,
        name: Value,
        absent: Block,
        other: Block,
    ) -> (Value, Value) {
        let at = self.slot_by_name(table, name, absent, other);
        let bits = self.load64(Region::Fields, at, value::BITS);
        let tag = self.load8(Region::Fields, at, value::TAG);
        self.guard(tag, other);
        (bits, tag)
    }

    /// Stores to an own field of a table, through the cache of the state, with a barrier; branches
    /// to `other` if the cache has no entry for the field, if the field is nil, or if caches rely
    /// on the table.
    pub(crate) fn store_by_name(&mut self, table: Value, name: Value, v: Stored, other: Block) {
        let flags = self.flags(table);
        self.guard_not_watched(flags, other);
        let at = self.slot_by_name(table, name, other, other);
        let old = self.load8(Region::Fields, at, value::TAG);
        self.guard(old, other);
        self.store(Region::Fields, v.bits, at, value::BITS);
        self.store8(Region::Fields, v.tag, at, value::TAG);
        self.barrier(table, (v.bits, v.known));
    }

    /// Returns the address of the slot of a field, as [`Emitter::field_by_name`] finds it.
    fn slot_by_name(&mut self, table: Value, name: Value, absent: Block, other: Block) -> Value {
        let st = self.state();
        let entries = self.load64(Region::State, st, state::MEGAMORPHIC);
        self.guard(entries, other);
        let shape = self.shape(table);
        let factor = self.int(MegamorphicCache::FACTOR as i64);
        let of_shape = self.b.ins().uextend(I64, shape);
        let of_shape = self.b.ins().imul(of_shape, factor);
        let place = (MegamorphicCache::SHIFT, MegamorphicCache::SIZE, megamorphic::LOG_SIZE);
        let entry = self.entry_for(name, of_shape, entries, place);
        let known = self.load_unnoted(entry, megamorphic::NAME);
        let same = self.b.ins().icmp(IntCC::Equal, known, name);
        self.guard(same, other);
        let place = self.load_unnoted(entry, megamorphic::SHAPE);
        let known = self.b.ins().ireduce(I32, place);
        let same = self.b.ins().icmp(IntCC::Equal, known, shape);
        let (found, different) = (self.block(), self.block());
        self.branch(same, found, different);
        self.switch_to(different);
        let without = self.b.ins().bor_imm_u(shape, i64::from(MegamorphicCache::ABSENT));
        let same = self.b.ins().icmp(IntCC::Equal, known, without);
        self.branch(same, absent, other);
        self.switch_to(found);
        let slot = self.b.ins().ushr_imm_u(place, 32);
        let fields = self.load64(Region::Objects, table, table::FIELDS);
        let offset = self.b.ins().ishl_imm_u(slot, i64::from(value::LOG_SIZE));
        self.b.ins().iadd(fields, offset)
    }

    /// Returns the address of the entry for a name and the hash of something else in a
    /// direct-mapped cache of the state: names are shifted by `shift`, and there are `count`
    /// entries.
    fn entry_for(
        &mut self,
        name: Value,
        other: Value,
        entries: Value,
        (shift, count, log_size): (u32, usize, u32),
    ) -> Value {
        let of_name = self.b.ins().ushr_imm_u(name, i64::from(shift));
        let place = self.b.ins().bxor(of_name, other);
        let place = self.b.ins().band_imm_u(place, count as i64 - 1);
        let offset = self.b.ins().ishl_imm_u(place, i64::from(log_size));
        self.b.ins().iadd(entries, offset)
    }

    /// Branches to `other` unless an entry is for a chain that begins with metatable word `meta`,
    /// and to `slow` unless the entry is still valid.
    pub(crate) fn guard_chain(&mut self, r: Record, meta: Value, other: Block, slow: Block) {
        let cached = self.of_record(I64, r, field_cache::META);
        let same = self.b.ins().icmp(IntCC::Equal, cached, meta);
        self.guard(same, other);
        let epoch = self.epoch();
        let cached = self.of_record(I64, r, field_cache::EPOCH);
        let same = self.b.ins().icmp(IntCC::Equal, cached, epoch);
        self.guard(same, slow);
    }

    /// Loads an inherited field with a short name from the table that has it along the chain of
    /// `__index` tables, through the cache of the state. Branches to `absent` if the cache says
    /// that no table of the chain has it, or if there is no metatable, and to `other` if the cache
    /// has no entry.
    pub(crate) fn inherited_by_name(
        &mut self,
        table: Value,
        name: Value,
        absent: Block,
        other: Block,
    ) -> (Value, Value) {
        let meta = self.meta(table);
        self.guard(meta, absent);
        let st = self.state();
        let entries = self.load64(Region::State, st, state::INHERITED);
        self.guard(entries, other);
        let factor = self.int(InheritedCache::FACTOR as i64);
        let of_meta = self.b.ins().imul(meta, factor);
        let of_meta = self.b.ins().ushr_imm_u(of_meta, i64::from(InheritedCache::FOLD));
        let place = (InheritedCache::SHIFT, InheritedCache::SIZE, inherited::LOG_SIZE);
        let entry = self.entry_for(name, of_meta, entries, place);
        let epoch = self.epoch();
        for (field, wanted) in
            [(inherited::META, meta), (inherited::NAME, name), (inherited::EPOCH, epoch)]
        {
            let known = self.load_unnoted(entry, field);
            let same = self.b.ins().icmp(IntCC::Equal, known, wanted);
            self.guard(same, other);
        }
        let place = self.load_unnoted(entry, inherited::PLACE);
        self.guard(place, absent);
        let bits = self.load64(Region::Fields, place, value::BITS);
        let tag = self.load8(Region::Fields, place, value::TAG);
        self.guard(tag, other);
        let is_cell = self.is_tag(tag, Tag::CELL);
        self.guard_not(is_cell, other);
        (bits, tag)
    }

    /// Makes an entry of a field cache valid again for a table that inherits the field named by
    /// constant `key`, on a rare path; branches to `other` if that fails.
    pub(crate) fn renew(
        &mut self,
        (cache, entry): (usize, usize),
        (table, key): (Value, usize),
        other: Block,
    ) {
        let cache = self.field_cache_address(cache);
        let (entry, name) = (self.int(entry as i64), self.constant(key).0);
        let renew = self.body.calls.renew as usize;
        let (renewed, _) = self.quiet_leaf(renew, &[cache, entry, table, name]);
        self.available.change(self.b.func, Region::Instances);
        self.guard(renewed, other);
    }

    /// Branches to `other` if a debug function has changed a constant variable.
    pub(crate) fn guard_constants(&mut self, other: Block) {
        let st = self.state();
        let changed = self.load32(Region::State, st, state::CONSTANTS_CHANGED);
        self.guard_not(changed, other);
    }

    /// Loads the epoch of metatables.
    pub(crate) fn epoch(&mut self) -> Value {
        let st = self.state();
        self.load64(Region::State, st, state::META_EPOCH)
    }

    /// Branches to `other` unless an entry says that nothing along the chain has the field.
    pub(crate) fn guard_no_holder(&mut self, r: Record, other: Block) {
        let holder = self.of_record(I64, r, field_cache::HOLDER);
        let nowhere = self.b.ins().icmp_imm_u(IntCC::Equal, holder, 0);
        self.guard(nowhere, other);
    }

    /// Loads the function that an entry has; branches to `other` if it has none.
    pub(crate) fn method(&mut self, r: Record, other: Block) -> Value {
        let method = self.of_record(I64, r, field_cache::OUTCOME);
        self.guard(method, other);
        method
    }

    /// Loads the field of the holder that an entry names: a `dictionary`, or an object with a
    /// shape. Branches to `other` if the entry names none of this kind, to `slow` if the field is
    /// nil.
    pub(crate) fn load_from_holder(
        &mut self,
        r: Record,
        dictionary: bool,
        other: Block,
        slow: Block,
    ) -> (Value, Value) {
        let holder = self.of_record(I64, r, field_cache::HOLDER);
        self.guard(holder, other);
        let kind = self.of_record(I32, r, field_cache::HOLDER_SHAPE);
        let cc = if dictionary { IntCC::Equal } else { IntCC::NotEqual };
        let right = self.b.ins().icmp_imm_u(cc, kind, 0);
        self.guard(right, other);
        let slot = self.load_u32(Region::Instances, r.address, r.offset + field_cache::SLOT as i32);
        let (first, size) = if dictionary {
            (table::NODES, size_of::<Node>())
        } else {
            (table::FIELDS, value::SIZE)
        };
        let first = self.load64(Region::Objects, holder, first);
        let offset = match size.is_power_of_two() {
            true => self.b.ins().ishl_imm_u(slot, i64::from(size.ilog2())),
            false => self.b.ins().imul_imm_s(slot, size as i64),
        };
        let p = self.b.ins().iadd(first, offset);
        let mut found = self.load_value(Region::Fields, p, 0);
        if dictionary {
            found = self.out_of_cell(found);
        }
        self.guard(found.1, slow);
        found
    }

    /// Returns the contents of the cell if the value is a cell, as the values of an environment
    /// are.
    pub(super) fn out_of_cell(&mut self, (bits, tag): (Value, Value)) -> (Value, Value) {
        let in_cell = self.block();
        let (on, value) = self.pair_block();
        let is_cell = self.is_tag(tag, Tag::CELL);
        self.b.ins().brif(is_cell, in_cell, &[], on, &[bits.into(), tag.into()]);
        self.switch_to(in_cell);
        let inner = self.load_cell(bits);
        self.jump_pair(on, inner);
        self.switch_to(on);
        value
    }

    /// Returns the environment of an access to a global, which is in the upvalue `up`, and the cell
    /// of the global; branches to `slow` unless global cache `cache` is for that environment.
    pub(crate) fn global_cell(&mut self, cache: usize, up: Value, slow: Block) -> (Value, Value) {
        let env = self.environment(up, slow);
        let at = self.global_cache(cache);
        let hit = self.is_environment_of(at, env);
        self.guard(hit, slow);
        (env, self.load_of_global(at + global_cache::CELL))
    }

    /// Returns the table that an upvalue holds.
    fn environment(&mut self, up: Value, slow: Block) -> Value {
        let place = self.upvalue_place(up);
        let (env, tag) = self.load_value(Region::Slots, place, 0);
        let is_table = self.is_tag(tag, Tag::TABLE);
        self.guard(is_table, slow);
        env
    }

    /// Returns the place of a global cache in the instance.
    fn global_cache(&self, cache: usize) -> usize {
        self.frame().places.globals + cache * size_of::<GlobalCache>()
    }

    /// Returns whether the global cache at a place holds a cell of the environment.
    fn is_environment_of(&mut self, at: usize, env: Value) -> Value {
        let cached = self.load_of_global(at + global_cache::ENV);
        self.b.ins().icmp(IntCC::Equal, cached, env)
    }

    /// Loads a word of a global cache. It is not used again: any function that changes a metatable
    /// may empty the cache.
    fn load_of_global(&mut self, offset: usize) -> Value {
        let instance = self.instance();
        self.load_always(Region::Instances, (Opcode::Load, I64), instance, offset as i32)
    }

    /// Branches to `other` unless a cell is one of the environment itself.
    pub(crate) fn guard_owner(&mut self, cell: Value, env: Value, other: Block) {
        let owner = self.load64(Region::Cells, cell, cell::OWNER);
        let is_own = self.b.ins().icmp(IntCC::Equal, owner, env);
        self.guard(is_own, other);
    }

    /// Returns the same as [`Emitter::global_cell`], for the global whose name is constant `name`.
    /// The first time that a state needs the global, and after a collection that has cleared the
    /// cache, fills the cache; branches to `slow` if that fails.
    pub(crate) fn found_global_cell(
        &mut self,
        cache: usize,
        up: Value,
        name: usize,
        slow: Block,
    ) -> (Value, Value) {
        self.global_cell_or_fill(cache, up, name, (false, slow))
    }

    /// Loads the non-nil value of the global whose name is constant `name`, and makes the code
    /// depend on the value staying the same; branches to `slow` if it has changed, or is nil. The
    /// parameters are those of [`Emitter::found_global_cell`].
    pub(crate) fn constant_global(
        &mut self,
        cache: usize,
        up: Value,
        name: usize,
        slow: Block,
    ) -> (Value, (Value, Value)) {
        let (env, cell) = self.global_cell_or_fill(cache, up, name, (true, slow));
        (env, self.load_cell(cell))
    }

    fn global_cell_or_fill(
        &mut self,
        cache: usize,
        up: Value,
        name: usize,
        (relies, slow): (bool, Block),
    ) -> (Value, Value) {
        let env = self.environment(up, slow);
        let at = self.global_cache(cache);
        let hit = self.is_environment_of(at, env);
        let (fill, found) = (self.cold_block(), self.next_block());
        let (done, cell) = self.block_of_word();
        self.branch(hit, found, fill);

        self.switch_to(found);
        let cached = self.load_of_global(at + global_cache::CELL);
        if relies {
            self.guard_owner(cached, env, fill);
            let state = self.load8(Region::Cells, cached, cell::STATE);
            let relied_on =
                self.b.ins().icmp_imm_u(IntCC::Equal, state, i64::from(Cell::RELIED_ON));
            self.guard(relied_on, fill);
        }
        self.jump_with(done, cached);

        self.switch_to(fill);
        let name = self.constant(name).0;
        let instance = self.instance();
        let place = self.b.ins().iadd_imm_s(instance, at as i64);
        let calls = self.body.calls;
        let leaf = if relies { calls.rely_on_global as usize } else { calls.fill_global as usize };
        let (filled, _) = self.quiet_leaf(leaf, &[instance, place, env, name]);
        self.guard(filled, slow);
        self.jump_with(done, filled);
        self.switch_to(done);
        (env, cell)
    }

    /// Searches the environment for the global whose name is constant `name` and whose value may be
    /// nil; branches to `slow` if the environment is not a dictionary, or if it has a metatable and
    /// does not contain the global.
    pub(crate) fn searched_global(
        &mut self,
        up: Value,
        name: usize,
        slow: Block,
    ) -> (Value, (Value, Value)) {
        let env = self.environment(up, slow);
        let shape = self.shape(env);
        self.guard_not(shape, slow);
        let name = self.constant(name).0;
        let (done, value) = self.pair_block();
        let absent = self.block();
        let found = self.string_in_nodes(env, name, absent);
        self.jump_pair(done, found);
        self.switch_to(absent);
        let meta = self.meta(env);
        self.guard_not(meta, slow);
        let nothing = (self.int(0), self.tag(Tag::NIL));
        self.jump_pair(done, nothing);
        self.switch_to(done);
        (env, value)
    }

    /// Loads the value in a cell.
    pub(crate) fn load_cell(&mut self, cell: Value) -> (Value, Value) {
        self.load_value(Region::Cells, cell, cell::VALUE)
    }

    /// Loads the tag of the value in a cell.
    pub(crate) fn load_cell_tag(&mut self, cell: Value) -> Value {
        self.load8(Region::Cells, cell, cell::VALUE + value::TAG)
    }

    /// Stores to a cell, without a barrier.
    pub(crate) fn store_cell(&mut self, value: (Value, Value), cell: Value) {
        self.store_value(Region::Cells, value, cell, cell::VALUE);
    }
}
