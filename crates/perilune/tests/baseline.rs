//! Stitched code: the output of the baseline compiler, and its memory.

#![cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_os = "linux"))]

use std::fmt::Write as _;

use perilune::{Engine, Function, JitOptions, Lua};

fn metric(engine: &Engine, name: &str) -> u64 {
    let metrics = engine.jit_metrics();
    metrics.iter().find(|(n, _)| *n == name).unwrap_or_else(|| panic!("no metric '{name}'")).1
}

fn baseline() -> Engine {
    Engine::with_jit(JitOptions::eager_baseline())
}

#[test]
fn what_is_entered_again_is_stitched() {
    let engine = baseline();
    let lua = Lua::with_engine(&engine);
    lua.load("function once() end function twice(n) return n + 1 end once() twice(1)")
        .exec()
        .expect("it runs");
    assert_eq!(metric(&engine, "functions stitched"), 0);
    let twice: Function = lua.globals().get("twice").expect("it is there");
    assert_eq!(twice.call::<i64>(2).expect("it runs"), 3);
    assert_eq!(metric(&engine, "functions stitched"), 1);
    assert_eq!(metric(&engine, "versions installed"), 0, "nothing is optimized");
}

#[test]
fn a_loop_continues_in_stitched_code() {
    let engine = baseline();
    let lua = Lua::with_engine(&engine);
    let n: i64 =
        lua.load("local s = 0 for i = 1, 1000 do s = s + i end return s").eval().expect("a number");
    assert_eq!((n, metric(&engine, "functions stitched")), (500_500, 1));
}

#[test]
fn states_share_stitched_code() {
    let engine = baseline();
    let program = engine
        .compile("local n = ... for i = 1, 100 do n = n + i end return n", "=p")
        .expect("it compiles");
    std::thread::scope(|scope| {
        for n in 0..4 {
            let (engine, program) = (&engine, &program);
            scope.spawn(move || {
                let lua = Lua::with_engine(engine);
                let f = lua.load_program(program);
                assert_eq!(f.call::<i64>(n).expect("it runs"), 5050 + n);
            });
        }
    });
    assert_eq!(metric(&engine, "functions stitched"), 1);
}

#[test]
fn the_memory_of_dropped_programs_is_given_back() {
    let engine = baseline();
    let lua = Lua::with_engine(&engine);
    let mut peak = 0;
    for n in 0..400 {
        let text = format!("local t = {{}} for i = 1, 200 do t[i] = i * {n} end return #t");
        assert_eq!(lua.load(text).eval::<i64>().expect("it runs"), 200);
        if n % 50 == 0 {
            lua.gc_collect().expect("it collects");
            peak = peak.max(metric(&engine, "bytes live"));
        }
    }
    lua.gc_collect().expect("it collects");
    let size = metric(&engine, "code bytes stitched") / metric(&engine, "functions stitched");
    assert_eq!(metric(&engine, "functions stitched"), 400);
    assert!(peak <= 60 * size, "{peak} bytes of programs of {size}");
    assert!(metric(&engine, "bytes live") <= 2 * size);
}

/// Returns an engine with little room for code. Nothing limits how often code is evicted.
fn crowded(kilobytes: usize) -> Engine {
    let options =
        JitOptions { budget: kilobytes << 10, share: None, ..JitOptions::eager_baseline() };
    Engine::with_jit(options)
}

/// Returns a program that defines `all(rounds, from, to)`, which calls many functions in turn. Each
/// has its own code, and runs a loop.
fn many() -> String {
    let mut text = String::from("local fs = {}\n");
    for i in 1..=100 {
        writeln!(
            text,
            "fs[{i}] = function(n, m) for i = 1, m do n = n * 3 % 1009 + {i} end return n end"
        )
        .expect("it is a string");
    }
    text + "function all(rounds, from, to)
      local s = 0
      for round = 1, rounds do
        for i = from or 1, to or #fs do s = (s + fs[i](round, i % 7)) % 1000003 end
      end
      return s
    end"
}

/// Runs calls of `all` in a state of the engine, and compares the results with those of the
/// interpreter.
fn compare(engine: &Engine, calls: &[&str]) {
    let (lua, plain) = (Lua::with_engine(engine), Lua::with_engine(&Engine::interpreter()));
    for lua in [&lua, &plain] {
        lua.load(many()).exec().expect("it loads");
    }
    for call in calls {
        let result = |lua: &Lua| lua.load(format!("return {call}")).eval::<i64>().expect("it runs");
        assert_eq!(result(&lua), result(&plain), "{call}");
    }
}

