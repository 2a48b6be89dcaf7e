//! The library `coroutine` (manual 6.2).

use perilune_runtime::native::{
    Builtin, Cx, ErrorKind, NativeFn, NativeResult, Raised, Resumed, Val,
};
use perilune_runtime::thread::Status;

use crate::support::{library, make_known, names, publish};

const FUNCTIONS: &[(&str, NativeFn)] = &[
    ("create", create),
    ("resume", resume),
    ("running", running),
    ("status", status),
    ("wrap", wrap),
    ("yield", yield_),
    ("isyieldable", isyieldable),
    ("close", close),
];

/// The names of the library's fields.
static NAMES: [&str; FUNCTIONS.len()] = names(FUNCTIONS, &[]);

/// Opens `coroutine`.
///
/// # Errors
/// Returns "not enough memory".
pub fn open(cx: &mut Cx) -> Result<(), Raised> {
    let cx = &*cx;
    let lib = library(cx, &NAMES, FUNCTIONS);
    make_known(cx, lib, &[("resume", Builtin::Resume), ("yield", Builtin::Yield)]);
    publish(cx, "coroutine", lib);
    Ok(())
}

fn check_thread(cx: &Cx, i: usize) -> Result<Val<'_>, Raised> {
    let v = cx.get(i);
    if v.is_thread() { Ok(v) } else { Err(cx.type_error(i, "thread")) }
}

/// Implements `coroutine.create(f)`.
fn create(cx: &mut Cx) -> NativeResult {
    let f = cx.check_func(0)?;
    cx.ret1(cx.new_thread(f.val()))
}

/// Implements `coroutine.resume(co, …)`.
fn resume(cx: &mut Cx) -> NativeResult {
    check_thread(cx, 0)?;
    let nargs = cx.top() - 1;
    match cx.resume(0, nargs) {
        Resumed::Values(n) => {
            // C code that runs in the coroutine may have changed the values below
            cx.insert(cx.top() - n, Val::bool(true));
            cx.ret(n + 1)
        }
        Resumed::Failed => {
            let e = cx.get(cx.top() - 1);
            cx.push(Val::bool(false));
            cx.push(e);
            cx.ret(2)
        }
    }
}

/// Implements `coroutine.wrap(f)`.
fn wrap(cx: &mut Cx) -> NativeResult {
    let f = cx.check_func(0)?;
    let co = cx.new_thread(f.val());
    cx.ret1(cx.func_known(resume_wrapped, &[co], Builtin::ResumeWrapped).val())
}

/// Implements the functions made by `wrap`; the coroutine is their bound value. The interpreter may
/// resume the coroutine without calling this function. After an error, which is then on top, it
/// calls this function at the next step.
fn resume_wrapped(cx: &mut Cx) -> NativeResult {
    let (before, resumed) = match cx.step() {
        0 => {
            let nargs = cx.top();
            cx.insert(0, cx.bound(0));
            (cx.thread_status(cx.bound(0)), cx.resume(0, nargs))
        }
        _ => (Status::Suspended, Resumed::Failed),
    };
    match resumed {
        Resumed::Values(n) => cx.ret(n),
        Resumed::Failed => {
            // An error inside the coroutine closes its variables, which may change the error.
            if before == Status::Suspended && cx.thread_status(cx.bound(0)) == Status::Dead {
                // C code that ran in it may have changed the values of this function. If the
                // coroutine has failed, the error is on top again afterwards.
                cx.push(cx.bound(0));
                if cx.close_thread(cx.top() - 1) {
                    // it has ended, with more results than there is room for
                    cx.pop(1);
                }
            }
            let e = cx.get(cx.top() - 1);
            match (e.as_str(), cx.caught_kind()) {
                (None, _) | (_, ErrorKind::Memory) => Err(cx.raise(e)),
                (Some(s), _) => Err(cx.error(s.bytes())),
            }
        }
    }
}

/// Implements `coroutine.yield(…)`.
fn yield_(cx: &mut Cx) -> NativeResult {
    match cx.step() {
        0 => cx.yield_then(cx.top(), 1),
        _ => cx.ret(cx.top()),
    }
}

fn status_name(cx: &Cx, co: Val<'_>) -> &'static str {
    match cx.thread_status(co) {
        Status::Suspended => "suspended",
        Status::Running => "running",
        Status::Normal => "normal",
        Status::Dead => "dead",
    }
}

/// Implements `coroutine.status(co)`.
fn status(cx: &mut Cx) -> NativeResult {
    let co = check_thread(cx, 0)?;
    cx.ret1(cx.str(status_name(cx, co).as_bytes()).val())
}

/// Implements `coroutine.isyieldable([co])`.
fn isyieldable(cx: &mut Cx) -> NativeResult {
    let yieldable = if cx.is_none(0) {
        cx.is_yieldable()
    } else {
        cx.thread_is_yieldable(check_thread(cx, 0)?)
    };
    cx.ret1(Val::bool(yieldable))
}

/// Implements `coroutine.running()`.
fn running(cx: &mut Cx) -> NativeResult {
    let (co, main) = cx.running();
    cx.push(co);
    cx.push(Val::bool(main));
    cx.ret(2)
}

/// Implements `coroutine.close(co)`.
fn close(cx: &mut Cx) -> NativeResult {
    let co = check_thread(cx, 0)?;
    let name = status_name(cx, co);
    if matches!(name, "running" | "normal") {
        return Err(cx.error(format!("cannot close a {name} coroutine")));
    }
    if cx.close_thread(0) {
        return cx.ret1(Val::bool(true));
    }
    let e = cx.get(cx.top() - 1);
    cx.push(Val::bool(false));
    cx.push(e);
    cx.ret(2)
}
