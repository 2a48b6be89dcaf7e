//! The hash part: chained nodes in the order of insertion.
//!
//! The buffer has three parts: the nodes, of which the first `nodes_used` are in use; an [`Order`];
//! and as many heads of chains as there are nodes. Heads and links are numbers of nodes, counted
//! from 1; 0 ends a chain. A node does not move until the buffer is replaced or
//! [settled](Table::start), so a traversal sees keys in the order in which they were inserted,
//! which depends neither on addresses nor on hashes.
//!
//! Keys here are normalized: a float with an integral value is never a key.
//!
//! [Direct nodes](super::direct) are organized differently.

use std::ptr;

use super::order::Order;
use super::{Cell, DIRECT, HAS_ELEMENTS, Node, Table};
use crate::header::GcHeader;
use crate::state::State;
use crate::string::LuaString;
use crate::value::{SlotExt, Tag, Value};

/// The tag that the collector gives to a collectable key whose value is nil, so that the key may
/// die. The key's payload remains, so that `next` can find the position.
pub const DEAD_KEY: Tag = Tag(0x3F);

/// The factor of the hash of keys that are not strings.
pub const HASH_FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

/// Returns the top `log` bits of a multiplicative hash.
#[inline(always)]
fn mix(x: u64, log: u8) -> usize {
    ((x.wrapping_mul(HASH_FACTOR) >> 32) >> (32 - log as u32)) as usize
}

impl Node {
    /// Returns the key.
    #[inline(always)]
    pub unsafe fn key(n: *mut Node) -> Value {
        Value::from_parts((*n).key_bits, (*n).key_tag)
    }

    /// Returns whether the key is the integer `i`.
    #[inline(always)]
    pub(super) unsafe fn has_int(n: *mut Node, i: i64) -> bool {
        (*n).key_bits == i as u64 && (*n).key_tag == Tag::INTEGER
    }

    /// Returns the value, which in environments is that of the cell.
    #[inline(always)]
    pub unsafe fn value(n: *mut Node) -> Value {
        let v = Value::from_parts((*n).value_bits, (*n).value_tag);
        if v.tag() == Tag::CELL { (&raw mut (*v.as_ptr::<Cell>()).value).get() } else { v }
    }

    /// Stores a value in the node of the table `t`, or in its cell.
    #[inline(always)]
    pub(super) unsafe fn put(st: *mut State, t: *mut Table, n: *mut Node, v: Value) {
        if (*n).value_tag == Tag::CELL {
            let cell = Value::from_parts((*n).value_bits, Tag::CELL).as_ptr::<Cell>();
            if (*cell).header.aux != Cell::CHANGED {
                Cell::change(st, cell, v);
            }
            (&raw mut (*cell).value).put(v);
            if v.is_collectable() {
                (*st).barrier(cell.cast());
            }
        } else {
            (*n).value_bits = v.bits();
            (*n).value_tag = v.tag();
            (*st).barrier_of_store(t, v);
        }
    }
}

impl Table {
    /// Returns the number of nodes in use, including those without a value.
    #[inline(always)]
    pub unsafe fn node_count(t: *mut Table) -> usize {
        (*t).nodes_used as usize
    }

    /// Returns the logarithm to base 2 of the number of nodes allocated, if there are any.
    #[inline(always)]
    pub(super) unsafe fn log_nodes(t: *mut Table) -> u8 {
        (*t).node_bits & !(HAS_ELEMENTS | DIRECT)
    }

    /// Returns whether integer keys above 0 may be among the nodes.
    #[inline(always)]
    pub(super) unsafe fn has_elements(t: *mut Table) -> bool {
        (*t).node_bits & HAS_ELEMENTS != 0
    }

    /// Returns whether the integer key `i`, which is above 0, may be among the nodes.
    #[inline(always)]
    pub(super) unsafe fn may_have_node(t: *mut Table, i: i64) -> bool {
        Table::has_elements(t) && i >= i64::from((*Table::order(t)).least)
    }

    /// Checks that integer keys above 0 are noted, for the walk over the heap.
    ///
    /// # Panics
    /// Panics if one is not.
    pub(crate) unsafe fn check_nodes(t: *mut Table) {
        let keys = (0..Table::node_count(t)).map(|i| &*(*t).nodes.add(i));
        let mut elements = keys.filter(|n| n.key_tag == Tag::INTEGER && n.key_bits as i64 > 0);
        let is_noted = elements.all(|n| Table::may_have_node(t, n.key_bits as i64));
        assert!(is_noted, "the table at {t:?} has elements in its hash part");
    }

    /// Returns the number of nodes that are allocated.
    #[inline(always)]
    pub(crate) unsafe fn node_capacity(t: *mut Table) -> usize {
        if (*t).nodes.is_null() { 0 } else { 1 << Table::log_nodes(t) }
    }

    /// Returns the size in bytes of a buffer with room for `capacity` nodes, a power of two or 0.
    pub(crate) const fn node_bytes(capacity: usize) -> usize {
        if capacity == 0 {
            return 0;
        }
        capacity * (size_of::<Node>() + size_of::<u32>()) + size_of::<Order>()
    }

