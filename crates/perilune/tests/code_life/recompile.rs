//! Methods are recompiled for new operand types, a bounded number of times.

use perilune::{Engine, JitOptions, Lua};

use crate::support::*;

#[test]
fn new_types_are_compiled_for_and_old_ones_are_kept() {
    let engine = Engine::with_jit(sync());
    let lua = Lua::with_engine(&engine);
    eval(
        &lua,
        "function f(a, b) return a + b end function run(a, b) for i = 1, 1000 do f(a, b) end \
         return f(a, b) end",
    );
    assert_eq!(eval(&lua, "return run(1, 2)"), "3");
    let first = metric(&engine, "versions installed");
    assert_eq!(eval(&lua, "return run(1.5, 2.5)"), "4.0");
    let second = metric(&engine, "versions swapped");
    assert!(metric(&engine, "versions installed") > first && second >= 1);
    for _ in 0..10 {
        assert_eq!(eval(&lua, "return run(1, 2)"), "3");
        assert_eq!(eval(&lua, "return run(1.5, 2.5)"), "4.0");
    }
    assert_eq!(metric(&engine, "versions swapped"), second, "both kinds are compiled for");
}

#[test]
fn code_that_exits_while_its_recompile_waits_is_retired() {
    // the compile thread may use so little time that the second compile has to wait
    let engine = Engine::with_jit(JitOptions { share: Some(1), workers: 1, ..background() });
    let lua = Lua::with_engine(&engine);
    eval(
        &lua,
        "function read(o) return o.x end
         function run(n, make)
           local s = 0
           for i = 1, n do s = s + read(make(i)) end
           return s
         end",
    );
    eval(&lua, "return run(1000, function(i) return {x = i} end)");
    engine.wait_for_compiler();
    assert!(metric(&engine, "versions installed") > 0);
    let other = "return run(100000, function(i) return {y = i, z = i, x = 1} end)";
    assert_eq!(eval(&lua, other), "100000");
    assert!(metric(&engine, "retired: exits") > 0, "{}", engine.jit_report());
    // it is compiled again all the same
    engine.wait_for_compiler();
    assert_eq!(eval(&lua, other), "100000");
}

#[test]
fn a_loop_that_cannot_be_entered_is_compiled_again() {
    let engine = Engine::with_jit(sync());
    let program = "local x, n = ..., 0 for i = 1, 20000 do n = n + 1 y = x end return y";
    let program = engine.compile(program, "=test").expect("it is a program");
    // one call in a state for each kind of value, so that the loop alone is compiled
    let run = |x: &str| {
        let lua = Lua::with_engine(&engine);
        let x: perilune::Value = lua.load(x).eval().expect("it is a value");
        let y: perilune::Value = lua.load_program(&program).call(x).expect("it runs");
        y.to_string().expect("it is basic")
    };
    let shown = ["1", "1.5", "'text'", "2", "2.5"].map(run);
    assert_eq!(shown.join(" "), "1 1.5 text 2 2.5");
    assert_eq!(metric(&engine, "functions compiled"), 0);
    // for an integer, then for values of any kind
    let loops = metric(&engine, "loops compiled");
    assert!((2..=3).contains(&loops), "{loops} loops:\n{}", engine.jit_report());
}

#[test]
fn a_function_with_a_hot_loop_is_compiled_on_its_second_call() {
    // With this threshold, entries alone never make a function hot.
    let engine = Engine::with_jit(JitOptions { threshold: 1 << 30, ..sync() });
    let lua = Lua::with_engine(&engine);
    eval(&lua, "function sum(n) local s = 0 for i = 1, n do s = s + i end return s end");
    assert_eq!(eval(&lua, "return sum(1000)"), "500500");
    let compiled = || ["loops compiled", "functions compiled"].map(|name| metric(&engine, name));
    assert_eq!(compiled(), [1, 0], "a function that is called once is not needed");
    for _ in 0..3 {
        assert_eq!(eval(&lua, "return sum(1000)"), "500500");
    }
    assert_eq!(compiled(), [1, 1], "the second call finds a hot loop");
}

/// Operand types, shapes and keys that keep changing.
const UNSTABLE: &str = "
local V = setmetatable({}, {__add = function() return 7 end, __lt = function() return true end})
local index = setmetatable({}, {__index = function() return 4 end})
local values = {{1, 2}, {1.5, 2.5}, {1, 2.5}, {V, 1}, {'3', 4}, {2^53, 1}}
local objects = {{x = 1}, {y = 2, x = 1}, {z = 1, x = 2}, {w = 1, x = 3}, {p = 1, x = 1}, {q = 1, \
x = 1},
  setmetatable({}, {__index = {x = 9}}), index, {r = 1, x = 1}, {s = 1, x = 1}}
local keys = {1, 2, 'x', 'y', 1.5, true}
local function add(a, b) return a + b end
local function less(a, b) return a < b end
local function field(o) return o.x end
local function store(o, v) o.x = v end
local function item(t, k) return t[k] end
local sum = 0
for i = 1, N do
  -- phases, and changes within them
  local phase = i // (N // 40)
  local v = values[(phase % 3 == 0 and i or phase) % #values + 1]
  local o = objects[(phase % 4 == 0 and i or phase) % #objects + 1]
  sum = sum + add(v[1], v[2]) + field(o)
  if v[1] ~= '3' and less(v[1], v[2]) then sum = sum + 1 end
  if o ~= index then store(o, field(o)) end
  sum = sum + (item(o, keys[(phase + i) % #keys + 1]) or 1)
end
return sum";

#[test]
fn operands_that_never_settle_end_in_general_code() {
    let source = UNSTABLE.replace('N', "400000").replace("400000OT", "NOT");
    let expected = eval(&Lua::with_engine(&perilune::Engine::interpreter()), &source);
    for options in [sync(), background()] {
        let engine = Engine::with_jit(options);
        let lua = Lua::with_engine(&engine);
        assert_eq!(eval(&lua, &source), expected);
        engine.wait_for_compiler();
        // six functions, one of them main, and one loop
        let installed = metric(&engine, "versions installed");
        println!("{installed} versions of 9 methods");
        assert!(installed <= 9 * 6, "{installed} versions");
    }
}

#[test]
fn a_frame_that_stays_leaves_code_that_was_replaced() {
    let engine = Engine::with_jit(background());
    let lua = Lua::with_engine(&engine);
    let program = "
        local function step(x) return x + 1 end
        local x, n = 0, 0
        while not done() do for i = 1, 100 do x = step(x) n = n + 1 end end
        return x == n";
    let worker = {
        let engine = engine.clone();
        std::thread::spawn(move || {
            let mut rounds = 0;
            while rounds < 100 {
                if engine.recompile_all() > 0 {
                    rounds += 1;
                }
                engine.wait_for_compiler();
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        })
    };
    eval(&lua, "local t = os.time() + 1 function done() return os.time() > t end");
    assert_eq!(eval(&lua, program), "true");
    worker.join().expect("no panic");
    let replaced = metric(&engine, "retired: replaced");
    assert!(replaced >= 50, "{replaced} versions were replaced");
    wait_for("retired code is freed", || metric(&engine, "bytes retired") == 0);
}
