//! Translates accesses to upvalues, globals and elements.

use cranelift_codegen::ir::types::{F64, I64};
use cranelift_codegen::ir::{Block, Value};
use perilune_bytecode::feedback::access;
use perilune_bytecode::{Feedback, Instr, Op};
use perilune_runtime::meta::Event;
use perilune_runtime::value::Tag;

use super::Translator;
use crate::analysis::facts::{elements_seen, facts};
use crate::codegen::element::{ArrayChanges, ElementStore, Held, Kinds};
use crate::codegen::table::Stored;
use crate::codegen::value::{Join, Known};
use crate::entity::{Pc, Reg, RegisterOperands};

/// The key of an access.
#[derive(Clone, Copy)]
enum Key {
    Register(Reg),
    Constant(i64),
}

impl Translator<'_> {
    pub(super) fn get_global(&mut self, pc: Pc) {
        let i = self.instr(pc);
        let slow = self.emit.cold_block();
        let done = self.emit.join_block(I64);
        let up = self.emit.upvalue(i.b());
        let (env, cell) = self.emit.global_cell(self.snapshot.cell(pc) as usize, up, slow);
        let (bits, tag) = self.emit.load_cell(cell);
        self.emit.guard(tag, slow);
        self.emit.verify_global(pc, env, (bits, tag));
        self.found(i.ra(), (bits, tag), done);
        self.emit.switch_to(slow);
        self.generic_result(pc, i.ra(), I64, done);
        self.take_value(done, i.ra());
    }

    /// Returns the value that a store instruction stores: a register or a constant.
    pub(super) fn stored(&mut self, i: Instr) -> (Value, Known) {
        match i.op() {
            Op::SetTabUpK | Op::SetTableK | Op::SetIK | Op::SetFieldK => {
                let (bits, tag) = self.emit.constant(i.c());
                (bits, Known::Tag(tag))
            }
            _ => self.any(i.rc()),
        }
    }

    pub(super) fn set_global(&mut self, pc: Pc) {
        let i = self.instr(pc);
        let slow = self.emit.cold_block();
        let done = self.emit.block();
        let (bits, tag) = self.stored(i);
        let t = self.emit.tag_value(tag);
        let up = self.emit.upvalue(i.a());
        let (env, cell) = self.emit.global_cell(self.snapshot.cell(pc) as usize, up, slow);
        let old = self.emit.load_cell_tag(cell);
        self.emit.guard(old, slow);
        self.emit.guard(t, slow);
        self.emit.store_cell((bits, t), cell);
        self.emit.barrier(cell, (bits, tag));
        self.emit.verify_field(pc, env, i.b(), (bits, t));
        self.emit.jump(done);
        self.end_slowly(slow, pc, done);
    }

    /// Ends a lookup with the result of the runtime.
    pub(super) fn answer(&mut self, dst: Reg, bits: Value, tag: Value, slow: Block, done: Join) {
        self.emit.guard_answer(tag, slow);
        self.found(dst, (bits, tag), done);
    }

    /// Returns object and key of an access.
    fn access(&mut self, object: Reg, key: Key) -> ((Value, Known), (Value, Known)) {
        let object = self.any(object);
        let key = match key {
            Key::Register(r) => self.any(r),
            Key::Constant(n) => (self.emit.int(n), Known::Tag(Tag::INTEGER)),
        };
        (object, key)
    }

    /// Translates a load from an array that is speculated to be one of numbers.
    fn number_element(&mut self, pc: Pc, object: Value, key: (Value, Known), tag: Tag) {
        let dst = self.instr(pc).ra();
        let wrong = self.emit.cold_block();
        let Some(key) = self.integer_key(key, self.snapshot.cell(pc), wrong) else {
            // Code always exits, and nothing leads to what comes after it.
            let after = self.emit.block();
            self.emit.switch_to(after);
            let nothing = self.emit.int(0);
            match tag {
                Tag::FLOAT => {
                    let nothing = self.emit.bits_float(nothing);
                    self.set_float(dst, nothing);
                }
                _ => self.set(dst, nothing, Known::Tag(tag)),
            }
            return self.deoptimize_at(wrong, pc);
        };
        let place = self.emit.number_place(object, key, tag, wrong);
        let tag_value = self.emit.tag(tag);
        if tag == Tag::FLOAT {
            let v = self.emit.load_number(place, F64);
            let bits = self.emit.float_bits(v);
            self.emit.verify_element(pc, object, key, (bits, tag_value));
            self.set_float(dst, v);
        } else {
            let v = self.emit.load_number(place, I64);
            self.emit.verify_element(pc, object, key, (v, tag_value));
            self.set(dst, v, Known::Tag(tag));
        }
        self.deoptimize_at(wrong, pc);
    }

    /// Translates GETTABLE or GETI.
    pub(super) fn get_table(&mut self, pc: Pc) {
        let i = self.instr(pc);
        let key =
            if i.op() == Op::GetI { Key::Constant(i.c() as i64) } else { Key::Register(i.rc()) };
        let ((object, object_tag), (key, key_tag)) = self.access(i.rb(), key);
        if let Some(tag) = facts(self.snapshot, pc, i).result {
            return self.number_element(pc, object, (key, key_tag), tag);
        }
        let mask = self.snapshot.cell(pc);
        let mask = if mask == 0 { access::ARRAY } else { mask };
        let slow = self.emit.cold_block();
        let done = self.emit.join_block(I64);
        if self.emit.require(&[object_tag], Tag::TABLE, slow) {
            let strings = self.emit.block();
            if let Some(key) = self.integer_key((key, key_tag), mask, strings) {
                self.element(pc, (object, key), mask, slow, done);
            }
            self.emit.switch_to(strings);
            let others = self.emit.block();
            if mask & access::STRING != 0 && self.emit.require(&[key_tag], Tag::STRING, others) {
                let by_call = self.emit.block();
                let (fields, nodes) = (self.emit.block(), self.emit.block());
                let (absent, nowhere) = (self.emit.block(), self.emit.block());
                let shape = self.emit.shape(object);
                self.emit.branch(shape, fields, nodes);
                self.emit.switch_to(fields);
                let found = self.emit.field_by_name(object, key, absent, by_call);
                self.found(i.ra(), found, done);
                self.emit.switch_to(nodes);
                let found = self.emit.string_in_nodes(object, key, absent);
                self.found(i.ra(), found, done);
                self.emit.switch_to(absent);
                // the contents of long strings are not compared above
                self.emit.guard_short(key, slow);
                let meta = self.emit.meta(object);
                self.emit.branch(meta, by_call, nowhere);
                self.emit.switch_to(nowhere);
                let nothing = (self.emit.int(0), self.emit.tag(Tag::NIL));
                self.found(i.ra(), nothing, done);
                self.emit.switch_to(by_call);
                self.emit.guard_short(key, slow);
                let args = [self.emit.state(), object, key];
                let (bits, tag) = self.emit.runtime_pair(self.calls.get_str as usize, &args);
                self.answer(i.ra(), bits, tag, slow, done);
            } else {
                self.emit.jump(others);
            }
            self.emit.switch_to(others);
            if let Known::Tag(Tag::INTEGER) = key_tag {
                self.emit.jump(slow);
            } else {
                let by_call = self.emit.block();
                if mask & access::OTHER != 0 && self.emit.require(&[key_tag], Tag::TABLE, by_call) {
                    let found = self.emit.table_in_nodes(object, key, by_call);
                    self.found(i.ra(), found, done);
                } else {
                    self.emit.jump(by_call);
                }
                self.emit.switch_to(by_call);
                let k = self.emit.tag_value(key_tag);
                let args = [self.emit.state(), object, key, k];
                let (bits, tag) = self.emit.runtime_pair(self.calls.get_any as usize, &args);
                self.answer(i.ra(), bits, tag, slow, done);
            }
        } else {
            self.emit.jump(slow);
        }
        self.emit.switch_to(slow);
        if self.calls_metamethods(pc) {
            let key = match i.op() {
                Op::GetI => (self.emit.int(i.c() as i64), self.emit.tag(Tag::INTEGER)),
                _ => self.emit.load_register(i.rc(), I64),
            };
            self.index_handler(pc, i.ra(), i.rb(), key, done);
        }
        self.generic_result(pc, i.ra(), I64, done);
        self.take_value(done, i.ra());
    }

    /// Returns a key as an integer; ends the block with a branch to `other` if it is not an
    /// integer, and with a jump there if feedback or the known facts say that it never is. A float
    /// is one if it has an integral value.
    fn integer_key(
        &mut self,
        (key, tag): (Value, Known),
        mask: u32,
        other: Block,
    ) -> Option<Value> {
        let (done, integer) = self.emit.block_of_word();
        let (floats, mut is_possible) = (self.emit.block(), false);
        let may_be = |bit, of: Tag| mask & bit != 0 || matches!(tag, Known::Tag(tag) if tag == of);
        let is_integer = may_be(access::ARRAY, Tag::INTEGER);
        let is_float = may_be(access::INTEGRAL, Tag::FLOAT);
        if is_integer && self.emit.require(&[tag], Tag::INTEGER, floats) {
            self.emit.jump_with(done, key);
            is_possible = true;
        } else {
            self.emit.jump(floats);
        }
        self.emit.switch_to(floats);
        if is_float && self.emit.require(&[tag], Tag::FLOAT, other) {
            let float = self.emit.bits_float(key);
            let n = self.emit.float_to_int(float, other);
            self.emit.jump_with(done, n);
            is_possible = true;
        } else {
            self.emit.jump(other);
        }
        is_possible.then(|| {
            self.emit.switch_to(done);
            integer
        })
    }

    fn element(
        &mut self,
        pc: Pc,
        (object, key): (Value, Value),
        mask: u32,
        slow: Block,
        done: Join,
    ) {
        let dst = self.instr(pc).ra();
        let outside =
            if mask & access::OUTSIDE != 0 { self.emit.block() } else { self.emit.cold_block() };
        let element = self.emit.element(object, key, Kinds::of(mask), outside);
        let value = self.emit.in_numbers(&element);
        self.emit.verify_element(pc, object, key, value);
        self.found(dst, value, done);
        let value = self.emit.in_any(&element, slow);
        self.emit.verify_element(pc, object, key, value);
        self.found(dst, value, done);
        let value = self.emit.in_booleans(&element, slow);
        self.emit.verify_element(pc, object, key, value);
        self.found(dst, value, done);
        self.emit.switch_to(outside);
        if mask & access::OUTSIDE == 0 {
            let args = [self.emit.state(), object, key];
            let (bits, tag) = self.emit.runtime_pair(self.calls.get_int as usize, &args);
            return self.answer(dst, bits, tag, slow, done);
        }
        let nodes = self.emit.nodes(object);
        let (search, absent) = (self.emit.block(), self.emit.block());
        self.emit.branch(nodes, search, absent);
        self.emit.switch_to(search);
        let value = self.emit.integer_in_nodes(object, nodes, key, absent);
        self.emit.verify_element(pc, object, key, value);
        self.found(dst, value, done);
        self.emit.switch_to(absent);
        let meta = self.emit.meta(object);
        let inherits = self.emit.cold_block();
        self.emit.guard_not(meta, inherits);
        let nothing = (self.emit.int(0), self.emit.tag(Tag::NIL));
        self.found(dst, nothing, done);

        self.emit.switch_to(inherits);
        let args = [self.emit.state(), object, key];
        let (bits, tag) = self.emit.runtime_pair(self.calls.get_int as usize, &args);
        self.answer(dst, bits, tag, slow, done);
    }

    /// Translates SETTABLE or SETI.
    pub(super) fn set_table(&mut self, pc: Pc) {
        let i = self.instr(pc);
        let key = if matches!(i.op(), Op::SetI | Op::SetIK) {
            Key::Constant(i.b() as i64)
        } else {
            Key::Register(i.rb())
        };
        let ((object, object_tag), (key, key_tag)) = self.access(i.ra(), key);
        let (bits, tag) = self.stored(i);
        let t = self.emit.tag_value(tag);
        let mask = self.snapshot.cell(pc);
        let mask = if mask == 0 { access::ARRAY } else { mask };
        let slow = self.emit.cold_block();
        let done = self.emit.block();
        if self.emit.require(&[object_tag], Tag::TABLE, slow) {
            let strings = self.emit.block();
            if let Some(key) = self.integer_key((key, key_tag), mask, strings) {
                let seen = self.element_store(pc);
                let value = Stored { bits, tag: t, known: tag };
                self.emit.store_element(pc, (object, key), value, seen, (slow, done));
            }
            self.emit.switch_to(strings);
            let others = self.emit.block();
            if mask & access::STRING != 0 && self.emit.require(&[key_tag], Tag::STRING, others) {
                let (by_cache, in_nodes) = (self.emit.block(), self.emit.block());
                let by_call = self.emit.block();
                let value = Stored { bits, tag: t, known: tag };
                let string = self.emit.tag(Tag::STRING);
                let shape = self.emit.shape(object);
                self.emit.branch(shape, by_cache, in_nodes);
                self.emit.switch_to(by_cache);
                self.emit.store_by_name(object, key, value, by_call);
                self.emit.verify_entry(pc, object, (key, string), (bits, t));
                self.emit.jump(done);
                self.emit.switch_to(in_nodes);
                self.emit.store_in_nodes(object, key, value, by_call);
                self.emit.verify_entry(pc, object, (key, string), (bits, t));
                self.emit.jump(done);
                self.emit.switch_to(by_call);
                let st = self.emit.state();
                let args = [st, object, key, bits, t];
                let hit = self.emit.runtime_word(self.calls.set_str as usize, &args);
                self.emit.branch(hit, done, slow);
            } else {
                self.emit.jump(others);
            }
            self.emit.switch_to(others);
            if let Known::Tag(Tag::INTEGER) = key_tag {
                self.emit.jump(slow);
            } else {
                let k = self.emit.tag_value(key_tag);
                let st = self.emit.state();
                let args = [st, object, key, k, bits, t];
                let hit = self.emit.runtime_word(self.calls.set_any as usize, &args);
                self.emit.branch(hit, done, slow);
            }
        } else {
            self.emit.jump(slow);
        }
        if self.calls_metamethods(pc) {
            let next = self.emit.cold_block();
            self.emit.switch_to(slow);
            let key = match i.op() {
                Op::SetI | Op::SetIK => (self.emit.int(i.b() as i64), self.emit.tag(Tag::INTEGER)),
                _ => self.emit.load_register(i.rb(), I64),
            };
            self.new_index_handler(pc, key, done);
            self.emit.jump(next);
            return self.end_slowly(next, pc, done);
        }
        self.end_slowly(slow, pc, done);
    }

    /// Returns the conditions that the store to an element at `pc` is likely to find. The call of a
    /// function that appends records none: the array may be of any kind.
    pub(super) fn element_store(&self, pc: Pc) -> ElementStore {
        let mask = match self.instr(pc).op().feedback() {
            Feedback::Access => self.snapshot.cell(pc),
            _ => access::OUTSIDE,
        };
        let numbers = access::INTS | access::FLOATS;
        let places = access::OUTSIDE | access::SPARSE;
        ElementStore {
            held: match elements_seen(mask) & !places {
                seen if seen & numbers != 0 && seen & !numbers == 0 => Held::Numbers,
                access::BOOLS => Held::Booleans,
                _ => Held::Any,
            },
            seen: Kinds::of(mask),
            changes: ArrayChanges { converts: false, grows: mask & access::OUTSIDE != 0 },
            is_sparse: mask & access::SPARSE != 0,
            exits: false,
        }
    }

    pub(super) fn length(&mut self, pc: Pc) {
        let i = self.instr(pc);
        let (object, tag) = self.any(i.rb());
        let slow = self.emit.cold_block();
        let done = self.emit.join_block(I64);
        let int = |t: &mut Self, v: Value| {
            t.store_home(i.ra(), v, Known::Tag(Tag::INTEGER));
            let tag = t.emit.tag(Tag::INTEGER);
            t.emit.join(done, v, tag);
        };
        let other = self.emit.block();
        if self.emit.require(&[tag], Tag::TABLE, other) {
            self.emit.guard_lacks(object, Event::Len, slow);
            let len = self.emit.array_len(object);
            int(self, len);
        } else {
            self.emit.jump(other);
        }
        self.emit.switch_to(other);
        if self.emit.require(&[tag], Tag::STRING, slow) {
            let len = self.emit.string_len(object);
            int(self, len);
        } else {
            self.emit.jump(slow);
        }
        self.emit.switch_to(slow);
        if self.has_failed(pc) {
            self.length_handler(pc, done);
        }
        self.generic_result(pc, i.ra(), I64, done);
        self.take_value(done, i.ra());
    }

    pub(super) fn set_list(&mut self, pc: Pc) {
        let i = self.instr(pc);
        let (t, tag) = self.any(i.ra());
        let (slow, on) = (self.emit.cold_block(), self.emit.block());
        if self.emit.require(&[tag], Tag::TABLE, slow) {
            let count = (i.b() != 0).then_some(i.b());
            let start = self.instr(pc + 1).ax_value();
            let done = self.emit.store_list(t, i.ra() + 1, count, start);
            self.emit.branch(done, on, slow);
        } else {
            self.emit.jump(slow);
        }
        self.end_slowly(slow, pc, on);
    }
}
