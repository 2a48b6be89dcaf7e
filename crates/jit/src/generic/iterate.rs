//! Translates the generic `for`: `next` and `ipairs` over tables inline, Lua iterators as calls.

use cranelift_codegen::entity::EntityRef;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{Block, Value};
use perilune_runtime::native::Builtin;
use perilune_runtime::value::Tag;

use super::Translator;
use crate::codegen::traverse::Entry;
use crate::codegen::value::{Join, Known};
use crate::entity::{Pc, Reg, RegisterOperands};
use crate::feedback::snapshot::CalleeSeen;

/// An inline iteration of a loop by `next` or `ipairs`.
struct Round {
    pc: Pc,
    /// The table.
    object: Value,
    /// The first register of the loop.
    a: Reg,
    /// The number of variables of the loop.
    wanted: usize,
    done: Join,
}

/// An iteration of a loop that is one by `next` or `ipairs`.
struct Traversal {
    pc: Pc,
    /// The table.
    object: Value,
    /// The first register of the loop.
    a: Reg,
    /// The number of variables of the loop.
    wanted: usize,
    /// Where it ends, with key and value.
    done: Block,
}

impl Translator<'_> {
    /// Translates TFORPREP, which marks the closing value, and makes a loop by `next` an inline
    /// one.
    pub(super) fn for_each_prep(&mut self, pc: Pc) {
        let ra = self.emit.address(self.instr(pc).ra());
        let st = self.emit.state();
        let done = self.emit.runtime_word(self.calls.for_each_prep as usize, &[st, ra]);
        self.emit.unless_generic(pc, done);
        self.regs.forget_all();
    }

    /// Translates TFORCALL: `next` and `ipairs` are inline, a Lua iterator is called as CALL does,
    /// and the runtime calls others.
    pub(super) fn for_call(&mut self, pc: Pc) {
        let i = self.instr(pc);
        let a = i.ra();
        let (f, tag) = self.any(a);
        let (object, object_tag) = self.any(a + 1);
        let (control, control_tag) = self.any(a + 2);
        let (position, position_tag) = self.any(a + 3);
        let kind = self.emit.tag_value(position_tag);
        let ask = self.emit.cold_block();
        let done = self.emit.join_block(I64);
        let round = Round { pc, object, a, wanted: i.c(), done };

        // a position in place of the closing value marks a loop by `next`
        let is_next = self.emit.is_tag(kind, Tag::ITER);
        let others = self.emit.case(is_next);
        if self.emit.require(&[object_tag], Tag::TABLE, ask) {
            let outside = self.emit.block();
            let entry = self.emit.next_element(object, position, outside, ask);
            self.end_round(&round, &entry, true);
            self.emit.switch_to(outside);
            let entry = self.emit.next_node(object, position, ask);
            self.end_round(&round, &entry, true);
        } else {
            self.emit.jump(ask);
        }

        self.emit.switch_to(others);
        let natives = self.emit.block();
        // the arguments have to lie within the frame, for which there is room
        let has_room = (a + 8).index() <= usize::from(self.proto.max_stack);
        if has_room && self.emit.require(&[tag], Tag::FUNCTION, natives) {
            // the copies overwrite registers of the frame whose values may be known
            self.regs.forget_from(a + 4);
            self.tags.forget_from(a + 4);
            self.store_home(a + 4, f, Known::Tag(Tag::FUNCTION));
            self.store_home(a + 6, object, object_tag);
            self.store_home(a + 7, control, control_tag);
            let nargs = self.emit.int(2);
            self.lua_call(pc, (a + 4, i.c() + 1, true), f, nargs, done);
        } else {
            self.emit.jump(natives);
        }

        self.emit.switch_to(natives);
        let call = self.emit.block();
        if self.emit.require(&[tag], Tag::NATIVE, call) {
            self.emit.guard_builtin(f, Builtin::IpairsStep as u32, call);
            let both = self.emit.require(&[object_tag], Tag::TABLE, ask)
                && self.emit.require(&[control_tag], Tag::INTEGER, ask);
            if both {
                let entry = self.emit.next_element(object, control, ask, ask);
                self.end_round(&round, &entry, false);
            } else {
                self.emit.jump(ask);
            }
        } else {
            self.emit.jump(call);
        }

        self.emit.switch_to(ask);
        let ra = self.emit.address(a);
        let wanted = self.emit.int(i.c() as i64);
        let st = self.emit.state();
        let inline = self.emit.runtime_word(self.calls.for_next as usize, &[st, ra, wanted]);
        let known = self.emit.cold_block();
        self.emit.branch(inline, known, call);
        self.emit.switch_to(known);
        let (bits, tag) = self.emit.load_register(a + 4, I64);
        self.emit.join(done, bits, tag);

        self.emit.switch_to(call);
        let i = self.instr(pc);
        let is_noted = self.snapshot.callee(pc) != CalleeSeen::Nothing;
        let args = [i.a(), i.c(), is_noted.into()].map(|n| self.emit.int(n as i64));
        self.emit.runtime_step(self.calls.call_iterator as usize, pc + 1, &args);
        let (bits, tag) = self.emit.load_register(a + 4, I64);
        self.emit.join(done, bits, tag);
        self.regs.forget_all();
        self.take_value(done, a + 4);
    }

    /// Translates TFORCALL of a loop by `next` or `ipairs`; branches to `exit` for any other one.
    pub(super) fn traverse(&mut self, pc: Pc, exit: Block) {
        let i = self.instr(pc);
        let a = i.ra();
        let [f, object, control, position] = [0, 1, 2, 3].map(|n| self.any(a + n));
        let (ask, ended) = (self.emit.cold_block(), self.emit.block_of(&[I64; 4]));
        let round = Traversal { pc, object: object.0, a, wanted: i.c(), done: ended.0 };
        let tables = self.emit.require(&[object.1], Tag::TABLE, exit);
        if !tables {
            self.emit.jump(exit);
            let rest = self.emit.block();
            self.emit.switch_to(rest);
        }
        // a position in place of the closing value marks a loop by `next`
        let kind = self.emit.tag_value(position.1);
        let is_next = self.emit.is_tag(kind, Tag::ITER);
        let others = self.emit.case(is_next);
        let (fields, nodes, end) = (self.emit.block(), self.emit.block(), self.emit.block());
        let entry = self.emit.next_element(object.0, position.0, fields, ask);
        self.end_traversal(&round, &entry, true);
        self.emit.switch_to(fields);
        let entry = self.emit.next_field(object.0, position.0, nodes, ask);
        self.end_traversal(&round, &entry, true);
        self.emit.switch_to(nodes);
        self.emit.guard_nodes(object.0, end);
        let entry = self.emit.next_node(object.0, position.0, ask);
        self.end_traversal(&round, &entry, true);
        self.emit.switch_to(end);
        let nil = self.emit.int(0);
        for n in 0..i.c().min(2) {
            self.emit.store_register(a + 4 + n, nil, nil);
        }
        self.emit.jump_with_all(ended.0, &[nil; 4]);

        self.emit.switch_to(others);
        let may_be_pairs = self.emit.require(&[f.1], Tag::NATIVE, exit)
            && self.emit.require(&[control.1], Tag::INTEGER, exit);
        if may_be_pairs {
            self.emit.guard_builtin(f.0, Builtin::IpairsStep as u32, exit);
            let entry = self.emit.next_element(object.0, control.0, ask, ask);
            self.end_traversal(&round, &entry, false);
        } else {
            self.emit.jump(exit);
        }

        self.emit.switch_to(ask);
        for (n, (bits, tag)) in [f, object, control, position].into_iter().enumerate() {
            let tag = self.emit.tag_value(tag);
            self.emit.store_register(a + n, bits, tag);
        }
        let first = self.emit.address(a);
        let inline = self.emit.next_round(first, i.c());
        let known = self.emit.cold_block();
        self.emit.branch(inline, known, exit);
        self.emit.switch_to(known);
        let found = [4, 5].map(|n| self.emit.load_register(a + n, I64));
        let found = found.map(|(bits, tag)| [bits, tag]);
        self.emit.jump_with_all(ended.0, found.as_flattened());
        self.emit.switch_to(ended.0);
        self.regs.forget_from(a + 2);
        for n in 0..i.c().min(2) {
            self.regs.note(a + 4 + n, ended.1[2 * n], Known::Value(ended.1[2 * n + 1]));
        }
    }

    /// Ends an iteration: stores the variables of the loop, and passes the first two on.
    fn end_traversal(&mut self, round: &Traversal, entry: &Entry, by_next: bool) {
        let &Traversal { pc, object, a, wanted, done } = round;
        self.emit.verify_entry(pc, object, entry.key, entry.value);
        if by_next {
            let tag = self.emit.tag(Tag::ITER);
            self.emit.store_register(a + 3, entry.position, tag);
        }
        let ((key, key_tag), (value, value_tag)) = (entry.key, entry.value);
        self.emit.store_register(a + 4, key, key_tag);
        self.emit.store_register(a + 5, value, value_tag);
        let nil = self.emit.int(0);
        for n in 2..wanted {
            self.emit.store_register(a + 4 + n, nil, nil);
        }
        self.emit.jump_with_all(done, &[key, key_tag, value, value_tag]);
    }

    /// Ends an iteration: stores the variables of the loop, and the position of a traversal by
    /// `next`.
    fn end_round(&mut self, round: &Round, entry: &Entry, by_next: bool) {
        self.emit.verify_entry(round.pc, round.object, entry.key, entry.value);
        if by_next {
            // its tag stays as it is
            self.emit.store_payload(round.a + 3, entry.position);
        }
        for (n, (bits, tag)) in [entry.key, entry.value].into_iter().enumerate() {
            self.emit.store_register(round.a + 4 + n, bits, tag);
        }
        let nil = self.emit.int(0);
        for n in 2..round.wanted {
            self.emit.store_register(round.a + 4 + n, nil, nil);
        }
        self.emit.join(round.done, entry.key.0, entry.key.1);
    }

    /// Translates TFORLOOP.
    pub(super) fn for_each(&mut self, pc: Pc) -> bool {
        let i = self.instr(pc);
        let a = i.ra();
        let (bits, tag) = self.any(a + 4);
        let tag = self.emit.tag_value(tag);
        let (on, end) = (self.emit.block(), self.emit.block());
        self.emit.branch(tag, on, end);
        self.emit.switch_to(on);
        self.emit.store_register(a + 2, bits, tag);
        self.regs.forget_all();
        self.go(pc + 1 - i.bx());
        self.emit.switch_to(end);
        true
    }
}
