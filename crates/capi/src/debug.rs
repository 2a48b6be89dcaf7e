//! The debug interface (manual 4.7): active functions, locals, upvalues.

use std::ffi::{c_char, c_int, c_void};

use perilune_runtime::debug::Level;
use perilune_runtime::native::{Cx, Val};
use perilune_runtime::state::State;
use perilune_runtime::value::{SlotExt, Value};

use crate::entry::Entry;
use crate::index::value_or_nil;
use crate::outcome::raising;
use crate::push::c_bytes;
use crate::state::LuaState;

/// `LUA_IDSIZE`
const ID_SIZE: usize = 60;

/// `lua_Debug`
#[repr(C)]
pub(crate) struct Debug {
    pub(crate) event: c_int,
    name: *const c_char,
    namewhat: *const c_char,
    what: *const c_char,
    source: *const c_char,
    srclen: usize,
    pub(crate) currentline: c_int,
    linedefined: c_int,
    lastlinedefined: c_int,
    nups: u8,
    nparams: u8,
    isvararg: c_char,
    istailcall: c_char,
    ftransfer: u16,
    ntransfer: u16,
    short_src: [c_char; ID_SIZE],
    /// The private part: the base of the frame, as an offset in the stack.
    pub(crate) frame: usize,
}

impl Debug {
    /// Returns a record in which no field is set.
    pub(crate) fn empty() -> Debug {
        let none = std::ptr::null();
        Debug {
            event: 0,
            name: none,
            namewhat: c"".as_ptr(),
            what: none,
            source: none,
            srclen: 0,
            currentline: -1,
            linedefined: -1,
            lastlinedefined: -1,
            nups: 0,
            nparams: 0,
            isvararg: 0,
            istailcall: 0,
            ftransfer: 0,
            ntransfer: 0,
            short_src: [0; ID_SIZE],
            frame: 0,
        }
    }
}

unsafe fn offset_of(st: *mut State, level: Level) -> usize {
    level.frame().0.offset_from((*(*st).thread).stack) as usize
}

/// Returns the number of the level whose frame is at this offset.
unsafe fn level_at(st: *mut State, frame: usize) -> Option<usize> {
    let mut level = Level::innermost(st, (*st).thread)?;
    for n in 0.. {
        if offset_of(st, level) == frame {
            return Some(n);
        }
        level = level.caller()?;
    }
    None
}

