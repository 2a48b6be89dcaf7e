//! The order of traversal.
//!
//! Nodes are in the order of insertion, except that integer keys come before others, in ascending
//! order. A key that is inserted out of that order leaves the nodes *unsettled*, and the next
//! traversal sorts them when it starts.

use super::{DIRECT, HAS_ELEMENTS, Node, Table};
use crate::state::State;
use crate::value::Tag;

/// The record of the order of the nodes, stored between them and the heads of their chains.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Order {
    /// Number of nodes at the start that have integer keys in ascending order.
    pub(super) integers: u32,
    /// Number of nodes in use when they were last settled, and the bit [`UNSETTLED`].
    settled: u32,
    /// A lower bound of the integer keys above 0. An array that grows below it need not search the
    /// nodes for each key.
    pub(crate) least: u32,
}

/// Set when an integer key is not in its place in the order.
const UNSETTLED: u32 = 1 << 31;

/// Tables with at most this many nodes are settled by each traversal that finds them unsettled.
const FEW: u32 = 64;

/// The first position of nodes with integer keys below 1, which come before the array part.
pub const FRONT: u32 = 3 << 30;

impl Order {
    pub(super) const NEW: Order = Order { integers: 0, settled: 0, least: u32::MAX };
}

impl Table {
    /// The largest number of nodes of a table.
    pub(super) const MAX_NODES: usize = 1 << 29;

    /// The position of the first entry, for code that does not depend on the order of integer keys
    /// in the hash part.
    pub const FIRST: u32 = FRONT;

    /// Starts a traversal: sorts the nodes, and returns the position of the first entry for
    /// [`Table::next_index`].
    ///
    /// # Safety
    /// `t` is a live table of `st`.
    #[inline(always)]
    pub unsafe fn start(st: *mut State, t: *mut Table) -> u32 {
        if (*t).nodes.is_null() { 0 } else { Table::start_nodes(st, t) }
    }

    #[inline(never)]
    unsafe fn start_nodes(st: *mut State, t: *mut Table) -> u32 {
        let used = (*t).nodes_used;
        let Order { integers, settled, .. } = *Table::order(t);
        // Sorting is worth its cost when the table is small or many keys are new, so that a program
        // that looks for the first entry after each insertion takes linear time in total.
        if settled & UNSETTLED != 0
            && (used <= FEW || used - (settled & !UNSETTLED).min(used) >= used / 4)
            && Table::settle(st, t)
        {
            return Table::start_nodes(st, t);
        }
        if integers > 0 && (*(*t).nodes).key_bits as i64 <= 0 { FRONT } else { 0 }
    }

    /// Records that the node with index `at`, the last one, was added for the integer key `key`.
    #[inline(always)]
    pub(super) unsafe fn note_integer(t: *mut Table, at: u32, key: i64) {
        let order = Table::order(t);
        if key > 0 {
            if !Table::has_elements(t) {
                (*t).node_bits |= HAS_ELEMENTS;
            }
            if key < i64::from((*order).least) {
                (*order).least = key as u32;
            }
        }
        let ascends = at == 0 || ((*(*t).nodes.add(at as usize - 1)).key_bits as i64) < key;
        if (*order).integers == at && ascends {
            (*order).integers = at + 1;
        } else {
            (*order).settled |= UNSETTLED;
        }
    }

    /// Records that integer keys of any size may be at any place among the nodes.
    pub(super) unsafe fn note_any_order(t: *mut Table) {
        (*t).node_bits |= HAS_ELEMENTS;
        Table::order(t).write(Order { integers: 0, settled: UNSETTLED, least: 1 });
    }

    /// Raises the lower bound of the integer keys above 0, after the node `n`, whose key was
    /// `key`, has moved to the array. Keys in ascending order, as a constructor or a loop stores
    /// them, move one after the other, so the search for the next one starts there.
    pub(super) unsafe fn note_moved_to_array(t: *mut Table, n: *mut Node, key: i64) {
        let order = Table::order(t);
        let number = n.offset_from((*t).nodes) as u32;
        if key > i64::from((*order).least) || (*order).settled & UNSETTLED != 0 {
            return;
        }
        let mut rest = (number..(*order).integers).map(|i| &*(*t).nodes.add(i as usize));
        match rest.find(|n| n.key_tag == Tag::INTEGER) {
            Some(next) => (*order).least = u32::try_from(next.key_bits).unwrap_or(u32::MAX),
            None => {
                (*order).least = u32::MAX;
                (*t).node_bits &= !HAS_ELEMENTS;
            }
        }
    }

    /// Sorts the nodes, and drops those without a value. Returns false, without an effect, if there
    /// is no memory for it.
    #[cold]
    #[inline(never)]
    unsafe fn settle(st: *mut State, t: *mut Table) -> bool {
        let mut live = Vec::new();
        if live.try_reserve_exact(Table::node_count(t)).is_err() {
            return false;
        }
        for i in 0..(*t).nodes_used {
            let n = (*t).nodes.add(i as usize);
            if !Node::value(n).is_nil() {
                // The links are rebuilt below.
                live.push(Node { next: i, ..*n });
            }
        }
        live.sort_unstable_by_key(|n| match n.key_tag {
            Tag::INTEGER => (0, n.key_bits as i64),
            _ => (1, i64::from(n.next)),
        });
        (*st).heap.note_moved_nodes(t);
        (*t).nodes_used = 0;
        (*t).node_bits &= !DIRECT;
        Table::order(t).write(Order { settled: live.len() as u32, ..Order::NEW });
        std::ptr::write_bytes(Table::heads(t), 0, Table::node_capacity(t));
        for mut n in live {
            Table::re_enter_node(t, &mut n);
        }
        Table::note_move(st, t);
        // The collector may have visited some of the nodes.
        (*st).barrier(t.cast());
        true
    }

    /// Returns how many of the first nodes have integer keys below 1. The hash part must not be
    /// empty.
    pub(super) unsafe fn front_end(t: *mut Table) -> usize {
        let integers = (*Table::order(t)).integers as usize;
        if integers == 0 || (*(*t).nodes).key_bits as i64 > 0 {
            return 0;
        }
        std::slice::from_raw_parts((*t).nodes, integers).partition_point(|n| n.key_bits as i64 <= 0)
    }
}
