//! Writing tables.

use super::get::float_to_int;
use super::{LocalShape, Node, Table};
use crate::header::GcHeader;
use crate::state::State;
use crate::string::LuaString;
use crate::value::{SlotExt, Tag, Value};

/// The reason why a value is not a valid key (manual 2.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyError {
    /// "index is nil"
    Nil,
    /// "index is NaN"
    Nan,
}

impl Table {
    /// Stores `v` under `key` (`rawset`). A string key counts as computed; see [`Table::set_str`].
    ///
    /// # Errors
    /// Returns an error if `key` is nil or NaN.
    #[inline]
    pub unsafe fn set(st: *mut State, t: *mut Table, key: Value, v: Value) -> Result<(), KeyError> {
        match key.tag() {
            Tag::STRING => Table::set_str(st, t, key.as_string(), v),
            Tag::INTEGER => Table::set_int(st, t, key.as_int(), v),
            Tag::NIL => return Err(KeyError::Nil),
            Tag::FLOAT => match float_to_int(key.as_float()) {
                Some(i) => Table::set_int(st, t, i, v),
                None if key.as_float().is_nan() => return Err(KeyError::Nan),
                None => Table::set_node(st, t, key, v),
            },
            _ => Table::set_node(st, t, key, v),
        }
        Ok(())
    }

    /// Stores `v` under `name`, a constant of the program. A new name becomes a field while the
    /// table has a shape.
    #[inline]
    pub unsafe fn set_str_const(st: *mut State, t: *mut Table, name: *mut LuaString, v: Value) {
        if (*t).shape.is_null() || !LuaString::is_short(name) {
            return Table::set_str_node(st, t, name, v);
        }
        match LocalShape::find((*t).shape, name) {
            Some(slot) => Table::write_field(st, t, slot, v),
            None if v.is_nil() => {}
            None => {
                let next = Table::shape_with_field(st, t, name);
                if next.is_null() {
                    if !Table::make_dictionary(st, t, 1) {
                        return Table::refuse(st, Table::node_bytes(Table::node_capacity(t)));
                    }
                    Table::insert_key(st, t, Value::string(name), v);
                } else {
                    Table::add_field(st, t, next, v);
                }
            }
        }
    }

    /// Returns the shape of a table after it has gained the field `name`, or null when it should
    /// become a dictionary.
    #[inline]
    unsafe fn shape_with_field(
        st: *mut State,
        t: *mut Table,
        name: *mut LuaString,
    ) -> *mut LocalShape {
        let mut shape = (*t).shape;
        if (*shape).is_inline && (*shape).count >= (*t).fields_cap.into() {
            shape = LocalShape::outgrown(st, shape);
            if shape.is_null() {
                return shape;
            }
        }
        LocalShape::with_field(st, shape, name)
    }

    /// Stores `v` under `name`, a string that the program computed. A new name changes the table to
    /// dictionary mode, unless instructions also use it as a field name: programs decode, copy and
    /// initialize objects with computed keys, and add methods to classes in that way.
    #[inline]
    pub unsafe fn set_str(st: *mut State, t: *mut Table, name: *mut LuaString, v: Value) {
        if !(*t).shape.is_null() && LuaString::is_short(name) {
            match LocalShape::find((*t).shape, name) {
                Some(slot) => return Table::write_field(st, t, slot, v),
                None if v.is_nil() => return,
                None => {
                    let next = Table::shape_with_computed(st, t, name);
                    if !next.is_null() {
                        return Table::add_field(st, t, next, v);
                    }
                    if !Table::make_dictionary(st, t, 1) {
                        return Table::refuse(st, Table::node_bytes(Table::node_capacity(t)));
                    }
                }
            }
        }
        Table::set_str_node(st, t, name, v);
    }

    /// As [`Table::shape_with_field`], for a name that the program computed.
    #[inline(never)]
    unsafe fn shape_with_computed(
        st: *mut State,
        t: *mut Table,
        name: *mut LuaString,
    ) -> *mut LocalShape {
        /// The most fields of a table that gains one in this way.
        const MOST: u32 = 32;
        let names_field = (*name).uses & LuaString::NAMES_FIELD != 0;
        match names_field && (*(*t).shape).count < MOST {
            true => Table::shape_with_field(st, t, name),
            false => std::ptr::null_mut(),
        }
    }

    /// Handles the cases of [`Table::set_str`] for a short string that need no allocation. Returns
    /// false, without an effect, in other cases.
    #[inline(always)]
    pub(super) unsafe fn set_short_at_once(
        st: *mut State,
        t: *mut Table,
        name: *mut LuaString,
        v: Value,
    ) -> bool {
        if (*t).shape.is_null() {
            return Table::set_short_in_nodes(st, t, name, v);
        }
        match LocalShape::find((*t).shape, name) {
            Some(slot) => Table::write_field(st, t, slot, v),
            None if v.is_nil() => {}
            None => return false,
        }
        true
    }

