//! Restricted states for untrusted scripts.

use std::cell::Cell;
use std::sync::OnceLock;
use std::time::Duration;

use perilune_code::fork;
use perilune_runtime::native::{Cx, NativeResult, Val};
use perilune_runtime::state::poll;

use crate::stack::Raw;
use crate::types::MaybeSend;
use crate::{
    AsChunk, Chunk, ChunkMode, Engine, Error, Function, JitOptions, Lua, LuaOptions, Result,
    StdLib, Table, Value, Variadic,
};

/// Basic functions that give access to files or control the collector.
const NOT_BASIC: &[&str] = &["collectgarbage", "dofile", "loadfile"];
/// The functions of `os` that are kept: those about dates and times.
const OS: &[&str] = &["clock", "date", "difftime", "time"];
/// The functions of `debug` that are kept.
const DEBUG: &[&str] = &["traceback"];

#[cfg(not(feature = "send"))]
type Print = dyn Fn(&str) -> Result<()>;
#[cfg(feature = "send")]
type Print = dyn Fn(&str) -> Result<()> + Send;

/// The options of a [`Sandbox`].
#[must_use]
#[derive(Default)]
pub struct SandboxOptions {
    memory: Option<usize>,
    time: Option<Duration>,
    instructions: Option<u64>,
    engine: Option<Engine>,
    print: Option<Box<Print>>,
}

impl SandboxOptions {
    /// Returns options that set no limits and discard printed text.
    pub fn new() -> SandboxOptions {
        SandboxOptions::default()
    }

    /// Limits the memory of the state, in bytes, for its whole lifetime
    /// ([`Lua::set_memory_limit`]).
    pub fn memory(mut self, bytes: usize) -> SandboxOptions {
        self.memory = Some(bytes);
        self
    }

    /// Limits the time of each [`Sandbox::run`] ([`Lua::set_time_limit`]).
    pub fn time(mut self, limit: Duration) -> SandboxOptions {
        self.time = Some(limit);
        self
    }

    /// Limits the instructions of each [`Sandbox::run`] ([`Lua::set_instruction_limit`]). The state
    /// belongs to an engine whose machine code counts them. All such states of the process share
    /// that engine, unless [`SandboxOptions::engine`] sets another.
    pub fn instructions(mut self, limit: u64) -> SandboxOptions {
        self.instructions = Some(limit);
        self
    }

    /// Sets the engine of the state.
    pub fn engine(mut self, engine: &Engine) -> SandboxOptions {
        self.engine = Some(engine.clone());
        self
    }

    /// Sets the receiver of printed text. It is called with each line, without the newline at its
    /// end; `print` raises its errors.
    pub fn print(mut self, f: impl Fn(&str) -> Result<()> + MaybeSend + 'static) -> SandboxOptions {
        self.print = Some(Box::new(f));
        self
    }

    /// Creates the state.
    ///
    /// # Errors
    /// Returns an error when there is not enough memory, and [`Error::RuntimeError`] for an
    /// instruction limit with an engine that does not count instructions.
    pub fn build(self) -> Result<Sandbox> {
        let engine = match (self.engine, self.instructions) {
            (Some(engine), _) => engine,
            (None, Some(_)) => counting_engine(),
            (None, None) => Lua::shared_engine(),
        };
        let libraries = StdLib::SANDBOX | StdLib::OS | StdLib::DEBUG;
        let lua = Lua::with_engine_and(&engine, libraries, LuaOptions::new())?;
        // SAFETY: P1.
        unsafe { (*lua.enter().st).ignore_finalizers() };
        let globals = lua.globals();
        for name in NOT_BASIC {
            globals.raw_set(*name, Value::Nil)?;
        }
        keep(&globals.raw_get("os")?, OS)?;
        keep(&globals.raw_get("debug")?, DEBUG)?;
        let string: Table = globals.raw_get("string")?;
        string.raw_set("dump", Value::Nil)?;
        if let Some(meta) = lua.type_metatable::<crate::LuaString>() {
            meta.raw_set("__metatable", false)?;
        }
        globals.raw_set("load", text_only(&lua, &globals.raw_get("load")?)?)?;
        globals.raw_set("print", printer(&lua, self.print)?)?;
        lua.set_warning_function(|_, _, _| Ok(()));
        if self.instructions.is_some() {
            // fails early if instructions are not counted
            lua.set_instruction_limit(None)?;
        }
        if let Some(bytes) = self.memory {
            lua.set_memory_limit(bytes.max(1))?;
        }
        let (time, instructions) = (self.time, self.instructions);
        Ok(Sandbox { lua, time, instructions, reached: Cell::new(None), running: Cell::new(false) })
    }
}

