//! Hooks, and what is known of active functions (manual 6.10).

use std::borrow::Cow;
use std::ops::{BitOr, BitOrAssign};

use perilune_runtime::native::{HookSetting, LevelInfo, Val};

use crate::stack::Raw;
use crate::sync::XRc;
use crate::types::{MaybeSend, VmState};
use crate::{Function, Lua, Result, Thread};

/// When a hook is called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HookTriggers {
    /// Before a function is entered.
    pub on_calls: bool,
    /// Before a function returns.
    pub on_returns: bool,
    /// Before a line is begun.
    pub every_line: bool,
    /// After so many instructions.
    pub every_nth_instruction: Option<u32>,
}

impl HookTriggers {
    /// On calls.
    pub const ON_CALLS: HookTriggers = HookTriggers::new().on_calls();
    /// On returns.
    pub const ON_RETURNS: HookTriggers = HookTriggers::new().on_returns();
    /// On lines.
    pub const EVERY_LINE: HookTriggers = HookTriggers::new().every_line();

    /// Never.
    pub const fn new() -> HookTriggers {
        HookTriggers {
            on_calls: false,
            on_returns: false,
            every_line: false,
            every_nth_instruction: None,
        }
    }

    /// And on calls.
    #[must_use]
    pub const fn on_calls(mut self) -> HookTriggers {
        self.on_calls = true;
        self
    }

    /// And on returns.
    #[must_use]
    pub const fn on_returns(mut self) -> HookTriggers {
        self.on_returns = true;
        self
    }

    /// And on lines.
    #[must_use]
    pub const fn every_line(mut self) -> HookTriggers {
        self.every_line = true;
        self
    }

    /// And after so many instructions.
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

/// What a hook is called for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DebugEvent {
    /// A call.
    Call,
    /// A return.
    Ret,
    /// A tail call.
    TailCall,
    /// A line.
    Line,
    /// So many instructions.
    Count,
    /// An event of a later version of Lua, by its number. No hook of this crate receives it; it exists
    /// for programs that match on the events of mlua.
    Unknown(i32),
}

/// An active function.
pub struct Debug<'a> {
    lua: &'a Lua,
    level: i64,
    event: Option<DebugEvent>,
}

/// Names of an active function.
#[derive(Clone, Debug)]
pub struct DebugNames<'a> {
    /// A name, where one is known.
    pub name: Option<Cow<'a, str>>,
    /// What kind of name that is.
    pub name_what: Option<&'static str>,
}

/// Where a function is from.
#[derive(Clone, Debug)]
pub struct DebugSource<'a> {
    /// Name of the chunk as it was given.
    pub source: Option<Cow<'a, str>>,
    /// Name of the chunk as messages have it.
    pub short_src: Option<Cow<'a, str>>,
    /// First line.
    pub line_defined: Option<usize>,
    /// Last line.
    pub last_line_defined: Option<usize>,
    /// `Lua`, `C` or `main`.
    pub what: &'static str,
}

/// Sizes of a function.
#[derive(Clone, Copy, Debug)]
pub struct DebugStack {
    /// Upvalues.
    pub num_upvalues: u8,
    /// Parameters.
    pub num_params: u8,
    /// Takes extra arguments.
    pub is_vararg: bool,
}

