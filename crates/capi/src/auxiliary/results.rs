//! Results of functions of the C library (manual 5, `luaL_fileresult`, `luaL_execresult`).

use std::ffi::{c_char, c_int};
use std::io::Error;

use perilune_runtime::value::Value;

use crate::entry::Entry;
use crate::outcome::{Fallible, raising};
use crate::push::{c_bytes, push_bytes};

unsafe fn failed(e: &mut Entry, error: &Error, name: *const c_char) -> Fallible<c_int> {
    let text = error.to_string();
    let code = error.raw_os_error().unwrap_or(0);
    let text = match code {
        0 => "(no extra info)",
        _ => text.split(" (os error").next().unwrap_or_default(),
    };
    let text = text.as_bytes();
    e.push(Value::NIL);
    let text = if name.is_null() { text.to_vec() } else { [c_bytes(name), b": ", text].concat() };
    push_bytes(e, &text)?;
    e.push(Value::int(i64::from(code)));
    Ok(3)
}

raising! {
    fn luaL_fileresult(l, ok: c_int, name: *const c_char) -> c_int |e| {
        let error = Error::last_os_error();
        if ok != 0 {
            e.push(Value::TRUE);
            return Ok(1);
        }
        failed(e, &error, name)
    }

    fn luaL_execresult(l, status: c_int) -> c_int |e| {
        let error = Error::last_os_error();
        if status != 0 && error.raw_os_error() != Some(0) {
            return failed(e, &error, std::ptr::null());
        }
        let (what, code) = if libc::WIFEXITED(status) {
            (&b"exit"[..], libc::WEXITSTATUS(status))
        } else if libc::WIFSIGNALED(status) {
            (&b"signal"[..], libc::WTERMSIG(status))
        } else {
            (&b"exit"[..], status)
        };
        let ok = what == b"exit" && code == 0;
        e.push(if ok { Value::TRUE } else { Value::NIL });
        push_bytes(e, what)?;
        e.push(Value::int(i64::from(code)));
        Ok(3)
    }
}
