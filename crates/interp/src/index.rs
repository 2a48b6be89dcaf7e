//! The slow paths of reads and writes of tables: cache misses, metamethods, errors.

use perilune_bytecode::Instr;
use perilune_runtime::debug;
use perilune_runtime::frame::Frame;
use perilune_runtime::instance::{FieldCache, FieldEntry, GlobalCache, Instance};
use perilune_runtime::meta::Event;
use perilune_runtime::state::{State, StateRef};
use perilune_runtime::string::LuaString;
use perilune_runtime::table::{
    Cell, FillGlobal, Found, KeyError, LocalShape, Refused, Stored, Table,
};
use perilune_runtime::value::{SlotExt, Tag, Value};

use crate::feedback::note_handler;
use crate::operators::{call_meta1, call_meta2, call_meta3};
use crate::room;
use crate::step::{IntoExit, Step};
use crate::userdata::{self, Member};

unsafe fn instance(st: *mut State) -> *mut Instance {
    (*Frame((*st).base).callee().as_function()).instance
}

unsafe fn cell_index(st: *mut State) -> usize {
    let pc = Frame((*st).base).word().pc() as usize - 1;
    *(*instance(st)).cells.add(pc) as usize
}

/// Executes `R[dst] := object[key]`, including metamethods, without a cache.
///
/// # Safety
/// I2; pc stored; `dst` is where [`crate::ret::deliver`] puts the instruction's result.
#[inline(never)]
pub(crate) unsafe fn get(st: *mut State, dst: usize, object: Value, key: Value) -> Step {
    let s = StateRef::new(st);
    let mut object = object;
    for _ in 0..Table::MAX_CHAIN {
        let h = if object.tag() == Tag::USERDATA {
            let h = Table::metamethod(s.ptr(), object, Event::Index);
            match userdata::computed_by(st, h, key) {
                Member::Value(v) => {
                    s.base.add(dst).put(v);
                    return Ok(());
                }
                Member::Computed(getter) => return call_meta1(st, getter, object),
                Member::Unknown if h.is_nil() => {
                    return Err(debug::index_error(st, object, key).into_exit());
                }
                Member::Unknown => h,
            }
        } else if object.is_table() {
            let t = object.as_table();
            let v = Table::get(t, key);
            if !v.is_nil() {
                s.base.add(dst).put(v);
                return Ok(());
            }
            let h = Table::index_event(s.ptr(), t);
            if h.is_nil() {
                s.base.add(dst).put(Value::NIL);
                return Ok(());
            }
            h
        } else {
            let h = Table::metamethod(s.ptr(), object, Event::Index);
            if h.is_nil() {
                return Err(debug::index_error(st, object, key).into_exit());
            }
            h
        };
        if h.is_function() {
            return call_meta2(st, h, object, key);
        }
        object = h;
    }
    Err(debug::runtime_error(st, b"'__index' chain too long; possible loop").into_exit())
}

/// Executes GETTABLE or GETI for an object that is not a table, or a table that has a metatable and
/// no element with this key: `R[dst] := object[key]`. Records the `__index` function of a table.
///
/// # Safety
/// As for [`get`].
#[inline(never)]
pub(crate) unsafe fn get_missing(st: *mut State, dst: usize, object: Value, key: Value) -> Step {
    if object.is_table() {
        let h = Table::index_event(st, object.as_table());
        if h.is_function() {
            note_handler(&mut *st, Tag::TABLE, FieldEntry::NO_SHAPE, object, h);
            return call_meta2(st, h, object, key);
        }
    }
    get(st, dst, object, key)
}

/// Executes `object[key] := v`, including metamethods, without a cache.
///
/// # Safety
/// I2; pc stored.
#[inline(never)]
unsafe fn set(st: *mut State, object: Value, key: Value, v: Value) -> Step {
    set_by::<false>(st, object, key, v)
}

/// Executes SETTABLE or SETI, like [`set`]. Records the `__newindex` function of a table.
///
/// # Safety
/// As for [`set`].
#[inline(never)]
pub(crate) unsafe fn set_element(st: *mut State, object: Value, key: Value, v: Value) -> Step {
    set_by::<true>(st, object, key, v)
}

