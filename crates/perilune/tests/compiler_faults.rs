//! A failure of the compiler affects only the speed: the method is refused with a reason, the
//! refusal is counted, and the program continues.

use perilune::{Engine, Fault, JitOptions, Lua, Stage};

/// Functions and loops, and their result.
const PROGRAM: &str = "
    local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
    local Account = {}
    Account.__index = Account
    function Account:deposit(n) self.balance = self.balance + n return self end
    local a = setmetatable({balance = 0}, Account)
    local parts = {}
    for i = 1, 100 do
        a:deposit(i * 0.5)
        parts[#parts + 1] = fib(i % 10)
    end
    return a.balance .. ' ' .. table.concat(parts, ',')";

fn options() -> JitOptions {
    JitOptions { threshold: 1, loop_threshold: 1, sync: true, verify: true, ..Default::default() }
}

fn metric(engine: &Engine, name: &str) -> u64 {
    let metrics = engine.jit_metrics();
    metrics.iter().find(|(n, _)| *n == name).unwrap_or_else(|| panic!("no metric {name}")).1
}

/// Runs a program and checks that its result is that of the interpreter.
fn run(options: JitOptions, program: &str) -> Engine {
    let interpreted = Lua::with_engine(&perilune::Engine::interpreter())
        .load(program)
        .call::<String>(())
        .expect("it runs");
    let engine = Engine::with_jit(options);
    let lua = Lua::with_engine(&engine);
    assert_eq!(lua.load(program).call::<String>(()).expect("it runs"), interpreted);
    // run it once more, now that methods were refused
    engine.wait_for_compiler();
    assert_eq!(lua.load(program).call::<String>(()).expect("it runs"), interpreted);
    // methods that are dropped before their turn comes are not compiled at all
    engine.wait_for_compiler();
    drop(lua);
    engine
}

/// Runs a program and checks that each of its methods is refused for this reason.
fn refused(options: JitOptions, program: &str, metric_name: &str) {
    let engine = run(JitOptions { stats: true, ..options }, program);
    let count = metric(&engine, metric_name);
    assert!(count > 0, "{metric_name}");
    assert_eq!(metric(&engine, "versions installed"), 0);
    let refusals = engine.jit_metrics().into_iter().filter(|(n, _)| n.starts_with("refused"));
    let all: u64 = refusals.map(|(_, n)| n).sum();
    assert_eq!(all, count, "refused for another reason:\n{}", engine.jit_report());
    assert!(engine.jit_report().contains("\nrefused "), "{}", engine.jit_report());
}

#[test]
fn a_panic_at_each_stage() {
    for stage in [
        Stage::Snapshot,
        Stage::Translate,
        Stage::Verify,
        Stage::Compile,
        Stage::Reserve,
        Stage::Publish,
    ] {
        for sync in [true, false] {
            let fault = Some(Fault::Panic(stage));
            refused(JitOptions { fault, sync, ..options() }, PROGRAM, "refused: panic");
        }
    }
}

#[test]
fn an_error_of_the_verifier() {
    let fault = Some(Fault::Malformed);
    refused(JitOptions { fault, ..options() }, PROGRAM, "refused: verifier");
}

#[test]
fn no_code_memory() {
    let o = JitOptions { budget: 0, ..options() };
    refused(o, PROGRAM, "refused: code memory exhausted");
}

/// Many functions in little code memory: the coldest are evicted, and methods that find no room are
/// refused.
#[test]
fn little_code_memory() {
    let program = "
        local sum = 0
        for i = 1, 60 do
            local f = load('local n = ' .. i .. ' local function f(a, b) local t = {a, b} ' ..
                'for i = 1, 3 do n = n + t[1] * i - (t[2] or 0) / 2 end return n end ' ..
                'local r = 0 for i = 1, 5 do r = r + f(i, n) end return r')
            sum = sum + f()
        end
        return sum";
    for background in [false, true] {
        let o = JitOptions { budget: 64 << 10, sync: !background, ..options() };
        let engine = run(o, program);
        let short = metric(&engine, "reservations under pressure");
        assert!(short > 0 || background, "{}", engine.jit_report());
        assert!(metric(&engine, "bytes peak") <= 64 << 10);
        let gone = metric(&engine, "retired: evicted")
            + metric(&engine, "refused: code memory exhausted")
            + metric(&engine, "retired: program dropped");
        assert!(gone > 0 || background, "{}", engine.jit_report());
    }
}

#[test]
fn a_method_too_large() {
    let line = "x = x + 1 ";
    let program = format!("local x = 0 {} return x", line.repeat(6000));
    let program = format!("local function large() {program} end large() large() return large()");
    let engine = run(JitOptions { stats: true, ..options() }, &program);
    assert_eq!(metric(&engine, "refused: too large"), 2, "once per program");
    assert!(engine.jit_report().contains(": too large"), "{}", engine.jit_report());
    assert!(engine.jit_report().contains("refused large@"), "{}", engine.jit_report());
}

/// The costs of compilations are in the metrics and in the report.
#[test]
fn metrics_of_compiles() {
    let engine = run(options(), PROGRAM);
    let compiled = metric(&engine, "functions compiled") + metric(&engine, "loops compiled");
    assert!(compiled >= 3);
    assert_eq!(compiled, metric(&engine, "versions installed"));
    for name in [
        "bytecodes compiled",
        "code bytes compiled",
        "metadata bytes compiled",
        "compile ns",
        "compile ns: translate",
        "compile ns: backend",
        "compile ns: place",
        "operand cells monomorphic",
        "field caches monomorphic",
        "call sites monomorphic",
    ] {
        assert!(metric(&engine, name) > 0, "{name}");
    }
    let report = engine.jit_report();
    for line in
        ["compile us per bytecode", "code bytes per bytecode", "metadata bytes per bytecode"]
    {
        assert!(report.contains(line), "{report}");
    }
}

/// Programs whose operands come in several kinds, of which no function is refused.
#[test]
fn cached_values_dominate_their_uses() {
    for program in [
        // floats and strings: the payloads are read in the block for strings alone
        "local function f(a, b) if a < b then return a end return b end
         for i = 1, 200 do f(i + 0.5, 2.5) f('a' .. i, 'b') end
         return f(1.5, 2.5) .. f('a', 'b')",
        "local function f(a, b) if a <= b then return b - a end return a end
         local t = setmetatable({}, {__le = function() return false end})
         for i = 1, 200 do f(i + 0.5, i + 1.5) pcall(f, 'b' .. i, 'a') f(t, t) end
         return tostring(f(1.5, 2.5))",
        "local function f(t, k, v) t[k] = v local old = t[k] return old == v and k or old end
         local t, s = {1, 2, 3}, {}
         for i = 1, 200 do f(t, 2, i) f(t, 2, i + 0.5) f(s, 'a', i) f(s, 1.5, 'x') f(t, 3, {}) end
         return f(t, 1, 5) .. f(s, 'z', 'y')",
    ] {
        let engine = run(JitOptions { miss_threshold: 8, stats: true, ..options() }, program);
        let refused = engine.jit_metrics().into_iter().filter(|(n, _)| n.starts_with("refused"));
        assert_eq!(refused.map(|(_, n)| n).sum::<u64>(), 0, "{}", engine.jit_report());
    }
}
