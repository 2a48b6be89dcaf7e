//! The hash part: chained scatter with Brent's variation, as in PUC: a colliding key that is not in its main position
//! makes room for one that is.
//!
//! Keys here are normalised: a float with an integer's value never is a key.

use std::ptr;

use super::{Cell, Node, Table};
use crate::header::GcHeader;
use crate::state::State;
use crate::string::LuaString;
use crate::value::{SlotExt, Tag, Value};

/// Tag that the collector gives to a collectable key whose value is nil, so that the key may die. Its payload stays, for
/// `next` to find the place.
pub const DEAD_KEY: Tag = Tag(0x3F);

/// Top `log` bits of a multiplicative hash.
#[inline(always)]
fn mix(x: u64, log: u8) -> usize {
    ((x.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) >> (32 - log as u32)) as usize
}

impl Node {
    /// The key.
    #[inline(always)]
    pub unsafe fn key(n: *mut Node) -> Value {
        Value::from_parts((*n).key_bits, (*n).key_tag)
    }

    /// The value; that of the cell in environments.
    #[inline(always)]
    pub unsafe fn value(n: *mut Node) -> Value {
        let v = Value::from_parts((*n).value_bits, (*n).value_tag);
        if v.tag() == Tag::CELL { (&raw mut (*v.as_ptr::<Cell>()).value).get() } else { v }
    }

    /// Stores a value in the node, or in its cell, of table `t`.
    #[inline(always)]
    pub(super) unsafe fn put(st: *mut State, t: *mut Table, n: *mut Node, v: Value) {
        let owner = if (*n).value_tag == Tag::CELL {
            let cell = Value::from_parts((*n).value_bits, Tag::CELL).as_ptr::<Cell>();
            (&raw mut (*cell).value).put(v);
            cell.cast::<GcHeader>()
        } else {
            (*n).value_bits = v.bits();
            (*n).value_tag = v.tag();
            t.cast::<GcHeader>()
        };
        if v.is_collectable() {
            (*st).barrier(owner);
        }
    }
}

impl Table {
    /// Number of nodes.
    #[inline(always)]
    pub unsafe fn node_count(t: *mut Table) -> usize {
        if (*t).nodes.is_null() { 0 } else { 1 << (*t).log_nodes }
    }

    /// Number of the node where the search for `key` starts. There are nodes.
    #[inline]
    unsafe fn main_position(t: *mut Table, key: Value) -> usize {
        let log = (*t).log_nodes;
        match key.tag() {
            Tag::STRING => LuaString::hash(key.as_string()) as usize & ((1 << log) - 1),
            Tag::FALSE | Tag::TRUE => key.tag().0 as usize & ((1 << log) - 1),
            Tag::INTEGER => mix(key.bits(), log),
            _ => mix(key.bits() ^ key.bits() >> 32, log),
        }
    }

    /// Walks the chain from node number `start` for a key that `matches`.
    #[inline(always)]
    unsafe fn walk(t: *mut Table, start: usize, matches: impl Fn(*mut Node) -> bool) -> *mut Node {
        let mut n = (*t).nodes.add(start);
        loop {
            if matches(n) {
                return n;
            }
            match (*n).next {
                0 => return ptr::null_mut(),
                d => n = n.offset(d as isize),
            }
        }
    }

    /// The node of a short string, or null. There are nodes.
    #[inline(always)]
    pub(super) unsafe fn node_of_short(t: *mut Table, name: *mut LuaString) -> *mut Node {
        let bits = Value::string(name).bits();
        let start = (*name).header.word as usize & ((1usize << (*t).log_nodes) - 1);
        Table::walk(t, start, |n| (*n).key_bits == bits && (*n).key_tag == Tag::STRING)
    }