    /// As [`Table::set_short_at_once`], for a dictionary. Adds a key if there is a node for it.
    #[inline]
    unsafe fn set_short_in_nodes(
        st: *mut State,
        t: *mut Table,
        name: *mut LuaString,
        v: Value,
    ) -> bool {
        let flags = (*t).header.flags;
        if !LuaString::is_short(name) || (*t).nodes.is_null() || flags & super::WATCHED != 0 {
            return false;
        }
        let n = Table::node_of_short(t, name);
        if !n.is_null() {
            let has_value = !Node::value(n).is_nil();
            if has_value {
                Node::put(st, t, n, v);
            }
            return has_value;
        }
        // a new key of an environment gets a cell
        let has_room = Table::node_count(t) < Table::node_capacity(t);
        let is_new = !v.is_nil() && has_room && flags & GcHeader::ENVIRONMENT == 0;
        if is_new {
            Table::insert_key(st, t, Value::string(name), v);
        }
        is_new
    }

    /// Stores `v` under a string key that belongs in the hash part.
    #[inline]
    unsafe fn set_str_node(st: *mut State, t: *mut Table, name: *mut LuaString, v: Value) {
        if !Table::set_short_in_nodes(st, t, name, v) {
            Table::set_node(st, t, Value::string(name), v);
        }
    }

    /// Handles the simple case of a short string that has a value in a dictionary. Returns `false`,
    /// without an effect, in other cases.
    #[inline]
    unsafe fn set_existing_short(
        st: *mut State,
        t: *mut Table,
        name: *mut LuaString,
        v: Value,
    ) -> bool {
        if !LuaString::is_short(name)
            || (*t).nodes.is_null()
            || (*t).header.flags & super::WATCHED != 0
        {
            return false;
        }
        let n = Table::node_of_short(t, name);
        if n.is_null() || Node::value(n).is_nil() {
            return false;
        }
        Node::put(st, t, n, v);
        true
    }

    /// Stores `v` under a normalised key that belongs in the hash part.
    #[inline(never)]
    pub(super) unsafe fn set_node(st: *mut State, t: *mut Table, key: Value, v: Value) {
        let n = Table::node_of(t, key);
        if !n.is_null() {
            let old = Node::value(n);
            if !old.is_nil() || (*n).value_tag == Tag::CELL {
                Table::note_write(st, t, key, old, v);
                Node::put(st, t, n, v);
            } else if !v.is_nil() {
                // The key is present, without a value.
                let wrapped = Table::wrap(st, t, key, v);
                Table::revive(st, t, n, key, wrapped);
            }
        } else if !v.is_nil() {
            Table::insert_key(st, t, key, v);
        }
    }

    /// Stores `v` under `key` if its current value is not nil. Otherwise returns `false` and
    /// changes nothing, so that the caller can try `__newindex` (manual 2.4).
    #[inline]
    pub unsafe fn set_existing(st: *mut State, t: *mut Table, key: Value, v: Value) -> bool {
        match key.tag() {
            Tag::STRING => Table::set_existing_str(st, t, key.as_string(), v),
            Tag::INTEGER => Table::set_existing_int(st, t, key.as_int(), v),
            Tag::FLOAT if let Some(i) = float_to_int(key.as_float()) => {
                Table::set_existing_int(st, t, i, v)
            }
            _ => Table::set_existing_node(st, t, key, v),
        }
    }

    /// Like [`Table::set_existing`], for an integer key.
    #[inline]
    pub unsafe fn set_existing_int(st: *mut State, t: *mut Table, i: i64, v: Value) -> bool {
        if (i as u64).wrapping_sub(1) < (*t).array_len as u64 {
            let present = !Table::element(t, (i - 1) as u32).is_nil();
            if present {
                Table::set_int(st, t, i, v);
            }
            return present;
        }
        Table::set_existing_node(st, t, Value::int(i), v)
    }

    /// Like [`Table::set_existing`], for a string key.
    #[inline]
    pub unsafe fn set_existing_str(
        st: *mut State,
        t: *mut Table,
        name: *mut LuaString,
        v: Value,
    ) -> bool {
        if !(*t).shape.is_null() && LuaString::is_short(name) {
            return match LocalShape::find((*t).shape, name) {
                Some(slot) if !(*t).fields.add(slot as usize).get().is_nil() => {
                    Table::write_field(st, t, slot, v);
                    true
                }
                _ => false,
            };
        }
        Table::set_existing_short(st, t, name, v)
            || Table::set_existing_node(st, t, Value::string(name), v)
    }

    unsafe fn set_existing_node(st: *mut State, t: *mut Table, key: Value, v: Value) -> bool {
        let n = Table::node_of(t, key);
        if n.is_null() || Node::value(n).is_nil() {
            return false;
        }
        Table::note_write(st, t, key, Node::value(n), v);
        Node::put(st, t, n, v);
        true
    }
}
