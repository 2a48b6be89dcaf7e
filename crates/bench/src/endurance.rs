//! Code shared by the commands that test the life cycle of machine code. They run the engine in
//! this process and check its metrics.

use std::time::{Duration, Instant};

use perilune::{Engine, Lua};

use crate::Result;

/// Returns a metric of the machine code of an engine with a compiler.
///
/// # Panics
/// Panics if there is no metric with this name: a check of 0 would pass without it.
pub(crate) fn metric(engine: &Engine, name: &str) -> u64 {
    let found = engine.jit_metrics().into_iter().find(|(n, _)| *n == name);
    found.unwrap_or_else(|| panic!("no metric is called '{name}'")).1
}

/// Returns the resident memory of this process in bytes.
pub(crate) fn resident() -> Result<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").map_err(|e| e.to_string())?;
    let pages = text.split(' ').nth(1).and_then(|n| n.parse::<u64>().ok());
    pages.map(|n| n * 4096).ok_or_else(|| "cannot read /proc/self/statm".into())
}

/// Returns the processor time of this thread so far, in nanoseconds.
pub(crate) fn thread_time() -> Result<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").map_err(|e| e.to_string())?;
    let time = text.split(' ').next().and_then(|n| n.parse().ok());
    time.ok_or_else(|| "cannot read /proc/thread-self/schedstat".into())
}

/// Runs source text in a state.
pub(crate) fn eval(lua: &Lua, source: &str) -> Result<String> {
    lua.load(source)
        .set_name("=bench")
        .call::<Option<String>>(())
        .map(Option::unwrap_or_default)
        .map_err(|e| e.to_string())
}

/// Waits until no machine code is left. Returns whether that happened in time.
pub(crate) fn drained(engine: &Engine, patience: Duration) -> bool {
    let end = Instant::now() + patience;
    let names = ["versions live", "bytes live", "bytes retired"];
    while names.iter().any(|name| metric(engine, name) != 0) {
        if Instant::now() > end {
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    true
}

/// The conditions that a command has checked, and whether all held.
#[derive(Default)]
pub(crate) struct Verdict {
    failures: usize,
}

impl Verdict {
    /// Records a condition and prints a line about it.
    pub(crate) fn check(&mut self, holds: bool, text: &str) {
        println!("{} {text}", if holds { "ok    " } else { "FAILED" });
        self.failures += usize::from(!holds);
    }

    /// Returns whether all conditions held.
    pub(crate) fn is_good(&self) -> bool {
        self.failures == 0
    }
}
