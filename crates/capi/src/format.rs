//! Formatted strings (manual 4.6, `lua_pushfstring`) and the other functions with `...`.

use std::ffi::{c_char, c_int};

use perilune_runtime::convert;
use perilune_runtime::value::Value;

use crate::arch::{VaList, stub_variadic};
use crate::entry::Entry;
use crate::gc;
use crate::outcome::{Fallible, Outcome, guarded, raising};
use crate::push::{c_bytes, push_bytes};
use crate::state::LuaState;

/// Formats a message.
unsafe fn formatted(e: &mut Entry, format: &[u8], args: &mut VaList) -> Fallible<Vec<u8>> {
    let mut out = Vec::new();
    let mut rest = format;
    while let Some(i) = rest.iter().position(|b| *b == b'%') {
        out.extend_from_slice(&rest[..i]);
        let what = rest.get(i + 1).copied().unwrap_or(0);
        match what {
            b's' => {
                let s = args.word() as usize;
                let s: *const c_char = std::ptr::with_exposed_provenance(s);
                out.extend_from_slice(if s.is_null() { b"(null)" } else { c_bytes(s) });
            }
            b'c' => out.push(args.word() as u8),
            b'd' => {
                let n = args.word() as c_int;
                convert::write_number(&mut out, Value::int(i64::from(n)));
            }
            b'I' => convert::write_number(&mut out, Value::int(args.word() as i64)),
            b'f' => convert::write_number(&mut out, Value::float(args.double())),
            b'p' => match args.word() {
                0 => out.extend_from_slice(b"(nil)"),
                p => out.extend_from_slice(format!("{p:#x}").as_bytes()),
            },
            b'U' => push_utf8(&mut out, args.word() as u32),
            b'%' => out.push(b'%'),
            other => {
                let mut text = b"invalid option '%".to_vec();
                text.push(other);
                text.extend_from_slice(b"' to 'lua_pushfstring'");
                return Err(e.cx().error_plain(text).into());
            }
        }
        rest = rest.get(i + 2..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    Ok(out)
}

/// Appends a code point of up to 31 bits in the original encoding of UTF-8.
fn push_utf8(out: &mut Vec<u8>, mut x: u32) {
    if x < 0x80 {
        out.push(x as u8);
        return;
    }
    let mut tail = Vec::new();
    let mut first_max = 0x3F;
    while x > first_max {
        tail.push(0x80 | (x & 0x3F) as u8);
        x >>= 6;
        first_max >>= 1;
    }
    out.push((!first_max << 1) as u8 | x as u8);
    out.extend(tail.iter().rev());
}

unsafe fn push_formatted(
    e: &mut Entry,
    format: *const c_char,
    args: *mut VaList,
) -> Fallible<*const c_char> {
    let text = formatted(e, c_bytes(format), &mut *args)?;
    Ok(push_bytes(e, &text)?)
}

raising! {
    fn lua_pushvfstring(l, format: *const c_char, args: *mut VaList) -> *const c_char |e| {
        push_formatted(e, format, args)
    }
}

#[unsafe(no_mangle)]
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn lua_pushfstring(
    l: *mut LuaState,
    format: *const c_char,
) -> *const c_char {
    unsafe extern "C" fn body(
        l: *mut LuaState,
        format: *const c_char,
        args: *mut VaList,
    ) -> Outcome {
        guarded(l, |e| push_formatted(e, format, args))
    }
    stub_variadic!(body)
}

#[unsafe(no_mangle)]
#[unsafe(naked)]
#[allow(non_snake_case)] // the name is PUC's
pub(crate) unsafe extern "C" fn luaL_error(l: *mut LuaState, format: *const c_char) -> c_int {
    unsafe extern "C" fn body(
        l: *mut LuaState,
        format: *const c_char,
        args: *mut VaList,
    ) -> Outcome {
        guarded(l, |e| -> Fallible<c_int> {
            let text = formatted(e, c_bytes(format), &mut *args)?;
            Err(e.cx().error(text).into())
        })
    }
    stub_variadic!(body)
}

#[unsafe(no_mangle)]
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn lua_gc(l: *mut LuaState, what: c_int) -> c_int {
    unsafe extern "C" fn body(l: *mut LuaState, what: c_int, args: *mut VaList) -> Outcome {
        guarded(l, |e| {
            let next = || (*args).word() as c_int;
            let given = match what {
                gc::STEP | gc::SET_PAUSE | gc::SET_STEP_MULTIPLIER => [next(), 0, 0],
                gc::GENERATIONAL => [next(), next(), 0],
                gc::INCREMENTAL => [next(), next(), next()],
                _ => [0; 3],
            };
            Ok(gc::control(e.cx(), what, given.map(|n| n.max(0) as usize)))
        })
    }
    stub_variadic!(body)
}

#[cfg(test)]
mod tests {
    use super::push_utf8;

    #[test]
    fn utf8_of_up_to_31_bits() {
        let encoded = |x| {
            let mut out = Vec::new();
            push_utf8(&mut out, x);
            out
        };
        for c in ['a', '\u{7F}', 'é', '€', '\u{10FFFF}'] {
            assert_eq!(encoded(c as u32), c.to_string().as_bytes());
        }
        assert_eq!(encoded(0x7FFF_FFFF), b"\xFD\xBF\xBF\xBF\xBF\xBF");
    }
}
