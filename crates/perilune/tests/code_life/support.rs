//! Engines and their metrics.

use std::time::{Duration, Instant};

use perilune::{Engine, JitOptions, Lua};

/// Returns options that compile in the background, after few calls.
pub(crate) fn background() -> JitOptions {
    JitOptions { threshold: 16, loop_threshold: 64, ..JitOptions::eager() }
}

/// Returns options that compile synchronously.
pub(crate) fn sync() -> JitOptions {
    JitOptions { sync: true, ..background() }
}

/// Returns a metric of the engine.
pub(crate) fn metric(engine: &Engine, name: &str) -> u64 {
    let metrics = engine.jit_metrics();
    let found = metrics.iter().find(|(n, _)| *n == name);
    found.unwrap_or_else(|| panic!("no metric is named {name}")).1
}

/// Runs a chunk and returns its result.
pub(crate) fn eval(lua: &Lua, source: &str) -> String {
    lua.load(source)
        .set_name("=test")
        .call::<perilune::Value>(())
        .and_then(|v| v.to_string())
        .unwrap_or_else(|e| panic!("{e}"))
}

/// Waits until the condition holds; panics after a timeout.
pub(crate) fn wait_for(what: &str, mut condition: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(Instant::now() < end, "waited too long: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Returns whether no code is left.
pub(crate) fn is_empty(engine: &Engine) -> bool {
    ["versions live", "bytes live", "bytes retired"].iter().all(|n| metric(engine, n) == 0)
}
