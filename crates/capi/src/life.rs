//! States: creation and end, versions, allocators, warnings (manual 4.6).

use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::OnceLock;

use perilune::{Engine, Lua};
use perilune_runtime::frame::{Frame, flags};
use perilune_runtime::heap::Allocator;
use perilune_runtime::native::Raised;
use perilune_runtime::state::State;
use perilune_runtime::value::Value;
use perilune_stdlib::base;
use perilune_stdlib::io::{finish_all, flush_all};

use crate::coroutines::close_main;
use crate::entry::Entry;
use crate::errors::{close_all, report};
use crate::load::call_back;
use crate::outcome::{Fallible, raising};
use crate::push::c_bytes;
use crate::state::{Alloc, CFunction, LuaState, WarnFunction};

/// `LUA_VERSION_NUM`
pub(crate) const VERSION: f64 = 504.0;

/// `lua_ident`
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)] // the name is PUC's
pub(crate) static lua_ident: [u8; 52] = *b"$LuaVersion: Lua 5.4.8 (implemented by Perilune) $\0\0";

/// Returns the engine of the states that C code creates. Their buffered output is written when the
/// process exits, even if a state was not closed.
fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    extern "C" fn at_exit() {
        finish_all();
    }
    ENGINE.get_or_init(|| {
        // SAFETY: the function only uses data that lives as long as the process.
        unsafe { libc::atexit(at_exit) };
        Engine::new()
    })
}

/// Passes a part of a warning to a function of C code.
unsafe fn pass_warning(
    e: &mut Entry,
    (f, data): (WarnFunction, *mut c_void),
    part: *const c_char,
    more: c_int,
) -> Fallible<()> {
    let l = LuaState::of(e.st, (*e.st).thread);
    let args = [data.expose_provenance(), part.expose_provenance(), more as usize, 0];
    call_back(l, e, f as *const (), args)?;
    Ok(())
}

/// Passes a warning to the function that C code has set for it.
unsafe fn warn_c(st: *mut State, parts: &[&[u8]]) -> Result<(), Raised> {
    let l = LuaState::of(st, (*st).thread);
    if let Some(receiver) = (*(*l).global).warn {
        for (i, part) in parts.iter().enumerate() {
            let text = part.split(|b| *b == 0).next().unwrap_or_default();
            let Ok(text) = CString::new(text) else { continue };
            let more = c_int::from(i + 1 < parts.len());
            let passed = pass_warning(&mut Entry::new(l), receiver, text.as_ptr(), more);
            passed.map_err(|_| Raised::new())?;
        }
    }
    Ok(())
}

/// Creates a state without libraries, which may load C modules.
fn new_state(allocator: Allocator) -> *mut LuaState {
    crate::files::connect();
    let lua = Lua::without_libraries_in(engine(), allocator);
    // SAFETY: the function uses nothing but the state. N1; the state lives until `lua_close`.
    unsafe {
        lua.with(|cx| {
            crate::package::allow(cx);
            let l = LuaState::of(cx.state(), (*cx.state()).main_thread);
            (*(*l).global).lua = Some(lua.clone());
            // nothing has called the host, so its frame is not a level of the call stack
            Frame((*cx.state()).base).add_flags(flags::BOTTOM);
            l
        })
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_newstate(alloc: Alloc, data: *mut c_void) -> *mut LuaState {
    // SAFETY: C1: the function behaves as the manual says of `lua_Alloc`.
    let l = new_state(unsafe { Allocator::new(alloc, data) });
    (*(*l).global).alloc = Some((alloc, data));
    (*(*l).global).has_allocator = true;
    let is_short = (*LuaState::state(l)).gc_poll().is_err();
    if is_short {
        lua_close(l);
        return std::ptr::null_mut();
    }
    l
}

#[unsafe(no_mangle)]
#[allow(non_snake_case)] // the name is PUC's
pub(crate) unsafe extern "C" fn luaL_newstate() -> *mut LuaState {
    new_state(Allocator::global())
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_close(l: *mut LuaState) {
    let st = LuaState::state(l);
    let main = LuaState::of(st, (*st).main_thread);
    close_main(main);
    {
        let e = Entry::new(main);
        close_all(e.st, Value::NIL);
    }
    // The last owner of the state: dropping it also frees the blocks of the coroutines.
    let lua = (*(*main).global).lua.take();
    drop(lua);
    flush_all();
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_atpanic(
    l: *mut LuaState,
    f: Option<CFunction>,
) -> Option<CFunction> {
    std::mem::replace(&mut (*(*l).global).panic, f).or(Some(report))
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_version(_: *mut LuaState) -> f64 {
    VERSION
}

/// The allocator that C code receives: that of the C library.
unsafe extern "C" fn reallocate(
    _: *mut c_void,
    p: *mut c_void,
    _: usize,
    size: usize,
) -> *mut c_void {
    if size == 0 {
        libc::free(p);
        return std::ptr::null_mut();
    }
    libc::realloc(p, size)
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_getallocf(l: *mut LuaState, data: *mut *mut c_void) -> Alloc {
    let (f, d) = (*(*l).global).alloc.unwrap_or((reallocate, std::ptr::null_mut()));
    if !data.is_null() {
        data.write(d);
    }
    f
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_setallocf(l: *mut LuaState, f: Alloc, data: *mut c_void) {
    if (*(*l).global).has_allocator {
        // SAFETY: C1: the function accepts the blocks of the previous allocator.
        let allocator = unsafe { Allocator::new(f, data) };
        (*LuaState::state(l)).heap.set_allocator(allocator);
    }
    (*(*l).global).alloc = Some((f, data));
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_setcstacklimit(_: *mut LuaState, _: u32) -> c_int {
    // as in PUC since 5.4.3: the limit is fixed
    200
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_setwarnf(
    l: *mut LuaState,
    f: Option<WarnFunction>,
    data: *mut c_void,
) {
    (*(*l).global).warn = f.map(|f| (f, data));
    (*LuaState::state(l)).warn = Some(warn_c);
}

raising! {
    fn lua_warning(l, message: *const c_char, more: c_int) |e| {
        if let Some(receiver) = (*(*l).global).warn {
            return pass_warning(e, receiver, message, more);
        }
        let (cx, text) = (e.cx(), c_bytes(message));
        let started = (*(*l).global).warning.take();
        let is_shown = cx.has_warning_receiver() || base::shows_warnings(cx);
        let is_first = started.is_none() || !is_shown;
        if is_first && more == 0 && text.first() == Some(&b'@') && !cx.has_warning_receiver() {
            base::control_warnings(cx, text);
        } else if is_shown {
            let mut warning = started.unwrap_or_default();
            warning.extend_from_slice(text);
            if more == 0 {
                base::emit_warning(cx, &warning)?;
            } else {
                (*(*l).global).warning = Some(warning);
            }
        }
        Ok(())
    }
}
