//! Pushing values (manual 4.6).

use std::ffi::{CStr, c_char, c_int, c_void};

use perilune_runtime::native::{Cx, Raised, Val};
use perilune_runtime::state::poll;
use perilune_runtime::value::{SlotExt, Value};

use crate::access::text;
use crate::entry::Entry;
use crate::functions::closure;
use crate::outcome::{infallible, raising};
use crate::run::run;
use crate::state::CFunction;

infallible! {
    fn lua_pushnil(l) |e| {
        e.push(Value::NIL);
    }

    fn lua_pushnumber(l, n: f64) |e| {
        e.push(Value::float(n));
    }

    fn lua_pushinteger(l, n: i64) |e| {
        e.push(Value::int(n));
    }

    fn lua_pushboolean(l, b: c_int) |e| {
        e.push(Value::bool(b != 0));
    }

    fn lua_pushlightuserdata(l, p: *mut c_void) |e| {
        e.push(Value::light(p.expose_provenance() as u64));
    }

    fn lua_pushthread(l) -> c_int |e| {
        e.push(Value::thread((*l).thread));
        c_int::from((*l).thread == (*e.st).main_thread)
    }
}

/// Performs a safepoint. Called where PUC may collect, after objects were created and pushed.
///
/// # Errors
/// Returns "not enough memory".
///
/// # Safety
/// N1, and no unrooted value is in use.
#[inline(always)]
pub(crate) unsafe fn safepoint(e: &mut Entry) -> Result<(), Raised> {
    let requests = (*e.st).poll.load(std::sync::atomic::Ordering::Relaxed);
    if requests & poll::GC != 0 { collect(e.cx()) } else { Ok(()) }
}

#[cold]
fn collect(cx: &mut Cx) -> Result<(), Raised> {
    // SAFETY: N1; the frame's values end at the top.
    unsafe { (*cx.state()).gc_poll() }.map_err(|_| cx.memory_error())
}

/// Pushes a string and returns its text.
///
/// # Errors
/// Returns "not enough memory".
///
/// # Safety
/// N1.
#[inline(always)]
pub(crate) unsafe fn push_bytes(e: &mut Entry, bytes: &[u8]) -> Result<*const c_char, Raised> {
    let v = if bytes.len() < 1 << 16 {
        Value::string((*e.st).intern(bytes))
    } else {
        e.cx().make_room(bytes.len())?;
        e.cx().str_of_any_length(bytes)?.val().raw()
    };
    e.push(v);
    safepoint(e)?;
    Ok(text(v.as_string(), std::ptr::null_mut()))
}

/// Returns the bytes of a C string.
///
/// # Safety
/// `s` ends with a NUL, and outlives the result.
#[inline(always)]
pub(crate) unsafe fn c_bytes<'a>(s: *const c_char) -> &'a [u8] {
    CStr::from_ptr(s).to_bytes()
}

/// Returns the bytes that C code has passed as an address and a length.
///
/// # Safety
/// `s` points to `len` bytes, and they outlive the result.
#[inline(always)]
pub(crate) unsafe fn bytes<'a>(s: *const c_char, len: usize) -> &'a [u8] {
    // No object is longer; PUC refuses such lengths without reading the bytes, and so do callers.
    let len = len.min(isize::MAX as usize);
    if len == 0 { &[] } else { std::slice::from_raw_parts(s.cast(), len) }
}

raising! {
    fn lua_pushlstring(l, s: *const c_char, len: usize) -> *const c_char |e| {
        Ok(push_bytes(e, bytes(s, len))?)
    }

    fn lua_pushstring(l, s: *const c_char) -> *const c_char |e| {
        if s.is_null() {
            e.push(Value::NIL);
            return Ok(std::ptr::null());
        }
        Ok(push_bytes(e, c_bytes(s))?)
    }

    fn lua_pushcclosure(l, f: CFunction, n: c_int) |e| {
        if n == 0 {
            let v = (*(*l).global).functions.light(e.cx(), run, f as *const ());
            e.push(v);
        } else {
            let n = n as usize;
            let st = e.st;
            let mut upvalues = [Val::NIL; 255];
            for (i, v) in upvalues[..n].iter_mut().enumerate() {
                *v = Val::of(Cx::from_state(st), (*st).top.sub(n - i).get());
            }
            let v = closure(e.cx(), run, f as *const (), &upvalues[..n]);
            (*st).top = (*st).top.sub(n);
            e.push(v);
        }
        Ok(safepoint(e)?)
    }
}