#[test]
fn cold_code_is_evicted_and_stitched_again_when_it_is_hot() {
    for kilobytes in [8, 12, 16, 40] {
        let engine = crowded(kilobytes);
        let calls = ["all(4)", "all(60, 1, 3)", "all(2)", "all(60, 50, 52)", "all(3)"];
        compare(&engine, &calls);
        let (stitched, evicted) =
            (metric(&engine, "functions stitched"), metric(&engine, "placements evicted"));
        assert!(evicted > 200 && stitched > evicted, "{evicted} of {stitched} are evicted");
        let used = metric(&engine, "bytes live") + metric(&engine, "bytes retired");
        assert!(used <= (kilobytes as u64) << 10, "{used} bytes are in use");
    }
}

#[test]
fn hot_code_stays() {
    let engine = crowded(64);
    let lua = Lua::with_engine(&engine);
    lua.load(many()).exec().expect("it loads");
    let call = |call: &str| lua.load(call).exec().expect("it runs");
    call("for _ = 1, 3 do all(3, 1, 100) end");
    for n in 0..400 {
        // One function is stitched, and three are called again and again.
        call(&format!("local function f(n) return n + {n} end for i = 1, 3 do f(i) end"));
        call("all(2, 7, 9)");
    }
    let evicted = metric(&engine, "placements evicted");
    assert!(evicted > 100, "{evicted}");
    // What the function `all` and the three need to be stitched again each time they are forgotten
    // would be far more.
    let before = metric(&engine, "functions stitched");
    call("all(2, 7, 9)");
    assert!(metric(&engine, "functions stitched") <= before + 1);
}

#[test]
fn evictions_take_a_share_of_the_time() {
    let options = JitOptions { budget: 8 << 10, share: Some(1), ..JitOptions::eager_baseline() };
    let engine = Engine::with_jit(options);
    compare(&engine, &["all(50)", "all(300, 1, 3)", "all(50)"]);
    let limited = metric(&engine, "functions stitched");
    let engine = crowded(8);
    compare(&engine, &["all(50)", "all(300, 1, 3)", "all(50)"]);
    let all = metric(&engine, "functions stitched");
    assert!(limited * 4 < all && all > 4000, "{limited} and {all}");
}

#[test]
fn a_function_larger_than_the_budget_is_interpreted() {
    let engine = crowded(4);
    let lua = Lua::with_engine(&engine);
    let text = format!("local t = ... {} return #t", "t[#t + 1] = 1 ".repeat(300));
    let big = lua.load(text).into_function().expect("it compiles");
    for _ in 0..5 {
        assert_eq!(big.call::<i64>(lua.create_table().expect("a table")).expect("it runs"), 300);
    }
    assert_eq!(metric(&engine, "functions stitched"), 0);
    let text = "local function f(n) return n + 1 end local n = 0 for _ = 1, 9 do n = f(n) end
        return n";
    assert_eq!(lua.load(text).eval::<i64>().expect("it runs"), 9);
    assert_eq!(metric(&engine, "functions stitched"), 1, "others are stitched");
}

#[test]
fn states_on_other_threads_leave_evicted_code() {
    let engine = crowded(16);
    let plain = Lua::with_engine(&Engine::interpreter());
    plain.load(many()).exec().expect("it loads");
    let expected: i64 = plain.load("return all(3)").eval().expect("it runs");
    let program = engine.compile(many(), "=p").expect("it compiles");
    let results: Vec<i64> = std::thread::scope(|scope| {
        let run = |seed: i64| {
            let (engine, program) = (&engine, &program);
            move || {
                let lua = Lua::with_engine(engine);
                lua.load_program(program).call::<()>(()).expect("it loads");
                let all: Function = lua.globals().get("all").expect("it is there");
                let mut s = 0;
                for n in 0..60 {
                    let from = 1 + (n * seed) % 90;
                    s += all.call::<i64>((2, from, from + 9)).expect("it runs");
                }
                assert_eq!(all.call::<i64>(3).expect("it runs"), expected);
                s
            }
        };
        let threads: Vec<_> = [7, 13, 7, 13].map(|seed| scope.spawn(run(seed))).into();
        threads.into_iter().map(|t| t.join().expect("no panic")).collect()
    });
    assert_eq!((results[0], results[1]), (results[2], results[3]));
    assert!(metric(&engine, "placements evicted") > 10);
}

#[test]
fn suspended_coroutines_continue_without_their_code() {
    let engine = crowded(8);
    let lua = Lua::with_engine(&engine);
    lua.load(many()).exec().expect("it loads");
    let text = "local function inner(n)
          for i = 1, 200 do n = n + coroutine.yield(n) end
          return n
        end
        local function outer(n) local m = inner(n) return m + 1 end
        local threads = {}
        for i = 1, 20 do threads[i] = coroutine.wrap(outer) threads[i](i) end
        local s = 0
        for round = 1, 200 do
          for i = 1, 20 do s = (s + threads[i](round)) % 1000003 end
          if round % 20 == 0 then all(2) end
        end
        return s";
    let n: i64 = lua.load(text).eval().expect("it runs");
    let plain = Lua::with_engine(&Engine::interpreter());
    plain.load(many()).exec().expect("it loads");
    assert_eq!(n, plain.load(text).eval::<i64>().expect("it runs"));
    assert!(metric(&engine, "placements evicted") > 100);
}

