//! Steps of table traversals: to elements of the array part, and to nodes of the hash part.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value};
use perilune_runtime::header::GcHeader;
use perilune_runtime::layout::{node, shape, state, table, value};
use perilune_runtime::table::{FRONT, Node};
use perilune_runtime::value::Tag;

use super::Emitter;
use super::memory::{Region, Regions};
use crate::entity::Reg;

/// The entry of a table that a traversal has reached.
pub(crate) struct Entry {
    /// The position after the entry.
    pub(crate) position: Value,
    pub(crate) key: (Value, Value),
    pub(crate) value: (Value, Value),
}

impl Emitter<'_> {
    /// Returns the element after key `at` of a table's array; branches to `outside` if it is not in
    /// the array, and to `ask` if it is nil.
    pub(crate) fn next_element(
        &mut self,
        table: Value,
        at: Value,
        outside: Block,
        ask: Block,
    ) -> Entry {
        let len = self.array_len(table);
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, at, len);
        self.guard(inside, outside);
        let kind = self.array_kind(table);
        let (any, others, booleans) = (self.block(), self.block(), self.block());
        let (found, (bits, tag)) = self.pair_block();
        let is_booleans = self.is_booleans(kind);
        self.branch(is_booleans, booleans, others);
        self.switch_to(others);
        let (payload, tag_at) = self.element_addresses(table, at);
        let payload = self.load64(Region::Elements, payload, 0);
        let is_any = self.is_any(kind);
        let number = self.number_tag(kind);
        let number = [BlockArg::from(payload), BlockArg::from(number)];
        self.b.ins().brif(is_any, any, &[], found, &number);
        self.switch_to(any);
        let t = self.load8(Region::Elements, tag_at, 0);
        // the runtime skips holes
        self.b.ins().brif(t, found, &[BlockArg::from(payload), BlockArg::from(t)], ask, &[]);
        self.switch_to(booleans);
        let place = self.boolean_address(table, at);
        let t = self.load8(Region::Elements, place, 0);
        let zero = self.int(0);
        self.b.ins().brif(t, found, &[BlockArg::from(zero), BlockArg::from(t)], ask, &[]);
        self.switch_to(found);
        let key = self.b.ins().iadd_imm_s(at, 1);
        let integer = self.tag(Tag::INTEGER);
        Entry { position: key, key: (key, integer), value: (bits, tag) }
    }

    /// Returns the field at position `at` or later, which is after the elements; branches to
    /// `nodes` if there are no more fields, and to `ask` if the next one is nil.
    pub(crate) fn next_field(
        &mut self,
        table: Value,
        at: Value,
        nodes: Block,
        ask: Block,
    ) -> Entry {
        // nodes may come before the elements
        let after = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, at, i64::from(FRONT));
        self.guard(after, ask);
        let shape = self.load64(Region::Objects, table, table::SHAPE);
        self.guard(shape, nodes);
        let elements = self.load_u32(Region::Objects, table, table::ARRAY_CAP);
        let position = self.b.ins().umax(at, elements);
        let n = self.b.ins().isub(position, elements);
        let count = self.load_u32(Region::Objects, shape, shape::COUNT);
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, n, count);
        self.guard(inside, nodes);
        let fields = self.load64(Region::Objects, table, table::FIELDS);
        let offset = self.b.ins().imul_imm_s(n, value::SIZE as i64);
        let place = self.b.ins().iadd(fields, offset);
        let (bits, tag) = self.load_value(Region::Fields, place, 0);
        self.guard(tag, ask);
        let names = self.load64(Region::Objects, shape, shape::FIRST_KEY);
        let offset = self.b.ins().ishl_imm_u(n, 3);
        let place = self.b.ins().iadd(names, offset);
        let key = self.load64(Region::Objects, place, 0);
        let string = self.tag(Tag::STRING);
        let position = self.b.ins().iadd_imm_s(position, 1);
        Entry { position, key: (key, string), value: (bits, tag) }
    }

    /// Branches to `end` if a table has no nodes.
    pub(crate) fn guard_nodes(&mut self, table: Value, end: Block) {
        let nodes = self.nodes(table);
        self.guard(nodes, end);
    }

    /// Loads the nodes of a table; 0 if it has none.
    pub(crate) fn nodes(&mut self, table: Value) -> Value {
        self.load64(Region::Objects, table, table::NODES)
    }

    /// Begins a loop by `next` in the runtime, given the loop's first register, from which on the
    /// iterator and its arguments are in their home slots; returns the first position. Branches to
    /// `failed` if the runtime fails.
    pub(crate) fn begin_traversal(&mut self, first: Reg, failed: Block) -> Value {
        let (st, registers) = (self.state(), self.address(first));
        let begin = self.body.calls.for_each_prep as usize;
        let done = self.runtime_word(begin, &[st, registers]);
        self.guard(done, failed);
        self.load_payload(first + 3, I64)
    }

    /// Executes an iteration of a loop by `next` or `ipairs` in the runtime, given the address of
    /// the loop's first register and the number of its variables. Returns 0 if the loop is neither.
    /// Preserves all machine registers.
    pub(crate) fn next_round(&mut self, first: Value, wanted: usize) -> Value {
        let (st, wanted) = (self.state(), self.int(wanted as i64));
        self.store(Region::State, first, st, state::RETURNED_BITS);
        self.store(Region::State, wanted, st, state::RETURNED_TAG);
        let for_next = self.body.calls.preserving_for_next as usize;
        let call = self.preserving(for_next);
        self.changes_nothing(call);
        self.available.change(self.b.func, Region::Slots);
        let st = self.state();
        self.load64(Region::State, st, state::RETURNED_BITS)
    }

    /// Returns the first entry in the nodes from position `at` on. Branches to `ask`, where the
    /// runtime takes the step, if there is no entry, at the first node (since nodes that come
    /// before the array part must be skipped there), and for a weak table (whose dead keys must be
    /// skipped).
    pub(crate) fn next_node(&mut self, table: Value, at: Value, ask: Block) -> Entry {
        let nodes = self.load64(Region::Objects, table, table::NODES);
        self.guard(nodes, ask);
        let flags = self.flags(table);
        let has_dead = self.b.ins().band_imm_u(flags, i64::from(GcHeader::WEAK));
        self.guard_not(has_dead, ask);
        let elements = self.load_u32(Region::Objects, table, table::ARRAY_CAP);
        let fields = self.load8(Region::Objects, table, table::FIELDS_CAP);
        let first = self.b.ins().iadd(elements, fields);
        let n = self.b.ins().isub(at, first);
        self.guard(n, ask);
        let count = self.load_u32(Region::Objects, table, table::NODES_USED);
        let (look, n_now) = self.block_of_word();
        self.jump_with(look, n);

        // it stores nothing
        self.switch_to_loop(look, Regions::ALL);
        // a position among the fields, which come before the nodes, gives a negative number
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, n_now, count);
        self.guard(inside, ask);
        let offset = self.b.ins().imul_imm_s(n_now, size_of::<Node>() as i64);
        let place = self.b.ins().iadd(nodes, offset);
        let next = self.b.ins().iadd_imm_s(n_now, 1);
        let (bits, tag) = self.load_value(Region::Fields, place, node::VALUE_BITS);
        let found = self.block();
        self.b.ins().brif(tag, found, &[], look, &[BlockArg::from(next)]);

        self.switch_to(found);
        // the values of an environment are in cells
        let plain = self.b.ins().icmp_imm_u(IntCC::NotEqual, tag, i64::from(Tag::CELL.0));
        self.guard(plain, ask);
        let key = self.load64(Region::Fields, place, node::KEY_BITS);
        let key_tag = self.load8(Region::Fields, place, node::KEY_TAG);
        let position = self.b.ins().iadd(first, next);
        Entry { position, key: (key, key_tag), value: (bits, tag) }
    }
}