/// As [`set`]; `RECORDS` says whether a function that is called for `receiver` itself is recorded.
#[inline(always)]
unsafe fn set_by<const RECORDS: bool>(
    st: *mut State,
    receiver: Value,
    key: Value,
    v: Value,
) -> Step {
    let s = StateRef::new(st);
    let mut object = receiver;
    for _ in 0..Table::MAX_CHAIN {
        let h = if object.is_table() {
            let t = object.as_table();
            let h = if !Table::lacks_newindex(t) && Table::get(t, key).is_nil() {
                Table::metamethod(s.ptr(), object, Event::NewIndex)
            } else {
                Value::NIL
            };
            if h.is_nil() {
                return set_plain(st, t, key, v);
            }
            h
        } else {
            let h = Table::metamethod(s.ptr(), object, Event::NewIndex);
            if h.is_nil() {
                return Err(debug::index_error(st, object, key).into_exit());
            }
            h
        };
        if h.is_function() {
            if RECORDS && object.is_table() && object.same_bits(receiver) {
                note_handler(&mut *st, Tag::TABLE, FieldEntry::NO_SHAPE, object, h);
            }
            return call_meta3(st, h, object, key, v);
        }
        object = h;
    }
    Err(debug::runtime_error(st, b"'__newindex' chain too long; possible loop").into_exit())
}

/// Stores into a table without calling metamethods, within the memory limit.
unsafe fn set_plain(st: *mut State, t: *mut Table, key: Value, v: Value) -> Step {
    let mut r = Table::set_within(st, t, key, v);
    if let Err(Refused::NoRoom(bytes)) = r
        && room::make(st, bytes)
    {
        r = Table::set_within(st, t, key, v);
    }
    match r {
        Ok(()) => Ok(()),
        Err(Refused::Key(KeyError::Nil)) => {
            Err(debug::runtime_error(st, b"table index is nil").into_exit())
        }
        Err(Refused::Key(KeyError::Nan)) => {
            Err(debug::runtime_error(st, b"table index is NaN").into_exit())
        }
        Err(Refused::NoRoom(_)) => Err(room::error(st)),
    }
}

/// Records the `__index` or `__newindex` function that is called for `receiver` by an access to the
/// field `name` of `t`. A function that is called for another table of the chain counts as an
/// unknown one.
unsafe fn note_field_handler(
    st: &mut State,
    t: *mut Table,
    receiver: Value,
    (handler, name): (Value, Value),
) {
    let shape = (*t).shape;
    // only a shape guarantees that the table itself does not have the field
    let lacks = !shape.is_null() && LocalShape::find(shape, name.as_string()).is_none();
    let id = if lacks { (*t).header.word } else { FieldEntry::NO_SHAPE };
    let is_direct = receiver.same_bits(Value::table(t));
    note_handler(st, Tag::TABLE, id, receiver, if is_direct { handler } else { Value::NIL });
}

/// Returns the function that an instruction that accesses the field `name` of `t` has to call, if
/// the record of metamethods shows it: the table does not have the field, and its `__index` (for a
/// store, its `__newindex`) is the function that the instruction has called before.
///
/// # Safety
/// `pc` is that of an instruction of the live instance `this`, GETFIELD, SELF or SETFIELD, and that
/// of the top frame; table and name are live.
#[cfg(handlers)]
#[inline(always)]
pub(crate) unsafe fn recorded_function(
    st: *mut State,
    this: *mut Instance,
    pc: usize,
    t: *mut Table,
    name: *mut LuaString,
) -> Option<Value> {
    let record = (*this).handler(pc)?;
    let entry = &record.entry;
    let is_known = record.first == Tag::TABLE
        && !entry.outcome.is_null()
        && entry.meta == (*t).meta
        && entry.epoch == (*st).meta_epoch;
    // For a table in dictionary mode, only its nodes show whether it has the field.
    let lacks = |shape: u32| {
        if (*t).shape.is_null() {
            shape == FieldEntry::NO_SHAPE
                && LuaString::is_short(name)
                && Table::get_str(t, name).is_nil()
        } else {
            shape == (*t).header.word
                || shape == FieldEntry::NO_SHAPE && LocalShape::find((*t).shape, name).is_none()
        }
    };
    if !is_known || !lacks(entry.chain_shape) {
        return None;
    }
    note_field((*this).fields.add(*(*this).cells.add(pc) as usize));
    Some(Value::function(entry.outcome.cast()))
}