#[test]
fn hooks_and_errors_while_code_is_evicted() {
    let engine = crowded(8);
    let lua = Lua::with_engine(&engine);
    lua.load(many()).exec().expect("it loads");
    let text = "local lines, errors = 0, 0
        local function fail(t) return t.x.y end
        local function work(n)
          all(1)
          local ok, message = pcall(fail, {x = n % 2 == 0 and {} or nil})
          if not ok then errors = errors + 1 assert(message:find('^it:2:'), message) end
          all(1, 20, 40)
        end
        for n = 1, 20 do
          if n % 5 == 0 then debug.sethook(function() lines = lines + 1 end, 'l') end
          work(n)
          if n % 5 == 1 then debug.sethook() end
        end
        return lines > 1000 and errors";
    let errors = lua.load(text).set_name("=it").eval::<i64>().expect("it runs");
    assert_eq!(errors, 10);
    assert!(metric(&engine, "placements evicted") > 100);
}

#[test]
fn errors_hooks_and_interrupts_reach_stitched_code() {
    let lua = Lua::with_engine(&baseline());
    let text = "local function f(t) return t.x.y end
        for _ = 1, 10 do f({x = {y = 1}}) end
        local ok, message = pcall(f, {})
        local lines = 0
        debug.sethook(function() lines = lines + 1 end, 'l')
        f({x = {y = 1}})
        debug.sethook()
        return message, lines, select(2, pcall(function()
          for _ = 1, 10 do f({x = {y = 1}}) end
          error(debug.traceback('t', 1))
        end))";
    let (message, lines, trace) =
        lua.load(text).set_name("=it").eval::<(String, i64, String)>().expect("it runs");
    assert_eq!(message, "it:1: attempt to index a nil value (field 'x')");
    assert!(lines >= 2, "{lines}");
    assert!(trace.contains("it:10: in function <it:8>"), "{trace}");

    let handle = lua.interrupt_handle();
    let stopper = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(50));
        handle.request();
    });
    let error = lua.load("while true do end").exec().expect_err("it is interrupted");
    assert!(error.to_string().contains("interrupted"), "{error}");
    stopper.join().expect("it ends");
}

#[test]
fn a_counting_interpreter_notices_a_hook_that_stitched_code_sets_while_a_function_returns() {
    let options = JitOptions { counts: true, ..JitOptions::eager_baseline() };
    let lua = Lua::with_engine(&Engine::with_jit(options));
    lua.set_instruction_limit(Some(1_000_000)).expect("it can be set");
    let returns = lua
        .load(
            "local returns, active = 0, false
            local function hook() returns = returns + 1 end
            local closable = setmetatable({}, { __close = function()
                if active then debug.sethook(hook, 'r') end
            end })
            local function twice() local x <close> = closable end
            local function once()
                local x <close> = closable
                return 1
            end
            twice() twice()
            active = true
            local x = once()
            debug.sethook()
            return returns",
        )
        .eval::<i64>()
        .expect("it runs");
    // of `debug.sethook`, `__close`, and `once`
    assert_eq!(returns, 3);
}

#[test]
fn operands_of_any_size() {
    // registers and constants with the largest numbers that instructions name
    let engine = baseline();
    let lua = Lua::with_engine(&engine);
    let variables = (0..190).map(|n| format!("local a{n} = n + {n}.5\n")).collect::<String>();
    let numbers = (0..250).map(|n| format!("n + {n}.25")).collect::<Vec<_>>().join(", ");
    let source = format!(
        "local function last(n)
            {variables}
            local t = {{{numbers}}}
            local function pass(...) return ... end
            local x, y = pass({first_50})
            return a189 + t[250] + x + a188 * 2 - (pass(a0, a1, a189) + a189 % 7), #t
        end
        local s
        for i = 1, 20 do s = last(i) end
        return s",
        first_50 = (0..50).map(|n| format!("a{n}")).collect::<Vec<_>>().join(", "),
    );
    let expected: f64 = {
        let engine = Engine::interpreter();
        Lua::with_engine(&engine).load(&source).eval().expect("a number")
    };
    let found: f64 = lua.load(&source).eval().expect("a number");
    assert_eq!(found, expected);
    assert!(metric(&engine, "functions stitched") > 0);
}
