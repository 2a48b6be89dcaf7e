//! Environment tables: string keys whose values live in cells.

use super::{Cell, Node, Table};
use crate::header::{GcHeader, Kind};
use crate::heap::LARGE;
use crate::instance::{GlobalCache, Instance};
use crate::meta::Event;
use crate::state::State;
use crate::string::LuaString;
use crate::value::{SlotExt, Tag, Value};

impl Cell {
    /// The value is the first one, or nil, and no machine code relies on it.
    pub const CONSTANT: u8 = 0;
    /// The value is the first one, and machine code relies on it. It is not nil.
    pub const RELIED_ON: u8 = 1;
    /// The value has changed, or is about to.
    pub const CHANGED: u8 = 2;

    /// Allocates a cell of the environment `owner` with the value `v`.
    pub(super) unsafe fn new(st: *mut State, owner: *mut Table, v: Value) -> *mut Cell {
        let cell = (*st).alloc(Kind::Cell, size_of::<Cell>().next_multiple_of(16)).cast::<Cell>();
        (*cell).header.aux = Cell::CONSTANT;
        (&raw mut (*cell).value).put(v);
        (&raw mut (*cell).owner).write(owner);
        cell
    }

    /// Records that `v` is about to be stored in the cell, which is not known to have changed.
    #[cold]
    pub(super) unsafe fn change(st: *mut State, cell: *mut Cell, v: Value) {
        let old = (&raw mut (*cell).value).get();
        if old.is_nil() || (old.bits(), old.tag()) == (v.bits(), v.tag()) {
            return;
        }
        Cell::give_up(st, cell);
    }

    /// Records that the value of the cell may change at any time.
    unsafe fn give_up(st: *mut State, cell: *mut Cell) {
        if std::mem::replace(&mut (*cell).header.aux, Cell::CHANGED) == Cell::RELIED_ON {
            (*st).leave_machine_code();
        }
    }
}

impl Table {
    /// Returns whether [`Table::make_environment`] has converted the table.
    pub unsafe fn is_environment(t: *mut Table) -> bool {
        (*t).header.flags & GcHeader::ENVIRONMENT != 0
    }

    /// Returns whether machine code relies on the value under the string `name`. A function that
    /// machine code calls without storing its frame must not change such a value, since the running
    /// frame could not be deoptimized.
    #[inline(always)]
    pub unsafe fn is_relied_on(st: *mut State, t: *mut Table, name: *mut LuaString) -> bool {
        if !Table::is_environment(t) {
            return false;
        }
        let cell = Table::cell_of(st, t, name, false);
        !cell.is_null() && (*cell).header.aux == Cell::RELIED_ON
    }

    /// Converts `t` to dictionary mode with cells for its string keys, for use as `_ENV`. Returns
    /// false if there is no memory for this; the table can still be used, without cells.
    pub unsafe fn make_environment(st: *mut State, t: *mut Table) -> bool {
        if Table::is_environment(t) {
            return true;
        }
        if !(*t).shape.is_null() && !Table::make_dictionary(st, t, 0) {
            return false;
        }
        // Cells are small, so the memory reserve would serve them, but it is too small for many of
        // them.
        let size = Table::node_count(t) * size_of::<Cell>().next_multiple_of(16);
        if size >= LARGE && !(*st).check_room(size) {
            return false;
        }
        for i in 0..Table::node_count(t) {
            let n = (*t).nodes.add(i);
            if (*n).key_tag == Tag::STRING && (*n).value_tag != Tag::NIL {
                let cell = Cell::new(st, t, Node::value(n));
                (*n).value_bits = cell.expose_provenance() as u64;
                (*n).value_tag = Tag::CELL;
            }
        }
        (*t).header.flags |= GcHeader::ENVIRONMENT;
        // From here on, stores to its fields do not change the epoch.
        Table::note_move(st, t);
        (*st).barrier(t.cast());
        true
    }

    /// Returns the cell of the string key `name` in the environment `t`. If there is none, returns
    /// null, or with `create` a new cell that is nil.
    ///
    /// Code that keeps the cell may read it while its value is not nil, and may overwrite a value
    /// that is not nil: a cell that is nil may be orphaned. Cells of names that start with `__`
    /// must not be cached for writing, since the environment may be a metatable.
    pub unsafe fn cell_of(
        st: *mut State,
        t: *mut Table,
        name: *mut LuaString,
        create: bool,
    ) -> *mut Cell {
        debug_assert!(Table::is_environment(t));
        let key = Value::string(name);
        let n = if LuaString::is_short(name) && !(*t).nodes.is_null() {
            Table::node_of_short(t, name)
        } else {
            Table::node_of(t, key)
        };
        if !n.is_null() && (*n).value_tag == Tag::CELL {
            return Value::from_parts((*n).value_bits, Tag::CELL).as_ptr();
        }
        if !create {
            return std::ptr::null_mut();
        }
        let cell = Cell::new(st, t, Value::NIL);
        let v = Value::from_parts(cell.expose_provenance() as u64, Tag::CELL);
        if !n.is_null() {
            // The key is still there, without a value.
            Table::revive(st, t, n, key, v);
        } else if !Table::insert_node(t, key, v) {
            Table::rehash(st, t, key, v);
        }
        Table::note_move(st, t);
        (*st).barrier_of_store(t, key);
        (*st).barrier_of_store(t, v);
        cell
    }
}