    /// The node of an integer, or null.
    #[inline]
    pub(super) unsafe fn node_of_int(t: *mut Table, i: i64) -> *mut Node {
        if (*t).nodes.is_null() {
            return ptr::null_mut();
        }
        let start = mix(i as u64, (*t).log_nodes);
        Table::walk(t, start, |n| (*n).key_bits == i as u64 && (*n).key_tag == Tag::INTEGER)
    }

    /// The node of a normalised key, or null.
    pub(super) unsafe fn node_of(t: *mut Table, key: Value) -> *mut Node {
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

    /// As [`Table::node_of`], and finds a key that died since its value became nil (for `next`).
    pub(super) unsafe fn node_of_maybe_dead(t: *mut Table, key: Value) -> *mut Node {
        let n = Table::node_of(t, key);
        if !n.is_null() || (*t).nodes.is_null() || !key.is_collectable() {
            return n;
        }
        let start = Table::main_position(t, key);
        Table::walk(t, start, |n| (*n).key_bits == key.bits() && (*n).key_tag == DEAD_KEY)
    }

    /// Enters `key`, normalised and in no node, with node value `v`, not nil and possibly a cell. `false` when there
    /// is no free node. No barrier, no note of the change.
    pub(super) unsafe fn insert_node(t: *mut Table, key: Value, v: Value) -> bool {
        let nodes = (*t).nodes;
        if nodes.is_null() {
            return false;
        }
        let mut at = nodes.add(Table::main_position(t, key));
        if (*at).value_tag != Tag::NIL {
            let free = Table::free_node(t);
            if free.is_null() {
                return false;
            }
            let owner = nodes.add(Table::main_position(t, Node::key(at)));
            if owner == at {
                // The node found is in its own main position: the new key goes into the free one, next in the chain.
                (*free).next = match (*at).next {
                    0 => 0,
                    d => at.offset(d as isize).offset_from(free) as i32,
                };
                (*at).next = free.offset_from(at) as i32;
                at = free;
            } else {
                // It is not: it moves to the free node.
                let mut before = owner;
                loop {
                    let next = before.offset((*before).next as isize);
                    if next == at {
                        break;
                    }
                    before = next;
                }
                (*before).next = free.offset_from(before) as i32;
                (*free).value_bits = (*at).value_bits;
                (*free).value_tag = (*at).value_tag;
                (*free).key_tag = (*at).key_tag;
                (*free).key_bits = (*at).key_bits;
                (*free).next = match (*at).next {
                    0 => 0,
                    d => at.offset(d as isize).offset_from(free) as i32,
                };
                (*at).next = 0;
            }
        }
        (*at).key_bits = key.bits();
        (*at).key_tag = key.tag();
        (*at).value_bits = v.bits();
        (*at).value_tag = v.tag();
        true
    }

    /// A node that never had a key, or null.
    unsafe fn free_node(t: *mut Table) -> *mut Node {
        while (*t).last_free > 0 {
            (*t).last_free -= 1;
            let n = (*t).nodes.add((*t).last_free as usize);
            if (*n).key_tag == Tag::NIL {
                return n;
            }
        }
        ptr::null_mut()
    }

    /// The value to put in the node of a new key: in environments, string keys get a cell.
    #[inline]
    pub(super) unsafe fn wrap(st: *mut State, t: *mut Table, key: Value, v: Value) -> Value {
        if (*t).header.flags & GcHeader::ENVIRONMENT != 0 && key.is_string() {
            Value::from_parts(Cell::new(st, v).expose_provenance() as u64, Tag::CELL)
        } else {
            v
        }
    }

    /// Enters a normalised key that is in no part of the table, with a value that is not nil.
    #[inline(never)]
    pub(super) unsafe fn insert_key(st: *mut State, t: *mut Table, key: Value, v: Value) {
        Table::note_new_key(st, t);
        let node_value = Table::wrap(st, t, key, v);
        if Table::insert_node(t, key, node_value) {
            // Key or value may be collectable, and the table scanned.
            (*st).barrier(t.cast());
        } else {
            Table::rehash(st, t, key, node_value);
        }
    }
}
