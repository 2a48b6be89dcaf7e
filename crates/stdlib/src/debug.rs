//! The library `debug` (manual 6.10).

use perilune_runtime::native::{
    Cx, Func, HookSetting, LevelInfo, NativeFn, NativeResult, Raised, Tab, Val,
};

use crate::base::check_metatable;
use crate::io::{read_line, write_error};
use crate::support::{c_str, concat, library, names, publish, registry_table};

const FUNCTIONS: &[(&str, NativeFn)] = &[
    ("debug", debug),
    ("getuservalue", getuservalue),
    ("gethook", gethook),
    ("getinfo", getinfo),
    ("getlocal", getlocal),
    ("getregistry", getregistry),
    ("getmetatable", getmetatable),
    ("getupvalue", getupvalue),
    ("upvaluejoin", upvaluejoin),
    ("upvalueid", upvalueid),
    ("setuservalue", setuservalue),
    ("sethook", sethook),
    ("setlocal", setlocal),
    ("setmetatable", setmetatable),
    ("setupvalue", setupvalue),
    ("traceback", traceback),
    ("setcstacklimit", setcstacklimit),
];

/// The names of the library's fields.
static NAMES: [&str; FUNCTIONS.len()] = names(FUNCTIONS, &[]);

/// Opens `debug`.
///
/// # Errors
/// Returns "not enough memory".
pub fn open(cx: &mut Cx) -> Result<(), Raised> {
    let cx = &*cx;
    let lib = library(cx, &NAMES, FUNCTIONS);
    publish(cx, "debug", lib);
    Ok(())
}

/// Returns the coroutine in the first argument, if there is one, and the number of arguments used.
fn thread(cx: &Cx) -> (Option<Val<'_>>, usize) {
    let v = cx.get(0);
    if v.is_thread() { (Some(v), 1) } else { (None, 0) }
}

/// Converts an argument to C's int.
fn check_c_int(cx: &Cx, i: usize) -> Result<i64, Raised> {
    Ok(i64::from(cx.check_int(i)? as i32))
}

/// Implements `debug.getregistry()`.
fn getregistry(cx: &mut Cx) -> NativeResult {
    cx.ret1(cx.registry().val())
}

/// Implements `debug.getmetatable(v)`.
fn getmetatable(cx: &mut Cx) -> NativeResult {
    let v = cx.check_any(0)?;
    cx.ret1(cx.metatable_of(v).map_or(Val::NIL, |m| m.val()))
}

/// Implements `debug.setmetatable(v, m)`.
fn setmetatable(cx: &mut Cx) -> NativeResult {
    let m = check_metatable(cx, 1)?;
    let v = cx.get(0);
    if let Some(t) = v.as_table() {
        t.set_metatable(cx, m)?;
    } else if let Some(u) = v.as_udata() {
        u.set_metatable(cx, m);
    } else {
        cx.set_type_metatable(v, m);
    }
    cx.ret1(v)
}

/// Implements `debug.getuservalue(u [, n])`.
fn getuservalue(cx: &mut Cx) -> NativeResult {
    let n = if cx.get(1).is_nil() { 1 } else { check_c_int(cx, 1)? };
    let found = cx.get(0).as_udata().and_then(|u| u.user_value(usize::try_from(n - 1).ok()?));
    match found {
        None => cx.ret1(Val::NIL),
        Some(v) => {
            cx.push(v);
            cx.push(Val::bool(true));
            cx.ret(2)
        }
    }
}

/// Implements `debug.setuservalue(u, v [, n])`.
fn setuservalue(cx: &mut Cx) -> NativeResult {
    let n = if cx.get(2).is_nil() { 1 } else { check_c_int(cx, 2)? };
    let Some(u) = cx.get(0).as_udata() else { return Err(cx.type_error(0, "userdata")) };
    let v = cx.check_any(1)?;
    let done = usize::try_from(n - 1).is_ok_and(|n| u.set_user_value(cx, n, v));
    cx.ret1(if done { u.into() } else { Val::NIL })
}

/// Implements `debug.getinfo([thread,] f [, what])`.
fn getinfo(cx: &mut Cx) -> NativeResult {
    let cx = &*cx;
    let (co, skip) = thread(cx);
    let options = cx.opt_str(skip + 1)?.map_or(&b"flnSrtu"[..], |o| c_str(o.bytes()));
    if options.first() == Some(&b'>') {
        return Err(cx.arg_error(skip + 1, "invalid option '>'"));
    }
    let mut level = LevelInfo { line: None, name: None, is_tail_call: false, transfer: (0, 0) };
    let f = match cx.get(skip).as_func() {
        Some(f) => f.val(),
        None => match cx.level_info(co, check_c_int(cx, skip)?) {
            Some((f, info)) => {
                level = info;
                f
            }
            None => return cx.ret1(Val::NIL),
        },
    };
    if !options.iter().all(|o| b"SlnrutLf".contains(o)) {
        return Err(cx.arg_error(skip + 1, "invalid option"));
    }
    let Some(f) = f.as_func() else { return cx.ret1(Val::NIL) };
    cx.ret1(info_table(cx, options, f, level))
}

