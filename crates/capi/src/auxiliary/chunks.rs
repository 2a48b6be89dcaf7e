//! Loading chunks (manual 5, `luaL_load…`).

use std::ffi::{c_char, c_int};

use perilune_runtime::native::Val;
use perilune_runtime::value::Value;
use perilune_stdlib::base::load_file;

use crate::load::{load, mode_of};
use crate::outcome::raising;
use crate::push::{bytes, c_bytes};
use crate::status::{FILE, OK, SYNTAX};

raising! {
    fn luaL_loadbufferx(
        l,
        text: *const c_char,
        len: usize,
        name: *const c_char,
        mode: *const c_char,
    ) -> c_int |e| {
        let name = if name.is_null() { b"?" } else { c_bytes(name) };
        load(e, bytes(text, len), name, mode_of(mode))
    }

    fn luaL_loadstring(l, text: *const c_char) -> c_int |e| {
        let text = c_bytes(text);
        load(e, text, text, b"bt")
    }

    fn luaL_loadfilex(l, name: *const c_char, mode: *const c_char) -> c_int |e| {
        let name = if name.is_null() { None } else { Some(c_bytes(name)) };
        let mode = if mode.is_null() { &b"bt"[..] } else { c_bytes(mode) };
        let loaded = load_file(e.cx(), name, mode, None).map(Val::raw);
        match loaded {
            Ok(f) => {
                e.push(f);
                Ok(OK)
            }
            Err(message) => {
                let is_file = message.starts_with(b"cannot ");
                let v = Value::string((*e.st).intern(&message));
                e.push(v);
                Ok(if is_file { FILE } else { SYNTAX })
            }
        }
    }
}
