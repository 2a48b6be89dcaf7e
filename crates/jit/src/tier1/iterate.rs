//! The generic `for`: `next` and `ipairs` over tables in line, Lua iterators as calls.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value};
use perilune_runtime::layout::{self, frame, node, table};
use perilune_runtime::native::Builtin;
use perilune_runtime::table::ArrayKind;
use perilune_runtime::value::Tag;

use super::regs::Known;
use super::{Join, MEM, Translator};
use crate::analysis::types::UNKNOWN;

/// A round of a loop by `next` or `ipairs` in line.
struct Round {
    pc: usize,
    /// The table.
    object: Value,
    /// First register of the loop.
    a: usize,
    /// Variables of the loop.
    wanted: usize,
    /// Asks the runtime.
    ask: Block,
    done: Join,
}

impl Translator<'_> {
    /// TFORPREP: marks the closing value, and makes a loop by `next` one that is inline.
    pub(super) fn for_each_prep(&mut self, pc: usize) {
        let ra = self.address(self.proto.code[pc].a());
        let st = self.state();
        let inst = self.runtime(self.calls.for_each_prep as usize, &[st, ra], &[I64]);
        let done = self.b.inst_results(inst)[0];
        self.unless_generic(pc, done);
        self.regs.forget_all();
    }

    /// TFORCALL: `next` and `ipairs` are inline, a Lua iterator is called as CALL does, others by
    /// the runtime.
    pub(super) fn for_call(&mut self, pc: usize) {
        let i = self.proto.code[pc];
        let a = i.a();
        let (f, tag) = self.any(a);
        let (object, object_tag) = self.any(a + 1);
        let (control, control_tag) = self.any(a + 2);
        let (position, position_tag) = self.any(a + 3);
        let kind = self.tag_value(position_tag);
        let ask = self.cold_block();
        let done = self.join_block(I64);
        let round = Round { pc, object, a, wanted: i.c(), ask, done };

        // a position in place of the closing value says that the loop is one by `next`
        let is_next = self.b.ins().icmp_imm_u(IntCC::Equal, kind, Tag::ITER.0 as i64);
        let others = self.case(is_next);
        if self.require(&[object_tag], Tag::TABLE, ask) {
            let outside = self.b.create_block();
            self.element_round(&round, object, position, outside, true);
            self.b.switch_to_block(outside);
            self.node_round(&round, object, position);
        } else {
            self.b.ins().jump(ask, &[]);
        }

        self.b.switch_to_block(others);
        let natives = self.b.create_block();
        // the arguments have to be within the frame, whose room is known
        let has_room = a + 8 <= usize::from(self.proto.max_stack);
        if has_room && self.require(&[tag], Tag::FUNCTION, natives) {
            // the copies lie where the frame's own registers may be known to hold something else
            self.regs.forget_from(a + 4);
            self.tags[a + 4..].fill(UNKNOWN);
            self.store_home(a + 4, f, Known::Tag(Tag::FUNCTION));
            self.store_home(a + 6, object, object_tag);
            self.store_home(a + 7, control, control_tag);
            let nargs = self.int(2);
            self.lua_call(pc, a + 4, i.c() + 1, f, nargs, done);
        } else {
            self.b.ins().jump(natives, &[]);
        }

        self.b.switch_to_block(natives);
        let call = self.b.create_block();
        if self.require(&[tag], Tag::NATIVE, call) {
            let number = self.b.ins().load(I32, MEM, f, layout::header::WORD as i32);
            let step = Builtin::IpairsStep as i64;
            let is_ipairs = self.b.ins().icmp_imm_u(IntCC::Equal, number, step);
            self.guard(is_ipairs, call);
            let both = self.require(&[object_tag], Tag::TABLE, ask)
                && self.require(&[control_tag], Tag::INTEGER, ask);
            if both {
                self.element_round(&round, object, control, ask, false);
            } else {
                self.b.ins().jump(ask, &[]);
            }
        } else {
            self.b.ins().jump(call, &[]);
        }

        self.b.switch_to_block(ask);
        let ra = self.address(a);
        let wanted = self.int(i.c() as i64);
        let st = self.state();
        let inst = self.runtime(self.calls.for_next as usize, &[st, ra, wanted], &[I64]);
        let inline = self.b.inst_results(inst)[0];
        let known = self.cold_block();
        self.b.ins().brif(inline, known, &[], call, &[]);
        self.b.switch_to_block(known);
        let (bits, tag) = self.load_home(a + 4, I64);
        self.join(done, bits, tag);

        self.b.switch_to_block(call);
        let st = self.state();
        self.runtime_step(self.calls.call_iterator as usize, pc + 1, &[st]);
        let (bits, tag) = self.load_home(a + 4, I64);
        self.join(done, bits, tag);
        self.regs.forget_all();
        self.take_value(done, a + 4);
    }

    /// Takes the element after key `at` if it is in the array; else jumps to `outside`. In a loop
    /// by `next`, `at` is the position of the traversal.
    fn element_round(
        &mut self,
        round: &Round,
        object: Value,
        at: Value,
        outside: Block,
        by_next: bool,
    ) {
        let len = self.b.ins().load(I32, MEM, object, table::ARRAY_LEN as i32);
        let len = self.b.ins().uextend(I64, len);
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, at, len);
        self.guard(inside, outside);
        let kind = self.b.ins().uload8(I64, MEM, object, layout::header::AUX as i32);
        let (payload, tag_at) = self.element_addresses(object, at);
        let bits = self.b.ins().load(I64, MEM, payload, 0);
        let (any, found) = (self.b.create_block(), self.b.create_block());
        let tag = self.b.append_block_param(found, I64);
        let is_any = self.b.ins().icmp_imm_u(IntCC::Equal, kind, ArrayKind::Any as i64);
        let number = self.number_tag(kind);
        self.b.ins().brif(is_any, any, &[], found, &[BlockArg::from(number)]);
        self.b.switch_to_block(any);
        let t = self.b.ins().uload8(I64, MEM, tag_at, 0);
        // holes are skipped by the runtime
        self.b.ins().brif(t, found, &[BlockArg::from(t)], round.ask, &[]);
        self.b.switch_to_block(found);
        let key = self.b.ins().iadd_imm_s(at, 1);
        let integer = self.int(Tag::INTEGER.0.into());
        self.end_round(round, by_next.then_some(key), (key, integer), (bits, tag));
    }

    /// Takes the first entry in the nodes from position `at` on. The runtime is asked for the first
    /// one of all, since it may be one that comes before the array part.
    fn node_round(&mut self, round: &Round, object: Value, at: Value) {
        let nodes = self.b.ins().load(I64, MEM, object, table::NODES as i32);
        self.guard(nodes, round.ask);
        let elements = self.b.ins().load(I32, MEM, object, table::ARRAY_CAP as i32);
        let elements = self.b.ins().uextend(I64, elements);
        let fields = self.b.ins().uload8(I64, MEM, object, table::FIELDS_CAP as i32);
        let first = self.b.ins().iadd(elements, fields);
        let n = self.b.ins().isub(at, first);
        self.guard(n, round.ask);
        let count = self.b.ins().load(I32, MEM, object, table::NODES_USED as i32);
        let count = self.b.ins().uextend(I64, count);
        let look = self.b.create_block();
        let n_now = self.b.append_block_param(look, I64);
        self.b.ins().jump(look, &[BlockArg::from(n)]);

        self.b.switch_to_block(look);
        // fields come before the nodes: then the number is negative
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, n_now, count);
        self.guard(inside, round.ask);
        let offset =
            self.b.ins().imul_imm_s(n_now, size_of::<perilune_runtime::table::Node>() as i64);
        let place = self.b.ins().iadd(nodes, offset);
        let next = self.b.ins().iadd_imm_s(n_now, 1);
        let (bits, tag) = self.load_value(place, node::VALUE_BITS as i32);
        let found = self.b.create_block();
        self.b.ins().brif(tag, found, &[], look, &[BlockArg::from(next)]);

        self.b.switch_to_block(found);
        // the values of an environment are in cells
        let plain = self.b.ins().icmp_imm_u(IntCC::NotEqual, tag, Tag::CELL.0 as i64);
        self.guard(plain, round.ask);
        let key = self.b.ins().load(I64, MEM, place, node::KEY_BITS as i32);
        let key_tag = self.b.ins().uload8(I64, MEM, place, node::KEY_TAG as i32);
        let position = self.b.ins().iadd(first, next);
        self.end_round(round, Some(position), (key, key_tag), (bits, tag));
    }

    /// Stores the variables of the loop and the position of the traversal.
    fn end_round(
        &mut self,
        round: &Round,
        position: Option<Value>,
        key: (Value, Value),
        value: (Value, Value),
    ) {
        self.verify_entry(round.pc, round.object, key, value);
        let base = self.load_base();
        if let Some(position) = position {
            // its tag stays as it is
            self.b.ins().store(MEM, position, base, frame::slot(round.a + 3));
        }
        for (n, (bits, tag)) in [key, value].into_iter().enumerate() {
            self.b.ins().store(MEM, bits, base, frame::slot(round.a + 4 + n));
            self.b.ins().istore8(MEM, tag, base, frame::tag(round.a + 4 + n));
        }
        let nil = self.int(0);
        for n in 2..round.wanted {
            self.b.ins().store(MEM, nil, base, frame::slot(round.a + 4 + n));
            self.b.ins().istore8(MEM, nil, base, frame::tag(round.a + 4 + n));
        }
        self.join(round.done, key.0, key.1);
    }

    /// TFORLOOP.
    pub(super) fn for_each(&mut self, pc: usize) -> bool {
        let i = self.proto.code[pc];
        let a = i.a();
        let (bits, tag) = self.any(a + 4);
        let tag = self.tag_value(tag);
        let (on, end) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(tag, on, &[], end, &[]);
        self.b.switch_to_block(on);
        let base = self.load_base();
        self.b.ins().store(MEM, bits, base, frame::slot(a + 2));
        self.b.ins().istore8(MEM, tag, base, frame::tag(a + 2));
        self.regs.forget_all();
        self.go(pc, pc + 1 - i.bx());
        self.b.switch_to_block(end);
        true
    }
}
