//! Reading tables.

use super::{Node, Table};
use crate::string::LuaString;
use crate::value::{SlotExt, Tag, Value};

/// Returns the integer equal to `f`, if there is one.
#[inline]
pub(super) fn float_to_int(f: f64) -> Option<i64> {
    // The bounds are exact: -2^63, and 2^63, which is already too large.
    let fits = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&f);
    (fits && (f as i64) as f64 == f).then_some(f as i64)
}

impl Table {
    /// Returns the value under the integer key `i`.
    #[inline(always)]
    pub unsafe fn get_int(t: *mut Table, i: i64) -> Value {
        let at = (i as u64).wrapping_sub(1);
        if at < (*t).array_len as u64 {
            return Table::element(t, at as u32);
        }
        Table::get_int_slow(t, i)
    }

    /// Returns the value under the integer key `i`, which is not in the array part.
    #[inline(never)]
    pub unsafe fn get_int_slow(t: *mut Table, i: i64) -> Value {
        if i > 0 && !Table::is_direct(t) && !Table::may_have_node(t, i) {
            return Value::NIL;
        }
        match Table::node_of_int(t, i) {
            n if n.is_null() => Value::NIL,
            n => Node::value(n),
        }
    }

    /// Returns the value under the string key `name`.
    #[inline(always)]
    pub unsafe fn get_str(t: *mut Table, name: *mut LuaString) -> Value {
        if !LuaString::is_short(name) {
            return Table::get_node(t, Value::string(name));
        }
        match Table::field_slot(t, name) {
            Some(slot) => (*t).fields.add(slot as usize).get(),
            None if !(*t).shape.is_null() || (*t).nodes.is_null() => Value::NIL,
            None => match Table::node_of_short(t, name) {
                n if n.is_null() => Value::NIL,
                n => Node::value(n),
            },
        }
    }

    /// Returns the value under a normalised key in the hash part.
    #[inline(never)]
    unsafe fn get_node(t: *mut Table, key: Value) -> Value {
        match Table::node_of(t, key) {
            n if n.is_null() => Value::NIL,
            n => Node::value(n),
        }
    }

    /// Returns the value under `key` (manual 3.4.10, `rawget`).
    #[inline]
    pub unsafe fn get(t: *mut Table, key: Value) -> Value {
        match key.tag() {
            Tag::STRING => Table::get_str(t, key.as_string()),
            Tag::INTEGER => Table::get_int(t, key.as_int()),
            Tag::NIL => Value::NIL,
            Tag::FLOAT => match float_to_int(key.as_float()) {
                Some(i) => Table::get_int(t, i),
                None => Table::get_node(t, key),
            },
            _ => Table::get_node(t, key),
        }
    }

    /// Returns the slot of the field `name` (a short string), in shape mode.
    #[inline(always)]
    pub unsafe fn field_slot(t: *mut Table, name: *mut LuaString) -> Option<u32> {
        let shape = (*t).shape;
        if shape.is_null() { None } else { super::LocalShape::find(shape, name) }
    }

    /// Returns the index of the node of `name` (a short string), in dictionary mode.
    pub unsafe fn node_of_str(t: *mut Table, name: *mut LuaString) -> Option<u32> {
        if !(*t).shape.is_null() || (*t).nodes.is_null() {
            return None;
        }
        match Table::node_of_short(t, name) {
            n if n.is_null() => None,
            n => Some(n.offset_from((*t).nodes) as u32),
        }
    }
}
