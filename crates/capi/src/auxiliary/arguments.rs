//! Checks of arguments (manual 5, `luaL_check…`).

use std::ffi::{CStr, c_char, c_int};

use perilune_runtime::convert;
use perilune_runtime::debug::Level;
use perilune_runtime::native::{Raised, Val};

use crate::access::{string_at, text};
use crate::arch::{stub, stub_double};
use crate::entry::Entry;
use crate::index::{value, value_or_nil};
use crate::life::VERSION;
use crate::outcome::{Fallible, Outcome, guarded, raising};
use crate::push::c_bytes;
use crate::stack::room_for;
use crate::state::LuaState;
use crate::status::{NONE, TYPE_NAMES, type_of};

/// Raises "bad argument #i to 'f' (message)".
///
/// # Safety
/// N1.
#[cold]
pub(crate) unsafe fn argument_error(e: &mut Entry, argument: c_int, message: &[u8]) -> Raised {
    if Level::innermost(e.st, (*e.st).thread).is_none() {
        // the C code belongs to a host program, and no Lua function has called it
        return e
            .cx()
            .error([format!("bad argument #{argument} (").as_bytes(), message, b")"].concat());
    }
    e.cx().arg_error((argument as isize - 1) as usize, message)
}

/// Raises "bad argument #i to 'f' (expected expected, got …)".
///
/// # Safety
/// N1.
#[cold]
pub(crate) unsafe fn type_error(e: &mut Entry, argument: c_int, expected: &[u8]) -> Raised {
    let v = value(e.st, argument);
    let cx = e.cx();
    let got = match v {
        None => b"no value",
        Some(v) => cx.type_name_of(Val::of(cx, v)),
    };
    if let Err(no_memory) = cx.check_room(got.len()) {
        return no_memory;
    }
    let message = [expected, b" expected, got ", got].concat();
    argument_error(e, argument, &message)
}

unsafe fn type_tag_error(e: &mut Entry, argument: c_int, t: c_int) -> Raised {
    let name: &CStr = TYPE_NAMES[(t + 1).clamp(0, 9) as usize];
    type_error(e, argument, name.to_bytes())
}

unsafe fn is_absent(e: &Entry, argument: c_int) -> bool {
    value_or_nil(e.st, argument).is_nil()
}

unsafe fn number(e: &mut Entry, argument: c_int) -> Fallible<f64> {
    match convert::to_float(value_or_nil(e.st, argument)) {
        Some(n) => Ok(n),
        None => Err(type_error(e, argument, b"number").into()),
    }
}

unsafe fn integer(e: &mut Entry, argument: c_int) -> Fallible<i64> {
    let v = value_or_nil(e.st, argument);
    if v.is_int() {
        return Ok(v.as_int());
    }
    match convert::to_integer(v) {
        Some(n) => Ok(n),
        None if convert::to_number(v).is_some() => {
            Err(argument_error(e, argument, b"number has no integer representation").into())
        }
        None => Err(type_error(e, argument, b"number").into()),
    }
}

unsafe fn string(e: &mut Entry, argument: c_int, len: *mut usize) -> Fallible<*const c_char> {
    match string_at(e.st, argument) {
        Some(s) => Ok(text(s, len)),
        None => Err(type_error(e, argument, b"string").into()),
    }
}

