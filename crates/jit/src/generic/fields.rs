//! Fields with constant names.

use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{Block, Value};
use perilune_bytecode::Op;
use perilune_runtime::instance::FieldEntry;
use perilune_runtime::meta::Event;
use perilune_runtime::value::Tag;

use super::Translator;
use crate::codegen::cache::Record;
use crate::codegen::table::Stored;
use crate::codegen::value::{Join, Known};
use crate::entity::{Pc, Reg, RegisterOperands};
use crate::feedback::snapshot::{FieldPath, FieldSnapshot, MAX_PATHS, Slot};

/// Where a lookup ends.
#[derive(Clone, Copy)]
struct Ways {
    pc: Pc,
    object: (Value, Known),
    dst: Reg,
    /// Calls the runtime to try the cache.
    by_cache: Block,
    /// Runs the instruction.
    slow: Block,
    done: Join,
}

impl Translator<'_> {
    /// The number of the inline cache of the field access at `pc`.
    fn cache_of(&self, pc: Pc) -> usize {
        self.snapshot.cell(pc) as usize
    }

    /// GETFIELD and SELF.
    pub(super) fn get_field(&mut self, pc: Pc) {
        let i = self.instr(pc);
        let (object, object_tag) = self.any(i.rb());
        if i.op() == Op::SelfK {
            self.set(i.ra() + 2, object, object_tag);
        }
        let seen = self.snapshot.field(pc).clone();
        // this code calls a metamethod if the cache has no matching entry
        let asks = seen.paths.is_empty() && seen.seen && self.slow_exit.is_none();
        let slow = self.emit.cold_block();
        let by_cache = if asks { self.emit.cold_block() } else { slow };
        let ways = Ways {
            pc,
            object: (object, object_tag),
            dst: i.ra(),
            by_cache,
            slow,
            done: self.emit.join_block(I64),
        };
        let other = self.emit.block();
        let is_for_tables =
            |p: &FieldPath| !matches!(p, FieldPath::Method { .. } | FieldPath::Member { .. });
        let tables = seen.paths.is_empty() || seen.paths.iter().any(is_for_tables);
        if tables && self.emit.require(&[object_tag], Tag::TABLE, other) {
            let shape = self.emit.shape(object);
            let paths = if seen.is_megamorphic() { &[][..] } else { &seen.paths };
            for path in paths {
                let next = match *path {
                    FieldPath::Own { shape: id, slot, absent } => {
                        let next = self.emit.shape_case(shape, id);
                        self.own((object, shape), slot, absent, ways);
                        next
                    }
                    FieldPath::Absent { shape: id, entry } => {
                        let next = self.emit.shape_case(shape, id);
                        let r = self.emit.record(self.cache_of(pc), entry, slow);
                        self.emit.guard_record(r, shape, next);
                        self.emit.guard_no_holder(r, next);
                        let meta = self.emit.meta(object);
                        self.emit.guard_chain(r, meta, next, by_cache);
                        let nil = self.emit.int(0);
                        self.emit.verify_lookup(pc, ways.object, (nil, nil));
                        self.nothing(ways);
                        next
                    }
                    FieldPath::Chain { shape: id, entry, dictionary, .. } => {
                        let next = self.emit.shape_case(shape, id);
                        let r = self.emit.record(self.cache_of(pc), entry, slow);
                        self.emit.guard_record(r, shape, next);
                        let meta = self.emit.meta(object);
                        self.emit.guard_chain(r, meta, next, by_cache);
                        self.of_holder(r, dictionary, ways);
                        next
                    }
                    FieldPath::Method { .. }
                    | FieldPath::Member { .. }
                    | FieldPath::Gain { .. } => continue,
                };
                self.emit.switch_to(next);
            }
            if seen.dictionaries || seen.is_megamorphic() {
                self.by_name(shape, &seen, ways);
            } else {
                self.emit.jump(by_cache);
            }
            if asks {
                self.emit.switch_to(by_cache);
                let cache = self.emit.field_cache_address(self.cache_of(pc));
                self.emit.save_frame(pc + 1);
                let args = [self.emit.state(), cache, object];
                let (bits, tag) = self.emit.runtime_pair(self.calls.field_more as usize, &args);
                self.answer(i.ra(), bits, tag, slow, ways.done);
            }
        } else {
            self.emit.jump(other);
            if asks {
                self.emit.switch_to(by_cache);
                self.emit.jump(slow);
            }
        }
        self.emit.switch_to(other);
        self.members(pc, &seen.paths, (object, object_tag), ways);
        self.emit.switch_to(slow);
        if let Some(exit) = self.slow_exit {
            self.emit.jump(exit);
            return self.take_value(ways.done, i.ra());
        }
        if asks {
            // computed fields of userdata are found by the instruction itself
            let (generic, ask) = (self.emit.cold_block(), self.emit.block());
            let (_, tag) = self.emit.load_register(i.rb(), I64);
            let is_userdata = self.emit.is_tag(tag, Tag::USERDATA);
            self.emit.branch(is_userdata, generic, ask);
            self.emit.switch_to(ask);
            let key = self.constant_operand(i.c());
            self.index_handler(pc, i.ra(), i.rb(), key, ways.done);
            self.emit.jump(generic);
            self.emit.switch_to(generic);
        }
        if asks {
            self.emit.runtime_step(self.calls.one as usize, pc + 1, &[]);
        } else if seen.paths.is_empty() {
            self.emit.runtime_step(self.calls.get_field as usize, pc + 1, &[]);
        } else {
            self.emit.preserving_step(self.calls.preserving_get_field as usize, pc + 1);
        }
        let (bits, tag) = self.emit.load_register(i.ra(), I64);
        self.emit.join(ways.done, bits, tag);
        self.take_value(ways.done, i.ra());
    }

    /// Looks the field up in the nodes of a dictionary and, for a megamorphic access, in the caches
    /// of the state.
    fn by_name(&mut self, shape: Value, seen: &FieldSnapshot, ways: Ways) {
        let object = ways.object.0;
        let name = self.emit.constant(self.instr(ways.pc).c()).0;
        let (absent, by_call) = (self.emit.block(), self.emit.block());
        if seen.is_megamorphic() {
            let (fields, nodes) = (self.emit.block(), self.emit.block());
            self.emit.branch(shape, fields, nodes);
            self.emit.switch_to(fields);
            let value = self.emit.field_by_name(object, name, absent, by_call);
            self.looked_up(value, ways);
            self.emit.switch_to(nodes);
        } else {
            self.emit.guard_not(shape, ways.by_cache);
        }
        let value = self.emit.string_in_nodes(object, name, absent);
        self.looked_up(value, ways);
        self.emit.switch_to(absent);
        let nowhere = self.emit.block();
        let value = self.emit.inherited_by_name(object, name, nowhere, by_call);
        self.looked_up(value, ways);
        self.emit.switch_to(nowhere);
        let nil = self.emit.int(0);
        self.emit.verify_lookup(ways.pc, ways.object, (nil, nil));
        self.nothing(ways);
        self.emit.switch_to(by_call);
        let args = [self.emit.state(), object, name];
        let value = self.emit.runtime_pair(self.calls.get_str as usize, &args);
        self.emit.guard_answer(value.1, ways.by_cache);
        self.looked_up(value, ways);
    }

    /// Ends a lookup with a value.
    fn looked_up(&mut self, value: (Value, Value), ways: Ways) {
        self.emit.verify_lookup(ways.pc, ways.object, value);
        self.found(ways.dst, value, ways.done);
    }

    /// Members of values other than tables: userdata and strings.
    fn members(
        &mut self,
        pc: Pc,
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
            let other = self.emit.block();
            if self.emit.require(&[object_tag], Tag::USERDATA, other) {
                let meta = self.emit.userdata_meta(object);
                for (entry, dictionary) in of_userdata {
                    let next = self.emit.block();
                    let r = self.emit.record(self.cache_of(pc), entry, slow);
                    self.emit.guard_record_id(r, FieldEntry::USERDATA_SHAPE, next);
                    self.emit.guard_chain(r, meta, next, slow);
                    self.of_holder(r, dictionary, ways);
                    self.emit.switch_to(next);
                }
                self.emit.jump(slow);
            } else {
                self.emit.jump(other);
            }
            self.emit.switch_to(other);
        }
        let of_strings = paths.iter().find_map(|p| match *p {
            FieldPath::Method { entry, dictionary, .. } => Some((entry, dictionary)),
            _ => None,
        });
        match of_strings {
            Some((entry, dictionary)) if self.emit.require(&[object_tag], Tag::STRING, slow) => {
                let r = self.emit.record(self.cache_of(pc), entry, slow);
                self.emit.guard_record_id(r, FieldEntry::STRING_SHAPE, slow);
                let meta = self.emit.string_meta();
                self.emit.guard_chain(r, meta, slow, slow);
                self.of_holder(r, dictionary, ways);
            }
            _ => {
                self.emit.jump(slow);
            }
        }
    }

    /// Ends a lookup with nil.
    fn nothing(&mut self, ways: Ways) {
        let nil = self.emit.int(0);
        self.store_home(ways.dst, nil, Known::Tag(Tag::NIL));
        self.emit.join(ways.done, nil, nil);
    }

    /// Ends a lookup with an own field of the table.
    fn own(
        &mut self,
        (object, shape): (Value, Value),
        slot: Slot,
        absent: Option<usize>,
        ways: Ways,
    ) {
        let (bits, tag) = self.emit.load_field(object, slot);
        self.emit.verify_field(ways.pc, object, self.instr(ways.pc).c(), (bits, tag));
        let nil = self.emit.block();
        self.emit.guard(tag, nil);
        self.found(ways.dst, (bits, tag), ways.done);
        self.emit.switch_to(nil);
        let meta = self.emit.meta(object);
        let Some(entry) = absent else {
            self.emit.guard_not(meta, ways.by_cache);
            return self.nothing(ways);
        };
        let (has_meta, lacks) = (self.emit.block(), self.emit.block());
        self.emit.branch(meta, has_meta, lacks);
        self.emit.switch_to(has_meta);
        let r = self.emit.record(self.cache_of(ways.pc), entry, ways.slow);
        self.emit.guard_record(r, shape, ways.by_cache);
        self.emit.guard_no_holder(r, ways.by_cache);
        self.emit.guard_chain(r, meta, ways.by_cache, ways.by_cache);
        let nothing = self.emit.int(0);
        self.emit.verify_lookup(ways.pc, ways.object, (nothing, nothing));
        self.emit.jump(lacks);
        self.emit.switch_to(lacks);
        self.nothing(ways);
    }

    /// Ends a lookup with the field of the holder that an entry names.
    fn of_holder(&mut self, r: Record, dictionary: bool, ways: Ways) {
        let value = self.emit.load_from_holder(r, dictionary, ways.by_cache, ways.slow);
        self.looked_up(value, ways);
    }

    /// SETFIELD.
    pub(super) fn set_field(&mut self, pc: Pc) {
        let i = self.instr(pc);
        let (object, object_tag) = self.any(i.ra());
        let (bits, tag) = self.stored(i);
        let t = self.emit.tag_value(tag);
        let slow = self.emit.cold_block();
        let done = self.emit.block();
        let value = Stored { bits, tag: t, known: tag };
        let seen = self.snapshot.field(pc).clone();
        let asks = seen.paths.is_empty() && seen.seen && self.slow_exit.is_none();
        if self.emit.require(&[object_tag], Tag::TABLE, slow) {
            let by_cache = if asks { self.emit.cold_block() } else { slow };
            if !seen.paths.is_empty() {
                let shape = self.emit.shape(object);
                let flags = self.emit.flags(object);
                self.emit.guard_not_watched(flags, by_cache);
                for path in seen.paths.iter().take(MAX_PATHS) {
                    let next = match *path {
                        FieldPath::Own { .. } if seen.is_megamorphic() => continue,
                        FieldPath::Own { shape: id, slot, .. } => {
                            let next = self.emit.shape_case(shape, id);
                            self.emit.guard_stores_field(object, slot, by_cache);
                            self.emit.store_field(object, slot, value, true);
                            self.emit.barrier(object, (bits, tag));
                            self.emit.verify_field(pc, object, i.b(), (bits, t));
                            next
                        }
                        FieldPath::Gain { shape: id, slot, entry, plain, .. } => {
                            let next = self.emit.shape_case(shape, id);
                            let r = self.emit.record(self.cache_of(pc), entry, by_cache);
                            self.emit.guard_record(r, shape, by_cache);
                            let unlogged = self.emit.is_unlogged(flags);
                            self.emit.guard_not(unlogged, by_cache);
                            if !plain {
                                self.emit.guard_lacks(object, Event::NewIndex, by_cache);
                            }
                            self.emit.add_field(object, (slot, None), r, (bits, tag), by_cache);
                            self.emit.verify_field(pc, object, i.b(), (bits, t));
                            next
                        }
                        _ => continue,
                    };
                    self.emit.jump(done);
                    self.emit.switch_to(next);
                }
            }
            let name = self.emit.constant(i.b()).0;
            let args = [self.emit.state(), object, name, bits, t];
            let store_or_call = |this: &mut Self, is_dictionary| {
                let by_call = this.emit.cold_block();
                if is_dictionary {
                    this.emit.store_in_nodes(object, name, value, by_call);
                } else {
                    this.emit.store_by_name(object, name, value, by_call);
                }
                this.emit.verify_field(pc, object, i.b(), (bits, t));
                this.emit.jump(done);
                this.emit.switch_to(by_call);
                let stored = this.emit.runtime_word(this.calls.set_str as usize, &args);
                this.emit.branch(stored, done, by_cache);
            };
            if seen.dictionaries {
                let shape = self.emit.shape(object);
                let next = self.emit.shape_case(shape, FieldEntry::DICTIONARY_SHAPE);
                store_or_call(self, true);
                self.emit.switch_to(next);
            }
            if seen.is_megamorphic() {
                store_or_call(self, false);
            } else {
                self.emit.jump(by_cache);
            }
            if asks {
                self.emit.switch_to(by_cache);
                let cache = self.emit.field_cache_address(self.cache_of(pc));
                self.emit.save_frame(pc + 1);
                let args = [self.emit.state(), cache, object, bits, t];
                let hit = self.emit.runtime_word(self.calls.set_more as usize, &args);
                self.emit.branch(hit, done, slow);
            }
        } else {
            self.emit.jump(slow);
        }
        if self.slow_exit.is_some() {
            return self.end_slowly(slow, pc, done);
        }
        self.emit.switch_to(slow);
        if asks {
            let key = self.constant_operand(self.instr(pc).b());
            self.new_index_handler(pc, key, done);
        }
        if asks {
            self.emit.runtime_step(self.calls.one as usize, pc + 1, &[]);
        } else if seen.paths.is_empty() {
            self.emit.runtime_step(self.calls.set_field as usize, pc + 1, &[]);
        } else {
            self.emit.preserving_step(self.calls.preserving_set_field as usize, pc + 1);
        }
        self.emit.jump(done);
        self.emit.switch_to(done);
    }
}
