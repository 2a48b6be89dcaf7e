//! Writing tables (manual 4.6).

use std::ffi::{c_char, c_int, c_void};

use perilune_runtime::load::GLOBALS;
use perilune_runtime::native::{Raised, Val};
use perilune_runtime::table::Table;
use perilune_runtime::value::{SlotExt, Tag, Value};

use crate::entry::Entry;
use crate::index::value_or_nil;
use crate::outcome::raising;
use crate::push::c_bytes;

/// Pops the last value and assigns it to `object[key]`, honoring metamethods.
///
/// # Errors
/// Returns the errors of metamethods, or "attempt to index …".
///
/// # Safety
/// N1; both values are live.
#[inline(always)]
pub(crate) unsafe fn set_index(e: &mut Entry, object: Value, key: Value) -> Result<(), Raised> {
    if object.is_table() && !Table::has_meta(object.as_table()) {
        return set_raw(e, object.as_table(), key);
    }
    set_by_metamethod(e, object, key)
}

#[cold]
unsafe fn set_by_metamethod(e: &mut Entry, object: Value, key: Value) -> Result<(), Raised> {
    let v = (*e.st).top.sub(1).get();
    e.push(object);
    e.push(key);
    e.push(v);
    let cx = e.cx();
    cx.reserve(8)?;
    let at = cx.top();
    cx.set_index(at - 3, key)?;
    (*e.st).top = (*e.st).base.add(at - 4);
    Ok(())
}

/// Pops the last value and assigns it to `t[key]` without metamethods.
///
/// # Errors
/// Returns "index is nil", "index is NaN" or "not enough memory".
///
/// # Safety
/// N1; both values are live.
#[inline(always)]
pub(crate) unsafe fn set_raw(e: &mut Entry, t: *mut Table, key: Value) -> Result<(), Raised> {
    let st = e.st;
    let v = (*st).top.sub(1).get();
    if Table::set_within(st, t, key, v).is_err() {
        set_raw_slow(e, t, key, v)?;
    }
    (*st).top = (*st).top.sub(1);
    Ok(())
}

#[cold]
unsafe fn set_raw_slow(e: &mut Entry, t: *mut Table, key: Value, v: Value) -> Result<(), Raised> {
    // table and key are rooted while a collection makes room
    e.push(Value::table(t));
    e.push(key);
    let cx = e.cx();
    let at = cx.top();
    for tries in 0.. {
        let Some(table) = cx.get(at - 2).as_table() else { break };
        match table.set_within(cx, Val::of(cx, key), Val::of(cx, v))? {
            None => break,
            Some(_) if tries > 0 => return Err(cx.memory_error()),
            Some(bytes) => cx.make_room(bytes)?,
        }
    }
    (*e.st).top = (*e.st).base.add(at - 2);
    Ok(())
}

raising! {
    fn lua_setglobal(l, name: *const c_char) |e| {
        let key = Value::string((*e.st).intern(c_bytes(name)));
        let globals = Table::get_int((*e.st).registry, GLOBALS);
        Ok(set_index(e, globals, key)?)
    }

    fn lua_settable(l, index: c_int) |e| {
        let object = value_or_nil(e.st, index);
        let key = (*e.st).top.sub(2).get();
        set_index(e, object, key)?;
        (*e.st).top = (*e.st).top.sub(1);
        Ok(())
    }

    fn lua_setfield(l, index: c_int, name: *const c_char) |e| {
        let object = value_or_nil(e.st, index);
        let key = Value::string((*e.st).intern(c_bytes(name)));
        Ok(set_index(e, object, key)?)
    }

    fn lua_seti(l, index: c_int, i: i64) |e| {
        let object = value_or_nil(e.st, index);
        Ok(set_index(e, object, Value::int(i))?)
    }

    fn lua_rawset(l, index: c_int) |e| {
        let t = value_or_nil(e.st, index).as_table();
        let key = (*e.st).top.sub(2).get();
        set_raw(e, t, key)?;
        (*e.st).top = (*e.st).top.sub(1);
        Ok(())
    }

    fn lua_rawseti(l, index: c_int, i: i64) |e| {
        let t = value_or_nil(e.st, index).as_table();
        Ok(set_raw(e, t, Value::int(i))?)
    }

    fn lua_rawsetp(l, index: c_int, p: *const c_void) |e| {
        let t = value_or_nil(e.st, index).as_table();
        Ok(set_raw(e, t, Value::light(p.expose_provenance() as u64))?)
    }

    fn lua_setmetatable(l, index: c_int) -> c_int |e| {
        let st = e.st;
        let v = value_or_nil(st, index);
        let meta = (*st).top.sub(1).get();
        let cx = e.cx();
        let (object, meta) = (Val::of(cx, v), Val::of(cx, meta).as_table());
        match v.tag() {
            Tag::TABLE => {
                if let Some(t) = object.as_table() {
                    t.set_metatable(cx, meta)?;
                }
            }
            Tag::USERDATA => {
                if let Some(u) = object.as_udata() {
                    u.set_metatable(cx, meta);
                }
            }
            _ => cx.set_type_metatable(object, meta),
        }
        (*st).top = (*st).top.sub(1);
        Ok(1)
    }
}
