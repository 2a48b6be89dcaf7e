//! Stitched code: the output of the baseline compiler, and its memory.

#![cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_os = "linux"))]

use perilune::{Engine, Function, JitOptions, Lua};

fn metric(engine: &Engine, name: &str) -> u64 {
    let metrics = engine.jit_metrics();
    metrics.iter().find(|(n, _)| *n == name).unwrap_or_else(|| panic!("no metric '{name}'")).1
}

fn baseline() -> Engine {
    Engine::with_jit(JitOptions::baseline())
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

#[test]
fn programs_run_on_when_code_memory_is_full() {
    let engine = Engine::with_jit(JitOptions { budget: 8 << 10, ..JitOptions::baseline() });
    let lua = Lua::with_engine(&engine);
    let text = "local fs = {}
        for i = 1, 100 do fs[i] = load('local n = ... return n + ' .. i) end
        local s = 0
        for _ = 1, 5 do for i = 1, 100 do s = s + fs[i](1) end end
        return s";
    assert_eq!(lua.load(text).eval::<i64>().expect("it runs"), 5 * (100 + 5050));
    assert!(metric(&engine, "bytes live") <= 8 << 10);
    assert!(metric(&engine, "functions stitched") > 0);
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
