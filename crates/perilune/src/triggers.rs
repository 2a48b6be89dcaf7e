//! The events for which a state calls functions of the host.

use std::ops::{BitOr, BitOrAssign};

/// The events for which a hook is called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HookTriggers {
    /// Before a function is entered.
    pub on_calls: bool,
    /// Before a function returns.
    pub on_returns: bool,
    /// Before a new line begins.
    pub every_line: bool,
    /// After this number of instructions.
    pub every_nth_instruction: Option<u32>,
}

impl HookTriggers {
    /// Triggers on calls.
    pub const ON_CALLS: HookTriggers = HookTriggers::new().on_calls();
    /// Triggers on returns.
    pub const ON_RETURNS: HookTriggers = HookTriggers::new().on_returns();
    /// Triggers on lines.
    pub const EVERY_LINE: HookTriggers = HookTriggers::new().every_line();

    /// Returns triggers for no event.
    pub const fn new() -> HookTriggers {
        HookTriggers {
            on_calls: false,
            on_returns: false,
            every_line: false,
            every_nth_instruction: None,
        }
    }

    /// Adds calls.
    #[must_use]
    pub const fn on_calls(mut self) -> HookTriggers {
        self.on_calls = true;
        self
    }

    /// Adds returns.
    #[must_use]
    pub const fn on_returns(mut self) -> HookTriggers {
        self.on_returns = true;
        self
    }

    /// Adds lines.
    #[must_use]
    pub const fn every_line(mut self) -> HookTriggers {
        self.every_line = true;
        self
    }

    /// Adds every `n`th instruction.
    #[must_use]
    pub const fn every_nth_instruction(mut self, n: u32) -> HookTriggers {
        self.every_nth_instruction = Some(n);
        self
    }
}

impl BitOr for HookTriggers {
    type Output = HookTriggers;
    fn bitor(mut self, other: HookTriggers) -> HookTriggers {
        self |= other;
        self
    }
}

impl BitOrAssign for HookTriggers {
    fn bitor_assign(&mut self, other: HookTriggers) {
        self.on_calls |= other.on_calls;
        self.on_returns |= other.on_returns;
        self.every_line |= other.every_line;
        self.every_nth_instruction = self.every_nth_instruction.or(other.every_nth_instruction);
    }
}

/// The event for which a hook is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DebugEvent {
    /// A call.
    Call,
    /// A return.
    Ret,
    /// A tail call.
    TailCall,
    /// A new line.
    Line,
    /// The requested number of instructions was executed.
    Count,
    /// An event of a later version of Lua, by its number. No hook of this crate receives it; it
    /// exists for programs that match on the events of mlua.
    Unknown(i32),
}

/// The coroutine events for which a callback is called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThreadTriggers {
    /// After [`Lua::create_thread`](crate::Lua::create_thread) has created a coroutine.
    pub on_create: bool,
    /// Before the host resumes a coroutine ([`Thread::resume`](crate::Thread::resume), or as a
    /// future).
    pub on_resume: bool,
    /// After a coroutine that the host resumed has yielded.
    pub on_yield: bool,
}

impl ThreadTriggers {
    /// Triggers on creation.
    pub const ON_CREATE: ThreadTriggers = ThreadTriggers::new().on_create();
    /// Triggers on resumption.
    pub const ON_RESUME: ThreadTriggers = ThreadTriggers::new().on_resume();
    /// Triggers on a yield.
    pub const ON_YIELD: ThreadTriggers = ThreadTriggers::new().on_yield();

    /// Returns triggers for no event.
    pub const fn new() -> ThreadTriggers {
        ThreadTriggers { on_create: false, on_resume: false, on_yield: false }
    }

    /// Adds creation.
    #[must_use]
    pub const fn on_create(mut self) -> ThreadTriggers {
        self.on_create = true;
        self
    }

    /// Adds resumption.
    #[must_use]
    pub const fn on_resume(mut self) -> ThreadTriggers {
        self.on_resume = true;
        self
    }

    /// Adds yields.
    #[must_use]
    pub const fn on_yield(mut self) -> ThreadTriggers {
        self.on_yield = true;
        self
    }
}

impl BitOr for ThreadTriggers {
    type Output = ThreadTriggers;
    fn bitor(mut self, other: ThreadTriggers) -> ThreadTriggers {
        self |= other;
        self
    }
}

impl BitOrAssign for ThreadTriggers {
    fn bitor_assign(&mut self, other: ThreadTriggers) {
        self.on_create |= other.on_create;
        self.on_resume |= other.on_resume;
        self.on_yield |= other.on_yield;
    }
}

/// The kind of a coroutine event.
#[derive(Clone, Copy)]
pub(crate) enum ThreadEventKind {
    /// The coroutine was created.
    Create,
    /// The coroutine is about to be resumed.
    Resume,
    /// The coroutine has yielded.
    Yield,
}
