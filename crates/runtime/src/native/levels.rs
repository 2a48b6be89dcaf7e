//! Active functions and hooks for the library `debug` (manual 6.10).

use super::{Cx, Func, Val};
use crate::debug::{FunctionInfo, Level};
use crate::hook::Hook;
use crate::thread::Thread;
use crate::value::{SlotExt, Tag, Value};

/// Information about an active function.
pub struct LevelInfo {
    /// The line that it executes.
    pub line: Option<u32>,
    /// The kind (`namewhat`) and the name by which it was called.
    pub name: Option<(&'static str, Vec<u8>)>,
    /// Whether it was called by a tail call.
    pub is_tail_call: bool,
    /// The first value that a call or return hook receives, as the number of a local variable, and
    /// the number of values.
    pub transfer: (u32, u32),
}

/// A hook as a program sees it.
pub struct HookSetting {
    /// Whether it is called on calls.
    pub call: bool,
    /// Whether it is called on returns.
    pub ret: bool,
    /// Whether it is called on new lines.
    pub line: bool,
    /// The number of instructions between count events; 0 for none.
    pub count: u32,
    /// Whether the hook belongs to code in C: coroutines inherit it from their creator, and
    /// `debug.gethook` does not return its function.
    pub external: bool,
}

/// Returns the value of a stack slot as a program sees it: a stale header is nil, and so is the
/// closing value of a loop that runs inline.
fn visible(v: Value) -> Value {
    if matches!(v.tag(), Tag::FRAME | Tag::ITER) { Value::NIL } else { v }
}

/// Makes a hook that has not been called yet.
fn made(f: Func<'_>, s: &HookSetting) -> Hook {
    Hook {
        function: f.val().raw(),
        call: s.call,
        ret: s.ret,
        line: s.line,
        count: s.count,
        external: s.external,
        left: s.count,
        old_pc: 0,
        resumed: false,
    }
}

impl Cx {
    /// # Panics
    /// Panics if `co` is given and not a coroutine.
    fn thread_or_running(&self, co: Option<Val<'_>>) -> *mut Thread {
        match co {
            None => {
                // SAFETY: N1.
                unsafe { (*self.state()).thread }
            }
            Some(co) => {
                assert!(co.is_thread());
                co.raw().as_thread()
            }
        }
    }

    fn level_of(&self, co: Option<Val<'_>>, n: i64) -> Option<Level> {
        let th = self.thread_or_running(co);
        // SAFETY: N1, N2.
        unsafe { Level::at(self.state(), th, usize::try_from(n).ok()?) }
    }

    /// Makes `f` the function of the host's frame, from which the host calls into the state, so
    /// that it is a level of the call stack like those of other functions. Without a function, it
    /// is shown by tracebacks only.
    pub fn set_host_function(&self, f: Func<'_>) {
        // SAFETY: N1, N2. The frame is at the bottom of the stack of the main coroutine.
        unsafe {
            let main = (*self.state()).main_thread;
            (*main).stack.put(f.val().raw());
            (*self.state()).barrier(main.cast());
        }
    }

    /// Returns information about a function.
    pub fn function_info(&self, f: Func<'_>) -> FunctionInfo {
        // SAFETY: N2.
        unsafe { FunctionInfo::of(f.val().raw()) }
    }

    /// Returns the function of level `n` of a coroutine (`None`: the running one) and information
    /// about it; level 0 is the innermost.
    ///
    /// # Panics
    /// Panics if `co` is given and not a coroutine.
    pub fn level_info(&self, co: Option<Val<'_>>, n: i64) -> Option<(Val<'_>, LevelInfo)> {
        let l = self.level_of(co, n)?;
        // SAFETY: nothing has changed the stack since.
        unsafe {
            let th = self.thread_or_running(co);
            let transfer = if l.is_in_hook() { (*th).hook_transfer } else { (0, 0) };
            let (line, is_tail_call) = (l.line(), l.is_tail_call());
            let name = l.name().map(|(kind, name)| (kind, name.to_vec()));
            Some((Val::new(l.function()), LevelInfo { line, name, is_tail_call, transfer }))
        }
    }

