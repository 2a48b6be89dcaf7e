//! The collector (manual 4.6, `lua_gc`).

use std::ffi::c_int;

use perilune_runtime::native::Cx;

/// `LUA_GCSTEP`
pub(crate) const STEP: c_int = 5;
/// `LUA_GCSETPAUSE`
pub(crate) const SET_PAUSE: c_int = 6;
/// `LUA_GCSETSTEPMUL`
pub(crate) const SET_STEP_MULTIPLIER: c_int = 7;
/// `LUA_GCGEN`
pub(crate) const GENERATIONAL: c_int = 10;
/// `LUA_GCINC`
pub(crate) const INCREMENTAL: c_int = 11;

/// Does what `lua_gc` does for `what` with these arguments.
pub(crate) fn control(cx: &mut Cx, what: c_int, [a, b, c]: [usize; 3]) -> c_int {
    if cx.gc_is_blocked() {
        // inside a finalizer
        return -1;
    }
    let mode = |was_generational| if was_generational { GENERATIONAL } else { INCREMENTAL };
    match what {
        0 => cx.gc_stop(),
        1 => cx.gc_restart(),
        2 => cx.gc_full(),
        3 => return (cx.gc_count_bytes() >> 10) as c_int,
        4 => return (cx.gc_count_bytes() & 1023) as c_int,
        STEP => return c_int::from(cx.gc_step(a)),
        SET_PAUSE => return cx.gc_set_pause(a) as c_int,
        SET_STEP_MULTIPLIER => return cx.gc_set_step_multiplier(a) as c_int,
        9 => return c_int::from(cx.gc_is_running()),
        GENERATIONAL => return mode(cx.gc_set_generational(a, b)),
        INCREMENTAL => return mode(cx.gc_set_incremental(a, b, c)),
        _ => return -1,
    }
    0
}
