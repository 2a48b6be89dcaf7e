//! Debug hooks (manual 6.10, `debug.sethook`).

use crate::value::Value;

/// What a hook is told about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HookEvent {
    /// A function was called.
    Call,
    /// A function was called by a tail call.
    TailCall,
    /// A function returns.
    Return,
    /// A new line is about to run.
    Line,
    /// So many instructions ran.
    Count,
}

impl HookEvent {
    /// The event's name as the hook function gets it.
    pub const fn name(self) -> &'static str {
        match self {
            HookEvent::Call => "call",
            HookEvent::TailCall => "tail call",
            HookEvent::Return => "return",
            HookEvent::Line => "line",
            HookEvent::Count => "count",
        }
    }
}

/// A hook as set on one coroutine.
#[derive(Clone)]
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
    /// The instruction that line events last looked at, in the running function (PUC's `oldpc`).
    pub old_pc: u32,
    /// The hook runs now: no hooks inside it.
    pub active: bool,
    /// The coroutine was resumed in front of an instruction that the hook was called for before.
    pub resumed: bool,
    /// For the running call or return hook: number of the first argument or result as a local variable, and how many there are.
    pub transfer: (u32, u32),
}

impl Hook {
    /// Notes which values the running call or return hook is about: `count` of them from local
    /// variable `first` on. Where there are none, there is no first one either.
    pub fn note_transfer(&mut self, first: u32, count: u32) {
        self.transfer = if count == 0 { (0, 0) } else { (first, count) };
    }
}
