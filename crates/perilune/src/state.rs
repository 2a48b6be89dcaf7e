//! States, and what belongs to them: the names under which mlua has them.

#[doc(inline)]
pub use crate::gc::{GcGenParams, GcIncParams, GcMode};
#[doc(inline)]
pub use crate::lua::{Lua, WeakLua};
#[doc(inline)]
pub use crate::options::{LuaOptions, StdLib};
