//! Fields with constant names.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value};
use perilune_bytecode::Op;
use perilune_runtime::header::GcHeader;
use perilune_runtime::instance::{FieldCache, FieldEntry};
use perilune_runtime::layout::{self, field_cache, table, value};
use perilune_runtime::meta::Event;
use perilune_runtime::table::{Node, TAGGED, WATCHED};
use perilune_runtime::value::Tag;

use super::regs::Known;
use super::{Join, MEM, Translator};
use crate::feedback::merge::MAX_PATHS;
use crate::feedback::snapshot::FieldPath;

/// An entry of an inline cache in memory.
#[derive(Clone, Copy)]
pub(super) struct Record {
    address: Value,
    offset: i32,
}

/// Where a lookup ends.
#[derive(Clone, Copy)]
struct Ways {
    pc: usize,
    object: (Value, Known),
    dst: usize,
    /// Asks the runtime to try the cache.
    by_cache: Block,
    /// Runs the instruction.
    slow: Block,
    done: Join,
}

impl Translator<'_> {
    /// The first record of the field cache of the instruction at `pc`.
    fn field_cache(&self, pc: usize) -> Record {
        let n = self.snapshot.cells[pc] as usize;
        let at = self.places.fields + n * size_of::<FieldCache>();
        Record { address: self.instance, offset: at as i32 }
    }

    fn field_cache_address(&mut self, pc: usize) -> Value {
        let cache = self.field_cache(pc);
        self.b.ins().iadd_imm_s(cache.address, i64::from(cache.offset))
    }

    /// Entry `n` of the cache of the instruction at `pc`; `slow` if this state has none.
    pub(super) fn record(&mut self, pc: usize, n: usize, slow: Block) -> Record {
        let cache = self.field_cache(pc);
        let Some(n) = n.checked_sub(1) else { return cache };
        let more = self.of_record(I64, cache, field_cache::MORE);
        self.guard(more, slow);
        Record { address: more, offset: (n * size_of::<FieldEntry>()) as i32 }
    }

    pub(super) fn of_record(
        &mut self,
        ty: cranelift_codegen::ir::Type,
        r: Record,
        field: usize,
    ) -> Value {
        self.b.ins().load(ty, MEM, r.address, r.offset + field as i32)
    }

    /// Guards that an entry is still for this shape.
    pub(super) fn guard_record(&mut self, r: Record, shape: Value, slow: Block) {
        let cached = self.of_record(I32, r, field_cache::CHAIN_SHAPE);
        let same = self.b.ins().icmp(IntCC::Equal, cached, shape);
        self.guard(same, slow);
    }

    /// Guards that an entry is for a chain that begins with metatable word `meta`, and that what it
    /// says is still true.
    fn guard_chain(&mut self, r: Record, meta: Value, other: Block, slow: Block) {
        let cached = self.of_record(I64, r, field_cache::META);
        let same = self.b.ins().icmp(IntCC::Equal, cached, meta);
        self.guard(same, other);
        let st = self.state();
        let epoch = self.b.ins().load(I64, MEM, st, layout::state::META_EPOCH as i32);
        let cached = self.of_record(I64, r, field_cache::EPOCH);
        let same = self.b.ins().icmp(IntCC::Equal, cached, epoch);
        self.guard(same, slow);
    }

    /// Branches to a new block if `shape` is this one, and returns the block for other shapes.
    fn shape_case(&mut self, shape: Value, id: u32) -> Block {
        let same = self.b.ins().icmp_imm_u(IntCC::Equal, shape, i64::from(id));
        self.case(same)
    }

    /// GETFIELD and SELF.
    pub(super) fn get_field(&mut self, pc: usize) {
        let i = self.proto.code[pc];
        let (object, object_tag) = self.any(i.b());
        if i.op() == Op::SelfK {
            self.set(i.a() + 2, object, object_tag);
        }
        let slow = self.cold_block();
        let by_cache = self.b.create_block();
        let ways = Ways {
            pc,
            object: (object, object_tag),
            dst: i.a(),
            by_cache,
            slow,
            done: self.join_block(I64),
        };
        let seen = self.snapshot.fields[self.snapshot.cells[pc] as usize].clone();
        let other = self.b.create_block();
        let is_for_tables =
            |p: &FieldPath| !matches!(p, FieldPath::Method { .. } | FieldPath::Member { .. });
        let tables = seen.paths.is_empty() || seen.paths.iter().any(is_for_tables);
        if tables && self.require(&[object_tag], Tag::TABLE, other) {
            let shape = self.b.ins().load(I32, MEM, object, layout::header::WORD as i32);
            for path in seen.paths.iter().take(MAX_PATHS) {
                let next = match *path {
                    FieldPath::Own { shape: id, slot } => {
                        let next = self.shape_case(shape, id);
                        self.own(object, slot, ways);
                        next
                    }
                    FieldPath::Absent { shape: id, entry } => {
                        let next = self.shape_case(shape, id);
                        let r = self.record(pc, entry, slow);
                        self.guard_record(r, shape, next);
                        let holder = self.of_record(I64, r, field_cache::HOLDER);
                        let nowhere = self.b.ins().icmp_imm_u(IntCC::Equal, holder, 0);
                        self.guard(nowhere, next);
                        let meta = self.b.ins().load(I64, MEM, object, table::META as i32);
                        self.guard_chain(r, meta, next, by_cache);
                        let nil = self.int(0);
                        self.verify_lookup(pc, ways.object, (nil, nil));
                        self.nothing(ways);
                        next
                    }
                    FieldPath::Chain { shape: id, entry, dictionary } => {
                        let next = self.shape_case(shape, id);
                        let r = self.record(pc, entry, slow);
                        self.guard_record(r, shape, next);
                        let meta = self.b.ins().load(I64, MEM, object, table::META as i32);
                        self.guard_chain(r, meta, next, by_cache);
                        self.of_holder(r, dictionary, ways);
                        next
                    }
                    FieldPath::Method { .. }
                    | FieldPath::Member { .. }
                    | FieldPath::Gain { .. } => continue,
                };
                self.b.switch_to_block(next);
            }
            self.b.ins().jump(by_cache, &[]);
            self.b.switch_to_block(by_cache);
            let cache = self.field_cache_address(pc);
            let st = self.state();
            self.save_frame(pc + 1);
            let (bits, tag) =
                self.runtime_pair(self.calls.field_more as usize, &[st, cache, object]);
            self.answer(i.a(), bits, tag, slow, ways.done);
        } else {
            self.b.ins().jump(other, &[]);
            self.b.switch_to_block(by_cache);
            self.b.ins().jump(slow, &[]);
        }
        self.b.switch_to_block(other);
        self.members(pc, &seen.paths, (object, object_tag), ways);
        self.b.switch_to_block(slow);
        if seen.paths.is_empty() && seen.seen {
            // computed fields of userdata are found by the instruction itself
            let (generic, ask) = (self.cold_block(), self.b.create_block());
            let (_, tag) = self.load_home(i.b(), I64);
            let is_userdata = self.b.ins().icmp_imm_u(IntCC::Equal, tag, Tag::USERDATA.0 as i64);
            self.b.ins().brif(is_userdata, generic, &[], ask, &[]);
            self.b.switch_to_block(ask);
            self.index_handler(pc, i.a(), i.b(), i.c(), ways.done);
            self.b.ins().jump(generic, &[]);
            self.b.switch_to_block(generic);
        }
        self.generic_result(pc, i.a(), I64, ways.done);
        self.take_value(ways.done, i.a());
    }

    /// Members of what is no table: userdata and strings.
    fn members(
        &mut self,
        pc: usize,
        paths: &[FieldPath],
        (object, object_tag): (Value, Known),
        ways: Ways,
    ) {
        let slow = ways.slow;
        let ways = Ways { by_cache: slow, ..ways };
        let of_userdata: Vec<_> = paths
            .iter()
            .filter_map(|p| match *p {
                FieldPath::Member { entry, dictionary } => Some((entry, dictionary)),
                _ => None,
            })
            .collect();
        if !of_userdata.is_empty() {
            let other = self.b.create_block();
            if self.require(&[object_tag], Tag::USERDATA, other) {
                let meta = self.b.ins().load(I64, MEM, object, layout::userdata::META as i32);
                for (entry, dictionary) in of_userdata {
                    let next = self.b.create_block();
                    let r = self.record(pc, entry, slow);
                    let kind = self.b.ins().iconst(I32, i64::from(FieldEntry::USERDATA_SHAPE));
                    self.guard_record(r, kind, next);
                    self.guard_chain(r, meta, next, slow);
                    self.of_holder(r, dictionary, ways);
                    self.b.switch_to_block(next);
                }
                self.b.ins().jump(slow, &[]);
            } else {
                self.b.ins().jump(other, &[]);
            }
            self.b.switch_to_block(other);
        }
        let of_strings = paths.iter().find_map(|p| match *p {
            FieldPath::Method { entry, dictionary } => Some((entry, dictionary)),
            _ => None,
        });
        match of_strings {
            Some((entry, dictionary)) if self.require(&[object_tag], Tag::STRING, slow) => {
                let r = self.record(pc, entry, slow);
                let strings = self.b.ins().iconst(I32, i64::from(FieldEntry::STRING_SHAPE));
                self.guard_record(r, strings, slow);
                let st = self.state();
                let meta = self.b.ins().load(I64, MEM, st, layout::state::STRING_METATABLE as i32);
                self.guard_chain(r, meta, slow, slow);
                self.of_holder(r, dictionary, ways);
            }
            _ => {
                self.b.ins().jump(slow, &[]);
            }
        }
    }

    /// Ends a lookup with nil.
    fn nothing(&mut self, ways: Ways) {
        let nil = self.int(0);
        self.store_home(ways.dst, nil, Known::Tag(Tag::NIL));
        self.join(ways.done, nil, nil);
    }

    /// A field of the table's own.
    fn own(&mut self, object: Value, slot: u32, ways: Ways) {
        let fields = self.b.ins().load(I64, MEM, object, table::FIELDS as i32);
        let (bits, tag) = self.load_value(fields, value::nth(slot as usize));
        self.verify_field(ways.pc, object, self.proto.code[ways.pc].c(), (bits, tag));
        let nil = self.b.create_block();
        self.guard(tag, nil);
        self.store_home(ways.dst, bits, Known::Value(tag));
        self.join(ways.done, bits, tag);
        self.b.switch_to_block(nil);
        let meta = self.b.ins().load(I64, MEM, object, table::META as i32);
        let plain = self.b.create_block();
        self.b.ins().brif(meta, ways.by_cache, &[], plain, &[]);
        self.b.switch_to_block(plain);
        self.nothing(ways);
    }

    /// The field of the holder that an entry names.
    fn of_holder(&mut self, r: Record, dictionary: bool, ways: Ways) {
        let holder = self.of_record(I64, r, field_cache::HOLDER);
        self.guard(holder, ways.by_cache);
        let kind = self.of_record(I32, r, field_cache::HOLDER_SHAPE);
        let cc = if dictionary { IntCC::Equal } else { IntCC::NotEqual };
        let right = self.b.ins().icmp_imm_u(cc, kind, 0);
        self.guard(right, ways.by_cache);
        let slot = self.of_record(I32, r, field_cache::SLOT);
        let slot = self.b.ins().uextend(I64, slot);
        let (first, size) = if dictionary {
            (table::NODES, size_of::<Node>())
        } else {
            (table::FIELDS, value::SIZE)
        };
        let first = self.b.ins().load(I64, MEM, holder, first as i32);
        let offset = self.b.ins().imul_imm_s(slot, size as i64);
        let p = self.b.ins().iadd(first, offset);
        let (mut bits, mut tag) = self.load_value(p, 0);
        if dictionary {
            // values of an environment are in cells
            let (in_cell, on) = (self.b.create_block(), self.pair_block());
            let is_cell = self.b.ins().icmp_imm_u(IntCC::Equal, tag, Tag::CELL.0 as i64);
            let args = [BlockArg::from(bits), BlockArg::from(tag)];
            self.b.ins().brif(is_cell, in_cell, &[], on, &args);
            self.b.switch_to_block(in_cell);
            let (v, t) = self.load_value(bits, layout::cell::VALUE as i32);
            self.b.ins().jump(on, &[BlockArg::from(v), BlockArg::from(t)]);
            self.b.switch_to_block(on);
            let value = self.b.block_params(on);
            (bits, tag) = (value[0], value[1]);
        }
        self.guard(tag, ways.slow);
        self.verify_lookup(ways.pc, ways.object, (bits, tag));
        self.store_home(ways.dst, bits, Known::Value(tag));
        self.join(ways.done, bits, tag);
    }

    /// SETFIELD.
    pub(super) fn set_field(&mut self, pc: usize) {
        let i = self.proto.code[pc];
        let (object, object_tag) = self.any(i.a());
        let (bits, tag) = self.stored(i);
        let t = self.tag_value(tag);
        let slow = self.cold_block();
        let done = self.b.create_block();
        let seen = self.snapshot.fields[self.snapshot.cells[pc] as usize].clone();
        if self.require(&[object_tag], Tag::TABLE, slow) {
            let by_cache = self.b.create_block();
            if !seen.paths.is_empty() {
                let shape = self.b.ins().load(I32, MEM, object, layout::header::WORD as i32);
                // a store to a metatable or a class may change what caches rely on
                let flags = self.b.ins().uload8(I64, MEM, object, layout::header::FLAGS as i32);
                let watched = self.b.ins().band_imm_u(flags, WATCHED as i64);
                let plain = self.b.create_block();
                self.b.ins().brif(watched, by_cache, &[], plain, &[]);
                self.b.switch_to_block(plain);
                for path in seen.paths.iter().take(MAX_PATHS) {
                    let next = match *path {
                        FieldPath::Own { shape: id, slot } => {
                            let next = self.shape_case(shape, id);
                            self.set_own(object, slot, (bits, t, tag), by_cache);
                            self.verify_field(pc, object, i.b(), (bits, t));
                            next
                        }
                        FieldPath::Gain { shape: id, slot, entry, plain, .. } => {
                            let next = self.shape_case(shape, id);
                            let r = self.record(pc, entry, by_cache);
                            self.guard_record(r, shape, by_cache);
                            let unlogged =
                                self.b.ins().band_imm_u(flags, GcHeader::UNLOGGED as i64);
                            let young = self.b.create_block();
                            self.b.ins().brif(unlogged, by_cache, &[], young, &[]);
                            self.b.switch_to_block(young);
                            if !plain {
                                let lacks = self.b.create_block();
                                self.guard_no_newindex(object, lacks, by_cache);
                                self.b.switch_to_block(lacks);
                            }
                            self.gain(object, slot, r, (bits, tag), by_cache);
                            self.verify_field(pc, object, i.b(), (bits, t));
                            next
                        }
                        _ => continue,
                    };
                    self.b.ins().jump(done, &[]);
                    self.b.switch_to_block(next);
                }
            }
            self.b.ins().jump(by_cache, &[]);
            self.b.switch_to_block(by_cache);
            let cache = self.field_cache_address(pc);
            let st = self.state();
            self.save_frame(pc + 1);
            let args = [st, cache, object, bits, t];
            let inst = self.runtime(self.calls.set_field as usize, &args, &[I64]);
            let hit = self.b.inst_results(inst)[0];
            self.b.ins().brif(hit, done, &[], slow, &[]);
        } else {
            self.b.ins().jump(slow, &[]);
        }
        self.b.switch_to_block(slow);
        if seen.paths.is_empty() && seen.seen {
            self.new_index_handler(pc, done);
        }
        self.generic(pc);
        self.b.ins().jump(done, &[]);
        self.b.switch_to_block(done);
    }

    /// Writes a field that the table has.
    fn set_own(
        &mut self,
        object: Value,
        slot: u32,
        (bits, t, tag): (Value, Value, Known),
        by_cache: Block,
    ) {
        let fields = self.b.ins().load(I64, MEM, object, table::FIELDS as i32);
        let at = value::nth(slot as usize);
        let old = self.b.ins().uload8(I64, MEM, fields, at + value::TAG as i32);
        let (write, absent) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(old, write, &[], absent, &[]);
        // a new value in the place of nil may be a metamethod's matter
        self.b.switch_to_block(absent);
        self.guard_no_newindex(object, write, by_cache);
        self.b.switch_to_block(write);
        self.b.ins().store(MEM, bits, fields, at);
        self.b.ins().istore8(MEM, t, fields, at + value::TAG as i32);
        self.barrier(object, tag);
    }

    /// Goes to `lacks` if the table has no `__newindex`, as far as its metatable's bits say.
    fn guard_no_newindex(&mut self, object: Value, lacks: Block, unknown: Block) {
        let meta = self.b.ins().load(I64, MEM, object, table::META as i32);
        let (some, real) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(meta, some, &[], lacks, &[]);
        self.b.switch_to_block(some);
        let tagged = self.b.ins().band_imm_u(meta, TAGGED as i64);
        self.b.ins().brif(tagged, lacks, &[], real, &[]);
        self.b.switch_to_block(real);
        let absent = self.b.ins().uload8(I64, MEM, meta, table::ABSENT as i32);
        let absent = self.b.ins().band_imm_u(absent, 1 << Event::NewIndex as u8);
        self.b.ins().brif(absent, lacks, &[], unknown, &[]);
    }

    /// Adds the field that an entry's successor has more.
    fn gain(
        &mut self,
        object: Value,
        slot: u32,
        r: Record,
        (bits, tag): (Value, Known),
        by_cache: Block,
    ) {
        let t = self.tag_value(tag);
        if !matches!(tag, Known::Tag(known) if known != Tag::NIL) {
            self.guard(t, by_cache);
        }
        let cap = self.b.ins().uload8(I64, MEM, object, table::FIELDS_CAP as i32);
        let room = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, cap, i64::from(slot));
        self.guard(room, by_cache);
        let next = self.of_record(I64, r, field_cache::SUCCESSOR);
        self.guard(next, by_cache);
        let id = self.b.ins().load(I32, MEM, next, layout::header::WORD as i32);
        let fields = self.b.ins().load(I64, MEM, object, table::FIELDS as i32);
        let at = value::nth(slot as usize);
        self.b.ins().store(MEM, bits, fields, at);
        self.b.ins().istore8(MEM, t, fields, at + value::TAG as i32);
        self.b.ins().store(MEM, next, object, table::SHAPE as i32);
        self.b.ins().store(MEM, id, object, layout::header::WORD as i32);
    }
}
