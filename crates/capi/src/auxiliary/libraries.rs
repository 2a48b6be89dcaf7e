//! Opening the libraries of Lua from C code (manual 5 and 6, `luaL_requiref`, `luaopen_…`).

use std::ffi::{c_char, c_int};

use perilune_runtime::load::GLOBALS;
use perilune_runtime::native::{Cx, Raised};
use perilune_runtime::table::Table;
use perilune_runtime::value::{SlotExt, Value};
use perilune_stdlib::LIBRARIES;

use crate::auxiliary::metatables::push_subtable;
use crate::entry::Entry;
use crate::get::push_index;
use crate::outcome::{Fallible, raising};
use crate::push::c_bytes;
use crate::run::{adjust, run};
use crate::set::{set_index, set_raw};
use crate::state::{CFunction, LuaState};

/// Opens a library and pushes its table. The function that opens it also makes it a global variable
/// and a loaded module, which is undone: here both are left to the caller.
unsafe fn open(
    e: &mut Entry,
    name: &[u8],
    open: fn(&mut Cx) -> Result<(), Raised>,
) -> Fallible<c_int> {
    let st = e.st;
    push_subtable(e, Value::table((*st).registry), b"_LOADED")?;
    let name = (*st).intern(name);
    e.push(Value::string(name));
    let globals = e.cx().globals().val().raw().as_table();
    let tables = [globals, (*st).top.sub(2).get().as_table()];
    for t in tables {
        let before = Table::get_str(t, name);
        e.push(before);
    }
    open(e.cx())?;
    let library = Table::get_str(tables[1], name);
    for t in [tables[1], tables[0]] {
        set_raw(e, t, Value::string(name))?;
    }
    (*st).top = (*st).top.sub(2);
    e.push(library);
    Ok(1)
}

/// Pushes the module with a name, which `f` opens if it is not loaded.
unsafe fn require(e: &mut Entry, name: &[u8], f: CFunction, global: bool) -> Fallible<()> {
    let st = e.st;
    push_subtable(e, Value::table((*st).registry), b"_LOADED")?;
    let loaded = (*st).top.sub(1).get();
    let key = Value::string((*st).intern(name));
    e.push(key);
    push_index(e, loaded, key)?;
    if !(*st).top.sub(1).get().truthy() {
        e.pop();
        let at = e.cx().top();
        let global = (*LuaState::of(st, (*st).thread)).global;
        let f = (*global).functions.light(e.cx(), run, f as *const ());
        for v in [f, Value::NIL, key] {
            e.push(v);
        }
        let n = ((*st).vm.call)(st, (*st).base.add(at), 1)?;
        adjust(st, n, 1);
        let module = (*st).top.sub(1).get();
        e.push(module);
        set_index(e, loaded, key)?;
    }
    // the table and the key lie below the module
    let module = (*st).top.sub(1).get();
    if global {
        e.push(module);
        let globals = Table::get_int((*st).registry, GLOBALS);
        set_index(e, globals, key)?;
    }
    (*st).top = (*st).top.sub(3);
    e.push(module);
    Ok(())
}

/// Returns the C function that opens a library.
fn opener(library: &str) -> CFunction {
    match library {
        "_G" => luaopen_base,
        "package" => luaopen_package,
        "coroutine" => luaopen_coroutine,
        "table" => luaopen_table,
        "io" => luaopen_io,
        "os" => luaopen_os,
        "string" => luaopen_string,
        "math" => luaopen_math,
        "utf8" => luaopen_utf8,
        "debug" => luaopen_debug,
        _ => unreachable!("there is a function for each library"),
    }
}

raising! {
    fn luaopen_base(l) -> c_int |e| {
        perilune_stdlib::base::open(e.cx())?;
        let globals = e.cx().globals().val().raw();
        e.push(globals);
        Ok(1)
    }

    fn luaopen_coroutine(l) -> c_int |e| {
        open(e, b"coroutine", perilune_stdlib::coroutine::open)
    }

    fn luaopen_table(l) -> c_int |e| { open(e, b"table", perilune_stdlib::table::open) }

    fn luaopen_io(l) -> c_int |e| { open(e, b"io", perilune_stdlib::io::open) }

    fn luaopen_os(l) -> c_int |e| { open(e, b"os", perilune_stdlib::os::open) }

    fn luaopen_string(l) -> c_int |e| { open(e, b"string", perilune_stdlib::string::open) }

    fn luaopen_utf8(l) -> c_int |e| { open(e, b"utf8", perilune_stdlib::utf8::open) }

    fn luaopen_math(l) -> c_int |e| { open(e, b"math", perilune_stdlib::math::open) }

    fn luaopen_debug(l) -> c_int |e| { open(e, b"debug", perilune_stdlib::debug::open) }

    fn luaopen_package(l) -> c_int |e| { open(e, b"package", perilune_stdlib::package::open) }

    fn luaL_openlibs(l) |e| {
        for (name, _) in LIBRARIES {
            require(e, name.as_bytes(), opener(name), true)?;
            e.pop();
        }
        Ok(())
    }

    fn luaL_requiref(l, name: *const c_char, f: CFunction, global: c_int) |e| {
        require(e, c_bytes(name), f, global != 0)
    }
}