/// Records that an access to a field was executed, since its cache may stay empty even then.
unsafe fn note_field(cache: *mut FieldCache) {
    (*cache).misses = (*cache).misses.saturating_add(1);
}

/// Returns the field `name` of a table in dictionary mode, which may be in its chain of `__index`
/// tables. Returns `None`, without side effects, for other tables, for long names, and if the chain
/// leads to anything but a table.
///
/// # Safety
/// `cache` is that of the running instruction; table and name are live.
#[inline(always)]
pub(crate) unsafe fn get_of_dictionary(
    st: *mut State,
    cache: *mut FieldCache,
    t: *mut Table,
    name: *mut LuaString,
) -> Option<Value> {
    if !(*t).shape.is_null() || !LuaString::is_short(name) {
        return None;
    }
    let v = Table::get_along_chain(st, t, name, true)?;
    note_field(cache);
    (*cache).dictionaries = true;
    Some(v)
}

/// Stores the field `name` of a table in dictionary mode. Returns false, without side effects, for
/// other tables, for long names, and if a metamethod may be called.
///
/// # Safety
/// As for [`get_of_dictionary`].
#[inline(always)]
pub(crate) unsafe fn set_of_dictionary(
    st: *mut State,
    cache: *mut FieldCache,
    t: *mut Table,
    (name, v): (*mut LuaString, Value),
) -> bool {
    if !(*t).shape.is_null()
        || !LuaString::is_short(name)
        || !Table::set_short_plainly(st, t, name, v)
    {
        return false;
    }
    note_field(cache);
    (*cache).dictionaries = true;
    true
}

/// Looks up a key in a table by `get`, and then along its chain of `__index` tables. Returns `None`
/// if the chain leads to anything but a table.
///
/// # Safety
/// `t` is a live table of `st`.
#[inline(always)]
pub(crate) unsafe fn find_in_chain(
    st: *mut State,
    t: *mut Table,
    get: impl Fn(*mut Table) -> Value,
) -> Option<Value> {
    find_by(t, get, |t| Table::index_event(st, t))
}

/// As [`find_in_chain`], but changes nothing, not even the information that metatables cache.
///
/// # Safety
/// As for [`find_in_chain`].
#[inline(always)]
pub(crate) unsafe fn peek_in_chain(
    st: *mut State,
    t: *mut Table,
    get: impl Fn(*mut Table) -> Value,
) -> Option<Value> {
    find_by(t, get, |t| Table::peek_index_event(st, t))
}

/// As [`find_in_chain`], for metamethods that `index` returns.
#[inline(always)]
unsafe fn find_by(
    mut t: *mut Table,
    get: impl Fn(*mut Table) -> Value,
    index: impl Fn(*mut Table) -> Value,
) -> Option<Value> {
    for _ in 0..Table::MAX_CHAIN {
        let v = get(t);
        if !v.is_nil() {
            return Some(v);
        }
        let h = index(t);
        if h.is_nil() {
            return Some(v);
        }
        if !h.is_table() {
            break;
        }
        t = h.as_table();
    }
    None
}

