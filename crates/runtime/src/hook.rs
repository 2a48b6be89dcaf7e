//! Debug hooks (manual 6.10, `debug.sethook`).

use crate::thread::Thread;
use crate::value::Value;

/// An event of a hook.
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
    /// The requested number of instructions ran.
    Count,
}

impl HookEvent {
    /// Returns the event's name as the hook function receives it.
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

/// The hook of one coroutine.
#[derive(Clone)]
pub struct Hook {
    /// The Lua function to call.
    pub function: Value,
    /// Whether it is called on calls.
    pub call: bool,
    /// Whether it is called on returns.
    pub ret: bool,
    /// Whether it is called on new lines.
    pub line: bool,
    /// The number of instructions between count events; 0 for none.
    pub count: u32,
    /// Whether it belongs to code in C.
    pub external: bool,
    /// Instructions left until the count hook.
    pub left: u32,
    /// The instruction of the running function that the last line event considered (PUC's `oldpc`).
    pub old_pc: u32,
    /// Whether the coroutine continues before an instruction for which the hook was already called:
    /// it was resumed there, or the instruction closes several variables.
    pub resumed: bool,
}

/// How far a hook has got in the program.
#[derive(Clone, Copy)]
pub(crate) struct Position {
    count: u32,
    left: u32,
    old_pc: u32,
    resumed: bool,
}

/// Keeps the events of a coroutine from its hook until it is dropped, also by a panic: those inside
/// a hook, whatever hook it sets, and those inside a finalizer (PUC's `allowhook`).
pub struct Quiet {
    thread: *mut Thread,
    outer: bool,
}

impl Quiet {
    /// Begins to keep events from the hook.
    ///
    /// # Safety
    /// `thread` is live until the value is dropped.
    pub unsafe fn begin(thread: *mut Thread) -> Quiet {
        Quiet { thread, outer: std::mem::replace(&mut (*thread).is_quiet, true) }
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        // SAFETY: the coroutine is live, as the caller of `begin` has promised.
        unsafe { (*self.thread).is_quiet = self.outer }
    }
}

impl Hook {
    /// Returns the hook that a coroutine inherits from its creator: only those of code in C are
    /// inherited, as `debug.sethook` sets the hook of one coroutine.
    pub(crate) fn inherited(&self) -> Option<Hook> {
        self.external.then(|| Hook { left: self.count, old_pc: 0, resumed: false, ..self.clone() })
    }

    /// Returns how far the hook has got.
    pub(crate) fn position(&self) -> Position {
        let &Hook { count, left, old_pc, resumed, .. } = self;
        Position { count, left, old_pc, resumed }
    }

    /// Restores the position `before`, so that the hook continues as if nothing had been executed
    /// since. A count that was set meanwhile keeps its progress.
    pub(crate) fn restore(&mut self, before: Position) {
        let Position { count, left, old_pc, resumed } = before;
        (self.old_pc, self.resumed) = (old_pc, resumed);
        if self.count == count {
            self.left = left;
        }
    }
}
