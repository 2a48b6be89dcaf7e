//! The library `package` and `require` (manual 6.3).

use std::os::unix::ffi::OsStrExt;

use perilune_runtime::native::{Cx, NativeFn, NativeResult, Raised, Str, Val};

use crate::base::load_file;
use crate::io::path;
use crate::support::{c_str, concat, library, names, publish, registry_table, system_str};

const DEFAULT_PATH: &str = "/usr/local/share/lua/5.4/?.lua;/usr/local/share/lua/5.4/?/init.lua;\
/usr/local/lib/lua/5.4/?.lua;/usr/local/lib/lua/5.4/?/init.lua;\
/usr/share/lua/5.4/?.lua;/usr/share/lua/5.4/?/init.lua;./?.lua;./?/init.lua";

/// The directories of PUC and those of distributions, some of which have one for each architecture.
#[cfg(target_arch = "x86_64")]
const DEFAULT_CPATH: &str = "/usr/local/lib/lua/5.4/?.so;\
/usr/lib/x86_64-linux-gnu/lua/5.4/?.so;/usr/lib/lua/5.4/?.so;/usr/lib64/lua/5.4/?.so;\
/usr/local/lib/lua/5.4/loadall.so;./?.so";
#[cfg(not(target_arch = "x86_64"))]
const DEFAULT_CPATH: &str = "/usr/local/lib/lua/5.4/?.so;/usr/lib/lua/5.4/?.so;\
/usr/local/lib/lua/5.4/loadall.so;./?.so";

/// The registry's field with the function that loads C libraries, if these are allowed. The
/// function takes the arguments of `package.loadlib`, and returns the same results.
pub const LOADER: &str = "_CLOADER";

/// The message for attempts to load a C library.
const NO_LIBRARIES: &str = "dynamic libraries not enabled; check your Lua installation";

const FUNCTIONS: &[(&str, NativeFn)] = &[("loadlib", loadlib), ("searchpath", searchpath)];

const SEARCHERS: &[NativeFn] = &[preload_searcher, lua_searcher, c_searcher, c_root_searcher];

/// The names of the library's fields.
static NAMES: [&str; FUNCTIONS.len() + 6] =
    names(FUNCTIONS, &["searchers", "path", "cpath", "config", "loaded", "preload"]);

/// Opens `package` and `require`.
///
/// # Errors
/// Returns "not enough memory".
pub fn open(cx: &mut Cx) -> Result<(), Raised> {
    let cx = &*cx;
    let lib = library(cx, &NAMES, FUNCTIONS);
    let searchers = cx.table(SEARCHERS.len(), 0);
    for (i, f) in SEARCHERS.iter().enumerate() {
        searchers.set_int(cx, i as i64 + 1, cx.func(*f, &[lib.val()]).val());
    }
    lib.set_name(cx, "searchers", searchers.val());
    lib.set_name(cx, "path", path_setting(cx, "LUA_PATH", DEFAULT_PATH).val());
    lib.set_name(cx, "cpath", path_setting(cx, "LUA_CPATH", DEFAULT_CPATH).val());
    lib.set_name(cx, "config", cx.str(b"/\n;\n?\n!\n-\n").val());
    lib.set_name(cx, "loaded", registry_table(cx, "_LOADED").val());
    lib.set_name(cx, "preload", registry_table(cx, "_PRELOAD").val());
    publish(cx, "package", lib);
    cx.globals().set_name(cx, "require", cx.func(require, &[lib.val()]).val());
    Ok(())
}

/// Returns a path from the environment (in which `;;` stands for the default), or the default.
fn path_setting<'a>(cx: &'a Cx, name: &str, default: &str) -> Str<'a> {
    let ignore = cx.registry().get_name(cx, "LUA_NOENV").truthy();
    let set = std::env::var_os(format!("{name}_5_4")).or_else(|| std::env::var_os(name));
    let Some(set) = set.filter(|_| !ignore) else { return cx.str(default.as_bytes()) };
    cx.str(&expand_default(set.as_bytes(), default.as_bytes()))
}

fn expand_default(set: &[u8], default: &[u8]) -> Vec<u8> {
    let Some(i) = memchr::memmem::find(set, b";;") else { return set.to_vec() };
    let (before, after) = (&set[..i], &set[i + 2..]);
    let mut out = Vec::new();
    if !before.is_empty() {
        out.extend_from_slice(before);
        out.push(b';');
    }
    out.extend_from_slice(default);
    if !after.is_empty() {
        out.push(b';');
        out.extend_from_slice(after);
    }
    out
}