impl Debug<'_> {
    fn with<R>(&self, f: impl FnOnce(Function, LevelInfo) -> R) -> R {
        let entry = self.lua.enter();
        let s = entry.stack();
        let Some((function, info)) = s.cx().level_info(None, self.level) else {
            panic!("the function is not active any more");
        };
        let function = Function(s.handle(Raw(function.raw())));
        f(function, info)
    }

    /// What the hook is called for; [`DebugEvent::Count`] outside of hooks.
    pub fn event(&self) -> DebugEvent {
        self.event.unwrap_or(DebugEvent::Count)
    }

    /// The function.
    pub fn function(&self) -> Function {
        self.with(|f, _| f)
    }

    /// How it was called.
    pub fn names(&self) -> DebugNames<'_> {
        self.with(|_, i| {
            let (what, name) = i.name.map_or((None, None), |(w, n)| (Some(w), Some(n)));
            DebugNames {
                name: name.map(|n| Cow::Owned(String::from_utf8_lossy(&n).into_owned())),
                name_what: what.filter(|w| !w.is_empty()),
            }
        })
    }

    /// Where it is from.
    pub fn source(&self) -> DebugSource<'_> {
        let info = self.function().info();
        DebugSource {
            source: info.source.map(Cow::Owned),
            short_src: info.short_src.map(Cow::Owned),
            line_defined: info.line_defined,
            last_line_defined: info.last_line_defined,
            what: info.what,
        }
    }

    /// The line that it executes.
    pub fn current_line(&self) -> Option<usize> {
        self.with(|_, i| i.line.map(|l| l as usize))
    }

    /// Whether it was called by a tail call.
    pub fn is_tail_call(&self) -> bool {
        self.with(|_, i| i.is_tail_call)
    }

    /// Its sizes.
    pub fn stack(&self) -> DebugStack {
        let info = self.function().info();
        DebugStack {
            num_upvalues: info.num_upvalues,
            num_params: info.num_params,
            is_vararg: info.is_vararg,
        }
    }
}