/// Returns the function of a level that [`level_at`] has found.
unsafe fn function_at(st: *mut State, level: usize) -> Value {
    Level::at(st, (*st).thread, level).map_or(Value::NIL, |level| level.function())
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_getstack(
    l: *mut LuaState,
    level: c_int,
    ar: *mut Debug,
) -> c_int {
    let mut e = Entry::new(l);
    let Ok(n) = usize::try_from(level) else { return 0 };
    match Level::at(e.st, (*e.st).thread, n) {
        // the host's frame may have no function
        Some(level) if Val::of(e.cx(), level.function()).as_func().is_some() => {
            (*ar).frame = offset_of(e.st, level);
            1
        }
        _ => 0,
    }
}

/// Returns a copy of a text that belongs to a function.
unsafe fn keep(l: *mut LuaState, f: Value, text: &[u8]) -> *const c_char {
    (*(*l).global).texts.keep_of(f, text)
}

/// Returns a copy of one of the few texts that belong to no function.
unsafe fn keep_fixed(l: *mut LuaState, text: &'static str) -> *const c_char {
    keep(l, Value::NIL, text.as_bytes())
}

raising! {
    fn lua_getinfo(l, what: *const c_char, ar: *mut Debug) -> c_int |e| {
        let mut what = c_bytes(what);
        // the function whose code contains the name by which the other one was called
        let mut caller = Value::NIL;
        let (f, level) = if let Some(rest) = what.strip_prefix(b">") {
            what = rest;
            (e.pop(), None)
        } else {
            let Some(n) = level_at(e.st, (*ar).frame) else { return Ok(0) };
            let called_by = Level::at(e.st, (*e.st).thread, n).and_then(|level| level.caller());
            caller = called_by.map_or(Value::NIL, |level| level.function());
            match e.cx().level_info(None, n as i64) {
                Some((f, info)) => (f.raw(), Some(info)),
                None => return Ok(0),
            }
        };
        e.push(f);
        let cx = Cx::from_state(e.st);
        let Some(func) = Val::of(cx, f).as_func() else {
            e.pop();
            return Ok(0);
        };
        let about = cx.function_info(func);
        let mut status = 1;
        for option in what {
            match option {
                b'S' => {
                    (*ar).source = (*(*l).global).texts.keep_source_of(f, &about.source);
                    (*ar).srclen = about.source.len();
                    (*ar).what = keep_fixed(l, about.what);
                    (*ar).linedefined = about.line_defined as c_int;
                    (*ar).lastlinedefined = about.last_line as c_int;
                    let short = &about.short_source[..about.short_source.len().min(ID_SIZE - 1)];
                    for (to, from) in (*ar).short_src.iter_mut().zip(short.iter().chain(&[0])) {
                        *to = *from as c_char;
                    }
                }
                b'l' => {
                    let line = level.as_ref().and_then(|i| i.line);
                    (*ar).currentline = line.map_or(-1, |line| line as c_int);
                }
                b'u' => {
                    (*ar).nups = about.upvalues;
                    (*ar).nparams = about.params;
                    (*ar).isvararg = c_char::from(about.is_vararg);
                }
                b'n' => match level.as_ref().and_then(|i| i.name.as_ref()) {
                    Some((kind, name)) => {
                        (*ar).namewhat = keep_fixed(l, kind);
                        (*ar).name = keep(l, caller, name);
                    }
                    None => {
                        (*ar).namewhat = c"".as_ptr();
                        (*ar).name = std::ptr::null();
                    }
                },
                b't' => {
                    (*ar).istailcall = c_char::from(level.as_ref().is_some_and(|i| i.is_tail_call));
                }
                b'r' => {
                    let (first, count) = level.as_ref().map_or((0, 0), |i| i.transfer);
                    (*ar).ftransfer = first as u16;
                    (*ar).ntransfer = count as u16;
                }
                b'L' | b'f' => {}
                _ => status = 0,
            }
        }
        if what.contains(&b'f') {
            e.push(f);
        }
        if what.contains(&b'L') {
            match cx.active_lines(func) {
                Some(lines) => {
                    let t = cx.table(0, 0);
                    for line in lines {
                        t.set_int(cx, i64::from(line), Val::bool(true));
                    }
                    let t = t.val().raw();
                    e.push(t);
                }
                None => e.push(Value::NIL),
            }
        }
        // the function itself was rooted below the results
        let results = usize::from(what.contains(&b'f')) + usize::from(what.contains(&b'L'));
        let at = e.cx().top() - results - 1;
        e.cx().remove(at);
        Ok(status)
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_getlocal(
    l: *mut LuaState,
    ar: *const Debug,
    n: c_int,
) -> *const c_char {
    let e = Entry::new(l);
    let cx = Cx::from_state(e.st);
    if ar.is_null() {
        let f = value_or_nil(e.st, -1);
        let func = Val::of(cx, f).as_func();
        let name = func.and_then(|func| cx.parameter_name(func, i64::from(n)));
        return name.map_or(std::ptr::null(), |name| keep(l, f, &name));
    }
    let Some(level) = level_at(e.st, (*ar).frame) else { return std::ptr::null() };
    match cx.local(None, level as i64, i64::from(n)) {
        Some(Some((name, v))) => {
            let v = v.raw();
            e.push(v);
            keep(l, function_at(e.st, level), &name)
        }
        _ => std::ptr::null(),
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_setlocal(
    l: *mut LuaState,
    ar: *const Debug,
    n: c_int,
) -> *const c_char {
    let e = Entry::new(l);
    let cx = Cx::from_state(e.st);
    let v = Val::of(cx, (*e.st).top.sub(1).get());
    let name = level_at(e.st, (*ar).frame).and_then(|level| {
        let name = cx.set_local(None, level as i64, i64::from(n), v)??;
        Some(keep(l, function_at(e.st, level), &name))
    });
    let Some(name) = name else { return std::ptr::null() };
    e.pop();
    name
}

/// Returns the index of an upvalue, counted from 0.
fn upvalue_index(n: c_int) -> usize {
    usize::try_from(n).ok().and_then(|n| n.checked_sub(1)).unwrap_or(usize::MAX)
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_getupvalue(
    l: *mut LuaState,
    index: c_int,
    n: c_int,
) -> *const c_char {
    let e = Entry::new(l);
    let cx = Cx::from_state(e.st);
    let f = value_or_nil(e.st, index);
    let Some(func) = Val::of(cx, f).as_func() else { return std::ptr::null() };
    let Some((name, v)) = cx.upvalue(func, upvalue_index(n)) else { return std::ptr::null() };
    let v = v.raw();
    e.push(v);
    keep(l, f, &name)
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_setupvalue(
    l: *mut LuaState,
    index: c_int,
    n: c_int,
) -> *const c_char {
    let e = Entry::new(l);
    let cx = Cx::from_state(e.st);
    let f = value_or_nil(e.st, index);
    let Some(func) = Val::of(cx, f).as_func() else { return std::ptr::null() };
    let v = Val::of(cx, (*e.st).top.sub(1).get());
    let Some(name) = cx.set_upvalue(func, upvalue_index(n), v) else { return std::ptr::null() };
    e.pop();
    keep(l, f, &name)
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_upvalueid(
    l: *mut LuaState,
    index: c_int,
    n: c_int,
) -> *mut c_void {
    let e = Entry::new(l);
    let cx = Cx::from_state(e.st);
    let f = Val::of(cx, value_or_nil(e.st, index)).as_func();
    let id = f.and_then(|f| cx.upvalue_id(f, upvalue_index(n))).unwrap_or(0);
    std::ptr::with_exposed_provenance_mut(id as usize)
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn lua_upvaluejoin(
    l: *mut LuaState,
    index: c_int,
    n: c_int,
    other: c_int,
    m: c_int,
) {
    let e = Entry::new(l);
    let cx = Cx::from_state(e.st);
    let f = Val::of(cx, value_or_nil(e.st, index)).as_func();
    let g = Val::of(cx, value_or_nil(e.st, other)).as_func();
    let (i, j) = (upvalue_index(n), upvalue_index(m));
    if let (Some(f), Some(g)) = (f, g)
        && !f.is_native()
        && !g.is_native()
        && cx.upvalue_id(f, i).is_some()
        && cx.upvalue_id(g, j).is_some()
    {
        cx.join_upvalues(f, i, g, j);
    }
}