raising! {
    fn luaL_argerror(l, argument: c_int, message: *const c_char) -> c_int |e| {
        Err(argument_error(e, argument, c_bytes(message)).into())
    }

    fn luaL_typeerror(l, argument: c_int, expected: *const c_char) -> c_int |e| {
        Err(type_error(e, argument, c_bytes(expected)).into())
    }

    fn luaL_optlstring(
        l,
        argument: c_int,
        default: *const c_char,
        len: *mut usize,
    ) -> *const c_char |e| {
        if !is_absent(e, argument) {
            return string(e, argument, len);
        }
        if !len.is_null() {
            len.write(if default.is_null() { 0 } else { c_bytes(default).len() });
        }
        Ok(default)
    }

    fn luaL_checkstack(l, n: c_int, message: *const c_char) |e| {
        if room_for(e.cx(), n.max(0) as usize) {
            return Ok(());
        }
        let text = if message.is_null() {
            b"stack overflow".to_vec()
        } else {
            [b"stack overflow (", c_bytes(message), b")"].concat()
        };
        Err(e.cx().error(text).into())
    }

    fn luaL_checktype(l, argument: c_int, t: c_int) |e| {
        if value(e.st, argument).map_or(NONE, type_of) == t {
            return Ok(());
        }
        Err(type_tag_error(e, argument, t).into())
    }

    fn luaL_checkany(l, argument: c_int) |e| {
        match value(e.st, argument) {
            Some(_) => Ok(()),
            None => Err(argument_error(e, argument, b"value expected").into()),
        }
    }

    fn luaL_checkoption(
        l,
        argument: c_int,
        default: *const c_char,
        options: *const *const c_char,
    ) -> c_int |e| {
        let given = if !default.is_null() && is_absent(e, argument) {
            default
        } else {
            string(e, argument, std::ptr::null_mut())?
        };
        let given = c_bytes(given);
        for i in 0.. {
            let option = *options.add(i);
            if option.is_null() {
                break;
            }
            if c_bytes(option) == given {
                return Ok(i as c_int);
            }
        }
        let message = [b"invalid option '", given, b"'"].concat();
        Err(argument_error(e, argument, &message).into())
    }

    fn luaL_checkversion_(l, version: f64, sizes: usize) |e| {
        // LUAL_NUMSIZES: integers and doubles of eight bytes
        if sizes != size_of::<i64>() * 16 + size_of::<f64>() {
            let message = "core and library have incompatible numeric types";
            return Err(e.cx().error(message).into());
        }
        if version != VERSION {
            let message = format!(
                "version mismatch: app. needs {version:.1}, Lua core provides {VERSION:.1}"
            );
            return Err(e.cx().error(message).into());
        }
        Ok(())
    }
}

// The most common checks succeed without the code that raises errors.

#[unsafe(no_mangle)]
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn luaL_checkinteger(l: *mut LuaState, argument: c_int) -> i64 {
    unsafe extern "C" fn body(l: *mut LuaState, argument: c_int) -> Outcome {
        let v = Entry::within(l, |e| value_or_nil(e.st, argument));
        if v.is_int() {
            return Outcome::returned(v.as_int());
        }
        guarded(l, |e| integer(e, argument))
    }
    stub!(body)
}

#[unsafe(no_mangle)]
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn luaL_optinteger(
    l: *mut LuaState,
    argument: c_int,
    default: i64,
) -> i64 {
    unsafe extern "C" fn body(l: *mut LuaState, argument: c_int, default: i64) -> Outcome {
        let v = Entry::within(l, |e| value_or_nil(e.st, argument));
        if v.is_int() {
            return Outcome::returned(v.as_int());
        }
        if v.is_nil() {
            return Outcome::returned(default);
        }
        guarded(l, |e| integer(e, argument))
    }
    stub!(body)
}

#[unsafe(no_mangle)]
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn luaL_checklstring(
    l: *mut LuaState,
    argument: c_int,
    len: *mut usize,
) -> *const c_char {
    unsafe extern "C" fn body(l: *mut LuaState, argument: c_int, len: *mut usize) -> Outcome {
        let v = Entry::within(l, |e| value_or_nil(e.st, argument));
        if v.is_string() {
            return Outcome::returned(text(v.as_string(), len));
        }
        guarded(l, |e| string(e, argument, len))
    }
    stub!(body)
}

#[unsafe(no_mangle)]
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn luaL_checknumber(l: *mut LuaState, argument: c_int) -> f64 {
    unsafe extern "C" fn body(l: *mut LuaState, argument: c_int) -> Outcome {
        let v = Entry::within(l, |e| value_or_nil(e.st, argument));
        if v.is_float() {
            return Outcome::returned(v.as_float());
        }
        if v.is_int() {
            return Outcome::returned(v.as_int() as f64);
        }
        guarded(l, |e| number(e, argument))
    }
    stub_double!(body)
}

#[unsafe(no_mangle)]
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn luaL_optnumber(
    l: *mut LuaState,
    argument: c_int,
    default: f64,
) -> f64 {
    unsafe extern "C" fn body(l: *mut LuaState, argument: c_int, default: f64) -> Outcome {
        guarded(l, |e| if is_absent(e, argument) { Ok(default) } else { number(e, argument) })
    }
    stub_double!(body)
}
