//! Lookups along chains of `__index` tables, using the cache of inherited fields.

use std::ptr::null_mut;

use super::{Cell, InheritedEntry, Table, WATCHED};
use crate::header::GcHeader;
use crate::state::State;
use crate::string::LuaString;
use crate::value::Value;

/// Where the chain of a table has a field.
struct Holder {
    /// The first table that has it; null if none has.
    table: *mut Table,
    /// Whether that table and all before it are watched.
    is_watched: bool,
}

impl Table {
    /// Returns the field `name`, a short string, of `t` or of its chain of `__index` tables, using
    /// the cache. Returns `None` if the chain leads to anything but a table.
    ///
    /// `records` is that of [`Table::inherited`].
    ///
    /// # Safety
    /// `t` and `name` are live objects of `st`.
    #[inline(always)]
    pub unsafe fn get_along_chain(
        st: *mut State,
        t: *mut Table,
        name: *mut LuaString,
        records: bool,
    ) -> Option<Value> {
        let own = Table::get_str(t, name);
        if own.is_nil() { Table::inherited(st, t, name, records) } else { Some(own) }
    }

    /// Returns the field `name`, a short string that `t` does not have itself, along the chain of
    /// `__index` tables of `t`. Returns `None` if the chain leads to anything but a table.
    ///
    /// `records` says whether the result may be recorded although the name is not
    /// [`LuaString::INHERITED`] yet. No tables become watched.
    ///
    /// # Safety
    /// `t` and `name` are live objects of `st`.
    #[inline(always)]
    unsafe fn inherited(
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
        let Holder { table, is_watched } = Table::holder(st, t, name)?;
        let (v, place) = match table.is_null() {
            true => (Value::NIL, null_mut()),
            false => (Table::get_str(table, name), Table::place_of_str(table, name)),
        };
        if is_watched && (records || (*name).uses & LuaString::INHERITED != 0) {
            Table::note_inherited(st, t, name, place);
        }
        Some(v)
    }

    /// Searches the chain of `t` for the field `name`. Returns `None` if it leads to anything but a
    /// table.
    ///
    /// # Safety
    /// As for [`Table::inherited`].
    unsafe fn holder(st: *mut State, t: *mut Table, name: *mut LuaString) -> Option<Holder> {
        let (mut current, mut is_watched) = (t, true);
        for _ in 0..Table::MAX_CHAIN {
            is_watched &= Table::is_index_watched(current);
            let handler = Table::index_event(st, current);
            if handler.is_nil() {
                return Some(Holder { table: null_mut(), is_watched });
            }
            if !handler.is_table() {
                return None;
            }
            current = handler.as_table();
            is_watched &= (*current).header.flags & WATCHED != 0;
            if !Table::get_str(current, name).is_nil() {
                return Some(Holder { table: current, is_watched });
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
        let is_noted = (*name).uses & LuaString::INHERITED != 0;
        let Holder { table, is_watched } = Table::holder(st, t, name)?;
        (is_noted && is_watched && !table.is_null()).then_some(table)
    }

    /// Prepares caches of a global `name`, a short string, that the environment `t` inherits:
    /// watches the tables of its chain up to the first one that has it, and makes this one an
    /// environment, if there is memory for that.
    ///
    /// # Safety
    /// As for [`Table::inherited`].
    pub(super) unsafe fn prepare_chain(st: *mut State, t: *mut Table, name: *mut LuaString) {
        (*name).uses |= LuaString::INHERITED;
        (*t).header.flags |= GcHeader::INDEX_TARGET;
        let mut current = t;
        for _ in 0..Table::MAX_CHAIN {
            let handler = Table::watch_index(st, current);
            if !handler.is_table() {
                return;
            }
            current = handler.as_table();
            (*current).header.flags |= GcHeader::INDEX_TARGET;
            if !Table::get_str(current, name).is_nil() {
                Table::make_environment(st, current);
                return;
            }
        }
    }

    /// Returns the cell of the global `name`, a short string that the environment `t` does not have
    /// itself, in the first table along its chain that has it. Returns null if no table has it, or
    /// the chain was not prepared ([`Table::prepare_chain`]).
    ///
    /// # Safety
    /// As for [`Table::inherited`].
    pub(super) unsafe fn inherited_cell(
        st: *mut State,
        t: *mut Table,
        name: *mut LuaString,
    ) -> *mut Cell {
        let is_watched = (*t).header.flags & WATCHED != 0;
        let holder = if is_watched { Table::watched_holder(st, t, name) } else { None };
        match holder.filter(|&holder| Table::is_environment(holder)) {
            Some(holder) => Table::cell_of(st, holder, name, false),
            None => null_mut(),
        }
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
