//! States and their options, under the module path that mlua uses.

#[doc(inline)]
pub use crate::gc::{GcGenParams, GcIncParams, GcMode};
#[doc(inline)]
pub use crate::lua::{Lua, WeakLua};
#[doc(inline)]
pub use crate::options::{LuaOptions, StdLib};
