//! Hooks of C code (manual 4.7, `lua_sethook`).

use std::ffi::c_int;

use perilune_runtime::frame::Frame;
use perilune_runtime::native::{Cx, HookSetting, NativeResult};

use crate::debug::Debug;
use crate::entry::Entry;
use crate::load::call_back;
use crate::outcome::Leave;
use crate::state::{CHook, HookFunction, LuaState};

const CALL: c_int = 1;
const RETURN: c_int = 2;
const LINE: c_int = 4;
const COUNT: c_int = 8;

/// The events by the names with which functions of Lua receive them; the position is the number.
const EVENTS: [&[u8]; 5] = [b"call", b"return", b"line", b"count", b"tail call"];

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_sethook(
    l: *mut LuaState,
    function: Option<HookFunction>,
    mask: c_int,
    count: c_int,
) {
    let e = Entry::new(l);
    let cx = Cx::from_state(e.st);
    let Some(function) = function.filter(|_| mask & (CALL | RETURN | LINE | COUNT) != 0) else {
        (*l).hook = None;
        cx.set_hook(None, None);
        return;
    };
    (*l).hook = Some(CHook { function, mask, count });
    let setting = HookSetting {
        call: mask & CALL != 0,
        ret: mask & RETURN != 0,
        line: mask & LINE != 0,
        count: if mask & COUNT != 0 { count.max(0) as u32 } else { 0 },
    };
    let f = cx.func(run_hook, &[]);
    cx.set_hook(None, Some((f, setting)));
}

/// Passes an event of the running coroutine to its hook.
fn run_hook(cx: &mut Cx) -> NativeResult {
    // SAFETY: N1; C1.
    unsafe {
        let st = cx.state();
        let l = LuaState::of(st, (*st).thread);
        let Some(hook) = (*l).hook else { return cx.ret(0) };
        let event = cx.get(0).as_str().map(|s| s.bytes());
        let event = EVENTS.iter().position(|name| Some(*name) == event).unwrap_or(0);
        let mut ar = Debug::empty();
        ar.event = event as c_int;
        ar.currentline = cx.get(1).as_int().map_or(-1, |line| line as c_int);
        if let Some(frame) = Frame((*st).base).caller() {
            ar.frame = frame.0.offset_from((*(*st).thread).stack) as usize;
        }
        let outer = std::mem::replace(&mut (*l).in_hook, true);
        let args = [l.expose_provenance(), (&raw mut ar).expose_provenance(), 0, 0];
        let mut e = Entry::new(l);
        let r = call_back(l, &mut e, hook.function as *const (), args);
        (*l).in_hook = outer;
        match r {
            Ok(_) => cx.ret(0),
            Err(Leave::Error | Leave::Yield) => Err(perilune_runtime::native::Raised::new()),
        }
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_gethook(l: *mut LuaState) -> Option<HookFunction> {
    (*l).hook.map(|hook| hook.function)
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_gethookmask(l: *mut LuaState) -> c_int {
    (*l).hook.map_or(0, |hook| hook.mask)
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_gethookcount(l: *mut LuaState) -> c_int {
    (*l).hook.map_or(0, |hook| hook.count)
}