    /// Returns the lines of a Lua function that have code; `None` for a native function.
    pub fn active_lines(&self, f: Func<'_>) -> Option<Vec<u32>> {
        // SAFETY: N2.
        let proto = unsafe { crate::debug::proto_of(f.val().raw())? };
        // The first instruction of a vararg function belongs to no statement.
        let skip = usize::from(proto.is_vararg);
        Some(proto.lines.iter().skip(skip).copied().collect())
    }

    /// Returns the name of parameter `n` (from 1) of a Lua function.
    pub fn parameter_name(&self, f: Func<'_>, n: i64) -> Option<Vec<u8>> {
        // SAFETY: N2.
        let proto = unsafe { crate::debug::proto_of(f.val().raw())? };
        let i = usize::try_from(n).ok()?.checked_sub(1)?;
        perilune_bytecode::active_locals(proto, 0).nth(i).map(|l| proto.str(l.name).to_vec())
    }

    /// Returns the name and the value of local variable `n` of a level. The outer `None` means that
    /// the level does not exist.
    ///
    /// # Panics
    /// Panics if `co` is given and not a coroutine.
    #[allow(clippy::type_complexity)]
    pub fn local(
        &self,
        co: Option<Val<'_>>,
        level: i64,
        n: i64,
    ) -> Option<Option<(Vec<u8>, Val<'_>)>> {
        let l = self.level_of(co, level)?;
        // SAFETY: nothing has changed the stack since.
        unsafe { Some(l.local(n).map(|(name, place)| (name, Val::new(visible(place.get()))))) }
    }

    /// Sets local variable `n` of a level and returns its name. The outer `None` means that the
    /// level does not exist. Those of native functions keep their values.
    ///
    /// # Panics
    /// Panics if `co` is given and not a coroutine.
    pub fn set_local(
        &self,
        co: Option<Val<'_>>,
        level: i64,
        n: i64,
        v: Val<'_>,
    ) -> Option<Option<Vec<u8>>> {
        let l = self.level_of(co, level)?;
        let th = self.thread_or_running(co);
        // SAFETY: nothing has changed the stack since. The stack of a coroutine that does not run
        // may have been scanned.
        unsafe {
            let name = l.set_local(n, v.raw());
            (*self.state()).barrier(th.cast());
            if let Some(name) = &name {
                if l.is_constant(n) {
                    super::upvalue::change_constant(&mut *self.state(), name == b"_ENV");
                }
                l.deoptimize(self.state(), th);
                (*self.state()).request(crate::state::poll::LEAVE);
            }
            Some(name)
        }
    }

    /// Sets or removes the hook of a coroutine (`None`: the running one).
    ///
    /// # Panics
    /// Panics if `co` is given and not a coroutine.
    pub fn set_hook(&self, co: Option<Val<'_>>, hook: Option<(Func<'_>, HookSetting)>) {
        let th = self.thread_or_running(co);
        // SAFETY: N1, N2.
        unsafe {
            (*th).hook = hook.map(|(f, s)| Box::new(made(f, &s)));
            (*self.state()).barrier(th.cast());
            (*self.state()).sync_hook();
        }
    }

    /// Sets or removes the hook of coroutines that are created from now on.
    pub fn set_hook_of_new(&self, hook: Option<(Func<'_>, HookSetting)>) {
        // SAFETY: N1, N2; the function is a root then.
        unsafe { (*self.state()).hook_of_new = hook.map(|(f, s)| Box::new(made(f, &s))) };
    }

    /// Makes the running coroutine yield, without values, when a hook for a line or a count has
    /// returned. If it may not yield, it continues.
    pub fn yield_after_hook(&self) {
        // SAFETY: N1.
        unsafe { (*(*self.state()).thread).hook_yields = true };
    }

    /// Returns the hook of a coroutine (`None`: the running one).
    ///
    /// # Panics
    /// Panics if `co` is given and not a coroutine.
    pub fn hook(&self, co: Option<Val<'_>>) -> Option<(Val<'_>, HookSetting)> {
        let th = self.thread_or_running(co);
        // SAFETY: N1, N2.
        unsafe {
            let h = (*th).hook.as_ref()?;
            let &Hook { call, ret, line, count, external, .. } = &**h;
            let s = HookSetting { call, ret, line, count, external };
            Some((Val::new(h.function), s))
        }
    }
}
