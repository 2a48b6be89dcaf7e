//! Access to values on the stack (manual 4.6): types and conversions.

use std::ffi::{c_char, c_int, c_void};

use perilune_runtime::convert;
use perilune_runtime::native::Val;
use perilune_runtime::state::State;
use perilune_runtime::string::LuaString;
use perilune_runtime::table::Table;
use perilune_runtime::userdata::Userdata;
use perilune_runtime::value::{SlotExt, Tag, Value};

use crate::arch::begin_line;
use crate::entry::{Entry, is_running};
use crate::functions::code_of;
use crate::index::{self, value, value_or_nil};
use crate::outcome::infallible;
use crate::push::safepoint;
use crate::state::{CFunction, LuaState};
use crate::status::{NONE, TYPE_NAMES, type_of};

infallible! {
    fn lua_type(l, index: c_int) -> c_int |e| {
        value(e.st, index).map_or(NONE, type_of)
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_typename(_: *mut LuaState, t: c_int) -> *const c_char {
    TYPE_NAMES[(t + 1).clamp(0, 9) as usize].as_ptr()
}

infallible! {
    fn lua_isnumber(l, index: c_int) -> c_int |e| {
        c_int::from(convert::to_number(value_or_nil(e.st, index)).is_some())
    }

    fn lua_isstring(l, index: c_int) -> c_int |e| {
        let v = value_or_nil(e.st, index);
        c_int::from(v.is_string() || v.is_number())
    }

    fn lua_iscfunction(l, index: c_int) -> c_int |e| {
        c_int::from(value_or_nil(e.st, index).tag() == Tag::NATIVE)
    }

    fn lua_isinteger(l, index: c_int) -> c_int |e| {
        c_int::from(value_or_nil(e.st, index).is_int())
    }

    fn lua_isuserdata(l, index: c_int) -> c_int |e| {
        let tag = value_or_nil(e.st, index).tag();
        c_int::from(tag == Tag::USERDATA || tag == Tag::LIGHT)
    }
}

/// Reports to C code whether a value could be converted, if it has passed a place for the answer.
#[inline(always)]
unsafe fn report(is: *mut c_int, found: bool) {
    if !is.is_null() {
        is.write(c_int::from(found));
    }
}

// Conversions are separate functions, so that the functions below need no stack frame. For the same
// reason their calling convention says that they do not unwind.

#[inline(never)]
unsafe extern "C" fn to_float(v: Value, is: *mut c_int) -> f64 {
    let found = convert::to_float(v);
    report(is, found.is_some());
    found.unwrap_or(0.0)
}

#[inline(never)]
unsafe extern "C" fn to_integer(v: Value, is: *mut c_int) -> i64 {
    let found = convert::to_integer(v);
    report(is, found.is_some());
    found.unwrap_or(0)
}

infallible! {
    fn lua_tonumberx(l, index: c_int, is: *mut c_int) -> f64 |e| {
        let v = value_or_nil(e.st, index);
        if v.is_float() {
            report(is, true);
            return v.as_float();
        }
        to_float(v, is)
    }

    fn lua_tointegerx(l, index: c_int, is: *mut c_int) -> i64 |e| {
        let v = value_or_nil(e.st, index);
        if v.is_int() {
            report(is, true);
            return v.as_int();
        }
        to_integer(v, is)
    }

    fn lua_toboolean(l, index: c_int) -> c_int |e| {
        c_int::from(value_or_nil(e.st, index).truthy())
    }
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

infallible! {
    fn lua_tolstring(l, index: c_int, len: *mut usize) -> *const c_char |e| {
        match string_at(e.st, index) {
            Some(s) => {
                // If memory is short, the next operation that may fail reports it. The string is on
                // the stack.
                let _ = safepoint(e);
                text(s, len)
            }
            None => {
                if !len.is_null() {
                    len.write(0);
                }
                std::ptr::null()
            }
        }
    }

    fn lua_rawlen(l, index: c_int) -> u64 |e| {
        let v = value_or_nil(e.st, index);
        match v.tag() {
            Tag::STRING => u64::from((*v.as_string()).len),
            Tag::TABLE => Table::length(v.as_table()) as u64,
            Tag::USERDATA if (*v.as_userdata()).header.aux == Userdata::BLOCK => {
                u64::from((*v.as_userdata()).header.word)
            }
            Tag::USERDATA => crate::files::size_for_c(e, v) as u64,
            _ => 0,
        }
    }

    fn lua_tocfunction(l, index: c_int) -> Option<CFunction> |e| {
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

/// `lua_touserdata`, with the fast path for an argument. The rest is a separate function, so that
/// this code fits into one cache line.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_touserdata(l: *mut LuaState, index: c_int) -> *mut c_void {
    if index <= 0 || !is_running(l) {
        begin_line!();
        return any_userdata(l, index);
    }
    let st = LuaState::state(l);
    let p = (*st).base.add(index as usize - 1);
    if p >= (*st).top {
        return std::ptr::null_mut();
    }
    let v = p.get();
    if v.tag() == Tag::LIGHT {
        return v.as_ptr();
    }
    // This only affects the order of the code: lpeg asks for light userdata for each character.
    std::hint::cold_path();
    if v.tag() != Tag::USERDATA || (*v.as_userdata()).block.is_null() {
        return any_userdata(l, index);
    }
    (*v.as_userdata()).block.cast()
}

#[inline(never)]
unsafe extern "C" fn any_userdata(l: *mut LuaState, index: c_int) -> *mut c_void {
    Entry::within(l, |e| {
        let v = value_or_nil(e.st, index);
        memory_of(e, v)
    })
}

infallible! {
    fn lua_tothread(l, index: c_int) -> *mut LuaState |e| {
        let v = value_or_nil(e.st, index);
        if v.tag() != Tag::THREAD {
            return std::ptr::null_mut();
        }
        LuaState::of(e.st, v.as_thread())
    }

    fn lua_topointer(l, index: c_int) -> *const c_void |e| {
        let v = value_or_nil(e.st, index);
        let address = Val::of(e.cx(), v).address();
        std::ptr::with_exposed_provenance(address.unwrap_or(0) as usize)
    }
}