    /// Returns the record of the order of the nodes. The hash part must not be empty.
    #[inline(always)]
    pub(super) unsafe fn order(t: *mut Table) -> *mut Order {
        (*t).nodes.byte_add(size_of::<Node>() << Table::log_nodes(t)).cast()
    }

    /// Returns the heads of the chains. The hash part must not be empty.
    #[inline(always)]
    pub(super) unsafe fn heads(t: *mut Table) -> *mut u32 {
        (*t).nodes.byte_add((size_of::<Node>() << Table::log_nodes(t)) + size_of::<Order>()).cast()
    }

    /// Returns the index of the chain that `key` belongs to. The hash part must not be empty.
    #[inline]
    unsafe fn main_position(t: *mut Table, key: Value) -> usize {
        let log = Table::log_nodes(t);
        match key.tag() {
            Tag::STRING => LuaString::hash(key.as_string()) as usize & ((1 << log) - 1),
            Tag::FALSE | Tag::TRUE => key.tag().0 as usize & ((1 << log) - 1),
            Tag::INTEGER => mix(key.bits(), log),
            _ => mix(key.bits() ^ key.bits() >> 32, log),
        }
    }

    /// Searches the chain with index `chain` for a key that `matches`.
    #[inline(always)]
    unsafe fn walk(t: *mut Table, chain: usize, matches: impl Fn(*mut Node) -> bool) -> *mut Node {
        let mut link = *Table::heads(t).add(chain);
        while link != 0 {
            let n = (*t).nodes.add(link as usize - 1);
            if matches(n) {
                return n;
            }
            link = (*n).next;
        }
        ptr::null_mut()
    }

    /// Returns the node of a short string, or null. The hash part must not be empty.
    #[inline(always)]
    pub(super) unsafe fn node_of_short(t: *mut Table, name: *mut LuaString) -> *mut Node {
        let bits = Value::string(name).bits();
        let start = (*name).header.word as usize & ((1usize << Table::log_nodes(t)) - 1);
        Table::walk(t, start, |n| (*n).key_bits == bits && (*n).key_tag == Tag::STRING)
    }

    /// Returns the node of an integer, or null.
    #[inline]
    pub(super) unsafe fn node_of_int(t: *mut Table, i: i64) -> *mut Node {
        if Table::is_direct(t) {
            return Table::direct_node_of(t, i);
        }
        if (*t).nodes.is_null() {
            return ptr::null_mut();
        }
        let start = mix(i as u64, Table::log_nodes(t));
        Table::walk(t, start, |n| Node::has_int(n, i))
    }

    /// Returns the node of a normalised key, or null.
    pub(super) unsafe fn node_of(t: *mut Table, key: Value) -> *mut Node {
        if key.is_int() {
            return Table::node_of_int(t, key.as_int());
        }
        if (*t).nodes.is_null() {
            return ptr::null_mut();
        }
        let start = Table::main_position(t, key);
        if key.is_string() && !LuaString::is_short(key.as_string()) {
            let long = key.as_string();
            return Table::walk(t, start, |n| {
                (*n).key_tag == Tag::STRING
                    && ((*n).key_bits == key.bits()
                        || LuaString::eq_long(Node::key(n).as_string(), long))
            });
        }
        Table::walk(t, start, |n| (*n).key_bits == key.bits() && (*n).key_tag == key.tag())
    }

    /// Returns the value under `key`, an object, or the cell that holds the value.
    pub(crate) unsafe fn raw_value_of_object(t: *mut Table, key: Value) -> Option<Value> {
        let n = Table::node_of(t, key);
        (!n.is_null()).then(|| Value::from_parts((*n).value_bits, (*n).value_tag))
    }

    /// Stores `v` under the integer key `i` in the hash part, if the key has a value there, or
    /// belongs there and there is a free node. Returns false, without an effect, in other cases.
    #[inline(never)]
    pub(super) unsafe fn set_int_node_at_once(
        st: *mut State,
        t: *mut Table,
        i: i64,
        v: Value,
    ) -> bool {
        if (*t).nodes.is_null() || (*t).header.flags & super::WATCHED != 0 {
            return false;
        }
        if Table::is_direct(t) {
            return Table::set_direct_at_once(st, t, i, v);
        }
        let chain = mix(i as u64, Table::log_nodes(t));
        let n = Table::walk(t, chain, |n| Node::has_int(n, i));
        if !n.is_null() {
            if (*n).value_tag == Tag::NIL {
                return false;
            }
            Node::put(st, t, n, v);
            return true;
        }
        // A key up to the capacity may join the array.
        if v.is_nil() || (i as u64).wrapping_sub(1) <= (*t).array_cap as u64 {
            return false;
        }
        Table::drop_last(t);
        let entered = Table::insert_in_chain(t, chain, Value::int(i), v);
        if entered {
            (*st).barrier_of_store(t, v);
        }
        entered
    }

