//! Direct nodes: a hash part for integers in a narrow range.
//!
//! Queues, sliding windows and arrays that do not begin at 1 have integer keys that are close
//! together, but that the array part cannot hold. Their nodes are direct-mapped: key `k` can only
//! be in the node with index `k` modulo the number of nodes. There are no chains, and a new key
//! replaces a key that no longer has a value, so a queue that is never longer than the buffer
//! reuses the same nodes, like a ring buffer.
//!
//! A new key whose node is in use, or that is not an integer, makes the table
//! [rehash](Table::rehash), which again chooses between direct nodes and chains.
//!
//! For all code that does not look up integers, this looks like an ordinary hash part that is full:
//! all nodes are in use, nodes without a key contain a dead key, and all chains are empty.

use super::{DEAD_KEY, DIRECT, Node, Table, WATCHED};
use crate::header::GcHeader;
use crate::state::State;
use crate::value::{Tag, Value};

/// The least number of keys for which nodes are direct.
const FEW: usize = 3;

/// The keys of direct nodes that have no gaps.
#[derive(Clone, Copy)]
pub(super) struct Run {
    pub(super) first: i64,
    pub(super) last: i64,
    /// Whether all values are booleans.
    pub(super) booleans: bool,
}

impl Run {
    /// Returns the number of keys.
    pub(super) fn count(self) -> usize {
        (self.last - self.first) as usize + 1
    }
}

impl Table {
    /// Returns whether the nodes are direct.
    #[inline(always)]
    pub(super) unsafe fn is_direct(t: *mut Table) -> bool {
        (*t).node_bits & DIRECT != 0
    }

    /// Returns the only node that may have the integer key `i`, among direct nodes.
    #[inline(always)]
    unsafe fn place_of(t: *mut Table, i: i64) -> *mut Node {
        (*t).nodes.add(i as usize & ((1 << Table::log_nodes(t)) - 1))
    }

    /// Returns the node of an integer among direct nodes, or null.
    #[inline(always)]
    pub(super) unsafe fn direct_node_of(t: *mut Table, i: i64) -> *mut Node {
        let n = Table::place_of(t, i);
        if Node::has_int(n, i) { n } else { std::ptr::null_mut() }
    }

    /// Inserts `key`, which is in no node, among direct nodes. Returns false, without an effect, if
    /// that is not possible.
    pub(super) unsafe fn insert_direct(t: *mut Table, key: Value, v: Value) -> bool {
        if !key.is_int() {
            return false;
        }
        let n = Table::place_of(t, key.as_int());
        let is_free = (*n).value_tag == Tag::NIL;
        if is_free {
            Table::take(n, key.as_int(), v);
        }
        is_free
    }

    #[inline(always)]
    unsafe fn take(n: *mut Node, i: i64, v: Value) {
        n.write(Node {
            value_bits: v.bits(),
            value_tag: v.tag(),
            key_tag: Tag::INTEGER,
            next: 0,
            key_bits: i as u64,
        });
    }

    /// Implements [`Table::set_int_node_at_once`] for direct nodes.
    #[inline(always)]
    pub(super) unsafe fn set_direct_at_once(
        st: *mut State,
        t: *mut Table,
        i: i64,
        v: Value,
    ) -> bool {
        let stored = Table::store_direct(t, i, v);
        if stored {
            (*st).barrier_of_store(t, v);
        }
        stored
    }

    /// Stores `v` under the integer key `i` among direct nodes, without a barrier. Returns false,
    /// without an effect, if it has to go elsewhere.
    #[inline(always)]
    unsafe fn store_direct(t: *mut Table, i: i64, v: Value) -> bool {
        let n = Table::place_of(t, i);
        let may_store = if (*n).value_tag != Tag::NIL {
            Node::has_int(n, i)
        } else {
            // A key up to the capacity may join the array.
            !v.is_nil() && (i as u64).wrapping_sub(1) > u64::from((*t).array_cap)
        };
        if may_store {
            Table::take(n, i, v);
        }
        may_store
    }

