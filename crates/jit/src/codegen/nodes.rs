//! Searches the hash part of tables.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value};
use perilune_runtime::layout::{header, node, order, table};
use perilune_runtime::table::{DIRECT, HAS_ELEMENTS, HASH_FACTOR, Node, Order};
use perilune_runtime::value::Tag;

use super::Emitter;
use super::memory::{Region, Regions};
use super::table::Stored;

/// The nodes of a table.
#[derive(Clone, Copy)]
struct Nodes {
    /// The address of the first one.
    first: Value,
    /// The logarithm to base 2 of their number.
    log: Value,
}

impl Emitter<'_> {
    /// Ends the block: loads the value under the integer `key` from the nodes of a table, which
    /// must have nodes; branches to `absent` if there is no such value.
    pub(crate) fn integer_in_nodes(
        &mut self,
        table: Value,
        nodes: Value,
        key: Value,
        absent: Block,
    ) -> (Value, Value) {
        let (found, place) = self.node_of_integer(table, nodes, key, absent);
        self.value_of_node(found, place, absent)
    }

    /// Ends the block: stores the value under the integer `key` to the nodes of a table, with a
    /// barrier; branches to `other` if there is no value yet, or if caches rely on the table.
    pub(crate) fn store_under_integer(
        &mut self,
        table: Value,
        key: Value,
        v: Stored,
        other: Block,
    ) {
        let nodes = self.nodes(table);
        self.guard(nodes, other);
        let flags = self.flags(table);
        self.guard_not_watched(flags, other);
        let (found, place) = self.node_of_integer(table, nodes, key, other);
        self.switch_to(found);
        let old = self.load8(Region::Fields, place, node::VALUE_TAG);
        self.guard(old, other);
        self.store(Region::Fields, v.bits, place, node::VALUE_BITS);
        self.store8(Region::Fields, v.tag, place, node::VALUE_TAG);
        self.barrier(table, (v.bits, v.known));
    }

    /// Ends the block: searches the nodes of a table, which must have nodes, for the integer `key`.
    /// Returns a block that is reached if there is a node with the key, and the address of the
    /// node; branches to `absent` if there is none.
    fn node_of_integer(
        &mut self,
        table: Value,
        nodes: Value,
        key: Value,
        absent: Block,
    ) -> (Block, Value) {
        let bits = self.load8(Region::Objects, table, table::NODE_BITS);
        let log = self.log_of(bits);
        let is_direct = self.b.ins().band_imm_u(bits, i64::from(DIRECT));
        let (direct, chained) = (self.block(), self.block());
        let (found, place) = self.block_of_word();
        self.branch(is_direct, direct, chained);

        self.switch_to(direct);
        let mask = self.mask(log);
        let at = self.b.ins().band(key, mask);
        let only = self.node(nodes, at);
        let key_bits = self.load64(Region::Fields, only, node::KEY_BITS);
        let same = self.b.ins().icmp(IntCC::Equal, key_bits, key);
        self.guard(same, absent);
        let tag = self.load8(Region::Fields, only, node::KEY_TAG);
        let is_integer = self.is_tag(tag, Tag::INTEGER);
        self.guard(is_integer, absent);
        self.jump_with(found, only);

        self.switch_to(chained);
        let chain = self.mixed(key, log);
        let nodes = Nodes { first: nodes, log };
        self.walk_chain(nodes, chain, (key, Tag::INTEGER), found, absent);
        (found, place)
    }

    /// Ends the block: loads the value under the short string `name` from the nodes of a table
    /// without a shape; branches to `absent` if there is no such value.
    pub(crate) fn string_in_nodes(
        &mut self,
        table: Value,
        name: Value,
        absent: Block,
    ) -> (Value, Value) {
        let place = self.node_of_string(table, name, absent);
        let value = self.load_value(Region::Fields, place, node::VALUE_BITS);
        let value = self.out_of_cell(value);
        self.guard(value.1, absent);
        value
    }

    /// Ends the block: stores the value under the short string `name` to the nodes of a table
    /// without a shape, with a barrier; branches to `other` if there is no value yet, if it is in a
    /// cell, or if caches rely on the table.
    pub(crate) fn store_in_nodes(&mut self, table: Value, name: Value, v: Stored, other: Block) {
        let flags = self.flags(table);
        self.guard_not_watched(flags, other);
        let place = self.node_of_string(table, name, other);
        let old = self.load8(Region::Fields, place, node::VALUE_TAG);
        self.guard(old, other);
        let is_cell = self.is_tag(old, Tag::CELL);
        self.guard_not(is_cell, other);
        self.store(Region::Fields, v.bits, place, node::VALUE_BITS);
        self.store8(Region::Fields, v.tag, place, node::VALUE_TAG);
        self.barrier(table, (v.bits, v.known));
    }

    /// Ends the block: returns the node of the short string `name` in a table without a shape;
    /// branches to `absent` if there is none.
    fn node_of_string(&mut self, table: Value, name: Value, absent: Block) -> Value {
        let nodes = self.some_nodes(table, absent);
        let hash = self.load_u32(Region::Objects, name, header::WORD);
        let mask = self.mask(nodes.log);
        let chain = self.b.ins().band(hash, mask);
        let (found, place) = self.block_of_word();
        self.walk_chain(nodes, chain, (name, Tag::STRING), found, absent);
        self.switch_to(found);
        place
    }

    /// Ends the block: loads the value under a key that is a table from the nodes of a table;
    /// branches to `absent` if there is no such value.
    pub(crate) fn table_in_nodes(
        &mut self,
        table: Value,
        key: Value,
        absent: Block,
    ) -> (Value, Value) {
        let nodes = self.some_nodes(table, absent);
        let high = self.b.ins().ushr_imm_u(key, 32);
        let folded = self.b.ins().bxor(key, high);
        let chain = self.mixed(folded, nodes.log);
        let (found, place) = self.block_of_word();
        self.walk_chain(nodes, chain, (key, Tag::TABLE), found, absent);
        self.value_of_node(found, place, absent)
    }

    /// Returns a lower bound of the integer keys above 0 among the nodes of a table, which has
    /// nodes. `bits` is the table's field `NODE_BITS`.
    pub(super) fn least_in_nodes(&mut self, table: Value, bits: Value) -> Value {
        let nodes = Nodes { first: self.nodes(table), log: self.log_of(bits) };
        let end = self.end_of(nodes);
        self.load_u32(Region::Fields, end, order::LEAST)
    }

    /// Returns the address after the last node, which is that of the [`Order`].
    fn end_of(&mut self, nodes: Nodes) -> Value {
        let size = self.int(size_of::<Node>() as i64);
        let size = self.b.ins().ishl(size, nodes.log);
        self.b.ins().iadd(nodes.first, size)
    }

    /// Returns the nodes of a table; branches to `none` if it has none.
    fn some_nodes(&mut self, table: Value, none: Block) -> Nodes {
        let first = self.nodes(table);
        self.guard(first, none);
        let bits = self.load8(Region::Objects, table, table::NODE_BITS);
        Nodes { first, log: self.log_of(bits) }
    }

    /// Returns the logarithm to base 2 of the number of nodes.
    fn log_of(&mut self, bits: Value) -> Value {
        self.b.ins().band_imm_u(bits, i64::from(!(DIRECT | HAS_ELEMENTS)))
    }

    /// Returns the number of nodes, minus 1.
    fn mask(&mut self, log: Value) -> Value {
        let one = self.int(1);
        let count = self.b.ins().ishl(one, log);
        self.plus(count, -1)
    }

    /// Continues where a node was found, and loads its value; branches to `absent` if that is nil.
    fn value_of_node(&mut self, found: Block, place: Value, absent: Block) -> (Value, Value) {
        self.switch_to(found);
        let value = self.load_value(Region::Fields, place, node::VALUE_BITS);
        self.guard(value.1, absent);
        value
    }

    /// Returns the number of the chain for a hash of keys that are not strings.
    fn mixed(&mut self, bits: Value, log: Value) -> Value {
        let factor = self.int(HASH_FACTOR as i64);
        let hash = self.b.ins().imul(bits, factor);
        let hash = self.b.ins().ushr_imm_u(hash, 32);
        let most = self.int(32);
        let rest = self.b.ins().isub(most, log);
        self.b.ins().ushr(hash, rest)
    }

    /// Ends the block: goes to `found` with the address of the node that has a key, in a chain
    /// given by its number, or to `absent`.
    fn walk_chain(
        &mut self,
        nodes: Nodes,
        chain: Value,
        (key, key_tag): (Value, Tag),
        found: Block,
        absent: Block,
    ) {
        let end = self.end_of(nodes);
        let offset = self.b.ins().ishl_imm_u(chain, i64::from(size_of::<u32>().ilog2()));
        let head = self.b.ins().iadd(end, offset);
        let first = self.load_u32(Region::Fields, head, size_of::<Order>());
        let (look, link) = self.block_of_word();
        self.jump_with(look, first);

        // it stores nothing
        self.switch_to_loop(look, Regions::ALL);
        self.guard(link, absent);
        let at = self.plus(link, -1);
        let place = self.node(nodes.first, at);
        let bits = self.load64(Region::Fields, place, node::KEY_BITS);
        let next = self.load_u32(Region::Fields, place, node::NEXT);
        let same = self.b.ins().icmp(IntCC::Equal, bits, key);
        let candidate = self.block();
        self.b.ins().brif(same, candidate, &[], look, &[BlockArg::from(next)]);
        self.switch_to(candidate);
        let tag = self.load8(Region::Fields, place, node::KEY_TAG);
        let right = self.is_tag(tag, key_tag);
        let args = [BlockArg::from(place)];
        self.b.ins().brif(right, found, &args, look, &[BlockArg::from(next)]);
    }

    /// Returns the address of a node.
    fn node(&mut self, nodes: Value, at: Value) -> Value {
        let offset = self.b.ins().imul_imm_s(at, size_of::<Node>() as i64);
        self.b.ins().iadd(nodes, offset)
    }
}
