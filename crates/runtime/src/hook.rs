//! Debug hooks (manual 6.10, `debug.sethook`).

use crate::value::Value;

/// A hook as set on one coroutine.
pub struct Hook {
    /// The Lua function to call.
    pub function: Value,
    /// On calls.
    pub call: bool,
    /// On returns.
    pub ret: bool,
    /// On new lines.
    pub line: bool,
    /// Every so many instructions; 0: not.
    pub count: u32,
    /// Instructions left until the count hook.
    pub left: u32,
    /// Line of the last line event, and the pc it was at.
    pub last: (i64, u32),
    /// The hook runs now: no hooks inside it.
    pub active: bool,
}
