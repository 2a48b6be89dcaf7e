//! Upvalues, globals and elements.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F64, I32, I64};
use cranelift_codegen::ir::{Block, InstBuilder, Value};
use perilune_bytecode::{Instr, Op};
use perilune_runtime::header::GcHeader;
use perilune_runtime::instance::GlobalCache;
use perilune_runtime::layout::{self, closure, table, value};
use perilune_runtime::string::LuaString;
use perilune_runtime::table::ArrayKind;
use perilune_runtime::tier::MISS;
use perilune_runtime::value::Tag;

use super::encoding::KIND_TO_TAG;
use super::regs::Known;
use super::{Join, MEM, Translator};
use crate::analysis::types::{self, access};
use crate::testing::fault::Fault;

/// The key of an access.
#[derive(Clone, Copy)]
enum Key {
    Register(usize),
    Constant(i64),
}

impl Translator<'_> {
    pub(super) fn upvalue(&mut self, n: usize) -> Value {
        let closure = self.closure();
        self.b.ins().load(I64, MEM, closure, (closure::UPVALUES + n * size_of::<usize>()) as i32)
    }

    pub(super) fn upvalue_access(&mut self, i: Instr) {
        let up = self.upvalue(i.b());
        let place = self.b.ins().load(I64, MEM, up, closure::PLACE as i32);
        if i.op() == Op::GetUpval {
            let (bits, tag) = self.load_value(place, 0);
            self.set(i.a(), bits, Known::Value(tag));
        } else {
            let (bits, tag) = self.any(i.a());
            let t = self.tag_value(tag);
            self.b.ins().store(MEM, bits, place, 0);
            self.b.ins().istore8(MEM, t, place, value::TAG as i32);
            self.barrier(up, tag);
        }
    }

    /// The write barrier of `owner`, into which a value with this tag was stored.
    pub(super) fn barrier(&mut self, owner: Value, tag: Known) {
        let on = self.b.create_block();
        match tag {
            Known::Tag(t) if !t.is_collectable() => {
                self.b.ins().jump(on, &[]);
                self.b.switch_to_block(on);
                return;
            }
            Known::Tag(_) => {}
            Known::Value(t) => {
                let check = self.b.create_block();
                let c = self.b.ins().band_imm_u(t, Tag::COLLECTABLE as i64);
                self.b.ins().brif(c, check, &[], on, &[]);
                self.b.switch_to_block(check);
            }
        }
        let cold = self.cold_block();
        let flags = self.b.ins().uload8(I64, MEM, owner, layout::header::FLAGS as i32);
        let unlogged = self.b.ins().band_imm_u(flags, GcHeader::UNLOGGED as i64);
        self.b.ins().brif(unlogged, cold, &[], on, &[]);
        self.b.switch_to_block(cold);
        let st = self.state();
        self.runtime(self.calls.barrier as usize, &[st, owner], &[]);
        self.b.ins().jump(on, &[]);
        self.b.switch_to_block(on);
    }

    /// Branches to `slow` unless the condition holds.
    pub(super) fn guard(&mut self, condition: Value, slow: Block) {
        let on = self.next_block();
        self.b.ins().brif(condition, on, &[], slow, &[]);
        self.b.switch_to_block(on);
    }

    /// Guards that the environment of the global access at `pc` is that of its cache; returns the
    /// environment and the cell.
    fn global_cell(&mut self, pc: usize, upvalue: usize, slow: Block) -> (Value, Value) {
        let up = self.upvalue(upvalue);
        let place = self.b.ins().load(I64, MEM, up, closure::PLACE as i32);
        let (env, tag) = self.load_value(place, 0);
        let is_table = self.b.ins().icmp_imm_u(IntCC::Equal, tag, Tag::TABLE.0 as i64);
        self.guard(is_table, slow);
        let number = self.snapshot.cells[pc] as usize;
        let at = (self.places.globals + number * size_of::<GlobalCache>()) as i32;
        let env_at = at + layout::global_cache::ENV as i32;
        let cached = self.b.ins().load(I64, MEM, self.instance, env_at);
        let same = self.b.ins().icmp(IntCC::Equal, cached, env);
        self.guard(same, slow);
        let cell_at = at + layout::global_cache::CELL as i32;
        (env, self.b.ins().load(I64, MEM, self.instance, cell_at))
    }

    pub(super) fn get_global(&mut self, pc: usize) {
        let i = self.proto.code[pc];
        let slow = self.cold_block();
        let done = self.join_block(I64);
        let (env, cell) = self.global_cell(pc, i.b(), slow);
        let (bits, tag) = self.load_value(cell, layout::cell::VALUE as i32);
        self.guard(tag, slow);
        self.verify_field(pc, env, i.c(), (bits, tag));
        self.store_home(i.a(), bits, Known::Value(tag));
        self.join(done, bits, tag);
        self.b.switch_to_block(slow);
        self.generic_result(pc, i.a(), I64, done);
        self.take_value(done, i.a());
    }

    /// The value that a store at `pc` stores: a register or a constant.
    pub(super) fn stored(&mut self, i: Instr) -> (Value, Known) {
        match i.op() {
            Op::SetTabUpK | Op::SetTableK | Op::SetIK | Op::SetFieldK => {
                let (bits, tag) = self.constant(i.c());
                (bits, Known::Tag(tag))
            }
            _ => self.any(i.c()),
        }
    }

    pub(super) fn set_global(&mut self, pc: usize) {
        let i = self.proto.code[pc];
        let slow = self.cold_block();
        let done = self.b.create_block();
        let (bits, tag) = self.stored(i);
        let t = self.tag_value(tag);
        let (env, cell) = self.global_cell(pc, i.a(), slow);
        let at = layout::cell::VALUE as i32;
        let old = self.b.ins().uload8(I64, MEM, cell, at + value::TAG as i32);
        self.guard(old, slow);
        self.guard(t, slow);
        self.b.ins().store(MEM, bits, cell, at);
        self.b.ins().istore8(MEM, t, cell, at + value::TAG as i32);
        self.barrier(cell, tag);
        self.verify_field(pc, env, i.b(), (bits, t));
        self.b.ins().jump(done, &[]);
        self.end_slowly(slow, pc, done);
    }

    /// Ends a lookup with what the runtime answered.
    pub(super) fn answer(&mut self, dst: usize, bits: Value, tag: Value, slow: Block, done: Join) {
        let known = self.b.ins().icmp_imm_u(IntCC::NotEqual, tag, MISS as i64);
        self.guard(known, slow);
        self.store_home(dst, bits, Known::Value(tag));
        self.join(done, bits, tag);
    }

    /// Object and key of an access.
    fn access(&mut self, object: usize, key: Key) -> ((Value, Known), (Value, Known)) {
        let object = self.any(object);
        let key = match key {
            Key::Register(r) => self.any(r),
            Key::Constant(n) => (self.int(n), Known::Tag(Tag::INTEGER)),
        };
        (object, key)
    }

    /// A load from an array that is taken for one of numbers.
    fn number_element(&mut self, pc: usize, dst: usize, object: Value, key: Value, tag: Tag) {
        let wrong = self.cold_block();
        let at = self.array_index(object, key, wrong);
        let kind = self.b.ins().uload8(I64, MEM, object, layout::header::AUX as i32);
        let wanted = i64::from(tag.0) - KIND_TO_TAG;
        let right = self.b.ins().icmp_imm_u(IntCC::Equal, kind, wanted);
        self.guard(right, wrong);
        let place = self.payload_address(object, at);
        let tag_value = self.int(tag.0.into());
        if tag == Tag::FLOAT {
            let v = self.b.ins().load(F64, MEM, place, 0);
            let bits = self.float_bits(v);
            self.verify_element(pc, object, key, (bits, tag_value));
            self.set_float(dst, v);
        } else {
            let v = self.b.ins().load(I64, MEM, place, 0);
            self.verify_element(pc, object, key, (v, tag_value));
            self.set(dst, v, Known::Tag(tag));
        }
        self.deoptimize_at(wrong, pc);
    }

    /// GETTABLE and GETI.
    pub(super) fn get_table(&mut self, pc: usize) {
        let i = self.proto.code[pc];
        let key =
            if i.op() == Op::GetI { Key::Constant(i.c() as i64) } else { Key::Register(i.c()) };
        let ((object, object_tag), (key, key_tag)) = self.access(i.b(), key);
        if let Some(tag) = types::facts(self.snapshot, pc, i).result {
            return self.number_element(pc, i.a(), object, key, tag);
        }
        let mask = self.snapshot.cells[pc];
        let mask = if mask == 0 { access::ARRAY } else { mask };
        let slow = self.cold_block();
        let done = self.join_block(I64);
        if self.require(&[object_tag], Tag::TABLE, slow) {
            let strings = self.b.create_block();
            if mask & access::ARRAY != 0 && self.require(&[key_tag], Tag::INTEGER, strings) {
                self.element(pc, (object, key), mask, slow, done);
            } else {
                self.b.ins().jump(strings, &[]);
            }
            self.b.switch_to_block(strings);
            let others = self.b.create_block();
            if mask & access::STRING != 0 && self.require(&[key_tag], Tag::STRING, others) {
                self.guard_short(key, slow);
                let args = [self.state(), object, key];
                let (bits, tag) = self.runtime_pair(self.calls.get_str as usize, &args);
                self.answer(i.a(), bits, tag, slow, done);
            } else {
                self.b.ins().jump(others, &[]);
            }
            self.b.switch_to_block(others);
            if let Known::Tag(Tag::INTEGER) = key_tag {
                self.b.ins().jump(slow, &[]);
            } else {
                let k = self.tag_value(key_tag);
                let args = [self.state(), object, key, k];
                let (bits, tag) = self.runtime_pair(self.calls.get_any as usize, &args);
                self.answer(i.a(), bits, tag, slow, done);
            }
        } else {
            self.b.ins().jump(slow, &[]);
        }
        self.b.switch_to_block(slow);
        self.generic_result(pc, i.a(), I64, done);
        self.take_value(done, i.a());
    }

    fn guard_short(&mut self, string: Value, slow: Block) {
        let class = self.b.ins().uload8(I64, MEM, string, layout::header::AUX as i32);
        let short = self.b.ins().icmp_imm_u(IntCC::Equal, class, LuaString::SHORT as i64);
        self.guard(short, slow);
    }

    /// Index of key `key` in the array of `object`; `outside` if it is not in there.
    fn array_index(&mut self, object: Value, key: Value, outside: Block) -> Value {
        let at = self.b.ins().iadd_imm_s(key, -1);
        let len = self.b.ins().load(I32, MEM, object, table::ARRAY_LEN as i32);
        let len = self.b.ins().uextend(I64, len);
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, at, len);
        self.guard(inside, outside);
        at
    }

    /// Address of the payload of element `at`.
    fn payload_address(&mut self, object: Value, at: Value) -> Value {
        let array = self.b.ins().load(I64, MEM, object, table::ARRAY as i32);
        let offset = self.b.ins().ishl_imm_u(at, 3);
        self.b.ins().iadd(array, offset)
    }

    /// Addresses of payload and tag of element `at`; the tag's is good for arrays of any kind of
    /// value.
    pub(super) fn element_addresses(&mut self, object: Value, at: Value) -> (Value, Value) {
        let array = self.b.ins().load(I64, MEM, object, table::ARRAY as i32);
        let offset = self.b.ins().ishl_imm_u(at, 3);
        let payload = self.b.ins().iadd(array, offset);
        let cap = self.b.ins().load(I32, MEM, object, table::ARRAY_CAP as i32);
        let cap = self.b.ins().uextend(I64, cap);
        let tags = self.b.ins().ishl_imm_u(cap, 3);
        let tags = self.b.ins().iadd(array, tags);
        let tag = self.b.ins().iadd(tags, at);
        (payload, tag)
    }

    fn element(
        &mut self,
        pc: usize,
        (object, key): (Value, Value),
        mask: u32,
        slow: Block,
        done: Join,
    ) {
        let dst = self.proto.code[pc].a();
        let outside =
            if mask & access::OUTSIDE != 0 { self.b.create_block() } else { self.cold_block() };
        let at = self.array_index(object, key, outside);
        let kind = self.b.ins().uload8(I64, MEM, object, layout::header::AUX as i32);
        let (any, numbers) = (self.b.create_block(), self.b.create_block());
        let (payload, tag_at) = self.element_addresses(object, at);
        let is_any = self.b.ins().icmp_imm_u(IntCC::Equal, kind, ArrayKind::Any as i64);
        self.b.ins().brif(is_any, any, &[], numbers, &[]);

        self.b.switch_to_block(numbers);
        let bits = self.b.ins().load(I64, MEM, payload, 0);
        let tag = self.number_tag(kind);
        self.verify_element(pc, object, key, (bits, tag));
        self.store_home(dst, bits, Known::Value(tag));
        self.join(done, bits, tag);

        self.b.switch_to_block(any);
        let bits = self.b.ins().load(I64, MEM, payload, 0);
        let tag = self.b.ins().uload8(I64, MEM, tag_at, 0);
        self.guard(tag, slow);
        self.verify_element(pc, object, key, (bits, tag));
        self.store_home(dst, bits, Known::Value(tag));
        self.join(done, bits, tag);

        self.b.switch_to_block(outside);
        let args = [self.state(), object, key];
        let (bits, tag) = self.runtime_pair(self.calls.get_int as usize, &args);
        self.answer(dst, bits, tag, slow, done);
    }

    /// SETTABLE and SETI.
    pub(super) fn set_table(&mut self, pc: usize) {
        let i = self.proto.code[pc];
        let key = if matches!(i.op(), Op::SetI | Op::SetIK) {
            Key::Constant(i.b() as i64)
        } else {
            Key::Register(i.b())
        };
        let ((object, object_tag), (key, key_tag)) = self.access(i.a(), key);
        let (bits, tag) = self.stored(i);
        let t = self.tag_value(tag);
        let mask = self.snapshot.cells[pc];
        let mask = if mask == 0 { access::ARRAY } else { mask };
        let slow = self.cold_block();
        let done = self.b.create_block();
        if self.require(&[object_tag], Tag::TABLE, slow) {
            let strings = self.b.create_block();
            if mask & access::ARRAY != 0 && self.require(&[key_tag], Tag::INTEGER, strings) {
                self.set_element(pc, (object, key), (bits, t, tag), mask, slow, done);
            } else {
                self.b.ins().jump(strings, &[]);
            }
            self.b.switch_to_block(strings);
            let others = self.b.create_block();
            if mask & access::STRING != 0 && self.require(&[key_tag], Tag::STRING, others) {
                let st = self.state();
                let args = [st, object, key, bits, t];
                let inst = self.runtime(self.calls.set_str as usize, &args, &[I64]);
                let hit = self.b.inst_results(inst)[0];
                self.b.ins().brif(hit, done, &[], slow, &[]);
            } else {
                self.b.ins().jump(others, &[]);
            }
            self.b.switch_to_block(others);
            if let Known::Tag(Tag::INTEGER) = key_tag {
                self.b.ins().jump(slow, &[]);
            } else {
                let k = self.tag_value(key_tag);
                let st = self.state();
                let args = [st, object, key, k, bits, t];
                let inst = self.runtime(self.calls.set_any as usize, &args, &[I64]);
                let hit = self.b.inst_results(inst)[0];
                self.b.ins().brif(hit, done, &[], slow, &[]);
            }
        } else {
            self.b.ins().jump(slow, &[]);
        }
        self.end_slowly(slow, pc, done);
    }

    fn set_element(
        &mut self,
        pc: usize,
        (object, key): (Value, Value),
        (bits, t, tag): (Value, Value, Known),
        mask: u32,
        slow: Block,
        done: Block,
    ) {
        let (outside, by_call) = (self.b.create_block(), self.b.create_block());
        let at = self.b.ins().iadd_imm_s(key, -1);
        let len = self.b.ins().load(I32, MEM, object, table::ARRAY_LEN as i32);
        let len = self.b.ins().uextend(I64, len);
        let kind = self.b.ins().uload8(I64, MEM, object, layout::header::AUX as i32);
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, at, len);
        self.guard(inside, outside);
        let numbers = access::INTS | access::FLOATS;
        let numbers_only =
            mask & numbers != 0 && mask & !(numbers | access::ARRAY | access::OUTSIDE) == 0;
        if !numbers_only {
            let (any, numbers) = (self.b.create_block(), self.b.create_block());
            let is_any = self.b.ins().icmp_imm_u(IntCC::Equal, kind, ArrayKind::Any as i64);
            self.b.ins().brif(is_any, any, &[], numbers, &[]);
            self.b.switch_to_block(any);
            let (payload, tag_at) = self.element_addresses(object, at);
            let old = self.b.ins().uload8(I64, MEM, tag_at, 0);
            self.guard(old, by_call);
            self.guard(t, by_call);
            self.b.ins().store(MEM, bits, payload, 0);
            self.b.ins().istore8(MEM, t, tag_at, 0);
            self.barrier(object, tag);
            self.verify_element(pc, object, key, (bits, t));
            self.b.ins().jump(done, &[]);
            self.b.switch_to_block(numbers);
        }
        // all elements of an array of numbers are there
        self.guard_number_kind(kind, (t, tag), by_call);
        let payload = self.payload_address(object, at);
        self.b.ins().store(MEM, bits, payload, 0);
        self.verify_element(pc, object, key, (bits, t));
        self.b.ins().jump(done, &[]);

        self.b.switch_to_block(outside);
        if mask & access::OUTSIDE != 0 {
            self.append(pc, object, (at, len, kind), (bits, t, tag), by_call, done);
        } else {
            self.b.ins().jump(by_call, &[]);
        }
        self.b.switch_to_block(by_call);
        let st = self.state();
        let inst = self.runtime(self.calls.set_int as usize, &[st, object, key, bits, t], &[I64]);
        let hit = self.b.inst_results(inst)[0];
        self.b.ins().brif(hit, done, &[], slow, &[]);
    }

    /// Guards that an array of this kind is one of numbers and has elements with this tag.
    fn guard_number_kind(&mut self, kind: Value, (t, tag): (Value, Known), other: Block) {
        let is_number = matches!(tag, Known::Tag(Tag::INTEGER | Tag::FLOAT));
        if !is_number && self.fault != Some(Fault::UnguardedKind) {
            // other kinds plus the distance are the tags of other values
            let below = self.b.ins().iadd_imm_s(t, -i64::from(Tag::INTEGER.0));
            let numbers = i64::from(Tag::FLOAT.0 - Tag::INTEGER.0) + 1;
            let number = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, below, numbers);
            self.guard(number, other);
        }
        let element = self.number_tag(kind);
        let same = self.b.ins().icmp(IntCC::Equal, element, t);
        self.guard(same, other);
    }

    /// Returns the tag of the elements of an array of numbers of this kind.
    pub(super) fn number_tag(&mut self, kind: Value) -> Value {
        self.b.ins().iadd_imm_s(kind, KIND_TO_TAG)
    }

    /// Appends right after the last element, if there is room and the element is of the array's
    /// kind.
    fn append(
        &mut self,
        pc: usize,
        object: Value,
        (at, len, kind): (Value, Value, Value),
        (bits, t, tag): (Value, Value, Known),
        by_call: Block,
        done: Block,
    ) {
        let next = self.b.ins().icmp(IntCC::Equal, at, len);
        self.guard(next, by_call);
        let cap = self.b.ins().load(I32, MEM, object, table::ARRAY_CAP as i32);
        let cap = self.b.ins().uextend(I64, cap);
        let room = self.b.ins().icmp(IntCC::UnsignedLessThan, at, cap);
        self.guard(room, by_call);
        // the next key may be in the hash part, and a metamethod may have a say
        let nodes = self.b.ins().load(I64, MEM, object, table::NODES as i32);
        let meta = self.b.ins().load(I64, MEM, object, table::META as i32);
        let others = self.b.ins().bor(nodes, meta);
        let plain = self.b.create_block();
        self.b.ins().brif(others, by_call, &[], plain, &[]);
        self.b.switch_to_block(plain);
        let (any, numbers) = (self.b.create_block(), self.b.create_block());
        let longer = self.b.ins().iadd_imm_s(len, 1);
        let is_any = self.b.ins().icmp_imm_u(IntCC::Equal, kind, ArrayKind::Any as i64);
        self.b.ins().brif(is_any, any, &[], numbers, &[]);

        self.b.switch_to_block(any);
        self.guard(t, by_call);
        let (payload, tag_at) = self.element_addresses(object, at);
        self.b.ins().store(MEM, bits, payload, 0);
        self.b.ins().istore8(MEM, t, tag_at, 0);
        self.b.ins().istore32(MEM, longer, object, table::ARRAY_LEN as i32);
        self.barrier(object, tag);
        self.verify_element(pc, object, longer, (bits, t));
        self.b.ins().jump(done, &[]);

        self.b.switch_to_block(numbers);
        self.guard_number_kind(kind, (t, tag), by_call);
        let payload = self.payload_address(object, at);
        self.b.ins().store(MEM, bits, payload, 0);
        self.b.ins().istore32(MEM, longer, object, table::ARRAY_LEN as i32);
        self.verify_element(pc, object, longer, (bits, t));
        self.b.ins().jump(done, &[]);
    }

    pub(super) fn length(&mut self, pc: usize) {
        let i = self.proto.code[pc];
        let (object, tag) = self.any(i.b());
        let slow = self.cold_block();
        let done = self.join_block(I64);
        let int = |t: &mut Self, v: Value| {
            t.store_home(i.a(), v, Known::Tag(Tag::INTEGER));
            let tag = t.int(Tag::INTEGER.0.into());
            t.join(done, v, tag);
        };
        let other = self.b.create_block();
        if self.require(&[tag], Tag::TABLE, other) {
            let meta = self.b.ins().load(I64, MEM, object, table::META as i32);
            let on = self.b.create_block();
            self.b.ins().brif(meta, slow, &[], on, &[]);
            self.b.switch_to_block(on);
            let len = self.b.ins().load(I32, MEM, object, table::ARRAY_LEN as i32);
            let len = self.b.ins().uextend(I64, len);
            int(self, len);
        } else {
            self.b.ins().jump(other, &[]);
        }
        self.b.switch_to_block(other);
        if self.require(&[tag], Tag::STRING, slow) {
            let len = self.b.ins().load(I32, MEM, object, layout::string::LEN as i32);
            let len = self.b.ins().uextend(I64, len);
            int(self, len);
        } else {
            self.b.ins().jump(slow, &[]);
        }
        self.b.switch_to_block(slow);
        self.generic_result(pc, i.a(), I64, done);
        self.take_value(done, i.a());
    }

    pub(super) fn set_list(&mut self, pc: usize) {
        let i = self.proto.code[pc];
        let (t, tag) = self.any(i.a());
        let (slow, on) = (self.cold_block(), self.b.create_block());
        if self.require(&[tag], Tag::TABLE, slow) {
            let st = self.state();
            let values = self.address(i.a() + 1);
            let n = if i.b() != 0 {
                self.int(i.b() as i64)
            } else {
                let top = self.b.ins().load(I64, MEM, st, layout::state::TOP as i32);
                let bytes = self.b.ins().isub(top, values);
                self.b.ins().ushr_imm_u(bytes, i64::from(value::LOG_SIZE))
            };
            let start = self.b.ins().iconst(I32, self.proto.code[pc + 1].ax_value() as i64);
            let args = [st, t, start, values, n];
            let inst = self.runtime(self.calls.set_list as usize, &args, &[I64]);
            let done = self.b.inst_results(inst)[0];
            self.b.ins().brif(done, on, &[], slow, &[]);
        } else {
            self.b.ins().jump(slow, &[]);
        }
        self.end_slowly(slow, pc, on);
    }
}
