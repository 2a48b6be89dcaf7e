//! Functions that call each other are compiled, published and retired together.

use perilune::{Engine, JitOptions, Lua};

use crate::support::*;

const PROGRAM: &str = "
local function leaf(a, b) return a * 2 + b end
local function middle(a) local s = 0 for i = 1, 3 do s = s + leaf(a, i) end return s end
local function even(n) if n == 0 then return true end return odd(n - 1) end
function odd(n) if n == 0 then return false end return even(n - 1) end
local Point = {} Point.__index = Point
function Point.new(x) return setmetatable({x = x}, Point) end
function Point:get() return leaf(self.x, 1) end
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
function run(n)
  local s = 0
  for i = 1, n do
    s = s + middle(i) + Point.new(i):get() + (even(i % 10) and 1 or 0)
  end
  return s + fib(12)
end
return run(5)";

#[test]
fn a_whole_program_before_it_runs() {
    let expected = {
        let lua = Lua::with_engine(&perilune::Engine::interpreter());
        eval(&lua, PROGRAM) + &eval(&lua, "return run(300)")
    };
    for (functions, bytes) in [(100, 256 << 10), (3, 256 << 10), (100, 4000), (1, 1)] {
        let options = JitOptions {
            group_hot: true,
            partition_max_funcs: functions,
            partition_max_bytes: bytes,
            verify: true,
            workers: 2,
            ..background()
        };
        let engine = Engine::with_jit(options);
        let program = engine.compile(PROGRAM, "=whole").expect("it compiles");
        assert_eq!(engine.precompile(&program), 9, "the main function is one of them");
        engine.wait_for_compiler();
        assert_eq!(metric(&engine, "versions installed"), 9);
        let largest = metric(&engine, "largest module");
        let modules = metric(&engine, "modules published");
        assert!(largest <= functions as u64, "{largest} functions in a module");
        if functions == 100 && bytes > 4000 {
            // leaf, middle, run and their callees; and the main function, which calls run
            assert_eq!((modules, largest), (1, 9));
        }
        let lua = Lua::with_engine(&engine);
        let first = lua.load_program(&program).call::<String>(()).expect("it runs");
        // new operand types: every function is recompiled, one by one
        assert_eq!(first + &eval(&lua, "return run(300)"), expected, "{functions} {bytes}");
        for _ in 0..20 {
            eval(&lua, "return run(300)");
            engine.wait_for_compiler();
        }
        let most = metric(&engine, "most versions of one method");
        assert!(most <= 6, "{most} versions of one method");
        // the same names now refer to other functions, which calls must notice
        let other = "local old = odd function odd(n) return n == 0 and 'other' or old(n) end \
                     return tostring(odd(0))";
        assert_eq!(eval(&lua, other), "other");
        drop((lua, program));
        wait_for("all code is freed", || is_empty(&engine));
    }
}

#[test]
fn the_cut_is_the_same_however_many_workers_there_are() {
    let sizes = |workers: usize| {
        let engine = Engine::with_jit(JitOptions {
            workers,
            group_hot: true,
            partition_max_funcs: 4,
            ..background()
        });
        let program = engine.compile(PROGRAM, "=whole").expect("it compiles");
        engine.precompile(&program);
        engine.wait_for_compiler();
        (metric(&engine, "modules published"), metric(&engine, "bytes live"))
    };
    assert_eq!(sizes(1), sizes(4));
}

#[test]
fn what_waits_and_calls_each_other_is_compiled_together() {
    // many callers of few functions are hot at the same time; one worker cannot keep up
    let mut source = String::from("local function leaf(a) return a + 1 end local fs = {}\n");
    for n in 0..40 {
        source += &format!(
            "local function inner{n}(a) return a + {n} end fs[#fs + 1] = function(a) return \
             inner{n}(a) + inner{n}(1) end\n"
        );
        if n % 20 == 19 {
            source += "do local fs = fs end\n";
        }
    }
    source +=
        "local s = 0 for round = 1, 400 do for i = 1, #fs do s = s + fs[i](round) end end return s";
    let expected = eval(&Lua::with_engine(&perilune::Engine::interpreter()), &source);
    let engine = Engine::with_jit(JitOptions { workers: 1, group_hot: true, ..background() });
    let lua = Lua::with_engine(&engine);
    assert_eq!(eval(&lua, &source), expected);
    engine.wait_for_compiler();
    let (modules, versions) =
        (metric(&engine, "modules published"), metric(&engine, "versions installed"));
    println!(
        "{versions} versions in {modules} modules, at most {} in one",
        metric(&engine, "largest module")
    );
    assert!(modules < versions, "{versions} versions in {modules} modules");
    assert_eq!(eval(&lua, &source), expected);
}
