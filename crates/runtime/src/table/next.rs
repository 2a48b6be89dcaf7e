//! Traversal (manual 6.1, `next`).
//!
//! Positions are numbered: array elements by capacity, then field slots by capacity, then nodes. Assigning to existing fields
//! (nil included) changes none of the three, so a position stays good while a traversal clears fields.

use super::get::float_to_int;
use super::{LocalShape, Node, Table};
use crate::string::LuaString;
use crate::value::{SlotExt, Tag, Value};

/// "invalid key to 'next'"
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InvalidKey;

impl Table {
    /// The first entry at position `index` or later: the position after it, key and value.
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

    /// [`Table::next_index`] past the last array element.
    #[inline(never)]
    unsafe fn next_unordered(t: *mut Table, index: u32) -> Option<(u32, Value, Value)> {
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
        let count = Table::node_count(t);
        while ((i - first_node) as usize) < count {
            let n = (*t).nodes.add((i - first_node) as usize);
            i += 1;
            let v = Node::value(n);
            if !v.is_nil() {
                return Some((i, Node::key(n), v));
            }
        }
        None
    }

    /// The key that a traversal had when [`Table::next_index`] gave this position; nil for 0.
    ///
    /// # Safety
    /// `t` is live, and nothing was added to it since.
    pub unsafe fn key_before(t: *mut Table, position: u32) -> Value {
        let Some(i) = position.checked_sub(1) else { return Value::NIL };
        let first_field = (*t).array_cap;
        let first_node = first_field + (*t).fields_cap as u32;
        if i < first_field {
            Value::int(i64::from(position))
        } else if i < first_node {
            let shape = (*t).shape;
            let keys = if shape.is_null() { &[][..] } else { &(&(*shape).keys)[..] };
            keys.get((i - first_field) as usize).map_or(Value::NIL, |&key| Value::string(key))
        } else if ((i - first_node) as usize) < Table::node_count(t) {
            Node::key((*t).nodes.add((i - first_node) as usize))
        } else {
            Value::NIL
        }
    }

    /// The position after `key`; 0 for nil.
    ///
    /// # Errors
    /// If the table has no such key and had none when the traversal was there.
    pub unsafe fn index_of_key(t: *mut Table, key: Value) -> Result<u32, InvalidKey> {
        let key = match key.tag() {
            Tag::NIL => return Ok(0),
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
            return Ok((*t).array_cap + (*t).fields_cap as u32 + number + 1);
        }
        // An element that the traversal has cleared, behind what is now the last one.
        if in_array { Ok(key.as_int() as u32) } else { Err(InvalidKey) }
    }

    /// The entry after `key`; the first one for nil; none at the end.
    ///
    /// # Errors
    /// As [`Table::index_of_key`].
    #[inline]
    pub unsafe fn next(t: *mut Table, key: Value) -> Result<Option<(Value, Value)>, InvalidKey> {
        let index = Table::index_of_key(t, key)?;
        Ok(Table::next_index(t, index).map(|(_, key, value)| (key, value)))
    }
}
