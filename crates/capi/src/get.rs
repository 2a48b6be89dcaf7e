//! Reading tables (manual 4.6).

use std::ffi::{c_char, c_int, c_void};

use perilune_runtime::load::GLOBALS;
use perilune_runtime::native::Raised;
use perilune_runtime::table::Table;
use perilune_runtime::value::{SlotExt, Value};

use crate::entry::Entry;
use crate::index::value_or_nil;
use crate::outcome::{infallible, raising};
use crate::push::c_bytes;
use crate::status::type_of;

/// Returns `object[key]` if no metamethod is involved.
#[inline(always)]
unsafe fn plain(object: Value, key: Value) -> Option<Value> {
    if !object.is_table() {
        return None;
    }
    let v = Table::get(object.as_table(), key);
    (!v.is_nil() || !Table::has_meta(object.as_table())).then_some(v)
}

/// Pushes `object[key]`.
///
/// # Errors
/// Returns the errors of metamethods, or "attempt to index …".
///
/// # Safety
/// N1; both values are live.
#[inline(always)]
pub(crate) unsafe fn push_index(e: &mut Entry, object: Value, key: Value) -> Result<c_int, Raised> {
    let v = match plain(object, key) {
        Some(v) => {
            e.push(v);
            v
        }
        None => push_by_metamethod(e, object, key)?,
    };
    Ok(type_of(v))
}

#[cold]
unsafe fn push_by_metamethod(e: &mut Entry, object: Value, key: Value) -> Result<Value, Raised> {
    // keeps `object` rooted even if the metamethod does not get it as an argument
    e.push(object);
    e.push(key);
    let cx = e.cx();
    cx.reserve(8)?;
    let at = cx.top();
    cx.index(at - 2, key)?;
    let v = e.pop();
    (*e.st).top = (*e.st).base.add(at - 2);
    e.push(v);
    Ok(v)
}

raising! {
    fn lua_getglobal(l, name: *const c_char) -> c_int |e| {
        let key = Value::string((*e.st).intern(c_bytes(name)));
        // the table in the registry, which a program may replace
        let globals = Table::get_int((*e.st).registry, GLOBALS);
        Ok(push_index(e, globals, key)?)
    }

    fn lua_gettable(l, index: c_int) -> c_int |e| {
        let object = value_or_nil(e.st, index);
        let key = (*e.st).top.sub(1).get();
        push_index(e, object, key)?;
        let v = e.pop();
        (*e.st).top.sub(1).put(v);
        Ok(type_of(v))
    }

    fn lua_getfield(l, index: c_int, name: *const c_char) -> c_int |e| {
        let object = value_or_nil(e.st, index);
        let key = Value::string((*e.st).intern(c_bytes(name)));
        Ok(push_index(e, object, key)?)
    }

    fn lua_geti(l, index: c_int, i: i64) -> c_int |e| {
        let object = value_or_nil(e.st, index);
        Ok(push_index(e, object, Value::int(i))?)
    }
}

unsafe fn table_at(e: &Entry, index: c_int) -> *mut Table {
    let t = value_or_nil(e.st, index);
    debug_assert!(t.is_table(), "table expected");
    t.as_table()
}

infallible! {
    fn lua_rawget(l, index: c_int) -> c_int |e| {
        let t = table_at(e, index);
        let slot = (*e.st).top.sub(1);
        let v = Table::get(t, slot.get());
        slot.put(v);
        type_of(v)
    }

    fn lua_rawgeti(l, index: c_int, i: i64) -> c_int |e| {
        let v = Table::get_int(table_at(e, index), i);
        e.push(v);
        type_of(v)
    }

    fn lua_rawgetp(l, index: c_int, p: *const c_void) -> c_int |e| {
        let key = Value::light(p.expose_provenance() as u64);
        let v = Table::get(table_at(e, index), key);
        e.push(v);
        type_of(v)
    }

    fn lua_getmetatable(l, index: c_int) -> c_int |e| {
        let meta = Table::meta_of(e.st, value_or_nil(e.st, index));
        if meta.is_null() {
            return 0;
        }
        e.push(Value::table(meta));
        1
    }
}

raising! {
    fn lua_next(l, index: c_int) -> c_int |e| {
        let t = value_or_nil(e.st, index).as_table();
        let key = e.pop();
        match Table::next(e.st, t, key) {
            Ok(Some((k, v))) => {
                e.push(k);
                e.push(v);
                Ok(1)
            }
            Ok(None) => Ok(0),
            Err(_) => Err(e.cx().error_plain("invalid key to 'next'").into()),
        }
    }

    fn lua_createtable(l, array: c_int, fields: c_int) |e| {
        let (array, fields) = (array.max(0) as usize, fields.max(0) as usize);
        if array > 1 << 10 {
            e.cx().make_room(array * size_of::<Value>())?;
        }
        let t = e.cx().table(array, fields).val().raw();
        e.push(t);
        Ok(crate::push::safepoint(e)?)
    }
}
