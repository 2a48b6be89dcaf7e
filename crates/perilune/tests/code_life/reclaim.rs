//! Retired code is freed whatever the states do in the meantime.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use perilune::native::Val;
use perilune::{Engine, Lua};

use crate::support::*;

/// A function that is compiled when it is called.
const HOT: &str = "function hot(n) local s = 0 for i = 1, n do s = s + i % 7 end return s end
    for i = 1, 100 do hot(100) end";

/// Recompiles everything and waits until the replaced code is freed.
fn replace_and_free(engine: &Engine) {
    let freed = metric(engine, "modules freed");
    wait_for("a version is replaced", || engine.recompile_all() > 0);
    engine.wait_for_compiler();
    wait_for("retired code is freed", || {
        metric(engine, "bytes retired") == 0 && metric(engine, "modules freed") > freed
    });
}

#[test]
fn idle_states_delay_nothing() {
    let engine = Engine::with_jit(sync());
    let idle = Lua::with_engine(&engine);
    eval(&idle, HOT);
    let (told, wait) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let engine = &engine;
        scope.spawn(move || {
            let lua = Lua::with_engine(engine);
            eval(&lua, HOT);
            told.send(()).expect("the receiver is alive");
            thread::sleep(Duration::from_millis(300));
            assert_eq!(eval(&lua, "return hot(10)"), "27");
        });
        wait.recv().expect("it runs");
        let start = Instant::now();
        replace_and_free(engine);
        assert!(start.elapsed() < Duration::from_millis(2000), "idle states delay nothing");
    });
    assert_eq!(eval(&idle, "return hot(10)"), "27");
}

#[test]
fn a_blocked_host_call_delays_nothing() {
    let engine = Engine::with_jit(sync());
    let (told, wait) = mpsc::channel::<()>();
    let (open, gate) = mpsc::channel::<()>();
    // the command that `os.execute` runs creates the first file and waits for the second
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let [begun, end] = ["begun", "end"].map(|name| folder.join(format!("reclaim-{name}")));
    for file in [&begun, &end] {
        let _ = std::fs::remove_file(file);
    }
    let wait_there = format!(
        "os.execute('touch {}; while [ ! -e {} ]; do sleep 0.01; done') return outer(3)",
        begun.display(),
        end.display()
    );
    thread::scope(|scope| {
        let engine = &engine;
        let blocked = scope.spawn(move || {
            let lua = Lua::with_engine(engine);
            // the frames of compiled code below the call are walked on the state's behalf
            let gate = std::sync::Mutex::new(gate);
            eval(&lua, HOT);
            eval(
                &lua,
                "function outer(n) local r = 0 for i = 1, n do r = r + hot(5) end \
                        return r end for i = 1, 50 do outer(2) end",
            );
            told.send(()).expect("the receiver is alive");
            // SAFETY: there is one state, and the function asks nothing of its caller.
            unsafe {
                lua.with(|cx| {
                    cx.blocking(|| gate.lock().expect("no panic").recv().expect("it is opened"))
                })
            };
            eval(&lua, &wait_there)
        });
        wait.recv().expect("it runs");
        thread::sleep(Duration::from_millis(20));
        let start = Instant::now();
        replace_and_free(engine);
        assert!(start.elapsed() < Duration::from_secs(2));
        open.send(()).expect("the receiver is alive");
        wait_for("os.execute runs", || begun.exists());
        replace_and_free(engine);
        assert!(!blocked.is_finished(), "the call that blocks has not ended");
        std::fs::write(&end, "").expect("a file can be made");
        assert_eq!(blocked.join().expect("no panic"), "45");
    });
}

#[test]
fn suspended_coroutines_pin_nothing() {
    let engine = Engine::with_jit(sync());
    let lua = Lua::with_engine(&engine);
    eval(
        &lua,
        "function body(a) local s = a for i = 1, 1000 do s = s + i \
         if i % 10 == 0 then s = s + coroutine.yield(s) end end return s end
         function deep(d, a) if d == 0 then return body(a) end local r = deep(d - 1, a) return r end
         function run(a) local co, s = coroutine.wrap(deep), 0 \
         for i = 1, 101 do s = co(i == 1 and 5 or 1, a) end return s end
         for i = 1, 30 do run(i) end",
    );
    let wanted = eval(&lua, "return run(1)");
    eval(
        &lua,
        "cos = {} for i = 1, 50 do cos[i] = coroutine.wrap(deep) \
         for j = 1, i do cos[i](j == 1 and 5 or 1, 1) end end",
    );
    replace_and_free(&engine);
    // all suspended coroutines continue, in the interpreter and in new code
    let sums = eval(
        &lua,
        "local t = {} for i = 1, 50 do local s for j = i + 1, 101 do s = cos[i](1) end \
         t[s] = true end
         local n, k = 0 for s in pairs(t) do n = n + 1 k = s end return n .. ' ' .. k",
    );
    assert_eq!(sums, format!("1 {wanted}"));
}

#[test]
fn a_program_is_dropped_inside_its_own_frames() {
    for options in [sync(), background()] {
        let engine = Engine::with_jit(options);
        let lua = Lua::with_engine(&engine);
        for round in 0..20 {
            let program = "
                local function inner(n) local s = 0 for i = 1, n do s = s + i end return s end
                local function middle(n) local r = inner(n) if n == 99 then drop() end \
                return r + inner(n) end
                function f(n) local r = middle(n) return r + 1 end
                for i = 1, 98 do f(i) end for i = 1, 200 do f(10) end";
            let program = engine.compile(program, "=dropped").expect("it compiles");
            lua.load_program(&program).exec().expect("it runs");
            drop(program);
            eval(&lua, "function drop() f = nil collectgarbage() collectgarbage() end");
            if round % 2 == 0 {
                assert_eq!(eval(&lua, "return f(99)"), "9901");
            } else {
                eval(&lua, "function drop() f = nil collectgarbage() error('gone') end");
                assert!(eval(&lua, "return select(2, pcall(f, 99))").ends_with("gone"));
            }
            eval(&lua, "drop = nil collectgarbage() collectgarbage()");
        }
        engine.wait_for_compiler();
        wait_for("all code is freed", || is_empty(&engine));
    }
}

#[test]
fn results_that_come_late_are_discarded() {
    let engine = Engine::with_jit(background());
    for round in 0..60 {
        let lua = Lua::with_engine(&engine);
        for n in 0..8 {
            // hot just before its end
            let source = format!(
                "local function f(a) local t = {{{n}, a}} return t[1] * {round} + t[2] end \
                 local s = 0 for i = 1, 40 do s = s + f(i) end return s"
            );
            eval(&lua, &source);
        }
    }
    engine.wait_for_compiler();
    wait_for("all code is freed", || is_empty(&engine));
    let (begun, installed) =
        (metric(&engine, "compiles begun"), metric(&engine, "versions installed"));
    let unused = metric(&engine, "compiles cancelled") + metric(&engine, "late results");
    println!("{begun} begun, {installed} installed, {unused} for nothing");
    assert_eq!(begun, installed + unused);
    assert!(unused > 0, "some programs were gone before their code came");
}

#[test]
fn values_of_the_host_survive_a_wait() {
    let engine = Engine::with_jit(sync());
    let lua = Lua::with_engine(&engine);
    // SAFETY: there is one state, and the function asks nothing of its caller.
    let n = unsafe {
        lua.with(|cx| {
            cx.push(Val::int(41));
            cx.blocking(|| thread::sleep(Duration::from_millis(1)));
            cx.get(cx.top() - 1).as_int()
        })
    };
    assert_eq!(n, Some(41));
}
