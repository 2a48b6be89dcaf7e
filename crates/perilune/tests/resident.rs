//! Memory is returned to the system after a peak.
//!
//! This file has a single test, which needs its own process since it reads the resident memory of
//! the process.

#![cfg(all(target_os = "linux", target_env = "gnu"))]

use std::time::{Duration, Instant};

use perilune::{Engine, Lua};

/// Returns the resident memory in MB.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = text.split(' ').nth(1).unwrap().parse().unwrap();
    (pages * 4096) >> 20
}

#[test]
fn memory_goes_back_after_a_peak() {
    let lua = Lua::with_engine(&Engine::interpreter());
    let run = |code: &str| lua.load(code).exec().unwrap();
    run("local t = {} for i = 1, 300 do t[i] = ('x'):rep(i) end collectgarbage()");
    let before = resident();
    // Objects, long strings, and arrays.
    run("t = {} for i = 1, 600000 do t[i] = {i, i .. ''} end \
         for i = 1, 40 do t[-i] = ('x'):rep(2000000 + i) end");
    let peak = resident();
    assert!(peak > before + 150, "{before} MB, then {peak} MB");
    // The first cycle frees the memory; in debug builds, where freed memory is in quarantine for a
    // cycle, the next one does.
    run("t = nil for i = 1, 4 do collectgarbage() end");
    let after = resident();
    assert!(after < before + (peak - before) / 4, "{before} MB, {peak} MB, then {after} MB");
    run("t = {} for i = 1, 600000 do t[i] = {i, i .. ''} end assert(t[600000][2] == '600000')");

    // Cycles that the program has not requested leave this to a thread.
    run("for i = 1, 40 do t[-i] = ('x'):rep(2000000 + i) end");
    let peak = resident();
    assert!(peak > before + 150, "{before} MB, then {peak} MB");
    let start = Instant::now();
    run("t = nil");
    while resident() >= before + (peak - before) / 4 {
        assert!(start.elapsed() < Duration::from_secs(60), "{before} MB, then {} MB", resident());
        run("for i = 1, 100000 do local x = {i} end");
    }
}
