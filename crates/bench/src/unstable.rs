//! `unstable`: calls whose argument types keep changing. Checks that the number of compilations and
//! the size of the code are bounded, and that the program is never slower than in the interpreter.

use perilune::{Engine, JitOptions, Lua};

use crate::Result;
use crate::args::Options;
use crate::endurance::{Verdict, eval, metric, thread_time};

/// The largest number of versions of one method that is allowed.
const MOST_VERSIONS: u64 = 6;
/// The number of slices into which the calls are divided; slices run in turns with and without the
/// compiler.
const SLICES: usize = 40;
/// The slice after which no new kind of argument appears; a new kind appears every three slices.
const LAST_NEW: usize = 30;

/// Defines `slice(n, phase)`, which makes `n` calls.
const PROGRAM: &str = "
local V = setmetatable({}, {__add = function() return 7 end, __lt = function() return true end})
local index = setmetatable({}, {__index = function() return 4 end})
local inherits = setmetatable({}, {__index = {x = 9}})
local values = {{1, 2}, {1.5, 2.5}, {1, 2.5}, {V, 1}, {3, 4}, {2.5, 3}}
local objects = {{x = 1}, {y = 2, x = 1}, {z = 1, x = 2}, {w = 1, x = 3}, {p = 1, x = 1},
  {q = 1, x = 1}, inherits, index, {r = 1, x = 1}, {s = 1, x = 1}}
local keys = {1, 2, 'x', 'y', 3, 'z'}
local thing = {10, 20, 30, x = 1, y = 2, z = 3}
local function add(a, b) return a + b end
local function less(a, b) return a < b end
local function field(o) return o.x end
local function item(t, k) return t[k] end
local function twice(f, a) return f(a) end
local function half(x) return x // 2 end
function slice(n, phase)
  local sum = 0
  -- new kinds come one by one; half of the phases mix all that have come
  local known = phase // 3 + 1
  for i = 1, n // 5 do
    local j = phase % 2 == 0 and i % known or phase
    local v = values[j % #values + 1]
    sum = sum + add(v[1], v[2]) + field(objects[j % #objects + 1]) + item(thing, keys[j % #keys + \
    1])
    if less(v[1], v[2]) then sum = sum + 1 end
    sum = sum + twice(phase % 3 == 0 and half or math.abs, j)
  end
  return sum
end";

/// The observations of a run.
struct Seen {
    most_versions: u64,
    /// The number of bytes of code after all kinds have appeared, and at the end.
    bytes: (u64, u64),
    /// The processor time of this thread per slice in nanoseconds, without and with the compiler.
    times: Vec<(u64, u64)>,
}

fn unstable(calls: usize) -> Result<Seen> {
    let engines = [Engine::interpreter(), Engine::with_jit(JitOptions::default())];
    let states = engines.each_ref().map(Lua::with_engine);
    for lua in &states {
        eval(lua, PROGRAM)?;
    }
    // the functions and their callers are hot before new kinds appear
    for _ in 0..100 {
        let call = "return slice(1000, 0)";
        let results = [eval(&states[0], call)?, eval(&states[1], call)?];
        if results[0] != results[1] {
            return Err(format!("at first: {} and {}", results[0], results[1]));
        }
    }
    let mut seen = Seen { most_versions: 0, bytes: (0, 0), times: Vec::new() };
    let bytes = || metric(&engines[1], "bytes live") + metric(&engines[1], "bytes retired");
    for phase in 0..SLICES {
        let call = format!("return slice({}, {phase})", calls / SLICES);
        let mut results = Vec::new();
        let mut times = [0, 0];
        for (lua, time) in states.iter().zip(&mut times) {
            let start = thread_time()?;
            results.push(eval(lua, &call)?);
            *time = thread_time()? - start;
        }
        if results[0] != results[1] {
            return Err(format!("phase {phase}: {} and {}", results[0], results[1]));
        }
        seen.times.push((times[0], times[1]));
        if phase == LAST_NEW {
            // a long compilation would otherwise count for the remaining slices
            engines[1].wait_for_compiler();
            seen.bytes.0 = bytes();
        }
    }
    engines[1].wait_for_compiler();
    seen.bytes.1 = bytes();
    seen.most_versions = metric(&engines[1], "most versions of one method");
    Ok(seen)
}

/// Runs the command. Returns false when a bound was exceeded.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let calls = options.calls.unwrap_or(100_000_000);
    let seen = unstable(calls)?;
    let total = |f: fn(&(u64, u64)) -> u64| seen.times.iter().map(f).sum::<u64>() as f64 / 1e9;
    let (off, on) = (total(|t| t.0), total(|t| t.1));
    let worst = seen.times.iter().map(|t| t.1 as f64 / t.0 as f64).fold(0.0, f64::max);
    println!("{calls} calls: {off:.2} s in the interpreter, {on:.2} s with the compiler");
    let mut verdict = Verdict::default();
    verdict.check(
        (1..=MOST_VERSIONS).contains(&seen.most_versions),
        &format!("at most {} versions of one method were compiled", seen.most_versions),
    );
    verdict.check(
        seen.bytes.1 <= seen.bytes.0 && seen.bytes.1 > 0,
        &format!(
            "bytes of code: {} when all kinds have come, {} at the end",
            seen.bytes.0, seen.bytes.1
        ),
    );
    verdict.check(on <= off, &format!("speed over the interpreter: {:.2}", off / on));
    // repetitions differ by a twentieth
    verdict.check(
        worst <= 1.05,
        &format!(
            "the slowest of {SLICES} parts took {worst:.2} times as long as in the interpreter"
        ),
    );
    Ok(verdict.is_good())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bounded_number_of_compiles() {
        let seen = unstable(1_000_000).expect("it runs, with equal results");
        let most = seen.most_versions;
        assert!((2..=MOST_VERSIONS).contains(&most), "{most} versions of one method");
        assert!(seen.bytes.1 > 0);
    }
}