    /// Stores `v` under the integer key `i` among direct nodes, if that needs no metamethod, no
    /// write barrier and no other node. Returns false, without an effect, in other cases.
    ///
    /// # Safety
    /// `t` is a live table.
    #[inline(always)]
    pub unsafe fn set_direct_plainly(t: *mut Table, i: i64, v: Value) -> bool {
        Table::is_direct(t)
            && !v.is_collectable()
            && (*t).header.flags & WATCHED == 0
            && (i as u64).wrapping_sub(1) > u64::from((*t).array_cap)
            && Table::lacks_newindex(t)
            && Table::store_direct(t, i, v)
    }

    /// Returns the keys of the nodes, if the nodes are direct and the keys have no gaps.
    pub(super) unsafe fn direct_run(t: *mut Table) -> Option<Run> {
        if !Table::is_direct(t) {
            return None;
        }
        let (mut count, mut booleans) = (0, true);
        let (mut first, mut last) = (i64::MAX, i64::MIN);
        for i in 0..Table::node_count(t) {
            let n = (*t).nodes.add(i);
            if (*n).value_tag != Tag::NIL {
                let key = (*n).key_bits as i64;
                (first, last) = (first.min(key), last.max(key));
                count += 1;
                booleans &= matches!((*n).value_tag, Tag::FALSE | Tag::TRUE);
            }
        }
        let without_gaps = count > 0 && last.wrapping_sub(first) == count - 1;
        without_gaps.then_some(Run { first, last, booleans })
    }

    /// Copies the keys of direct nodes, `count` nodes at `old`, to new ones.
    pub(super) unsafe fn move_direct(t: *mut Table, old: *mut Node, count: usize) {
        for i in 0..count {
            let n = old.add(i);
            if (*n).value_tag != Tag::NIL {
                Table::place_of(t, (*n).key_bits as i64).write(*n);
            }
        }
    }

    /// Returns the number of nodes to allocate for direct nodes in a rehash that inserts `key`,
    /// moves the integers from 1 to `size` to the array, and leaves `count` keys to the nodes.
    /// Returns `None` if the nodes have to have chains: for keys that are not integers, or are not
    /// close together. `run` is what [`Table::direct_run`] returns.
    pub(super) unsafe fn direct_capacity(
        t: *mut Table,
        key: Value,
        size: usize,
        count: usize,
        run: Option<Run>,
    ) -> Option<usize> {
        if count < FEW || !key.is_int() || (*t).header.flags & GcHeader::ENVIRONMENT != 0 {
            return None;
        }
        let mut range: Option<(i64, i64)> = None;
        let mut add = |i: i64| {
            if i < 1 || i > size as i64 {
                let (low, high) = range.unwrap_or((i, i));
                range = Some((low.min(i), high.max(i)));
            }
        };
        add(key.as_int());
        if let Some(run) = run.filter(|_| size == 0) {
            add(run.first);
            add(run.last);
        } else {
            for i in 0..Table::node_count(t) {
                let n = (*t).nodes.add(i);
                if (*n).value_tag != Tag::NIL {
                    if (*n).key_tag != Tag::INTEGER {
                        return None;
                    }
                    add((*n).key_bits as i64);
                }
            }
        }
        let len = (*t).array_len as usize;
        if size < len {
            add(len as i64);
            let first = (size..len).find(|&i| !Table::element(t, i as u32).is_nil());
            add(first.map_or(len, |i| i + 1) as i64);
        }
        let (low, high) = range?;
        let width = (high as u64).wrapping_sub(low as u64).wrapping_add(1);
        let is_dense = width != 0 && width <= (count + count / 2) as u64;
        // With room for half as many keys again, it takes that many insertions until a key that
        // counts up or down meets the last one.
        let room = || (width + width / 2) as usize;
        is_dense.then(|| room().next_power_of_two()).filter(|&size| size <= Table::MAX_NODES)
    }

    /// Makes the nodes, which are new, direct.
    pub(super) unsafe fn make_direct(t: *mut Table) {
        let capacity = Table::node_capacity(t);
        for i in 0..capacity {
            (*t).nodes.add(i).write(Node {
                value_bits: 0,
                value_tag: Tag::NIL,
                key_tag: DEAD_KEY,
                next: 0,
                key_bits: 0,
            });
        }
        (*t).nodes_used = capacity as u32;
        (*t).node_bits |= DIRECT;
        Table::note_any_order(t);
    }
}
