//! Lookups along chains of `__index` tables by the cache of inherited fields.

use super::{InheritedEntry, Table, WATCHED};
use crate::state::State;
use crate::string::LuaString;
use crate::value::Value;

impl Table {
    /// Returns the field `name`, a short string that `t` does not have itself, along the chain of
    /// `__index` tables of `t`. Returns `None` if the chain leads to anything but a table.
    ///
    /// `records` says whether the result may be recorded although the name is not
    /// [`LuaString::INHERITED`] yet. No tables become watched.
    ///
    /// # Safety
    /// `t` and `name` are live objects of `st`.
    #[inline(always)]
    pub unsafe fn inherited(
        st: *mut State,
        t: *mut Table,
        name: *mut LuaString,
        records: bool,
    ) -> Option<Value> {
        match Table::cached_inherited(st, t, name) {
            None => Table::find_inherited(st, t, name, records),
            found => found,
        }
    }

    /// Like [`Table::inherited`], but returns `None` if the cache does not have the field.
    ///
    /// # Safety
    /// As for [`Table::inherited`].
    #[inline(always)]
    pub(super) unsafe fn cached_inherited(
        st: *mut State,
        t: *mut Table,
        name: *mut LuaString,
    ) -> Option<Value> {
        match (*t).meta {
            0 => Some(Value::NIL),
            meta => (*st).inherited.get(meta, name, (*st).meta_epoch),
        }
    }

    #[inline(never)]
    unsafe fn find_inherited(
        st: *mut State,
        t: *mut Table,
        name: *mut LuaString,
        records: bool,
    ) -> Option<Value> {
        let mut current = t;
        let mut records = records || (*name).uses & LuaString::INHERITED != 0;
        for _ in 0..Table::MAX_CHAIN {
            records = records && Table::is_index_watched(current);
            let handler = Table::index_event(st, current);
            if handler.is_nil() {
                if records {
                    Table::note_inherited(st, t, name, std::ptr::null_mut());
                }
                return Some(Value::NIL);
            }
            if !handler.is_table() {
                return None;
            }
            current = handler.as_table();
            records = records && (*current).header.flags & WATCHED != 0;
            let v = Table::get_str(current, name);
            if !v.is_nil() {
                if records {
                    Table::note_inherited(st, t, name, Table::place_of_str(current, name));
                }
                return Some(v);
            }
        }
        None
    }

    /// Returns the first table along the chain of `t` that has the field `name`, if all tables of
    /// the chain so far are watched and caches may rely on the name.
    ///
    /// # Safety
    /// As for [`Table::inherited`].
    pub(super) unsafe fn watched_holder(
        st: *mut State,
        t: *mut Table,
        name: *mut LuaString,
    ) -> Option<*mut Table> {
        if (*name).uses & LuaString::INHERITED == 0 {
            return None;
        }
        let mut current = t;
        for _ in 0..Table::MAX_CHAIN {
            let handler = Table::index_event(st, current);
            if !handler.is_table() || !Table::is_index_watched(current) {
                return None;
            }
            current = handler.as_table();
            if (*current).header.flags & WATCHED == 0 {
                return None;
            }
            if !Table::get_str(current, name).is_nil() {
                return Some(current);
            }
        }
        None
    }

    /// Returns the address of the value of the field `name`, which `t` has.
    pub(super) unsafe fn place_of_str(t: *mut Table, name: *mut LuaString) -> *mut Value {
        match Table::field_slot(t, name) {
            Some(slot) => (*t).fields.add(slot as usize),
            None => {
                let n = Table::node_of_str(t, name).expect("the table has the field");
                // a node's value reads like a Value
                (*t).nodes.add(n as usize).cast::<Value>()
            }
        }
    }

    /// Records where values with the metatable word of `t` find the field `name` that they do not
    /// have themselves: at `place`, or nowhere if that is null.
    ///
    /// # Safety
    /// As for [`Table::inherited`]; `t` has a metatable, and all tables of the chain are watched.
    pub(super) unsafe fn note_inherited(
        st: *mut State,
        t: *mut Table,
        name: *mut LuaString,
        place: *mut Value,
    ) {
        let meta = (*t).meta;
        debug_assert!(meta != 0);
        (*name).uses |= LuaString::INHERITED;
        let epoch = (*st).meta_epoch;
        (&mut (*st).inherited).put(InheritedEntry { meta, name, epoch, place });
    }
}