/// Implements `package.loadlib(path, funcname)`.
fn loadlib(cx: &mut Cx) -> NativeResult {
    system_str(cx, 0)?;
    system_str(cx, 1)?;
    cx.set_top(2);
    let loader = cx.registry().get_name(cx, LOADER);
    if loader.is_nil() {
        cx.push(Val::NIL);
        cx.push(cx.str(NO_LIBRARIES.as_bytes()).val());
        cx.push(cx.str(b"absent").val());
        return cx.ret(3);
    }
    cx.push_callee(loader);
    cx.push(cx.get(0));
    cx.push(cx.get(1));
    let n = cx.call(2)?;
    cx.ret(n)
}

/// The outcome of a search for the function that opens a module.
enum Opener {
    /// The function is on the stack.
    Found,
    /// The library does not have the function.
    NoFunction,
    /// The library cannot be loaded. The value is the message.
    Failed(Vec<u8>),
}

/// Loads a library, and pushes its function `name`.
fn library_function(cx: &mut Cx, file: &[u8], name: &[u8]) -> Result<(Opener, Vec<u8>), Raised> {
    let at = cx.top();
    let loader = cx.registry().get_name(cx, LOADER);
    if loader.is_nil() {
        return Ok((Opener::Failed(NO_LIBRARIES.into()), Vec::new()));
    }
    cx.push_callee(loader);
    cx.push(cx.str(file).val());
    cx.push(cx.str(name).val());
    cx.call_n(2, 3)?;
    if !cx.get(at).is_nil() {
        cx.set_top(at + 1);
        return Ok((Opener::Found, Vec::new()));
    }
    let message = cx.get(at + 1).as_str().map_or(Vec::new(), |s| s.bytes().to_vec());
    let lacks = cx.get(at + 2).as_str().is_some_and(|s| s.bytes() == b"init");
    cx.set_top(at);
    Ok(if lacks { (Opener::NoFunction, message) } else { (Opener::Failed(message), Vec::new()) })
}

/// Pushes the function of the library `file` that opens the module `name`. The function's name is
/// `luaopen_` followed by the module's name, with `_` for each dot. If the module's name has a
/// hyphen, only the part before it is used or, if the library lacks that function, only the part
/// after it.
fn module_opener(cx: &mut Cx, file: &[u8], name: &[u8]) -> Result<(Opener, Vec<u8>), Raised> {
    let name = replace(name, b".", b"_");
    let mut rest = &name[..];
    if let Some(i) = memchr::memchr(b'-', &name) {
        let found = library_function(cx, file, &concat(&[b"luaopen_", &name[..i]]))?;
        if !matches!(found.0, Opener::NoFunction) {
            return Ok(found);
        }
        rest = &name[i + 1..];
    }
    library_function(cx, file, &concat(&[b"luaopen_", rest]))
}

fn replace(s: &[u8], what: &[u8], by: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(s.len());
    let mut rest = s;
    while let Some(i) = memchr::memmem::find(rest, what) {
        out.extend_from_slice(&rest[..i]);
        out.extend_from_slice(by);
        rest = &rest[i + what.len()..];
    }
    out.extend_from_slice(rest);
    out
}

/// A readable file, or the message that lists all files tried.
type Found = Result<Vec<u8>, Vec<u8>>;

/// Searches the first readable file of a path: the templates with `name` in place of each `?`,
/// which may itself contain `;`.
///
/// # Errors
/// Returns "not enough memory", or the error that stops the script.
fn search(cx: &mut Cx, name: &[u8], templates: &[u8]) -> Result<Found, Raised> {
    let mut search = Search { cx, file: Vec::new(), message: b"no file '".to_vec() };
    for (n, text) in templates.split(|b| *b == b'?').enumerate() {
        if n > 0
            && let Some(file) = search.add(name)?
        {
            return Ok(Ok(file));
        }
        if let Some(file) = search.add(text)? {
            return Ok(Ok(file));
        }
    }
    let is_empty = templates.is_empty();
    Ok(match search.end()?.filter(|_| !is_empty) {
        Some(file) => Ok(file),
        None => Err(concat(&[&search.message, b"'"])),
    })
}

/// A search for a file.
struct Search<'a> {
    cx: &'a mut Cx,
    /// The file name built so far.
    file: Vec<u8>,
    /// The message built so far.
    message: Vec<u8>,
}

