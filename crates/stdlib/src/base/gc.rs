//! `collectgarbage`.

use perilune_runtime::native::{Cx, NativeResult, Val};

use crate::support::check_option;

const OPTIONS: &[&str] = &[
    "stop",
    "restart",
    "collect",
    "count",
    "step",
    "setpause",
    "setstepmul",
    "isrunning",
    "generational",
    "incremental",
];

/// Implements `collectgarbage([opt [, arg]])`.
pub(super) fn collectgarbage(cx: &mut Cx) -> NativeResult {
    let option = check_option(cx, 0, Some("collect"), OPTIONS)?;
    // All arguments are checked first; they are truncated to C's int.
    let mut args = [0usize; 3];
    let wanted = match OPTIONS[option] {
        "step" | "setpause" | "setstepmul" => 1,
        "generational" => 2,
        "incremental" => 3,
        _ => 0,
    };
    for (i, arg) in args.iter_mut().enumerate().take(wanted) {
        let given = cx.opt_int(i + 1, 0)? as i32;
        // PUC stores a quarter of pause and multiplier in a byte, and returns the value that this
        // byte represents.
        let quartered = match OPTIONS[option] {
            "setpause" | "setstepmul" => true,
            "incremental" => i < 2,
            _ => false,
        };
        *arg = if quartered { usize::from((given / 4) as u8) * 4 } else { given.max(0) as usize };
    }
    if cx.gc_is_blocked() {
        return cx.ret1(Val::NIL);
    }
    match OPTIONS[option] {
        "collect" => {
            cx.gc_full();
            cx.interrupted()?;
        }
        "stop" => cx.gc_stop(),
        "restart" => cx.gc_restart(),
        "count" => {
            let kilobytes = cx.gc_count_bytes() as f64 / 1024.0;
            return cx.ret1(Val::float(kilobytes));
        }
        "step" => {
            let done = cx.gc_step(args[0]);
            cx.interrupted()?;
            return cx.ret1(Val::bool(done));
        }
        "isrunning" => {
            let running = cx.gc_is_running();
            return cx.ret1(Val::bool(running));
        }
        "setpause" => {
            let old = cx.gc_set_pause(args[0]);
            return cx.ret1(Val::int(old as i64));
        }
        "setstepmul" => {
            let old = cx.gc_set_step_multiplier(args[0]);
            return cx.ret1(Val::int(old as i64));
        }
        mode => {
            let was_generational = if mode == "generational" {
                cx.gc_set_generational(args[0], args[1])
            } else {
                cx.gc_set_incremental(args[0], args[1], args[2])
            };
            cx.interrupted()?;
            let name: &[u8] = if was_generational { b"generational" } else { b"incremental" };
            return cx.ret1(cx.str(name).val());
        }
    }
    cx.ret1(Val::int(0))
}
