//! States share code.

use perilune::{Engine, Function, JitOptions, Lua};

use crate::support::*;

const PROGRAM: &str = "
local Point = {}
Point.__index = Point
function Point.new(x, y) return setmetatable({x = x, y = y}, Point) end
function Point:add(o) return Point.new(self.x + o.x, self.y + o.y) end
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local p = Point.new(0, 0)
for i = 1, 2000 do p = p:add(Point.new(i, 0.5)) end
return fib(18) .. ' ' .. p.x .. ' ' .. p.y";

#[test]
fn a_second_state_runs_what_the_first_compiled() {
    let engine = Engine::with_jit(sync());
    let program = engine.compile(PROGRAM, "=shared").expect("it compiles");
    let run = |lua: &Lua| lua.load_program(&program).call::<String>(()).expect("it runs");
    let first = run(&Lua::with_engine(&engine));
    let begun = metric(&engine, "compiles begun");
    assert!(begun >= 3);
    let second = std::thread::scope(|s| {
        s.spawn(|| run(&Lua::with_engine(&engine))).join().expect("no panic")
    });
    assert_eq!(first, "2584 2001000 1000.0");
    assert_eq!(second, first);
    assert_eq!(metric(&engine, "compiles begun"), begun, "nothing is compiled again");
}

#[test]
fn code_finds_the_globals_of_a_second_state() {
    let engine = Engine::with_jit(JitOptions { stats: true, ..sync() });
    let source = "
        local function absolute(x) return math.abs(x) end
        return function(n)
            local sum = 0
            for i = 1, n do sum = sum + absolute(-i) + #tostring(i) end
            return sum
        end";
    let program = engine.compile(source, "=shared").expect("it compiles");
    let run = |calls| {
        let lua = Lua::with_engine(&engine);
        let work: Function = lua.load_program(&program).eval().expect("it runs");
        for _ in 0..calls {
            assert_eq!(work.call::<i64>(1000).expect("it runs"), 500_500 + 2893);
        }
    };
    run(100);
    let (begun, exits) = (metric(&engine, "compiles begun"), exits(&engine));
    assert!(begun >= 2, "the function and its loop");
    run(1);
    assert_eq!(self::exits(&engine), exits, "the code looks them up itself");
    assert_eq!(metric(&engine, "compiles begun"), begun);
}

/// Returns the lines of the report on exits.
fn exits(engine: &Engine) -> Vec<String> {
    let report = engine.jit_report();
    report.lines().filter(|l| l.contains("exits at")).map(str::to_owned).collect()
}

#[test]
fn code_goes_with_the_program() {
    let engine = Engine::with_jit(sync());
    let program = engine.compile(PROGRAM, "=shared").expect("it compiles");
    for _ in 0..3 {
        let lua = Lua::with_engine(&engine);
        lua.load_program(&program).call::<String>(()).expect("it runs");
    }
    assert!(metric(&engine, "versions live") > 0, "the program is held");
    drop(program);
    wait_for("all code is freed", || is_empty(&engine));
}