impl Search<'_> {
    /// Adds a part of the path. Returns the first readable file that it ends.
    fn add(&mut self, text: &[u8]) -> Result<Option<Vec<u8>>, Raised> {
        for (n, part) in text.split(|b| *b == b';').enumerate() {
            if n > 0 {
                if let Some(file) = self.end()? {
                    return Ok(Some(file));
                }
                self.message.extend_from_slice(b"'\n\tno file '");
            }
            // the file is added to the message, of which a string is made
            let size = self.file.len() + part.len();
            self.cx.make_room(2 * (self.message.len() + 2 * size))?;
            self.file.extend_from_slice(part);
        }
        Ok(None)
    }

    /// Ends a file. Returns it if it is readable.
    fn end(&mut self) -> Result<Option<Vec<u8>>, Raised> {
        self.cx.interrupted()?;
        let file = std::mem::take(&mut self.file);
        if !file.is_empty() && std::fs::File::open(path(&file)).is_ok() {
            return Ok(Some(file));
        }
        self.message.extend_from_slice(&file);
        Ok(None)
    }
}

/// Implements `package.searchpath(name, path [, sep [, rep]])`.
fn searchpath(cx: &mut Cx) -> NativeResult {
    // PUC, compiled with GCC, checks the last argument first.
    let rep = cx.opt_str(3)?.map_or(&b"/"[..], |s| c_str(s.bytes()));
    let sep = cx.opt_str(2)?.map_or(&b"."[..], |s| c_str(s.bytes()));
    let templates = c_str(cx.check_str(1)?.bytes());
    let name = c_str(cx.check_str(0)?.bytes());
    let longer = name.len().checked_div(sep.len()).unwrap_or(0) * rep.len();
    // while the copy of the name grows, there may be two
    cx.check_room(2 * (name.len() + longer) + templates.len())?;
    let name = if sep.is_empty() { name.to_vec() } else { replace(name, sep, rep) };
    let templates = templates.to_vec();
    match search(cx, &name, &templates)? {
        Ok(file) => cx.ret1(cx.str(&file).val()),
        Err(message) => {
            cx.push(Val::NIL);
            cx.push(cx.str(&message).val());
            cx.ret(2)
        }
    }
}

/// Searches the path in field `which` of `package`, the bound value.
fn find_file(cx: &mut Cx, name: &[u8], which: &str) -> Result<Found, Raised> {
    let at = cx.top();
    cx.push(cx.bound(0));
    let key = cx.str(which.as_bytes()).val().raw();
    cx.index(at, key)?;
    let v = cx.get(cx.top() - 1);
    let templates = match v.as_str() {
        Some(s) => {
            cx.check_room(s.bytes().len())?;
            s.bytes().to_vec()
        }
        None if v.is_number() => cx.number_to_str(v).bytes().to_vec(),
        None => return Err(cx.error(format!("'package.{which}' must be a string"))),
    };
    cx.pop(2);
    search(cx, &replace(name, b".", b"/"), c_str(&templates))
}

/// Returns a copy of the name in argument 0.
///
/// # Errors
/// Returns an error for other arguments, and "not enough memory" if there is no room for the copies
/// that are made of the name.
fn module_name(cx: &Cx) -> Result<Vec<u8>, Raised> {
    let name = c_str(cx.check_str(0)?.bytes());
    // this one, the name of a file or function, and a message
    cx.check_room(4 * name.len())?;
    Ok(name.to_vec())
}

fn load_error(cx: &Cx, name: &[u8], file: &[u8], message: &[u8]) -> Raised {
    cx.error(concat(&[b"error loading module '", name, b"' from file '", file, b"':\n\t", message]))
}

fn preload_searcher(cx: &mut Cx) -> NativeResult {
    let name = module_name(cx)?;
    let at = cx.top();
    cx.push(registry_table(cx, "_PRELOAD").val());
    let key = cx.str(&name).val().raw();
    cx.index(at, key)?;
    if cx.get(cx.top() - 1).is_nil() {
        let text = concat(&[b"no field package.preload['", &name, b"']"]);
        return cx.ret1(cx.str(&text).val());
    }
    cx.push(cx.str(b":preload:").val());
    cx.ret(2)
}

fn lua_searcher(cx: &mut Cx) -> NativeResult {
    let name = module_name(cx)?;
    let file = match find_file(cx, &name, "path")? {
        Ok(file) => file,
        Err(message) => return cx.ret1(cx.str(&message).val()),
    };
    match load_file(cx, Some(&file), b"bt", None) {
        Ok(f) => {
            cx.push(f);
            cx.push(cx.str(&file).val());
            cx.ret(2)
        }
        Err(message) => Err(load_error(cx, &name, &file, &message)),
    }
}

