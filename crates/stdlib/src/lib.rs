//! The standard library of Lua 5.4 (manual, chapter 6).
//!
//! **Invariant:** functions of the library reach a state only through
//! [`perilune_runtime::native::Cx`]; this crate has no unsafe code.

#![forbid(unsafe_code)]

pub mod base;
pub mod coroutine;
pub mod debug;
pub mod io;
pub mod math;
pub mod os;
pub mod package;
pub mod string;
mod support;
pub mod table;
pub mod utf8;

use perilune_runtime::native::{Cx, Raised};

/// Opens a library: makes its table and assigns that to a global variable.
pub type Open = fn(&mut Cx) -> Result<(), Raised>;

/// The names of the libraries, in the order in which `luaL_openlibs` opens them, and the functions
/// that open them.
pub const LIBRARIES: [(&str, Open); 10] = [
    ("_G", base::open),
    ("package", package::open),
    ("coroutine", coroutine::open),
    ("table", table::open),
    ("io", io::open),
    ("os", os::open),
    ("string", string::open),
    ("math", math::open),
    ("utf8", utf8::open),
    ("debug", debug::open),
];

/// Opens all libraries.
///
/// # Errors
/// Returns "not enough memory".
pub fn open_all(cx: &mut Cx) -> Result<(), Raised> {
    LIBRARIES.iter().try_for_each(|(_, open)| open(cx))
}
