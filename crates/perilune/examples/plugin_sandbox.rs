//! Plugins that nobody vouches for: a sandbox each, with limits of memory, time and instructions
//! that hold in machine code too.
//!
//!     cargo run -p perilune --example plugin_sandbox

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use perilune::{Limit, Result, Sandbox, SandboxOptions, Value};

/// The value in a lock, also after a panic of who held it.
fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What became of a plugin.
#[derive(Debug, PartialEq)]
enum Outcome {
    /// What it returned, and what it printed.
    Done(String, Vec<String>),
    /// It took too much of something.
    Stopped(Limit),
    /// It failed.
    Failed(String),
}

struct Plugin {
    sandbox: Sandbox,
    printed: Arc<Mutex<Vec<String>>>,
}

impl Plugin {
    /// No files, no processes, no modules, no `debug`; so much of everything.
    fn new() -> Result<Plugin> {
        let printed = Arc::new(Mutex::new(Vec::new()));
        let lines = printed.clone();
        let sandbox = SandboxOptions::new()
            .memory(8 << 20)
            .time(Duration::from_secs(2))
            // The same on every machine, which time is not.
            .instructions(2_000_000)
            .print(move |line| {
                locked(&lines).push(line.to_owned());
                Ok(())
            })
            .build()?;
        Ok(Plugin { sandbox, printed })
    }

    /// Runs a plugin within its limits. One that was reached stands, whatever the plugin catches.
    fn run(&self, name: &str, source: &str) -> Outcome {
        let result = self.sandbox.run(|_| {
            let chunk = self.sandbox.load(source).set_name(format!("={name}"));
            // Results may have metamethods of the plugin, so they are looked at within the limits
            // too.
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

    // what came of it
    let outcome = |name: &str| &outcomes.iter().find(|o| o.0 == name).expect("it ran").1;
    assert_eq!(*outcome("good"), Outcome::Done("100 squares".into(), vec!["working on it".into()]));
    for name in ["endless", "stubborn", "sleeper"] {
        assert_eq!(*outcome(name), Outcome::Stopped(Limit::Instructions), "{name}");
    }
    // 8 MB hold no stack of 200 000 frames, after which the depth itself would be the error
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
