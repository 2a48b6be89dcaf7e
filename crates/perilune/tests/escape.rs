//! Optimized code does not allocate objects that no other code can see, and allocates them at
//! exits.

use perilune::{Engine, JitOptions, Lua, Result};

/// Defines `grown(f, n)`: the bytes that `f(n)` leaves allocated while the collector is stopped,
/// and what it returns. `f` has been called often enough to be compiled.
const GROWN: &str = "
    function grown(f, n)
      for _ = 1, 40 do f(40) end
      collectgarbage() collectgarbage('stop')
      local before = collectgarbage('count')
      local result = f(n)
      local after = collectgarbage('count')
      collectgarbage('restart')
      return (after - before) * 1024, result
    end
    V = {}
    V.__index = V
    function new(x, y) return setmetatable({ x = x, y = y }, V) end
    V.__add = function(a, b) return new(a.x + b.x, a.y + b.y) end
    V.__lt = function(a, b) return a.x < b.x end
    function V:dot(o) return self.x * o.x + self.y * o.y end";

fn lua() -> Result<Lua> {
    let options = JitOptions { threshold: 2, loop_threshold: 8, sync: true, ..Default::default() };
    let lua = Lua::with_engine(&Engine::with_jit(options));
    lua.load(GROWN).exec()?;
    Ok(lua)
}

/// The rounds of a loop. Two tables in each would take 8 MB.
const ROUNDS: i64 = 50_000;

/// Runs a function of the number of rounds; returns the bytes that it allocates, and its result.
#[track_caller]
fn grown(function: &str) -> (f64, f64) {
    let lua = lua().expect("a state");
    let source = format!("return grown({function}, ...)");
    lua.load(source).call(ROUNDS).unwrap_or_else(|e| panic!("{function}: {e}"))
}

#[track_caller]
fn check(function: &str, expected: f64) {
    let (bytes, result) = grown(function);
    assert_eq!(result, expected, "{function}");
    assert!(bytes < 50_000.0, "{bytes} bytes: {function}");
}

#[test]
fn loops_do_not_allocate_objects_that_die_in_them() {
    let n = ROUNDS as f64;
    check(
        "function(n) local s, d = new(0.0, 0.0), new(0.5, 0.25)
         for _ = 1, n do s = s + d end return s.x + s.y end",
        0.75 * n,
    );
    check(
        "function(n) local s = 0 for i = 1, n do s = s + new(i, 1):dot(new(0, 2)) end return s end",
        2.0 * n,
    );
    check(
        "function(n) local s = 0
         for i = 1, n do if new(i, 0) < new(i + 1, 0) then s = s + 1 end end return s end",
        n,
    );
    check(
        "function(n) local s = 0
         for i = 1, n do
           local line = { from = { x = i }, to = { x = i + 2 } }
           line.length = line.to.x - line.from.x
           s = s + line.length
         end
         return s end",
        2.0 * n,
    );
}

#[test]
fn objects_that_others_see_are_allocated() {
    let kept = "function(n) local all = {}
        for i = 1, n do all[i] = new(i, 1) end return #all end";
    let (bytes, result) = grown(kept);
    assert_eq!(result, ROUNDS as f64);
    assert!(bytes > 50.0 * ROUNDS as f64, "{bytes}");
}
