//! Untrusted plugins: each runs in a sandbox, with limits on memory, time and instructions that are
//! enforced in machine code as well.
//!
//!     cargo run -p perilune --example plugin_sandbox

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use perilune::{Limit, Result, Sandbox, SandboxOptions, Value};

/// Locks a value, even if a thread has panicked while it held the lock.
fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The outcome of a plugin.
#[derive(Debug, PartialEq)]
enum Outcome {
    /// The plugin's result and its printed lines.
    Done(String, Vec<String>),
    /// The plugin reached a limit.
    Stopped(Limit),
    /// The plugin failed.
    Failed(String),
}

struct Plugin {
    sandbox: Sandbox,
    printed: Arc<Mutex<Vec<String>>>,
}

impl Plugin {
    /// Creates a sandbox without files, processes, modules and `debug`, and with limited resources.
    fn new() -> Result<Plugin> {
        let printed = Arc::new(Mutex::new(Vec::new()));
        let lines = printed.clone();
        let sandbox = SandboxOptions::new()
            .memory(8 << 20)
            .time(Duration::from_secs(2))
            // Deterministic on every machine, unlike time.
            .instructions(2_000_000)
            .print(move |line| {
                locked(&lines).push(line.to_owned());
                Ok(())
            })
            .build()?;
        Ok(Plugin { sandbox, printed })
    }

    /// Runs a plugin within its limits. A limit that was reached ends the plugin even if it catches
    /// errors.
    fn run(&self, name: &str, source: &str) -> Outcome {
        let result = self.sandbox.run(|_| {
            let chunk = self.sandbox.load(source).set_name(format!("={name}"));
            // Results may have metamethods of the plugin, so they are converted within the limits.
            chunk.eval::<Value>()?.to_string()
        });
        match (result, self.sandbox.reached()) {
            (Ok(text), _) => Outcome::Done(text, std::mem::take(&mut *locked(&self.printed))),
            (Err(_), Some(limit)) => Outcome::Stopped(limit),
            (Err(error), None) => {
                Outcome::Failed(error.to_string().lines().next().unwrap_or_default().to_owned())
            }
        }
    }
}

/// Plugins, good and bad ones.
const PLUGINS: &[(&str, &str)] = &[
    (
        "good",
        "print('working on it')
         local t = {} for i = 1, 100 do t[i] = i * i end return #t .. ' squares'",
    ),
    ("endless", "while true do end"),
    ("stubborn", "while true do pcall(function() while true do end end) end"),
    ("patterns", "return ('a'):rep(100000):find('.-.-.-.-b')"),
    ("hoarder", "local t = {} while true do t[#t + 1] = ('x'):rep(1000) .. #t end"),
    ("bomb", "local s = 'x' while true do s = s .. s end"),
    ("deep", "local function f() return 1 + f() end return f()"),
    ("sleeper", "return setmetatable({}, { __tostring = function() while true do end end })"),
    ("thief", "return io.open('/etc/passwd'):read('a')"),
    ("forger", "return assert(load('\\27Lua'))"),
    ("liar", "error('instruction limit exceeded')"),
    ("late", "return 'still here'"),
];

pub(crate) fn main() -> Result<()> {
    let mut outcomes = Vec::new();
    for (name, source) in PLUGINS {
        let outcome = Plugin::new()?.run(name, source);
        println!("{name:>10}: {outcome:?}");
        outcomes.push((*name, outcome));
    }

    // check the outcome
    let outcome = |name: &str| &outcomes.iter().find(|o| o.0 == name).expect("it ran").1;
    assert_eq!(*outcome("good"), Outcome::Done("100 squares".into(), vec!["working on it".into()]));
    for name in ["endless", "stubborn", "sleeper"] {
        assert_eq!(*outcome(name), Outcome::Stopped(Limit::Instructions), "{name}");
    }
    // 8 MB cannot hold a stack of 200 000 frames, at which depth the stack overflows
    for name in ["hoarder", "bomb", "deep"] {
        assert_eq!(*outcome(name), Outcome::Stopped(Limit::Memory), "{name}");
    }
    assert!(matches!(outcome("patterns"), Outcome::Stopped(_)));
    for name in ["thief", "forger", "liar"] {
        assert!(matches!(outcome(name), Outcome::Failed(_)), "{name}");
    }
    assert_eq!(*outcome("late"), Outcome::Done("still here".into(), Vec::new()));
    Ok(())
}
