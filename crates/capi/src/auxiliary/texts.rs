//! Positions, tracebacks, `tostring` (manual 5).

use std::ffi::{c_char, c_int};

use perilune_runtime::convert;
use perilune_runtime::native::Val;
use perilune_runtime::value::Value;

use crate::access::text;
use crate::index::value_or_nil;
use crate::operators::push_length;
use crate::outcome::raising;
use crate::push::{c_bytes, push_bytes, safepoint};
use crate::state::LuaState;

/// Returns the number of a level. There is none for a negative one.
fn level_number(level: c_int) -> usize {
    usize::try_from(level).unwrap_or(usize::MAX)
}

raising! {
    fn luaL_where(l, level: c_int) |e| {
        let text = e.cx().position(level_number(level));
        push_bytes(e, &text)?;
        Ok(())
    }

    fn luaL_traceback(
        l,
        of: *mut LuaState,
        message: *const c_char,
        level: c_int,
    ) |e| {
        let message = if message.is_null() { None } else { Some(c_bytes(message)) };
        let text = {
            let cx = e.cx();
            let co = Val::of(cx, Value::thread((*of).thread));
            cx.traceback(Some(co), message, level_number(level))
        };
        push_bytes(e, &text)?;
        Ok(())
    }

    fn luaL_tolstring(l, index: c_int, len: *mut usize) -> *const c_char |e| {
        let v = value_or_nil(e.st, index);
        e.push(v);
        let cx = e.cx();
        cx.reserve(8)?;
        cx.push_tostring(cx.top() - 1)?;
        let s = e.pop();
        e.pop();
        e.push(s);
        safepoint(e)?;
        Ok(text(s.as_string(), len))
    }

    fn luaL_len(l, index: c_int) -> i64 |e| {
        let v = value_or_nil(e.st, index);
        push_length(e, v)?;
        let n = e.pop();
        match convert::to_integer(n) {
            Some(n) => Ok(n),
            None => Err(e.cx().error("object length is not an integer").into()),
        }
    }
}