/// Executes GETFIELD or SELF after a miss: `R[A] := object[name]`.
///
/// # Safety
/// I2; pc stored.
#[inline(never)]
pub(crate) unsafe fn get_field(st: *mut State, i: Instr, object: Value, name: Value) -> Step {
    let s = StateRef::new(st);
    let cache = (*instance(st)).fields.add(cell_index(st));
    if object.is_table()
        && let Some(v) = get_of_dictionary(st, cache, object.as_table(), name.as_string())
    {
        s.base.add(i.a()).put(v);
        return Ok(());
    }
    note_field(cache);
    if object.is_table() && LuaString::is_short(name.as_string()) {
        match Table::cache_get(s.ptr(), cache, object.as_table(), name.as_string()) {
            Found::Value(v) => {
                s.base.add(i.a()).put(v);
                return Ok(());
            }
            Found::Nil => {
                s.base.add(i.a()).put(Value::NIL);
                return Ok(());
            }
            Found::Metamethod { handler, receiver } => {
                if handler.is_function() {
                    note_field_handler(&mut *st, object.as_table(), receiver, (handler, name));
                    return call_meta2(st, handler, receiver, name);
                }
                return get(st, i.a(), handler, name);
            }
            Found::TooLong => {
                return Err(debug::runtime_error(st, b"'__index' chain too long; possible loop")
                    .into_exit());
            }
        }
    } else if object.is_string() {
        if let Some(v) = Table::cache_method(s.ptr(), cache, name.as_string()) {
            s.base.add(i.a()).put(v);
            return Ok(());
        }
    } else if object.tag() == Tag::USERDATA {
        match userdata::find(st, cache, (*object.as_userdata()).meta, name) {
            Member::Value(v) => {
                s.base.add(i.a()).put(v);
                return Ok(());
            }
            Member::Computed(getter) => return call_meta1(st, getter, object),
            Member::Unknown => {}
        }
    }
    get(st, i.a(), object, name)
}

/// Executes SETFIELD after a miss: `object[name] := v`.
///
/// # Safety
/// I2; pc stored.
#[inline(never)]
pub(crate) unsafe fn set_field(st: *mut State, object: Value, name: Value, v: Value) -> Step {
    let s = StateRef::new(st);
    let cache = (*instance(st)).fields.add(cell_index(st));
    if object.is_table() && set_of_dictionary(st, cache, object.as_table(), (name.as_string(), v)) {
        return Ok(());
    }
    note_field(cache);
    if object.is_table() && LuaString::is_short(name.as_string()) {
        match Table::cache_set(s.ptr(), cache, object.as_table(), name.as_string(), v) {
            Stored::Done => return Ok(()),
            Stored::NewIndex(handler) => {
                if handler.is_function() {
                    note_field_handler(&mut *st, object.as_table(), object, (handler, name));
                    return call_meta3(st, handler, object, name, v);
                }
                return set(st, handler, name, v);
            }
        }
    }
    set(st, object, name, v)
}

/// Returns the cell of a global, with which `fill` fills the inline cache that missed; null if the
/// environment is not a table or does not contain the name.
unsafe fn find_cell(st: *mut State, env: Value, name: Value, fill: FillGlobal) -> *mut Cell {
    if !env.is_table()
        || !GlobalCache::may_hold(name.as_string())
        || !Table::make_environment(st, env.as_table())
    {
        return std::ptr::null_mut();
    }
    let inst = instance(st);
    let cache = (*inst).globals.add(cell_index(st));
    fill(st, inst, cache, env.as_table(), name.as_string())
}

/// Executes GETTABUP after a miss.
///
/// # Safety
/// I2; pc stored.
#[cold]
#[inline(never)]
pub(crate) unsafe fn get_global(st: *mut State, i: Instr, env: Value, name: Value) -> Step {
    if env.is_table()
        && LuaString::is_short(name.as_string())
        && let Some(v) = Table::get_along_chain(st, env.as_table(), name.as_string(), true)
    {
        if !v.is_nil() {
            find_cell(st, env, name, GlobalCache::fill_to_load);
        }
        (*st).base.add(i.a()).put(v);
        return Ok(());
    }
    get(st, i.a(), env, name)
}

/// Executes SETTABUP after a miss.
///
/// # Safety
/// I2; pc stored.
#[cold]
#[inline(never)]
pub(crate) unsafe fn set_global(st: *mut State, env: Value, name: Value, v: Value) -> Step {
    let is_defined = env.is_table() && !Table::get_str(env.as_table(), name.as_string()).is_nil();
    set(st, env, name, v)?;
    // The definition of a global is often the only store to it, and need not be fast.
    if is_defined {
        find_cell(st, env, name, GlobalCache::fill_to_store);
    }
    Ok(())
}