fn info_table<'a>(cx: &'a Cx, options: &[u8], f: Func<'_>, level: LevelInfo) -> Val<'a> {
    let info = cx.function_info(f);
    let t = cx.table(0, 12);
    let has = |o| options.contains(&o);
    let set = |name: &str, v: Val<'_>| t.set_name(cx, name, v);
    if has(b'S') {
        set("source", cx.str(&info.source).val());
        set("short_src", cx.str(&info.short_source).val());
        set("linedefined", Val::int(info.line_defined));
        set("lastlinedefined", Val::int(info.last_line));
        set("what", cx.str(info.what.as_bytes()).val());
    }
    if has(b'l') {
        set("currentline", Val::int(level.line.map_or(-1, i64::from)));
    }
    if has(b'u') {
        set("nups", Val::int(i64::from(info.upvalues)));
        set("nparams", Val::int(i64::from(info.params)));
        set("isvararg", Val::bool(info.is_vararg));
    }
    if has(b'n') {
        match &level.name {
            Some((what, name)) => {
                set("name", cx.str(name).val());
                set("namewhat", cx.str(what.as_bytes()).val());
            }
            None => set("namewhat", cx.str(b"").val()),
        }
    }
    if has(b'r') {
        set("ftransfer", Val::int(i64::from(level.transfer.0)));
        set("ntransfer", Val::int(i64::from(level.transfer.1)));
    }
    if has(b't') {
        set("istailcall", Val::bool(level.is_tail_call));
    }
    if has(b'L')
        && let Some(lines) = cx.active_lines(f)
    {
        let active = cx.table(0, 0);
        for line in lines {
            active.set_int(cx, i64::from(line), Val::bool(true));
        }
        set("activelines", active.val());
    }
    if has(b'f') {
        set("func", f.val());
    }
    t.val()
}

/// Implements `debug.getlocal([thread,] f, n)`.
fn getlocal(cx: &mut Cx) -> NativeResult {
    let cx = &*cx;
    let (co, skip) = thread(cx);
    let n = check_c_int(cx, skip + 1)?;
    if let Some(f) = cx.get(skip).as_func() {
        let name = cx.parameter_name(f, n);
        return cx.ret1(name.map_or(Val::NIL, |name| cx.str(&name).val()));
    }
    match cx.local(co, check_c_int(cx, skip)?, n) {
        None => Err(cx.arg_error(skip, "level out of range")),
        Some(None) => cx.ret1(Val::NIL),
        Some(Some((name, v))) => {
            cx.push(cx.str(&name).val());
            cx.push(v);
            cx.ret(2)
        }
    }
}

/// Implements `debug.setlocal([thread,] level, n, v)`.
fn setlocal(cx: &mut Cx) -> NativeResult {
    let cx = &*cx;
    let (co, skip) = thread(cx);
    let level = check_c_int(cx, skip)?;
    let n = check_c_int(cx, skip + 1)?;
    if cx.level_info(co, level).is_none() {
        return Err(cx.arg_error(skip, "level out of range"));
    }
    let v = cx.check_any(skip + 2)?;
    let name = cx.set_local(co, level, n, v).flatten();
    cx.ret1(name.map_or(Val::NIL, |name| cx.str(&name).val()))
}

/// Converts an upvalue's number, from 1, to an index.
fn upvalue_index(cx: &Cx, i: usize) -> Result<usize, Raised> {
    Ok(usize::try_from(check_c_int(cx, i)? - 1).unwrap_or(usize::MAX))
}

/// Implements `debug.getupvalue(f, n)`.
fn getupvalue(cx: &mut Cx) -> NativeResult {
    let n = upvalue_index(cx, 1)?;
    let f = cx.check_func(0)?;
    match cx.upvalue(f, n) {
        None => cx.ret(0),
        Some((name, v)) => {
            cx.push(cx.str(&name).val());
            cx.push(v);
            cx.ret(2)
        }
    }
}

/// Implements `debug.setupvalue(f, n, v)`.
fn setupvalue(cx: &mut Cx) -> NativeResult {
    let v = cx.check_any(2)?;
    let n = upvalue_index(cx, 1)?;
    let f = cx.check_func(0)?;
    match cx.set_upvalue(f, n, v) {
        None => cx.ret(0),
        Some(name) => cx.ret1(cx.str(&name).val()),
    }
}

/// Implements `debug.upvalueid(f, n)`.
fn upvalueid(cx: &mut Cx) -> NativeResult {
    let n = upvalue_index(cx, 1)?;
    let f = cx.check_func(0)?;
    cx.ret1(cx.upvalue_id(f, n).map_or(Val::NIL, Val::light))
}

