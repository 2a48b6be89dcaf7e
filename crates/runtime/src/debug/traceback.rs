//! Tracebacks (manual 5.1, `luaL_traceback`).

use std::iter::successors;

use super::level::{FunctionInfo, Level};
use crate::state::{State, StateRef};
use crate::string::LuaString;
use crate::table::Table;
use crate::thread::Thread;
use crate::value::{Tag, Value};

/// Number of levels shown at the top and at the bottom of a long traceback.
const FIRST: usize = 10;
const LAST: usize = 11;
/// The length of a name from which on it may take much memory.
const LONG: usize = 1 << 10;

/// The parts of a name, which may be strings of the program of any length.
type Name<'a> = [&'a [u8]; 3];

/// Returns the name of a function that a loaded library exports, such as `table.insert`; those of
/// `_G` have no prefix.
///
/// # Safety
/// `f` is a live value of `st`, and the result is not used after the next safepoint.
pub(crate) unsafe fn exported_name<'a>(st: *mut State, f: Value) -> Option<Name<'a>> {
    exported_names(st, &[f]).pop()?
}

/// Returns what [`exported_name`] returns for each of several functions, with one walk over the
/// libraries.
unsafe fn exported_names<'a>(st: *mut State, functions: &[Value]) -> Vec<Option<Name<'a>>> {
    let mut names = vec![None; functions.len()];
    let mut s = StateRef::new(st);
    let key = s.intern(b"_LOADED");
    let loaded = Table::get(s.registry, Value::string(key));
    if !loaded.is_table() {
        return names;
    }
    // The first name found is used.
    let mut note = |v: Value, parts: Name<'a>| {
        for (name, f) in names.iter_mut().zip(functions) {
            if name.is_none() && v.raw_equals(*f) {
                *name = Some(parts);
            }
        }
    };
    let loaded = loaded.as_table();
    let mut at = Table::start(st, loaded);
    while let Some((next, name, module)) = Table::next_index(loaded, at) {
        at = next;
        if !name.is_string() {
            continue;
        }
        let name = LuaString::bytes(name.as_string());
        note(module, [b"", b"", name]);
        if !module.is_table() {
            continue;
        }
        let (prefix, dot): (&[u8], &[u8]) = if name == b"_G" { (b"", b"") } else { (name, b".") };
        let module = module.as_table();
        let mut at = Table::start(st, module);
        while let Some((next, k, v)) = Table::next_index(module, at) {
            at = next;
            if matches!(v.tag(), Tag::FUNCTION | Tag::NATIVE) && k.is_string() {
                note(v, [prefix, dot, LuaString::bytes(k.as_string())]);
            }
        }
    }
    names
}

/// Returns the description of a level in a traceback of `st`; `exported` is the exported name of
/// its function. A name for which there is no memory after `size` bytes is replaced by `?`.
unsafe fn describe(st: *mut State, l: Level, exported: Option<Name<'_>>, size: usize) -> Vec<u8> {
    let named = match exported {
        Some(name) => Some(("function", name)),
        None => l.name().map(|(kind, name)| (kind, [name, b"", b""])),
    };
    if let Some((kind, mut name)) = named {
        let len = name.iter().map(|part| part.len()).sum::<usize>();
        if len > LONG && !(*st).check_room(2 * (size + len)) {
            name = [b"?", b"", b""];
        }
        let [a, b, c] = name;
        return [kind.as_bytes(), b" '", a, b, c, b"'"].concat();
    }
    let info = FunctionInfo::of(l.function());
    match info.what {
        "main" => b"main chunk".to_vec(),
        "C" => b"?".to_vec(),
        _ => [
            b"function <",
            &info.short_source[..],
            b":",
            info.line_defined.to_string().as_bytes(),
            b">",
        ]
        .concat(),
    }
}

/// Stores a traceback of the running coroutine for the host that will receive the error being
/// raised.
///
/// # Safety
/// `st` is live, and its base is that of the frame that failed.
pub unsafe fn note_traceback(st: *mut State) {
    let text = traceback(st, (*st).thread, None, 0);
    (*st).traceback = Some(text);
}

/// Returns `message` followed by the traceback of `th` from level `first` on.
///
/// # Safety
/// `th` is a live coroutine of `st`.
pub unsafe fn traceback(
    st: *mut State,
    th: *mut Thread,
    message: Option<&[u8]>,
    first: usize,
) -> Vec<u8> {
    let mut out = Vec::new();
    if let Some(m) = message {
        // Messages are C strings in the reference implementation: they end at the first zero.
        out.extend_from_slice(m.split(|b| *b == 0).next().unwrap_or_default());
        out.push(b'\n');
    }
    out.extend_from_slice(b"stack traceback:");
    let levels: Vec<Level> = successors(Level::innermost(st, th), |l| l.caller()).collect();
    let levels = levels.get(first..).unwrap_or_default();
    // PUC omits at least two levels, and does not count the first of them.
    let skip = if levels.len() > FIRST + LAST + 1 { FIRST..levels.len() - LAST } else { 0..0 };
    let shown = levels.iter().enumerate().filter(|(i, _)| !skip.contains(i));
    let functions: Vec<Value> = shown.map(|(_, l)| l.function()).collect();
    let mut exported = exported_names(st, &functions).into_iter();
    for (i, l) in levels.iter().enumerate() {
        if skip.contains(&i) {
            if i == skip.start {
                out.extend_from_slice(
                    format!("\n\t...\t(skipping {} levels)", skip.len() - 1).as_bytes(),
                );
            }
            continue;
        }
        out.extend_from_slice(b"\n\t");
        out.extend_from_slice(&FunctionInfo::of(l.function()).short_source);
        match l.line() {
            Some(line) => out.extend_from_slice(format!(":{line}: in ").as_bytes()),
            None => out.extend_from_slice(b": in "),
        }
        out.extend_from_slice(&describe(st, *l, exported.next().flatten(), out.len()));
        if l.is_tail_call() {
            out.extend_from_slice(b"\n\t(...tail calls...)");
        }
    }
    out
}
