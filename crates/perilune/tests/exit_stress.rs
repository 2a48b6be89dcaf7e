//! The mode `exit-stress`: guards that would otherwise never fail are made to fail, and their exits
//! must be right.
#![cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_os = "linux"))]

use perilune::{Engine, Fault, JitOptions, Lua};

/// A program whose guards all hold. Its loop stays in the interpreter, as the end of one is left to
/// an exit.
const PROGRAM: &str = "
    local function new(x, y) return { x = x, y = y } end
    local function times(q, scale) return q.y * scale end
    local function add(p, q, list, i)
      local scale = list[i % 3 + 1]
      local x = p.x + q.x * scale
      local y = p.y + times(q, scale)
      return new(x, y)
    end
    local sum, step, list = new(0, 0), new(1, 2), { 3, 5, 7 }
    for i = 1, 200 do sum = add(sum, step, list, i) end
    return sum.x .. ' ' .. sum.y";

const RESULT: &str = "1002 2004";

fn engine(stress_exits: bool, fault: Option<Fault>) -> Engine {
    Engine::with_jit(JitOptions {
        threshold: 8,
        loop_threshold: u32::MAX,
        sync: true,
        stats: true,
        stress_exits,
        fault,
        ..JitOptions::default()
    })
}

/// What the program returns, or the error that it raises.
fn run(engine: &Engine, seed: Option<u64>) -> String {
    let lua = Lua::with_engine(engine);
    if let Some(seed) = seed {
        lua.set_exit_stress(seed);
    }
    lua.load(PROGRAM).eval::<String>().unwrap_or_else(|e| e.to_string())
}

#[test]
fn forced_exits_change_no_result() {
    for seed in 1..=40 {
        assert_eq!(run(&engine(true, None), Some(seed)), RESULT, "seed {seed}");
    }
}

/// An exit that does not store a register goes unnoticed where guards hold, and is found where they
/// are made to fail.
#[test]
fn exits_that_forget_a_register_are_found() {
    let fault = Some(Fault::ForgottenStore);
    assert_eq!(run(&engine(false, fault), None), RESULT);
    assert_eq!(run(&engine(true, fault), None), RESULT);
    let wrong = (1..=40).filter(|&seed| run(&engine(true, fault), Some(seed)) != RESULT).count();
    assert!(wrong > 20, "{wrong}");
}

/// All guards of the program are made to fail, in the function and in what is inlined in it.
#[test]
fn exits_are_taken_at_all_places() {
    let engine = engine(true, None);
    for seed in 1..=40 {
        run(&engine, Some(seed));
    }
    let report = engine.jit_report();
    let exits = |what: &str| report.lines().any(|l| l.contains("exits at") && l.contains(what));
    for place in ["MODK", "GETTABLE", "GETFIELD", "CALL", "at times@"] {
        assert!(exits(place), "no exit at {place}: {report}");
    }
}
