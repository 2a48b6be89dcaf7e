//! Loading chunks (manual 5, `luaL_load…`).

use std::ffi::{c_char, c_int};

use perilune_runtime::value::Value;
use perilune_stdlib::base::read_file;

use crate::load::{load, mode_of};
use crate::outcome::raising;
use crate::push::{bytes, c_bytes};
use crate::status::{FILE, MEMORY};

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
        let mode = mode_of(mode);
        match read_file(e.cx(), name) {
            Ok(file) => load(e, file.chunk(), &file.name, mode),
            Err(message) => {
                let message = (*e.st).intern(&message);
                e.push(Value::string(message));
                Ok(if message == (*e.st).memory_message { MEMORY } else { FILE })
            }
        }
    }
}
