//! Loading C modules, for the library `package`.

use std::ffi::{CStr, CString, c_void};

use perilune_runtime::cfmt::c_str;
use perilune_runtime::native::{Cx, NativeResult, Val};
use perilune_stdlib::package::LOADER;

use crate::run::run;
use crate::state::{CFunction, LuaState};

/// Allows programs of a state to load C modules, which can do anything that the process can: after
/// this, the state is neither a sandbox nor memory-safe.
pub(crate) fn allow(cx: &mut Cx) {
    let cx = &*cx;
    crate::exports::keep();
    crate::hooks::prepare(cx);
    cx.registry().set_name(cx, LOADER, cx.func(load, &[]).val());
}

/// The step of loading that failed.
enum Failure {
    /// The file cannot be loaded.
    Open,
    /// The library does not have the function.
    Init,
}

/// Loads the library at argument 1, and returns its function with the name in argument 2, or true
/// for a name that begins with `*`; or nil, a message, and the step that failed, as
/// `package.loadlib` does. A library stays loaded until the process ends.
fn load(cx: &mut Cx) -> NativeResult {
    let path = c_str(cx.check_str(0)?.bytes());
    let name = c_str(cx.check_str(1)?.bytes());
    let everything = name.first() == Some(&b'*');
    let scope = if everything { libc::RTLD_GLOBAL } else { libc::RTLD_LOCAL };
    let found = open(path, scope)
        .and_then(|library| if everything { Ok(None) } else { symbol(library, name).map(Some) });
    match found {
        Ok(None) => cx.push(Val::bool(true)),
        Ok(Some(f)) => {
            // SAFETY: N1. The program asserts that this is a function for Lua.
            unsafe {
                let l = LuaState::of(cx.state(), (*cx.state()).thread);
                let f = (*(*l).global).functions.light(cx, run, f as *const ());
                cx.push(Val::of(cx, f));
            }
        }
        Err((what, message)) => {
            cx.push(Val::NIL);
            cx.push(cx.str(&message).val());
            let what: &[u8] = match what {
                Failure::Open => b"open",
                Failure::Init => b"init",
            };
            cx.push(cx.str(what).val());
            return cx.ret(3);
        }
    }
    cx.ret(1)
}

fn open(path: &[u8], scope: i32) -> Result<*mut c_void, (Failure, Vec<u8>)> {
    let path = CString::new(path).map_err(|e| (Failure::Open, e.to_string().into_bytes()))?;
    // SAFETY: C3: the program loads only libraries that it may load.
    let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | scope) };
    if library.is_null() {
        return Err((Failure::Open, last_error()));
    }
    crate::files::connect();
    Ok(library)
}

fn symbol(library: *mut c_void, name: &[u8]) -> Result<CFunction, (Failure, Vec<u8>)> {
    let name = CString::new(name).map_err(|e| (Failure::Init, e.to_string().into_bytes()))?;
    // SAFETY: the library is loaded.
    let address = unsafe { libc::dlsym(library, name.as_ptr()) };
    if address.is_null() {
        return Err((Failure::Init, last_error()));
    }
    // SAFETY: C3: a function with this name has the type that Lua requires.
    Ok(unsafe { std::mem::transmute::<*mut c_void, CFunction>(address) })
}

fn last_error() -> Vec<u8> {
    // SAFETY: the result is null or a C string that is valid until the next such call.
    unsafe {
        let text = libc::dlerror();
        if text.is_null() { Vec::new() } else { CStr::from_ptr(text).to_bytes().to_vec() }
    }
}
