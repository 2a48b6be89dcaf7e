//! Status codes, types and other numbers of `lua.h`.

use std::ffi::c_int;

use perilune_runtime::raised::ErrorKind;
use perilune_runtime::value::{Tag, Value};

/// `LUA_OK`
pub(crate) const OK: c_int = 0;
/// `LUA_YIELD`
pub(crate) const YIELD: c_int = 1;
/// `LUA_ERRRUN`
pub(crate) const RUNTIME: c_int = 2;
/// `LUA_ERRSYNTAX`
pub(crate) const SYNTAX: c_int = 3;
/// `LUA_ERRMEM`
pub(crate) const MEMORY: c_int = 4;
/// `LUA_ERRERR`
pub(crate) const HANDLER: c_int = 5;
/// `LUA_ERRFILE`
pub(crate) const FILE: c_int = 6;

/// `LUA_TNONE`
pub(crate) const NONE: c_int = -1;

/// `LUA_REGISTRYINDEX`
pub(crate) const REGISTRY: c_int = -1_001_000;

/// The names of the types, by number from `LUA_TNONE` on.
pub(crate) const TYPE_NAMES: [&std::ffi::CStr; 10] = [
    c"no value",
    c"nil",
    c"boolean",
    c"userdata",
    c"number",
    c"string",
    c"table",
    c"function",
    c"userdata",
    c"thread",
];

/// The types, by [`Tag::index`].
const TYPES: [u8; Tag::INDICES] = {
    let mut types = [0; Tag::INDICES];
    let known = [
        (Tag::FALSE, 1),
        (Tag::TRUE, 1),
        (Tag::LIGHT, 2),
        (Tag::INTEGER, 3),
        (Tag::FLOAT, 3),
        (Tag::STRING, 4),
        (Tag::TABLE, 5),
        (Tag::FUNCTION, 6),
        (Tag::NATIVE, 6),
        (Tag::USERDATA, 7),
        (Tag::THREAD, 8),
    ];
    let mut i = 0;
    while i < known.len() {
        types[known[i].0.index()] = known[i].1;
        i += 1;
    }
    types
};

/// Returns the type of a value.
#[inline(always)]
pub(crate) fn type_of(v: Value) -> c_int {
    c_int::from(TYPES[v.tag().index()])
}

/// Returns the status of an error.
pub(crate) fn status_of_kind(kind: ErrorKind) -> c_int {
    match kind {
        ErrorKind::Value => RUNTIME,
        ErrorKind::Memory => MEMORY,
        ErrorKind::Handler => HANDLER,
    }
}