/// The hook of all coroutines.
pub(crate) type HookFn = dyn Fn(&Lua, &Debug<'_>) -> Result<VmState>;

fn setting(triggers: HookTriggers) -> HookSetting {
    HookSetting {
        call: triggers.on_calls,
        ret: triggers.on_returns,
        line: triggers.every_line,
        count: triggers.every_nth_instruction.unwrap_or(0),
    }
}

impl Lua {
    /// Calls a function on events of the running coroutine, in place of the hook that was there. What it fails with is raised where the program is. With
    /// [`VmState::Yield`] on a line or a count the coroutine yields, without values, and is in front of the line or instruction when it is resumed; where it may not
    /// yield, as in the main coroutine, it goes on.
    ///
    /// ```
    /// use std::sync::{Arc, atomic::{AtomicUsize, Ordering}};
    /// use perilune::{HookTriggers, Lua, VmState};
    ///
    /// # fn main() -> perilune::Result<()> {
    /// let lua = Lua::new();
    /// let lines = Arc::new(AtomicUsize::new(0));
    /// let seen = lines.clone();
    /// lua.set_hook(HookTriggers::EVERY_LINE, move |_, debug| {
    ///     seen.fetch_add(debug.current_line().unwrap_or(0), Ordering::Relaxed);
    ///     Ok(VmState::Continue)
    /// })?;
    /// lua.load("local a = 1\nlocal b = 2\nreturn a + b").exec()?;
    /// assert_eq!(lines.load(Ordering::Relaxed), 1 + 2 + 3);
    /// lua.remove_hook();
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the memory limit is reached.
    pub fn set_hook<F>(&self, triggers: HookTriggers, callback: F) -> Result<()>
    where
        F: Fn(&Lua, &Debug<'_>) -> Result<VmState> + MaybeSend + 'static,
    {
        let f = self.hook_function(callback)?;
        self.hook(None, triggers, &f);
        Ok(())
    }

    /// Removes the hook of the running coroutine.
    pub fn remove_hook(&self) {
        self.enter().stack().cx().set_hook(None, None);
    }

    /// As [`Lua::set_hook`], for the running coroutine and all that are made from now on, by the host or by `coroutine`. Those that have such a hook already get the
    /// new function, with the triggers that they had.
    ///
    /// ```
    /// use std::sync::{Arc, atomic::{AtomicUsize, Ordering}};
    /// use perilune::{HookTriggers, Lua, VmState};
    ///
    /// # fn main() -> perilune::Result<()> {
    /// let lua = Lua::new();
    /// let calls = Arc::new(AtomicUsize::new(0));
    /// let seen = calls.clone();
    /// lua.set_global_hook(HookTriggers::ON_CALLS, move |_, debug| {
    ///     seen.fetch_add(usize::from(debug.source().what == "Lua"), Ordering::Relaxed);
    ///     Ok(VmState::Continue)
    /// })?;
    /// lua.load("coroutine.wrap(function() return (function() end)() end)()").exec()?;
    /// assert_eq!(calls.load(Ordering::Relaxed), 2);
    /// lua.remove_global_hook();
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the memory limit is reached.
    pub fn set_global_hook<F>(&self, triggers: HookTriggers, callback: F) -> Result<()>
    where
        F: Fn(&Lua, &Debug<'_>) -> Result<VmState> + MaybeSend + 'static,
    {
        let callback: XRc<HookFn> = XRc::new(callback);
        let f = self.hook_function(|lua, debug| {
            let callback = lua.control.global_hook.borrow().clone();
            match callback {
                Some(callback) => callback(lua, debug),
                None => {
                    lua.remove_hook();
                    Ok(VmState::Continue)
                }
            }
        })?;
        let before = self.control.global_hook.replace(Some(callback));
        self.hook(None, triggers, &f);
        let entry = self.enter();
        let s = entry.stack();
        let cx = &*s.cx();
        // SAFETY: rooted by its handle.
        let f = unsafe { Val::of(cx, s.word(&f.0).0) };
        cx.set_hook_of_new(f.as_func().map(|f| (f, setting(triggers))));
        // it may use the state when it is dropped
        drop(before);
        Ok(())
    }

    /// Removes the hook of all coroutines. What was set for one of them by itself stays.
    pub fn remove_global_hook(&self) {
        let entry = self.enter();
        entry.stack().cx().set_hook_of_new(None);
        let before = self.control.global_hook.take();
        drop(before);
    }

    /// The function that Lua calls as a hook.
    fn hook_function<F>(&self, callback: F) -> Result<Function>
    where
        F: Fn(&Lua, &Debug<'_>) -> Result<VmState> + MaybeSend + 'static,
    {
        self.create_function(move |lua, event: String| {
            let event = match &event[..] {
                "call" => DebugEvent::Call,
                "tail call" => DebugEvent::TailCall,
                "return" => DebugEvent::Ret,
                "line" => DebugEvent::Line,
                _ => DebugEvent::Count,
            };
            // level 0 is the hook itself
            let state = callback(lua, &Debug { lua, level: 1, event: Some(event) })?;
            if state == VmState::Yield && matches!(event, DebugEvent::Line | DebugEvent::Count) {
                lua.enter().stack().cx().yield_after_hook();
            }
            Ok(())
        })
    }

    fn hook(&self, thread: Option<&Thread>, triggers: HookTriggers, function: &Function) {
        let entry = self.enter();
        let s = entry.stack();
        let cx = &*s.cx();
        // SAFETY: rooted by its handle.
        let Some(f) = unsafe { Val::of(cx, s.word(&function.0).0) }.as_func() else {
            unreachable!("a function");
        };
        // SAFETY: rooted by its handle.
        let thread = thread.map(|t| unsafe { Val::of(cx, s.word(&t.0).0) });
        cx.set_hook(thread, Some((f, setting(triggers))));
    }

    /// Looks at the active function at a level: 0 is the one that runs, which is that of the host inside a callback.
    pub fn inspect_stack<R>(&self, level: usize, f: impl FnOnce(&Debug<'_>) -> R) -> Option<R> {
        let level = i64::try_from(level).ok()?;
        let entry = self.enter();
        // below everything is the host, which is no function
        let (function, _) = entry.stack().cx().level_info(None, level)?;
        function.as_func()?;
        Some(f(&Debug { lua: self, level, event: None }))
    }
}

impl Thread {
    /// As [`Lua::set_hook`], for this coroutine.
    ///
    /// # Errors
    /// When the memory limit is reached.
    pub fn set_hook<F>(&self, triggers: HookTriggers, callback: F) -> Result<()>
    where
        F: Fn(&Lua, &Debug<'_>) -> Result<VmState> + MaybeSend + 'static,
    {
        let lua = Lua::of(&self.0.control);
        let f = lua.hook_function(callback)?;
        lua.hook(Some(self), triggers, &f);
        Ok(())
    }

    /// Removes the hook of this coroutine.
    pub fn remove_hook(&self) {
        let entry = self.0.enter();
        let s = entry.stack();
        let cx = &*s.cx();
        // SAFETY: rooted by the handle.
        cx.set_hook(Some(unsafe { Val::of(cx, self.0.word()) }), None);
    }
}
