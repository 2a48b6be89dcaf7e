//! Access to values on the stack (manual 4.6): types and conversions.

use std::ffi::{c_char, c_int, c_void};

use perilune_runtime::convert;
use perilune_runtime::native::Val;
use perilune_runtime::state::State;
use perilune_runtime::string::LuaString;
use perilune_runtime::table::Table;
use perilune_runtime::userdata::Userdata;
use perilune_runtime::value::{Tag, Value};

use crate::entry::Entry;
use crate::functions::code_of;
use crate::index::{self, value, value_or_nil};
use crate::state::{CFunction, LuaState};
use crate::status::{NONE, TYPE_NAMES, type_of};

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_type(l: *mut LuaState, index: c_int) -> c_int {
    let e = Entry::new(l);
    value(e.st, index).map_or(NONE, type_of)
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_typename(_: *mut LuaState, t: c_int) -> *const c_char {
    TYPE_NAMES[(t + 1).clamp(0, 9) as usize].as_ptr()
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_isnumber(l: *mut LuaState, index: c_int) -> c_int {
    let e = Entry::new(l);
    c_int::from(convert::to_number(value_or_nil(e.st, index)).is_some())
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_isstring(l: *mut LuaState, index: c_int) -> c_int {
    let e = Entry::new(l);
    let v = value_or_nil(e.st, index);
    c_int::from(v.is_string() || v.is_number())
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_iscfunction(l: *mut LuaState, index: c_int) -> c_int {
    let e = Entry::new(l);
    c_int::from(value_or_nil(e.st, index).tag() == Tag::NATIVE)
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_isinteger(l: *mut LuaState, index: c_int) -> c_int {
    let e = Entry::new(l);
    c_int::from(value_or_nil(e.st, index).is_int())
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_isuserdata(l: *mut LuaState, index: c_int) -> c_int {
    let e = Entry::new(l);
    let tag = value_or_nil(e.st, index).tag();
    c_int::from(tag == Tag::USERDATA || tag == Tag::LIGHT)
}

unsafe fn report<T>(found: Option<T>, is: *mut c_int) -> Option<T> {
    if !is.is_null() {
        is.write(c_int::from(found.is_some()));
    }
    found
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_tonumberx(
    l: *mut LuaState,
    index: c_int,
    is: *mut c_int,
) -> f64 {
    let e = Entry::new(l);
    let v = value_or_nil(e.st, index);
    let found = if v.is_float() { Some(v.as_float()) } else { convert::to_float(v) };
    report(found, is).unwrap_or(0.0)
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_tointegerx(
    l: *mut LuaState,
    index: c_int,
    is: *mut c_int,
) -> i64 {
    let e = Entry::new(l);
    let v = value_or_nil(e.st, index);
    let found = if v.is_int() { Some(v.as_int()) } else { convert::to_integer(v) };
    report(found, is).unwrap_or(0)
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_toboolean(l: *mut LuaState, index: c_int) -> c_int {
    let e = Entry::new(l);
    c_int::from(value_or_nil(e.st, index).truthy())
}

/// Returns the string at an index; a number is converted in place. `None` for other values.
///
/// # Safety
/// `st` is live.
#[inline(always)]
pub(crate) unsafe fn string_at(st: *mut State, index: c_int) -> Option<*mut LuaString> {
    let v = value(st, index)?;
    if v.is_string() {
        return Some(v.as_string());
    }
    v.is_number().then(|| convert_number(st, index, v))
}

#[cold]
unsafe fn convert_number(st: *mut State, index: c_int, v: Value) -> *mut LuaString {
    let mut text = Vec::with_capacity(32);
    convert::write_number(&mut text, v);
    let s = (*st).intern(&text);
    index::store(st, index, Value::string(s));
    s
}

/// Returns the bytes of a string as C reads them, and stores their number.
///
/// # Safety
/// `s` is live, and `len` null or valid.
#[inline(always)]
pub(crate) unsafe fn text(s: *mut LuaString, len: *mut usize) -> *const c_char {
    if !len.is_null() {
        len.write((*s).len as usize);
    }
    LuaString::bytes_with_nul(s).as_ptr().cast()
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_tolstring(
    l: *mut LuaState,
    index: c_int,
    len: *mut usize,
) -> *const c_char {
    let e = Entry::new(l);
    match string_at(e.st, index) {
        Some(s) => text(s, len),
        None => {
            if !len.is_null() {
                len.write(0);
            }
            std::ptr::null()
        }
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_rawlen(l: *mut LuaState, index: c_int) -> u64 {
    let e = Entry::new(l);
    let v = value_or_nil(e.st, index);
    match v.tag() {
        Tag::STRING => u64::from((*v.as_string()).len),
        Tag::TABLE => Table::length(v.as_table()) as u64,
        Tag::USERDATA => u64::from((*v.as_userdata()).header.word),
        _ => 0,
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_tocfunction(
    l: *mut LuaState,
    index: c_int,
) -> Option<CFunction> {
    let e = Entry::new(l);
    let v = value_or_nil(e.st, index);
    if v.tag() != Tag::NATIVE {
        return None;
    }
    let mut code = code_of(v.as_native());
    if code.is_null() {
        code = (*(*l).global).functions.thunk_of(e.st, v.as_native());
    }
    // SAFETY: C2: null, or the address of a C function.
    unsafe { std::mem::transmute::<*const (), Option<CFunction>>(code) }
}

/// Returns the memory of a userdata; null for other values.
///
/// # Safety
/// `v` is live.
#[inline(always)]
pub(crate) unsafe fn memory_of(e: &mut Entry, v: Value) -> *mut c_void {
    match v.tag() {
        Tag::LIGHT => v.as_ptr(),
        Tag::USERDATA if (*v.as_userdata()).header.aux == Userdata::BLOCK => {
            (*v.as_userdata()).block.cast()
        }
        Tag::USERDATA => crate::files::stream_for_c(e, v),
        _ => std::ptr::null_mut(),
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_touserdata(l: *mut LuaState, index: c_int) -> *mut c_void {
    let mut e = Entry::new(l);
    let v = value_or_nil(e.st, index);
    memory_of(&mut e, v)
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_tothread(l: *mut LuaState, index: c_int) -> *mut LuaState {
    let e = Entry::new(l);
    let v = value_or_nil(e.st, index);
    if v.tag() != Tag::THREAD {
        return std::ptr::null_mut();
    }
    LuaState::of(e.st, v.as_thread())
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_topointer(l: *mut LuaState, index: c_int) -> *const c_void {
    let mut e = Entry::new(l);
    let v = value_or_nil(e.st, index);
    let address = Val::of(e.cx(), v).address();
    std::ptr::with_exposed_provenance(address.unwrap_or(0) as usize)
}
