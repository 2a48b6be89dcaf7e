//! Traversal (manual 6.1, `next`).
//!
//! Positions are numbered: array elements by capacity, then field slots by capacity, then nodes.
//! Nodes of integer keys below 1, which come before the array part, have separate positions, from
//! [`FRONT`] on. An assignment to an existing field (including nil) changes none of these, so a
//! position remains valid while a traversal clears fields.

use super::get::float_to_int;
use super::order::FRONT;
use super::{LocalShape, Node, Table};
use crate::header::GcHeader;
use crate::heap::is_hidden;
use crate::state::State;
use crate::string::LuaString;
use crate::value::{SlotExt, Tag, Value};

/// "invalid key to 'next'"
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InvalidKey;

impl Table {
    /// Returns the first entry at position `index` or later: the position after it, the key and the
    /// value. A traversal begins at [`Table::start`].
    #[inline(always)]
    pub unsafe fn next_index(t: *mut Table, index: u32) -> Option<(u32, Value, Value)> {
        let len = (*t).array_len;
        let mut i = index;
        while i < len {
            let v = Table::element(t, i);
            i += 1;
            if !v.is_nil() {
                return Some((i, Value::int(i as i64), v));
            }
        }
        Table::next_unordered(t, i)
    }

    /// Like [`Table::next_index`], for positions after the last array element.
    #[inline(never)]
    unsafe fn next_unordered(t: *mut Table, index: u32) -> Option<(u32, Value, Value)> {
        if index >= FRONT {
            return Table::next_in_front(t, index);
        }
        let first_field = (*t).array_cap;
        let first_node = first_field + (*t).fields_cap as u32;
        let mut i = index.max(first_field);
        if i < first_node {
            if !(*t).shape.is_null() {
                let shape = &*(*t).shape;
                while i - first_field < shape.count {
                    let slot = (i - first_field) as usize;
                    let v = (*t).fields.add(slot).get();
                    i += 1;
                    if !v.is_nil() {
                        return Some((i, Value::string(shape.keys[slot]), v));
                    }
                }
            }
            i = first_node;
        }
        let count = (*t).nodes_used;
        if i == first_node && count > 0 {
            i += Table::front_end(t) as u32;
        }
        while i - first_node < count {
            let n = (*t).nodes.add((i - first_node) as usize);
            i += 1;
            let v = Node::value(n);
            if !v.is_nil() && !Table::hides(t, n) {
                return Some((i, Node::key(n), v));
            }
        }
        None
    }

    /// Returns whether the key of `n`, which has a value, is dead.
    #[inline(always)]
    unsafe fn hides(t: *mut Table, n: *mut Node) -> bool {
        (*t).header.flags & GcHeader::WEAK != 0 && is_hidden(t, Node::key(n))
    }

    /// Like [`Table::next_index`], for positions before the first array element.
    #[cold]
    unsafe fn next_in_front(t: *mut Table, index: u32) -> Option<(u32, Value, Value)> {
        if !(*t).nodes.is_null() {
            for i in index - FRONT..Table::front_end(t) as u32 {
                let n = (*t).nodes.add(i as usize);
                if !Node::value(n).is_nil() {
                    return Some((FRONT + i + 1, Node::key(n), Node::value(n)));
                }
            }
        }
        Table::next_index(t, 0)
    }

    /// Returns the position after `key`, which is not nil.
    ///
    /// # Errors
    /// Returns an error if the table has no such key, and had none when the traversal reached it.
    pub unsafe fn index_of_key(t: *mut Table, key: Value) -> Result<u32, InvalidKey> {
        let key = match key.tag() {
            Tag::FLOAT => float_to_int(key.as_float()).map_or(key, Value::int),
            _ => key,
        };
        let in_array =
            key.is_int() && (key.as_int() as u64).wrapping_sub(1) < (*t).array_cap as u64;
        if in_array && key.as_int() <= (*t).array_len as i64 {
            return Ok(key.as_int() as u32);
        }
        if key.is_string()
            && LuaString::is_short(key.as_string())
            && !(*t).shape.is_null()
            && let Some(slot) = LocalShape::find((*t).shape, key.as_string())
        {
            return Ok((*t).array_cap + slot + 1);
        }
        let n = Table::node_of_maybe_dead(t, key);
        if !n.is_null() {
            let number = n.offset_from((*t).nodes) as u32;
            if key.is_int() && key.as_int() <= 0 && number < (*Table::order(t)).integers {
                return Ok(FRONT + number + 1);
            }
            return Ok((*t).array_cap + (*t).fields_cap as u32 + number + 1);
        }
        // The traversal has cleared this element, which is now after the last one.
        if in_array { Ok(key.as_int() as u32) } else { Err(InvalidKey) }
    }

    /// Returns the entry after `key`, or the first one for nil; `None` at the end.
    ///
    /// # Errors
    /// As for [`Table::index_of_key`].
    ///
    /// # Safety
    /// `t` is a live table of `st`.
    #[inline]
    pub unsafe fn next(
        st: *mut State,
        t: *mut Table,
        key: Value,
    ) -> Result<Option<(Value, Value)>, InvalidKey> {
        let index = if key.is_nil() { Table::start(st, t) } else { Table::index_of_key(t, key)? };
        Ok(Table::next_index(t, index).map(|(_, key, value)| (key, value)))
    }
}