/// A function that fills a global cache of an instance with the cell of a name in an environment,
/// which it returns: [`GlobalCache::fill`] and others.
pub type FillGlobal =
    unsafe fn(*mut State, *mut Instance, *mut GlobalCache, *mut Table, *mut LuaString) -> *mut Cell;

impl GlobalCache {
    /// Returns whether a cache may hold the cell of a name. An environment may be its own
    /// metatable, and stores of metamethods must not bypass the table.
    ///
    /// # Safety
    /// The string is alive.
    pub unsafe fn may_hold(name: *mut LuaString) -> bool {
        LuaString::is_short(name) && !LuaString::bytes(name).starts_with(b"__")
    }

    /// Puts the cell of a name in an environment into a cache. Returns the cell, or null, without
    /// a change, if the environment does not have the name.
    ///
    /// # Safety
    /// The cache belongs to the instance, the table is an environment, the cache may hold the name,
    /// and all of them are alive objects of the state.
    pub unsafe fn fill(
        st: *mut State,
        inst: *mut Instance,
        cache: *mut GlobalCache,
        env: *mut Table,
        name: *mut LuaString,
    ) -> *mut Cell {
        let cell = Table::cell_of(st, env, name, false);
        if !cell.is_null() {
            *cache = GlobalCache { env, cell };
            (*st).barrier(inst.cast());
        }
        cell
    }

    /// As [`GlobalCache::fill`], for an instruction that loads the global: also finds a global that
    /// the environment inherits, in the first table along its chain of `__index` tables that has
    /// it. That table is converted to an environment.
    ///
    /// # Safety
    /// As for [`GlobalCache::fill`].
    pub unsafe fn fill_to_load(
        st: *mut State,
        inst: *mut Instance,
        cache: *mut GlobalCache,
        env: *mut Table,
        name: *mut LuaString,
    ) -> *mut Cell {
        if Table::get_str(env, name).is_nil() {
            Table::prepare_chain(st, env, name);
        }
        GlobalCache::refill_to_load(st, inst, cache, env, name)
    }

    /// As [`GlobalCache::fill_to_load`], for machine code, which may know something about the
    /// tables of the chain: none of them is converted to an environment, or becomes watched.
    ///
    /// # Safety
    /// As for [`GlobalCache::fill`].
    pub unsafe fn refill_to_load(
        st: *mut State,
        inst: *mut Instance,
        cache: *mut GlobalCache,
        env: *mut Table,
        name: *mut LuaString,
    ) -> *mut Cell {
        // Code that runs with several environments in turn would fill its caches all the time.
        let has_one = (*cache).env.is_null() || (*cache).env == env;
        let own = GlobalCache::fill(st, inst, cache, env, name);
        if !own.is_null() && !(*own).value.is_nil() || !has_one {
            return own;
        }
        let cell = Table::inherited_cell(st, env, name);
        if cell.is_null() || !(&mut (*st).inherited_globals).note(cache) {
            return own;
        }
        *cache = GlobalCache { env, cell };
        (*st).barrier(inst.cast());
        cell
    }

    /// As [`GlobalCache::fill`], for an instruction that stores to a global that is already
    /// defined. Its later stores are not tracked, so the global counts as changed, even if its
    /// value is still the same.
    ///
    /// # Safety
    /// As for [`GlobalCache::fill`].
    pub unsafe fn fill_to_store(
        st: *mut State,
        inst: *mut Instance,
        cache: *mut GlobalCache,
        env: *mut Table,
        name: *mut LuaString,
    ) -> *mut Cell {
        let cell = GlobalCache::fill(st, inst, cache, env, name);
        if !cell.is_null() {
            Cell::give_up(st, cell);
        }
        cell
    }

    /// Fills a cache for machine code that is going to speculate that the global is constant.
    /// Returns the cell, or null if there is none, or its value has changed or is nil.
    ///
    /// The code need not keep the value alive: the environment does, even if it becomes a table
    /// with weak values, since the collector clears no cell that is relied on. The closure that
    /// runs keeps the environment alive.
    ///
    /// # Safety
    /// As for [`GlobalCache::fill`].
    pub unsafe fn rely(
        st: *mut State,
        inst: *mut Instance,
        cache: *mut GlobalCache,
        env: *mut Table,
        name: *mut LuaString,
    ) -> *mut Cell {
        let cell = GlobalCache::fill(st, inst, cache, env, name);
        if cell.is_null()
            || (*cell).header.aux == Cell::CHANGED
            || (*cell).value.is_nil()
            || !Table::event(st, env, Event::Mode).is_nil()
        {
            return std::ptr::null_mut();
        }
        (*cell).header.aux = Cell::RELIED_ON;
        (*st).relies_on_globals = true;
        cell
    }
}
