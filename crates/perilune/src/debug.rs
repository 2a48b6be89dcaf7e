//! Hooks and information about active functions (manual 6.10).

use std::borrow::Cow;

use perilune_runtime::native::{HookSetting, LevelInfo, Val};

pub use crate::triggers::{DebugEvent, HookTriggers};

use crate::control::HookFn;
use crate::stack::Raw;
use crate::sync::XRc;
use crate::types::{MaybeSend, VmState};
use crate::{Function, Lua, LuaString, Result, Thread};

/// An active function, as a hook or [`Lua::inspect_stack`] sees it.
pub struct Debug<'a> {
    lua: &'a Lua,
    level: i64,
    event: Option<DebugEvent>,
}

/// The name of an active function.
#[derive(Clone, Debug)]
pub struct DebugNames<'a> {
    /// The name, where one is known.
    pub name: Option<Cow<'a, str>>,
    /// The kind of the name: `global`, `local`, `method`, `field`, ...
    pub name_what: Option<&'static str>,
}

/// The place where a function was defined.
#[derive(Clone, Debug)]
pub struct DebugSource<'a> {
    /// The chunk's name as it was given.
    pub source: Option<Cow<'a, str>>,
    /// The chunk's name as it appears in messages.
    pub short_src: Option<Cow<'a, str>>,
    /// The line where the definition begins.
    pub line_defined: Option<usize>,
    /// The line where the definition ends.
    pub last_line_defined: Option<usize>,
    /// `Lua`, `C` or `main`.
    pub what: &'static str,
}

/// The numbers of a function's upvalues and parameters.
#[derive(Clone, Copy, Debug)]
pub struct DebugStack {
    /// Number of upvalues.
    pub num_upvalues: u8,
    /// Number of parameters.
    pub num_params: u8,
    /// Whether the function is variadic.
    pub is_vararg: bool,
}

impl<'a> Debug<'a> {
    /// Returns the function that caused the hook's event.
    fn of_hook(lua: &'a Lua, event: DebugEvent) -> Debug<'a> {
        // level 0 is the hook itself
        Debug { lua, level: 1, event: Some(event) }
    }

    fn with<R>(&self, f: impl FnOnce(Function, LevelInfo) -> R) -> R {
        let entry = self.lua.enter();
        let s = entry.stack();
        let level = s.cx().level_info(None, self.level);
        // the bottom frame belongs to the host and is no function
        let Some((function, info)) = level.filter(|(f, _)| f.as_func().is_some()) else {
            panic!("the function is not active any more");
        };
        let function = Function(s.handle(Raw(function.raw())));
        f(function, info)
    }

    /// Returns the hook's event; [`DebugEvent::Count`] outside of hooks.
    pub fn event(&self) -> DebugEvent {
        self.event.unwrap_or(DebugEvent::Count)
    }

    /// Returns the function.
    pub fn function(&self) -> Function {
        self.with(|f, _| f)
    }

    /// Returns the name by which the function was called.
    pub fn names(&self) -> DebugNames<'_> {
        self.with(|_, i| {
            let (what, name) = i.name.map_or((None, None), |(w, n)| (Some(w), Some(n)));
            DebugNames {
                name: name.map(|n| Cow::Owned(String::from_utf8_lossy(&n).into_owned())),
                name_what: what.filter(|w| !w.is_empty()),
            }
        })
    }

    /// Returns the place where the function was defined.
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

    /// Returns the line that the function is executing, if it is known.
    pub fn current_line(&self) -> Option<usize> {
        self.with(|_, i| i.line.map(|l| l as usize))
    }

    /// Returns whether the function was called by a tail call.
    pub fn is_tail_call(&self) -> bool {
        self.with(|_, i| i.is_tail_call)
    }

    /// Returns the numbers of upvalues and parameters.
    pub fn stack(&self) -> DebugStack {
        let info = self.function().info();
        DebugStack {
            num_upvalues: info.num_upvalues,
            num_params: info.num_params,
            is_vararg: info.is_vararg,
        }
    }
}

fn setting(triggers: HookTriggers) -> HookSetting {
    HookSetting {
        call: triggers.on_calls,
        ret: triggers.on_returns,
        line: triggers.every_line,
        count: triggers.every_nth_instruction.unwrap_or(0),
        // a script must not call the function: it expects that a hooked function is active
        external: true,
    }
}

impl Lua {
    /// Sets the hook of the running coroutine and replaces its previous one. An error of `callback`
    /// is raised in the program. When it returns [`VmState::Yield`] for a line or a count, the
    /// coroutine yields without values and, once resumed, continues with that line or instruction;
    /// where a coroutine cannot yield, such as the main one, the program continues.
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
    /// Returns [`Error::MemoryError`](crate::Error::MemoryError) when the memory limit is reached.
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

    /// Sets the hook of the running coroutine and of all coroutines that are created from now on,
    /// by the host or by `coroutine`. Coroutines that already have a global hook call the new
    /// function, with their old triggers.
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
    /// Returns [`Error::MemoryError`](crate::Error::MemoryError) when the memory limit is reached.
    pub fn set_global_hook<F>(&self, triggers: HookTriggers, callback: F) -> Result<()>
    where
        F: Fn(&Lua, &Debug<'_>) -> Result<VmState> + MaybeSend + 'static,
    {
        let callback = move |lua: &Lua, event| callback(lua, &Debug::of_hook(lua, event));
        let callback: XRc<HookFn> = XRc::new(callback);
        let f = self.hook_function(|lua, debug| {
            let callback = lua.control.global_hook.borrow().clone();
            match callback {
                Some(callback) => callback(lua, debug.event()),
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
        // dropped last, since its destructor may use the state
        drop(before);
        Ok(())
    }

    /// Removes the global hook. Hooks that were set for single coroutines remain.
    pub fn remove_global_hook(&self) {
        let entry = self.enter();
        entry.stack().cx().set_hook_of_new(None);
        let before = self.control.global_hook.take();
        drop(before);
    }

    /// Creates the function that Lua calls as a hook.
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
            let state = callback(lua, &Debug::of_hook(lua, event))?;
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

    /// Returns a message followed by a traceback of the running coroutine that begins at level
    /// `level`.
    ///
    /// # Errors
    /// Returns [`Error::MemoryError`](crate::Error::MemoryError) when the memory limit is reached.
    pub fn traceback(&self, message: Option<&str>, level: usize) -> Result<LuaString> {
        let entry = self.enter();
        let s = entry.stack();
        let text = s.cx().traceback(None, message.map(str::as_bytes), level);
        self.create_string(text)
    }

    /// Calls `f` with the active function at a level; `None` if there is no such level. Level 0 is
    /// the running function, which inside a callback is the callback itself.
    pub fn inspect_stack<R>(&self, level: usize, f: impl FnOnce(&Debug<'_>) -> R) -> Option<R> {
        let level = i64::try_from(level).ok()?;
        let entry = self.enter();
        // the bottom frame belongs to the host and is no function
        let (function, _) = entry.stack().cx().level_info(None, level)?;
        function.as_func()?;
        Some(f(&Debug { lua: self, level, event: None }))
    }
}

impl Thread {
    /// Sets the hook of this coroutine; see [`Lua::set_hook`].
    ///
    /// # Errors
    /// Returns [`Error::MemoryError`](crate::Error::MemoryError) when the memory limit is reached.
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