fn c_searcher(cx: &mut Cx) -> NativeResult {
    let name = module_name(cx)?;
    let file = match find_file(cx, &name, "cpath")? {
        Ok(file) => file,
        Err(message) => return cx.ret1(cx.str(&message).val()),
    };
    match module_opener(cx, &file, &name)? {
        (Opener::Found, _) => {
            cx.push(cx.str(&file).val());
            cx.ret(2)
        }
        (Opener::NoFunction, message) | (Opener::Failed(message), _) => {
            Err(load_error(cx, &name, &file, &message))
        }
    }
}

/// Searches for a module in the library of its root package.
fn c_root_searcher(cx: &mut Cx) -> NativeResult {
    let name = module_name(cx)?;
    let Some(dot) = memchr::memchr(b'.', &name) else { return cx.ret(0) };
    let file = match find_file(cx, &name[..dot], "cpath")? {
        Ok(file) => file,
        Err(message) => return cx.ret1(cx.str(&message).val()),
    };
    match module_opener(cx, &file, &name)? {
        (Opener::Found, _) => {
            cx.push(cx.str(&file).val());
            cx.ret(2)
        }
        (Opener::NoFunction, _) => {
            let text = concat(&[b"no module '", &name, b"' in file '", &file, b"'"]);
            cx.ret1(cx.str(&text).val())
        }
        (Opener::Failed(message), _) => Err(load_error(cx, &name, &file, &message)),
    }
}

/// Finds a loader for the module named by value 0; pushes it and its data.
fn find_loader(cx: &mut Cx, name: &[u8]) -> Result<(), Raised> {
    let at = cx.top();
    cx.push(cx.bound(0));
    let key = cx.str(b"searchers").val().raw();
    cx.index(at, key)?;
    let searchers = at + 1;
    if cx.get(searchers).as_table().is_none() {
        return Err(cx.error("'package.searchers' must be a table"));
    }
    let mut message = Vec::new();
    for i in 1.. {
        let searcher = match cx.get(searchers).as_table() {
            Some(t) => t.get_int(i),
            None => Val::NIL,
        };
        if searcher.is_nil() {
            return Err(cx.error(concat(&[b"module '", name, b"' not found:", &message])));
        }
        cx.push_callee(searcher);
        cx.push(cx.str(name).val());
        cx.call_n(1, 2)?;
        let v = cx.get(cx.top() - 2);
        if v.as_func().is_some() {
            return Ok(());
        }
        if v.is_number() || v.as_str().is_some() {
            let size = v.as_str().map_or(0, |s| s.bytes().len());
            // the message moves when it grows
            cx.check_room(2 * (message.len() + size))?;
            message.extend_from_slice(b"\n\t");
            match v.as_str() {
                Some(s) => message.extend_from_slice(s.bytes()),
                None => message.extend_from_slice(cx.number_to_str(v).bytes()),
            }
        }
        cx.pop(2);
        cx.make_room(2 * message.len())?;
    }
    Ok(())
}

/// Implements `require(modname)`; `package` is its bound value.
fn require(cx: &mut Cx) -> NativeResult {
    let name = module_name(cx)?;
    cx.set_top(1);
    cx.push(registry_table(cx, "_LOADED").val());
    let key = cx.str(&name).val();
    cx.push(key);
    // The name stays on the stack (value 2) while calls are made.
    let raw = |cx: &Cx| cx.get(2).raw();
    let k = raw(cx);
    cx.index(1, k)?;
    if cx.get(cx.top() - 1).truthy() {
        return cx.ret(1);
    }
    cx.pop(1);
    find_loader(cx, &name)?;
    let data = cx.top() - 1;
    cx.push_callee(cx.get(data - 1));
    cx.push(cx.get(0));
    cx.push(cx.get(data));
    cx.call_n(2, 1)?;
    if cx.get(cx.top() - 1).is_nil() {
        cx.pop(1);
    } else {
        let k = raw(cx);
        cx.set_index(1, k)?;
    }
    let k = raw(cx);
    cx.index(1, k)?;
    if cx.get(cx.top() - 1).is_nil() {
        cx.pop(1);
        cx.push(Val::bool(true));
        cx.push(Val::bool(true));
        let k = raw(cx);
        cx.set_index(1, k)?;
    }
    cx.push(cx.get(data));
    cx.ret(2)
}

#[cfg(test)]
mod tests {
    use super::{expand_default, replace};

    #[test]
    fn paths() {
        assert_eq!(expand_default(b"a;;b", b"D"), b"a;D;b");
        assert_eq!(expand_default(b";;", b"D"), b"D");
        assert_eq!(expand_default(b"a", b"D"), b"a");
        assert_eq!(replace(b"a.b.c", b".", b"/"), b"a/b/c");
    }
}
