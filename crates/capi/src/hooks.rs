//! Hooks of C code (manual 4.7, `lua_sethook`).

use std::ffi::{c_int, c_void};

use perilune_runtime::frame::{Frame, flags};
use perilune_runtime::native::{Cx, NativeResult, Val};
use perilune_runtime::state::{State, poll};
use perilune_runtime::value::Value;

use crate::arch::stub;
use crate::debug::Debug;
use crate::entry::Entry;
use crate::load::call_back;
use crate::new_hooks::{function_of_lua, install_new, mask_of};
use crate::outcome::{Fallible, Outcome, guarded};
use crate::state::{HookFunction, LuaState};

/// The number of active calls that cannot yield while a hook runs in a coroutine that can yield:
/// the call of the hook as a native function, and the call of C code.
pub(crate) const NOT_YIELDABLE_IN_HOOK: u32 = 2;

/// The names of the events, as Lua hook functions receive them; the position is the event's number.
const EVENTS: [&[u8]; 5] = [b"call", b"return", b"line", b"count", b"tail call"];

/// Prepares a state so that C code can set hooks at any time.
pub(crate) fn prepare(cx: &Cx) {
    // SAFETY: N1.
    unsafe {
        let st = cx.state();
        let main = LuaState::of(st, (*st).main_thread);
        (*(*main).global).run_hook = Some(run_hook);
        (*(*main).global).lua_hook = hook_of_lua as *const ();
        (*st).host_poll = Some(at_safepoint);
    }
}

/// Handles the request [`poll::HOST`] at a safepoint.
unsafe fn at_safepoint(st: *mut State) {
    let main = LuaState::of(st, (*st).main_thread);
    install_new((*main).global);
}

/// `lua_sethook`, which signal handlers may call: it writes atomic variables only.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_sethook(
    l: *mut LuaState,
    function: Option<HookFunction>,
    mask: c_int,
    count: c_int,
) {
    (*l).hook.set(function, mask, count);
    (*(*l).global).new_hooks.add(l);
    (*LuaState::state(l)).request(poll::HOST);
}

/// Returns the hook of a coroutine as the arguments with which `lua_sethook` would set it.
///
/// # Safety
/// C1.
unsafe fn hook_of(l: *mut LuaState) -> (Option<HookFunction>, c_int, c_int) {
    let of_c = &(*l).hook;
    match (*(*l).thread).hook.as_deref() {
        Some(hook) if !of_c.is_new() && !hook.external => {
            (Some(hook_of_lua), mask_of(hook), hook.count as c_int)
        }
        None if !of_c.is_new() => (None, 0, 0),
        _ => (of_c.function(), of_c.mask(), of_c.count()),
    }
}

/// The hook that C code gets for a hook set by `debug.sethook`: calls the function that this
/// coroutine has in the table of hook functions. C code may set it again, or call it from its own
/// hook.
#[unsafe(naked)]
unsafe extern "C" fn hook_of_lua(l: *mut LuaState, ar: *mut c_void) {
    unsafe extern "C" fn body(l: *mut LuaState, ar: *mut c_void) -> Outcome {
        guarded(l, |e| -> Fallible<()> {
            let ar: *const Debug = ar.cast();
            let cx = e.cx();
            let co = Val::of(cx, Value::thread((*l).thread));
            let Some(f) = function_of_lua(cx, co) else { return Ok(()) };
            let name = EVENTS.get((*ar).event as usize).copied().unwrap_or_default();
            let line = (*ar).currentline;
            let f = f.val().raw();
            cx.reserve(4)?;
            let cx = e.cx();
            cx.push_callee(Val::of(cx, f));
            cx.push(cx.str(name).val());
            cx.push(if line < 0 { Val::NIL } else { Val::int(i64::from(line)) });
            Ok(cx.call_n(2, 0)?)
        })
    }
    stub!(body)
}

/// Passes an event of the running coroutine to its hook.
fn run_hook(cx: &mut Cx) -> NativeResult {
    // SAFETY: N1; C1.
    unsafe {
        let st = cx.state();
        let l = LuaState::of(st, (*st).thread);
        let Some(function) = (*l).hook.function() else { return cx.ret(0) };
        let event = cx.get(0).as_str().map(|s| s.bytes());
        let event = EVENTS.iter().position(|name| Some(*name) == event).unwrap_or(0);
        let mut ar = Debug::empty();
        ar.event = event as c_int;
        ar.currentline = cx.get(1).as_int().map_or(-1, |line| line as c_int);
        // this function does not belong to the program
        Frame((*st).base).add_flags(flags::HIDDEN);
        if let Some(frame) = Frame((*st).base).caller() {
            ar.frame = frame.0.offset_from((*(*st).thread).stack) as usize;
        }
        let outer = std::mem::replace(&mut (*l).in_hook, true);
        let args = [l.expose_provenance(), (&raw mut ar).expose_provenance(), 0, 0];
        let mut e = Entry::new(l);
        let r = call_back(l, &mut e, function as *const (), args);
        (*l).in_hook = outer;
        install_new((*l).global);
        match r {
            Ok(_) => cx.ret(0),
            Err(_) => Err(perilune_runtime::native::Raised::new()),
        }
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_gethook(l: *mut LuaState) -> Option<HookFunction> {
    hook_of(l).0
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_gethookmask(l: *mut LuaState) -> c_int {
    hook_of(l).1
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_gethookcount(l: *mut LuaState) -> c_int {
    hook_of(l).2
}
