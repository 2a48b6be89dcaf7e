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

/// Opens all libraries, as `luaL_openlibs` does.
///
/// # Errors
/// Returns "not enough memory".
pub fn open_all(cx: &mut Cx) -> Result<(), Raised> {
    base::open(cx)?;
    package::open(cx)?;
    coroutine::open(cx)?;
    table::open(cx)?;
    io::open(cx)?;
    os::open(cx)?;
    string::open(cx)?;
    math::open(cx)?;
    utf8::open(cx)?;
    debug::open(cx)
}
