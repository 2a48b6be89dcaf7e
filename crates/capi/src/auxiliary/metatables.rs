//! Metatables, types of userdata, tables of functions (manual 5).

use std::ffi::{c_char, c_int, c_void};

use perilune_runtime::native::{Cx, Val};
use perilune_runtime::table::Table;
use perilune_runtime::value::{SlotExt, Tag, Value};

use crate::access::memory_of;
use crate::auxiliary::arguments::type_error;
use crate::entry::Entry;
use crate::functions::closure;
use crate::get::push_index;
use crate::index::{absolute, value_or_nil};
use crate::outcome::{Fallible, infallible, raising};
use crate::push::{c_bytes, safepoint};
use crate::run::run;
use crate::set::{set_index, set_raw};
use crate::state::{CFunction, LuaState};
use crate::status::type_of;

/// `luaL_Reg`
#[repr(C)]
pub(crate) struct Reg {
    name: *const c_char,
    func: Option<CFunction>,
}

/// Returns a field of the metatable of a value; nil if the field does not exist.
unsafe fn meta_field(e: &Entry, index: c_int, name: &[u8]) -> Value {
    let meta = Table::meta_of(e.st, value_or_nil(e.st, index));
    if meta.is_null() {
        return Value::NIL;
    }
    Table::get_str(meta, (*e.st).intern(name))
}

/// Returns the memory of a userdata of the type with this name; null for other values.
///
/// # Safety
/// N1.
pub(crate) unsafe fn userdata_of_type(
    e: &mut Entry,
    index: c_int,
    name: *const c_char,
) -> *mut c_void {
    let v = value_or_nil(e.st, index);
    if !matches!(v.tag(), Tag::USERDATA | Tag::LIGHT) {
        return std::ptr::null_mut();
    }
    let meta = Table::meta_of(e.st, v);
    let wanted = Table::get_str((*e.st).registry, (*e.st).intern(c_bytes(name)));
    if meta.is_null() || !wanted.is_table() || wanted.as_table() != meta {
        return std::ptr::null_mut();
    }
    memory_of(e, v)
}

infallible! {
    fn luaL_getmetafield(l, index: c_int, name: *const c_char) -> c_int |e| {
        let v = meta_field(e, index, c_bytes(name));
        if !v.is_nil() {
            e.push(v);
        }
        type_of(v)
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn luaL_testudata(
    l: *mut LuaState,
    index: c_int,
    name: *const c_char,
) -> *mut c_void {
    userdata_of_type(&mut Entry::new(l), index, name)
}

/// Pushes the table in a field of a table, and creates it if it does not exist; returns whether it
/// existed.
///
/// # Safety
/// N1; `object` is live.
pub(crate) unsafe fn push_subtable(e: &mut Entry, object: Value, name: &[u8]) -> Fallible<bool> {
    let key = Value::string((*e.st).intern(name));
    e.push(object);
    e.push(key);
    push_index(e, object, key)?;
    let found = e.pop();
    let exists = found.is_table();
    let t = if exists { found } else { e.cx().table(0, 0).val().raw() };
    if !exists {
        e.push(t);
        e.push(t);
        set_index(e, object, key)?;
        e.pop();
    }
    (*e.st).top = (*e.st).top.sub(2);
    e.push(t);
    Ok(exists)
}

raising! {
    fn luaL_callmeta(l, index: c_int, name: *const c_char) -> c_int |e| {
        let v = value_or_nil(e.st, index);
        let h = meta_field(e, index, c_bytes(name));
        if h.is_nil() {
            return Ok(0);
        }
        let at = e.cx().top();
        for x in [h, Value::NIL, v] {
            e.push(x);
        }
        let st = e.st;
        let n = ((*st).vm.call)(st, (*st).base.add(at), 1)?;
        crate::run::adjust(st, n, 1);
        Ok(1)
    }

    fn luaL_newmetatable(l, name: *const c_char) -> c_int |e| {
        let st = e.st;
        let key = Value::string((*st).intern(c_bytes(name)));
        let known = Table::get((*st).registry, key);
        if !known.is_nil() {
            e.push(known);
            return Ok(0);
        }
        let t = e.cx().table(0, 2).val().raw();
        e.push(t);
        e.push(key);
        set_raw(e, t.as_table(), Value::string((*st).intern(b"__name")))?;
        e.push(t);
        set_raw(e, (*st).registry, key)?;
        safepoint(e)?;
        Ok(1)
    }

    fn luaL_setmetatable(l, name: *const c_char) |e| {
        let st = e.st;
        let v = (*st).top.sub(1).get();
        let meta = Table::get_str((*st).registry, (*st).intern(c_bytes(name)));
        let cx = Cx::from_state(st);
        let (v, meta) = (Val::of(cx, v), Val::of(cx, meta).as_table());
        match (v.as_udata(), v.as_table()) {
            (Some(u), _) => u.set_metatable(cx, meta),
            (_, Some(t)) => t.set_metatable(cx, meta)?,
            _ => cx.set_type_metatable(v, meta),
        }
        Ok(())
    }

    fn luaL_checkudata(l, argument: c_int, name: *const c_char) -> *mut c_void |e| {
        let memory = userdata_of_type(e, argument, name);
        if memory.is_null() {
            return Err(type_error(e, argument, c_bytes(name)).into());
        }
        Ok(memory)
    }

    fn luaL_setfuncs(l, functions: *const Reg, upvalues: c_int) |e| {
        let n = upvalues.max(0) as usize;
        e.cx().reserve(n + 2)?;
        let mut reg = functions;
        while !(*reg).name.is_null() {
            let st = e.st;
            let t = (*st).top.sub(n + 1).get();
            let f = match (*reg).func {
                None => Value::FALSE,
                Some(f) if n == 0 => (*(*l).global).functions.light(e.cx(), run, f as *const ()),
                Some(f) => {
                    let mut values = [Val::NIL; 255];
                    for (i, v) in values[..n].iter_mut().enumerate() {
                        *v = Val::of(Cx::from_state(st), (*st).top.sub(n - i).get());
                    }
                    closure(e.cx(), run, f as *const (), &values[..n])
                }
            };
            let key = Value::string((*st).intern(c_bytes((*reg).name)));
            e.push(f);
            set_index(e, t, key)?;
            reg = reg.add(1);
        }
        (*e.st).top = (*e.st).top.sub(n);
        safepoint(e)?;
        Ok(())
    }

    fn luaL_getsubtable(l, index: c_int, name: *const c_char) -> c_int |e| {
        let index = absolute(e.st, index);
        let object = value_or_nil(e.st, index);
        Ok(c_int::from(push_subtable(e, object, c_bytes(name))?))
    }
}