impl std::fmt::Debug for SandboxOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SandboxOptions")
            .field("memory", &self.memory)
            .field("time", &self.time)
            .field("instructions", &self.instructions)
            .finish_non_exhaustive()
    }
}

/// A limit that a script has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// The limit of [`SandboxOptions::memory`].
    Memory,
    /// The limit of [`SandboxOptions::time`].
    Time,
    /// The limit of [`SandboxOptions::instructions`].
    Instructions,
}

/// A state for untrusted scripts. Its scripts can access only what the host puts into the state,
/// and can use no more resources than they are given.
///
/// It has the basic functions without `dofile`, `loadfile` and `collectgarbage`; `coroutine`,
/// `table`, `string` (without `dump`), `utf8` and `math`; of `os` the functions `clock`, `date`,
/// `difftime` and `time`; of `debug` the function `traceback`. `load` accepts only source text. The
/// metatable of strings is hidden. `__gc` has no effect, since finalizers could run outside the
/// limits. Printed text is passed to the host ([`SandboxOptions::print`]) or discarded; warnings
/// are discarded.
///
/// ```
/// use std::time::Duration;
/// use perilune::{Limit, Result, SandboxOptions};
///
/// # fn main() -> Result<()> {
/// let sandbox = SandboxOptions::new()
///     .memory(8 << 20)
///     .time(Duration::from_secs(1))
///     .instructions(1_000_000)
///     .build()?;
/// sandbox.lua().globals().set("answer", 42)?;
/// assert_eq!(sandbox.run(|_| sandbox.load("return answer / 2").eval::<f64>())?, 21.0);
///
/// assert!(sandbox.run(|_| sandbox.load("while true do pcall(error) end").exec()).is_err());
/// assert_eq!(sandbox.reached(), Some(Limit::Instructions));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Sandbox {
    lua: Lua,
    time: Option<Duration>,
    instructions: Option<u64>,
    reached: Cell<Option<Limit>>,
    running: Cell<bool>,
}

impl Sandbox {
    /// Returns the state, for the host. Outside [`Sandbox::run`] only the memory limit applies.
    pub fn lua(&self) -> &Lua {
        &self.lua
    }

