//! Loading and dumping functions (manual 4.6).

use std::ffi::{c_char, c_int, c_void};

use perilune_runtime::load::{LoadError, Reason};
use perilune_runtime::native::Val;
use perilune_runtime::value::{SlotExt, Value};

use crate::arch::{self, Left};
use crate::entry::Entry;
use crate::outcome::{Fallible, Leave, raising};
use crate::push::{bytes, c_bytes, safepoint};
use crate::run::status_of_error;
use crate::state::LuaState;
use crate::status::{MEMORY, OK, RUNTIME, SYNTAX};

/// `lua_Reader`
type Reader = unsafe extern "C" fn(*mut LuaState, *mut c_void, *mut usize) -> *const c_char;
/// `lua_Writer`
type Writer = unsafe extern "C" fn(*mut LuaState, *const c_void, usize, *mut c_void) -> c_int;

/// Pushes the result of loading a chunk: a function, or an error message. Returns the status.
///
/// # Safety
/// N1.
pub(crate) unsafe fn finish_load(
    e: &mut Entry,
    loaded: Result<Value, LoadError>,
) -> Fallible<c_int> {
    let status = match loaded {
        Ok(f) => {
            e.push(f);
            OK
        }
        Err(error) if error.reason == Reason::Memory => {
            let v = Value::string((*e.st).memory_message);
            e.push(v);
            MEMORY
        }
        Err(error) => {
            let v = Value::string((*e.st).intern(&error.message));
            e.push(v);
            if error.reason == Reason::Limit { RUNTIME } else { SYNTAX }
        }
    };
    let result = e.cx().top() - 1;
    if safepoint(e).is_err() {
        // loading raises no errors, not even this one
        e.cx().recover(result);
        return Ok(status_of_error(e.cx()));
    }
    Ok(status)
}

/// Loads a chunk and pushes the function, or an error message.
///
/// # Safety
/// N1.
pub(crate) unsafe fn load(
    e: &mut Entry,
    source: &[u8],
    name: &[u8],
    mode: &[u8],
) -> Fallible<c_int> {
    let loaded = e.cx().try_load(source, name, mode, None).map(Val::raw);
    finish_load(e, loaded)
}

/// Returns the kinds of chunks that may be loaded.
///
/// # Safety
/// C1: `mode` is null or a string.
pub(crate) unsafe fn mode_of<'a>(mode: *const c_char) -> &'a [u8] {
    if mode.is_null() { b"bt" } else { c_bytes(mode) }
}

/// Calls a C function that may raise an error but cannot yield, from code of this crate.
///
/// # Errors
/// Returns the error that the function raises.
///
/// # Safety
/// `f` takes these words as its arguments.
pub(crate) unsafe fn call_back(
    l: *mut LuaState,
    e: &mut Entry,
    f: *const (),
    args: [usize; 4],
) -> Fallible<usize> {
    let th = (*e.st).thread;
    (*th).non_yieldable += 1;
    let left = arch::call(&raw mut (*(*l).global).jump, f, args);
    (*th).non_yieldable -= 1;
    if left.why == Left::RETURNED { Ok(left.value) } else { Err(Leave::Error) }
}

/// Collects the pieces that a reader returns, to the end or until it is certain that they cannot be
/// loaded.
unsafe fn read_pieces(
    l: *mut LuaState,
    e: &mut Entry,
    reader: Reader,
    data: *mut c_void,
    mode: &[u8],
    source: &mut Vec<u8>,
) -> Fallible<()> {
    let mut checked = 0;
    loop {
        let mut size = 0usize;
        let args = [
            l.expose_provenance(),
            data.expose_provenance(),
            (&raw mut size).expose_provenance(),
            0,
        ];
        let piece = call_back(l, e, reader as *const (), args)?;
        let piece: *const c_char = std::ptr::with_exposed_provenance(piece);
        if piece.is_null() || size == 0 {
            return Ok(());
        }
        if source.try_reserve(size).is_err() {
            return Err(e.cx().memory_error().into());
        }
        source.extend_from_slice(bytes(piece, size));
        // a reader may never end
        if e.cx().has_become_hopeless(source, mode, &mut checked) {
            return Ok(());
        }
    }
}

raising! {
    fn lua_load(
        l,
        reader: Reader,
        data: *mut c_void,
        name: *const c_char,
        mode: *const c_char,
    ) -> c_int |e| {
        let kept = e.cx().top();
        let mode = mode_of(mode);
        let mut source = Vec::new();
        if read_pieces(l, e, reader, data, mode, &mut source).is_err() {
            // errors of the reader are results as well
            ((*e.st).vm.handle)(e.st);
            e.cx().recover(kept);
            // PUC would have found the error in the text before
            if !e.cx().is_hopeless(&source, mode) {
                return Ok(status_of_error(e.cx()));
            }
        }
        (*e.st).top = (*e.st).base.add(kept);
        let name = if name.is_null() { b"?" } else { c_bytes(name) };
        load(e, &source, name, mode)
    }

    fn lua_dump(l, writer: Writer, data: *mut c_void, strip: c_int) -> c_int |e| {
        let f = (*e.st).top.sub(1).get();
        let cx = e.cx();
        let dumped = Val::of(cx, f).as_func().and_then(|f| cx.dump(f, strip != 0));
        let Some(chunk) = dumped else { return Ok(1) };
        let args = [
            l.expose_provenance(),
            chunk.as_ptr().expose_provenance(),
            chunk.len(),
            data.expose_provenance(),
        ];
        Ok(call_back(l, e, writer as *const (), args)? as c_int)
    }
}