/// Implements `debug.upvaluejoin(f1, n1, f2, n2)`.
fn upvaluejoin(cx: &mut Cx) -> NativeResult {
    let check = |i: usize| {
        let n = upvalue_index(cx, i + 1)?;
        let f = cx.check_func(i)?;
        if cx.upvalue_id(f, n).is_none() {
            return Err(cx.arg_error(i + 1, "invalid upvalue index"));
        }
        Ok((f, n))
    };
    let ((f, i), (g, j)) = (check(0)?, check(2)?);
    for (arg, f) in [(0, f), (2, g)] {
        if f.is_native() {
            return Err(cx.arg_error(arg, "Lua function expected"));
        }
    }
    cx.join_upvalues(f, i, g, j);
    cx.ret(0)
}

/// Returns the registry's table of hook functions by coroutine, which programs may inspect. Its
/// keys are weak.
fn hook_table(cx: &Cx) -> Result<Tab<'_>, Raised> {
    let t = registry_table(cx, "_HOOKKEY");
    if !t.has_meta() {
        t.set_name(cx, "__mode", cx.str(b"k").val());
        t.set_metatable(cx, Some(t))?;
    }
    Ok(t)
}

/// Implements `debug.sethook([thread,] hook, mask [, count])`.
fn sethook(cx: &mut Cx) -> NativeResult {
    let cx = &*cx;
    let (co, skip) = thread(cx);
    let key = co.unwrap_or(cx.running().0);
    if cx.get(skip).is_nil() {
        hook_table(cx)?.set(cx, key, Val::NIL)?;
        cx.set_hook(co, None);
        return cx.ret(0);
    }
    let mask = c_str(cx.check_str(skip + 1)?.bytes());
    let f = cx.check_func(skip)?;
    let count = cx.opt_int(skip + 2, 0)? as i32;
    let s = HookSetting {
        call: mask.contains(&b'c'),
        ret: mask.contains(&b'r'),
        line: mask.contains(&b'l'),
        count: u32::try_from(count).unwrap_or(0),
        external: false,
    };
    hook_table(cx)?.set(cx, key, f.val())?;
    let nothing = !s.call && !s.ret && !s.line && s.count == 0;
    cx.set_hook(co, if nothing { None } else { Some((f, s)) });
    cx.ret(0)
}

/// Implements `debug.gethook([thread])`.
fn gethook(cx: &mut Cx) -> NativeResult {
    let (co, _) = thread(cx);
    let Some((f, s)) = cx.hook(co) else { return cx.ret1(Val::NIL) };
    let mut mask = Vec::new();
    for (set, letter) in [(s.call, b'c'), (s.ret, b'r'), (s.line, b'l')] {
        if set {
            mask.push(letter);
        }
    }
    cx.push(if s.external { cx.str(b"external hook").val() } else { f });
    cx.push(cx.str(&mask).val());
    cx.push(Val::int(i64::from(s.count)));
    cx.ret(3)
}

/// Implements `debug.traceback([thread,] [message [, level]])`.
fn traceback(cx: &mut Cx) -> NativeResult {
    let (co, skip) = thread(cx);
    let message = cx.get(skip);
    if message.is_number() {
        cx.check_str(skip)?;
    } else if message.as_str().is_none() && !message.is_nil() {
        return cx.ret1(message);
    }
    let same = co.is_none_or(|co| co.raw_equals(cx.running().0));
    let level = cx.opt_int(skip + 1, i64::from(same))?;
    let text = cx.get(skip).as_str().map(|s| s.bytes());
    let level = usize::try_from(level as i32).unwrap_or(0);
    cx.check_room(text.map_or(0, |text| 3 * text.len()))?;
    let t = cx.traceback(co.filter(|_| !same), text, level);
    cx.ret1(cx.str(&t).val())
}

/// Implements `debug.debug()`.
fn debug(cx: &mut Cx) -> NativeResult {
    loop {
        write_error(b"lua_debug> ");
        let Some(line) = read_line() else { return cx.ret(0) };
        if line == b"cont\n" {
            return cx.ret(0);
        }
        cx.set_top(0);
        let message = match cx.load(&line, b"=(debug command)", b"bt", None) {
            Err(message) => Some(message),
            Ok(f) => {
                cx.push_callee(f);
                match cx.call_protected(0) {
                    Ok(_) => None,
                    Err(()) => {
                        cx.push_tostring(cx.top() - 1)?;
                        cx.get(cx.top() - 1).as_str().map(|s| s.bytes().to_vec())
                    }
                }
            }
        };
        if let Some(message) = message {
            write_error(&concat(&[&message, b"\n"]));
        }
    }
}

/// Implements `debug.setcstacklimit(limit)`, kept for compatibility; the limit is fixed.
fn setcstacklimit(cx: &mut Cx) -> NativeResult {
    cx.check_int(0)?;
    cx.ret1(Val::int(200))
}
