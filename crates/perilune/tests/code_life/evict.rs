//! When code memory is short, the coldest code is evicted, and the program continues.

use std::fmt::Write as _;

use perilune::{Engine, JitOptions, Lua};

use crate::support::*;

/// Returns a program that defines `all(rounds)`, which calls many functions in turn, so that each
/// is hot for a while.
fn program(functions: usize) -> String {
    let mut text = String::from("local fs = {}\n");
    for n in 1..=functions {
        writeln!(
            text,
            "fs[{n}] = function(a, b) local t = {{x = a, y = b}} t.x = t.x * {n} + b t.y = t.y - a \
             if t.x > t.y then return t.x - t.y + {n} end return t.y end"
        )
        .expect("it is a string");
    }
    text.push_str(
        "function all(rounds, from, to)
           local sum = 0
           for round = 1, rounds do
             for n = from or 1, to or #fs do
               local f = fs[n]
               for i = 1, 50 do sum = (sum + f(i, round)) % 1000000007 end
             end
           end
           return sum
         end",
    );
    text
}

fn evicted(budget: usize, options: JitOptions) -> Engine {
    let engine = Engine::with_jit(JitOptions { budget, ..options });
    let (lua, plain) =
        (Lua::with_engine(&engine), Lua::with_engine(&perilune::Engine::interpreter()));
    for lua in [&lua, &plain] {
        eval(lua, &program(60));
    }
    for call in ["all(4)", "all(60, 1, 3)", "all(2)", "all(60, 50, 52)", "all(3)"] {
        let call = format!("return {call}");
        assert_eq!(eval(&lua, &call), eval(&plain, &call), "{call}");
    }
    engine.wait_for_compiler();
    let live = metric(&engine, "bytes live") + metric(&engine, "bytes retired");
    assert!(live <= budget as u64, "{live} bytes are in use");
    engine
}

#[test]
fn the_coldest_code_goes_and_comes_back() {
    // Free memory is scattered differently for each budget.
    for (kilobytes, options) in [(16, sync()), (24, sync()), (32, sync()), (24, background())] {
        let is_sync = options.sync;
        let engine = evicted(kilobytes << 10, options);
        let evicted = metric(&engine, "retired: evicted");
        let installed = metric(&engine, "versions installed");
        println!("sync {is_sync}: {evicted} evicted, {installed} installed");
        println!("{:?}", engine.jit_metrics());
        assert!(evicted > 10);
        if is_sync {
            assert!(installed > 400, "what is hot again is compiled again");
        }
    }
}

#[test]
fn what_is_larger_than_the_budget_is_refused_and_runs() {
    let engine = Engine::with_jit(JitOptions { budget: 4 << 10, ..sync() });
    let lua = Lua::with_engine(&engine);
    let mut big = String::from("function big(t) local s = 0\n");
    for n in 1..300 {
        writeln!(big, "s = s + t.f{n}").expect("it is a string");
    }
    big.push_str("return s end t = setmetatable({}, {__index = function() return 2 end})");
    eval(&lua, &big);
    assert_eq!(eval(&lua, "local s = 0 for i = 1, 100 do s = s + big(t) end return s"), "59800");
    assert!(metric(&engine, "refused: code memory exhausted") >= 1);
}