    /// Like [`Table::node_of`], but also finds a key that died after its value became nil (for
    /// `next`).
    pub(super) unsafe fn node_of_maybe_dead(t: *mut Table, key: Value) -> *mut Node {
        let n = Table::node_of(t, key);
        if !n.is_null() || (*t).nodes.is_null() || !key.is_collectable() {
            return n;
        }
        let start = Table::main_position(t, key);
        Table::walk(t, start, |n| (*n).key_bits == key.bits() && (*n).key_tag == DEAD_KEY)
    }

    /// Inserts `key`, which is normalised and in no node, after the other nodes. The node value `v`
    /// is not nil, and may be a cell. Returns `false` when there is no free node. The caller is
    /// responsible for the barrier and for noting the change.
    #[inline]
    pub(super) unsafe fn insert_node(t: *mut Table, key: Value, v: Value) -> bool {
        !(*t).nodes.is_null() && Table::insert_in_chain(t, Table::main_position(t, key), key, v)
    }

    /// Like [`Table::insert_node`], for a hash part that is not empty and the chain that `key`
    /// belongs to.
    #[inline(always)]
    unsafe fn insert_in_chain(t: *mut Table, chain: usize, key: Value, v: Value) -> bool {
        let nodes = (*t).nodes;
        let used = (*t).nodes_used;
        if used >> Table::log_nodes(t) != 0 {
            return Table::is_direct(t) && Table::insert_direct(t, key, v);
        }
        let head = Table::heads(t).add(chain);
        nodes.add(used as usize).write(Node {
            value_bits: v.bits(),
            value_tag: v.tag(),
            key_tag: key.tag(),
            next: *head,
            key_bits: key.bits(),
        });
        *head = used + 1;
        (*t).nodes_used = used + 1;
        if key.is_int() {
            Table::note_integer(t, used, key.as_int());
        }
        true
    }

    /// Gives a value to the key of `n`, which has none; `v` may be a cell. If the collector could
    /// have killed the key before, the key gets a new node after the others, so that the order does
    /// not depend on when the collector ran.
    pub(super) unsafe fn revive(st: *mut State, t: *mut Table, n: *mut Node, key: Value, v: Value) {
        Table::note_move(st, t);
        if !key.is_collectable() {
            (*n).value_bits = v.bits();
            (*n).value_tag = v.tag();
        } else {
            Table::drop_last(t);
            if n < (*t).nodes.add((*t).nodes_used as usize) {
                (*n).key_tag = DEAD_KEY;
            }
            if !Table::insert_node(t, key, v) {
                return Table::rehash(st, t, key, v);
            }
        }
        // `key` may be an equal long string that is another object, which the collector has to
        // reach.
        (*st).barrier_of_store(t, key);
        (*st).barrier_of_store(t, v);
    }

    /// Takes the last nodes out of use as long as they have no value, before a new key is inserted,
    /// so that keys that are set and cleared in turn use no new nodes. A dead key is kept, since
    /// its position in its chain is no longer known.
    ///
    /// Returns whether it has taken any out of use.
    #[inline]
    unsafe fn drop_last(t: *mut Table) -> bool {
        if Table::is_direct(t) {
            return false;
        }
        let before = (*t).nodes_used;
        while let Some(last) = (*t).nodes_used.checked_sub(1) {
            let n = (*t).nodes.add(last as usize);
            if (*n).value_tag != Tag::NIL || (*n).key_tag == DEAD_KEY {
                break;
            }
            let mut link = Table::heads(t).add(Table::main_position(t, Node::key(n)));
            while *link != last + 1 {
                link = &raw mut (*(*t).nodes.add(*link as usize - 1)).next;
            }
            *link = (*n).next;
            (*t).nodes_used = last;
            let order = Table::order(t);
            (*order).integers = (*order).integers.min(last);
        }
        (*t).nodes_used != before
    }

    /// Returns the value to store in the node of a new key: in environments, string keys get a
    /// cell.
    #[inline]
    pub(super) unsafe fn wrap(st: *mut State, t: *mut Table, key: Value, v: Value) -> Value {
        if (*t).header.flags & GcHeader::ENVIRONMENT != 0 && key.is_string() {
            Value::from_parts(Cell::new(st, t, v).expose_provenance() as u64, Tag::CELL)
        } else {
            v
        }
    }

    /// Inserts a normalised key that is in no part of the table, with a value that is not nil.
    #[inline(never)]
    pub(super) unsafe fn insert_key(st: *mut State, t: *mut Table, key: Value, v: Value) {
        Table::note_new_key(st, t, key);
        if Table::drop_last(t) {
            // a cache may rely on the place of a key that has no value
            Table::note_move(st, t);
        }
        let node_value = Table::wrap(st, t, key, v);
        if Table::insert_node(t, key, node_value) {
            (*st).barrier_of_store(t, key);
            (*st).barrier_of_store(t, node_value);
        } else {
            Table::rehash(st, t, key, node_value);
        }
    }
}