    /// Creates a chunk from source text. Running a binary chunk fails.
    #[track_caller]
    pub fn load<'a>(&self, chunk: impl AsChunk + 'a) -> Chunk<'a> {
        self.lua.load(chunk).set_mode(ChunkMode::Text)
    }

    /// Calls `f` with the state. The limits on time and instructions apply from the beginning of
    /// the call until `f` returns. Results that may have metamethods of the script should be
    /// converted inside `f`. A run that a function of the host starts inside another run shares the
    /// limits of the outer one.
    ///
    /// # Errors
    /// Returns the error of `f`. [`Sandbox::reached`] tells whether a limit was the reason; the
    /// error itself does not, since a script can raise an error with the same text.
    pub fn run<R>(&self, f: impl FnOnce(&Lua) -> Result<R>) -> Result<R> {
        /// Removes the limits when it is dropped, even during a panic.
        struct Run<'a>(&'a Sandbox);
        impl Drop for Run<'_> {
            fn drop(&mut self) {
                self.0.running.set(false);
                // lifting a limit does not fail
                let _ = self.0.lua.set_time_limit(None);
                if self.0.instructions.is_some() {
                    let _ = self.0.lua.set_instruction_limit(None);
                }
            }
        }
        if self.running.replace(true) {
            return f(&self.lua);
        }
        let run = Run(self);
        self.reached.set(None);
        self.lua.set_time_limit(self.time)?;
        if self.instructions.is_some() {
            self.lua.set_instruction_limit(self.instructions)?;
        }
        let result = f(&self.lua);
        if let Err(e) = &result {
            self.reached.set(self.reached_with(e));
        }
        drop(run);
        result
    }

    /// Returns the limit that ended the last [`Sandbox::run`], if one did.
    pub fn reached(&self) -> Option<Limit> {
        self.reached.get()
    }

    fn reached_with(&self, e: &Error) -> Option<Limit> {
        let entry = self.lua.enter();
        // SAFETY: P1.
        let bits = unsafe { (*entry.st).poll.load(std::sync::atomic::Ordering::Relaxed) };
        let is_memory = |e: &(dyn std::error::Error + 'static)| {
            matches!(e.downcast_ref::<Error>(), Some(Error::MemoryError(_)))
        };
        if bits & poll::OUT_OF_FUEL != 0 {
            Some(Limit::Instructions)
        } else if bits & poll::OUT_OF_TIME != 0 {
            Some(Limit::Time)
        } else {
            e.chain().any(is_memory).then_some(Limit::Memory)
        }
    }
}

/// Returns the engine that sandboxes with an instruction limit share.
fn counting_engine() -> Engine {
    static COUNTING: OnceLock<Engine> = OnceLock::new();
    let make = || Engine::with_jit(JitOptions { counts: true, ..JitOptions::default() });
    let _inside = fork::enter();
    COUNTING.get_or_init(make).clone()
}

/// Removes all fields except these.
fn keep(library: &Table, names: &[&str]) -> Result<()> {
    let fields: Vec<String> =
        library.pairs::<String, Value>().map(|p| Ok(p?.0)).collect::<Result<_>>()?;
    for name in fields.iter().filter(|name| !names.contains(&name.as_str())) {
        library.raw_set(name.as_str(), Value::Nil)?;
    }
    Ok(())
}

/// Creates a `load` that accepts source text only.
fn text_only(lua: &Lua, load: &Function) -> Result<Function> {
    let entry = lua.enter();
    let s = entry.stack();
    s.poll()?;
    let load = s.word(&load.0);
    let cx = &*s.cx();
    // SAFETY: rooted by its handle.
    let load = unsafe { Val::of(cx, load.0) };
    let f = cx.func(load_text, &[load]);
    f.hide_bound();
    let f = f.val().raw();
    Ok(Function(s.handle(Raw(f))))
}

/// Implements `load (chunk [, chunkname [, mode [, env]]])`, always with the mode `t`.
fn load_text(cx: &mut Cx) -> NativeResult {
    if cx.step() == 1 {
        return cx.ret(cx.top() - cx.kept());
    }
    let n = cx.top();
    // `load` ignores further arguments, for which there may be no room
    let count = n.clamp(3, 4);
    let (load, mode) = (cx.bound(0), cx.str(b"t").val());
    cx.push_callee(load);
    for i in 0..count {
        cx.push(match i {
            2 => mode,
            i if i < n => cx.get(i),
            _ => Val::NIL,
        });
    }
    cx.call_then(count, 1)
}

/// Creates a `print` that calls the host's receiver.
fn printer(lua: &Lua, print: Option<Box<Print>>) -> Result<Function> {
    let Some(print) = print else {
        return lua.create_function(|_, _: Variadic<Value>| Ok(()));
    };
    lua.create_function(move |lua, values: Variadic<Value>| {
        let mut line = String::new();
        for (i, value) in values.iter().enumerate() {
            if i > 0 {
                line.push('\t');
            }
            let text = match value {
                Value::String(s) => s.to_string_lossy(),
                v => v.to_string()?,
            };
            // the same long string may be printed many times
            lua.enter().stack().check_room(line.len() + text.len())?;
            line.push_str(&text);
        }
        print(&line)
    })
}
