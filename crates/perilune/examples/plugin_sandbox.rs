//! Plugins that nobody vouches for: a state each, few libraries, and limits of memory, time and instructions that hold in machine code too.
//!
//!     cargo run -p perilune --example plugin_sandbox

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use perilune::{
    Engine, Error, Function, JitOptions, Lua, LuaOptions, Result, StdLib, Value, Variadic,
};

/// The value in a lock, also after a panic of who held it.
fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a plugin may use up.
const MEMORY: usize = 8 << 20;
const TIME: Duration = Duration::from_secs(2);
const INSTRUCTIONS: u64 = 2_000_000;

/// What became of a plugin.
#[derive(Debug, PartialEq)]
enum Outcome {
    /// What it returned, and what it printed.
    Done(String, Vec<String>),
    /// It took too much of something.
    Stopped(&'static str),
    /// It failed.
    Failed(String),
}

struct Sandbox {
    lua: Lua,
    printed: Arc<Mutex<Vec<String>>>,
}

impl Sandbox {
    fn new(engine: &Engine) -> Result<Sandbox> {
        // No files, no processes, no modules, no `debug`.
        let libraries =
            StdLib::STRING | StdLib::TABLE | StdLib::MATH | StdLib::UTF8 | StdLib::COROUTINE;
        let lua = Lua::with_engine_and(engine, libraries, LuaOptions::new())?;
        let globals = lua.globals();
        // The basic functions are always there: these reach files, or the collector of the host.
        for name in ["dofile", "loadfile", "collectgarbage"] {
            globals.set(name, Value::Nil)?;
        }
        // Binary chunks are verified, so they do no harm; a plugin has no use for them though.
        let load: Function = globals.get("load")?;
        let load_text = lua.create_function(move |_, (chunk, name): (Value, Option<String>)| {
            load.call::<Variadic<Value>>((chunk, name, "t"))
        })?;
        globals.set("load", load_text)?;
        let printed = Arc::new(Mutex::new(Vec::new()));
        let lines = printed.clone();
        let print = lua.create_function(move |_, values: Variadic<Value>| {
            let words: Result<Vec<String>> = values.iter().map(Value::to_string).collect();
            locked(&lines).push(words?.join(" "));
            Ok(())
        })?;
        globals.set("print", print)?;
        Ok(Sandbox { lua, printed })
    }

    /// Runs a plugin within its limits. A limit that was reached stands, whatever the plugin catches.
    fn run(&self, name: &str, source: &str) -> Result<Outcome> {
        self.lua.set_memory_limit(self.lua.used_memory() + MEMORY)?;
        self.lua.set_time_limit(Some(TIME))?;
        self.lua.set_instruction_limit(Some(INSTRUCTIONS))?;
        let result = self.lua.load(source).set_name(format!("={name}")).eval::<Value>();
        // Results may have metamethods of the plugin, so they are looked at within the limits too.
        let result = result.and_then(|value| value.to_string());
        self.lua.set_memory_limit(0)?;
        self.lua.set_time_limit(None)?;
        self.lua.set_instruction_limit(None)?;
        let printed = std::mem::take(&mut *locked(&self.printed));
        Ok(match result {
            Ok(text) => Outcome::Done(text, printed),
            Err(Error::MemoryError(_)) => Outcome::Stopped("memory"),
            Err(error) => {
                let text = error.to_string();
                let limits = [
                    ("time limit exceeded", "time"),
                    ("instruction limit exceeded", "instructions"),
                    ("not enough memory", "memory"),
                ];
                match limits.iter().find(|(message, _)| text.contains(message)) {
                    Some((_, what)) => Outcome::Stopped(what),
                    None => Outcome::Failed(text.lines().next().unwrap_or_default().to_owned()),
                }
            }
        })
    }
}

/// Plugins, good and bad.
const PLUGINS: &[(&str, &str)] = &[
    (
        "good",
        "print('working on it') local t = {} for i = 1, 100 do t[i] = i * i end return #t .. ' squares'",
    ),
    ("endless", "while true do end"),
    ("stubborn", "while true do pcall(function() while true do end end) end"),
    ("patterns", "return ('a'):rep(100000):find('.-.-.-.-b')"),
    ("hoarder", "local t = {} while true do t[#t + 1] = ('x'):rep(1000) .. #t end"),
    ("bomb", "local s = 'x' while true do s = s .. s end"),
    ("deep", "local function f() return 1 + f() end return f()"),
    ("sleeper", "return setmetatable({}, { __tostring = function() while true do end end })"),
    ("thief", "return io.open('/etc/passwd'):read('a')"),
    ("forger", "return load('\\27Lua')"),
    ("late", "return 'still here'"),
];

pub(crate) fn main() -> Result<()> {
    // The machine code of this engine counts instructions: a limit of theirs is the same on every machine, one of time is not.
    let engine = Engine::with_jit(JitOptions { counts: true, ..JitOptions::default() });
    let mut outcomes = Vec::new();
    for (name, source) in PLUGINS {
        let outcome = Sandbox::new(&engine)?.run(name, source)?;
        println!("{name:>10}: {outcome:?}");
        outcomes.push((*name, outcome));
    }

    // what came of it
    let outcome = |name: &str| &outcomes.iter().find(|o| o.0 == name).expect("it ran").1;
    assert_eq!(*outcome("good"), Outcome::Done("100 squares".into(), vec!["working on it".into()]));
    for name in ["endless", "stubborn", "sleeper"] {
        assert_eq!(*outcome(name), Outcome::Stopped("instructions"), "{name}");
    }
    assert_eq!(*outcome("hoarder"), Outcome::Stopped("memory"));
    assert_eq!(*outcome("bomb"), Outcome::Stopped("memory"));
    assert!(matches!(outcome("patterns"), Outcome::Stopped(_)));
    // 8 MB hold no stack of 200 000 frames, after which the depth itself would be the error
    assert_eq!(*outcome("deep"), Outcome::Stopped("memory"));
    assert!(matches!(outcome("thief"), Outcome::Failed(_)));
    assert_eq!(*outcome("late"), Outcome::Done("still here".into(), Vec::new()));
    Ok(())
}
