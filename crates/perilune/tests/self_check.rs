//! Code compiled with [`JitOptions::verify_values`] aborts the process when it holds a wrong value:
//! known faults of the translation are reintroduced, and the check must detect each.
#![cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_os = "linux"))]

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Output};

use perilune::{Engine, Fault, JitOptions, Lua};

/// The variable with which a test runs itself again. It contains the number of a case and whether
/// the fault is present.
const CHILD: &str = "PERILUNE_SELF_CHECK";

/// The signal of `abort`.
const ABORTED: i32 = 6;

struct Case {
    fault: Fault,
    program: &'static str,
    /// The texts that the message contains about the place of the fault.
    says: &'static [&'static str],
}

const CASES: &[Case] = &[
    Case {
        fault: Fault::UnlinkedConstructor,
        // The table is created without slots for its fields, as there are too many of them.
        program: "local function mk(x, y) local t = {}
              t.a = x
              t.b = y
              out = t
              error('done', 0)
              t.f1 = 0 t.f2 = 0 t.f3 = 0 t.f4 = 0 t.f5 = 0 t.f6 = 0 t.f7 = 0 t.f8 = 0 t.f9 = 0
              t.f10 = 0 t.f11 = 0 t.f12 = 0 t.f13 = 0 t.f14 = 0 t.f15 = 0 t.f16 = 0 t.f17 = 0
              t.f18 = 0 t.f19 = 0 t.f20 = 0 t.f21 = 0 t.f22 = 0 t.f23 = 0 t.f24 = 0 t.f25 = 0
              t.f26 = 0 t.f27 = 0 t.f28 = 0 t.f29 = 0 t.f30 = 0 t.f31 = 0 t.f32 = 0 t.f33 = 0
              t.f34 = 0 t.f35 = 0 t.f36 = 0 t.f37 = 0 t.f38 = 0 t.f39 = 0 t.f40 = 0 t.f41 = 0
              t.f42 = 0 t.f43 = 0 t.f44 = 0 t.f45 = 0 t.f46 = 0 t.f47 = 0 t.f48 = 0 t.f49 = 0
              t.f50 = 0 t.f51 = 0 t.f52 = 0 t.f53 = 0 t.f54 = 0 t.f55 = 0 t.f56 = 0 t.f57 = 0
              t.f58 = 0 t.f59 = 0 t.f60 = 0 t.f61 = 0 t.f62 = 0 t.f63 = 0 t.f64 = 0 t.f65 = 0
            end
            local phase
            local function hook(_, line)
              if debug.getinfo(2, 'f').func ~= mk or line ~= 3 then return end
              if phase == 1 then error('stop', 0) end
              for n = 1, 5 do
                local name, v = debug.getlocal(2, n)
                if name == 't' then v.zzz = 'Z' end
              end
            end
            for _ = 1, 40 do
              phase = 1 debug.sethook(hook, 'l') pcall(mk, 1, 2) debug.sethook()
              phase = 2 debug.sethook(hook, 'l') pcall(mk, nil, 2) debug.sethook()
            end
            for _ = 1, 400 do pcall(mk, 1, 2) end
            return out.a",
        says: &["wrong: it:1 pc ", "(SetField)", "entry string", "holds integer 0x1"],
    },
    Case {
        fault: Fault::UncheckedEntry,
        // A loop that is entered with floats where it was compiled for integers.
        program: "local function sum(s, step, n)
              while n > 0 do s = s + step n = n - 1 end
              return s
            end
            sum(0, 1, 900)
            return sum(0.5, 0.25, 900)",
        says: &["wrong: it:1 pc ", "register ", "holds the tag of integer", "found float"],
    },
    Case {
        fault: Fault::StaleMemory,
        program: "local t = {x = 1}
            local function change() for k in pairs(t) do t[k] = t[k] + 1 end end
            local function twice(t) local a = t.x change() return a + t.x end
            for i = 1, 99 do twice(t) end
            return twice(t)",
        says: &["wrong: it:3 pc ", "(GetField)", "entry string", "holds integer", "found integer"],
    },
    Case {
        fault: Fault::StaleMemory,
        program: "local x = 1
            local function change() for k in pairs({1, 2}) do x = x + k end end
            local function twice() local a = x change() return a + x end
            for i = 1, 99 do twice() end
            return twice()",
        says: &["wrong: it:3 pc ", "(GetUpval)", "a variable", "holds integer", "found integer"],
    },
    Case {
        fault: Fault::StaleMemory,
        program: "x = 1
            local function change() for k in pairs({1, 2}) do x = x + k end end
            local function twice() local a = x change() return a + x end
            for i = 1, 99 do twice() end
            return twice()",
        says: &["wrong: it:3 pc ", "(GetTabUp)", "entry string", "holds integer", "found integer"],
    },
    Case {
        fault: Fault::StaleJoins,
        program: "local t = {n = 0}
            function t:count(k)
              self.n = self.n + 1
              if k == 0 then return end
              self:count(k - 1)
              self.n = self.n + 1
              self:count(k - 1)
            end
            for i = 1, 99 do t:count(4) end
            return t.n",
        says: &["wrong: it:2 pc ", "(GetField)", "entry string", "holds integer", "found integer"],
    },
    Case {
        fault: Fault::StaleConstants,
        program: "local x, v = 1, 1
            local twice
            local function change() v = v + 1 debug.setupvalue(twice, 1, v) end
            function twice() local a = x change() return a + x end
            for i = 1, 99 do twice() end
            return twice()",
        says: &["wrong: it:4 pc ", "(GetUpval)", "a variable", "holds integer", "found integer"],
    },
    Case {
        fault: Fault::StaleGlobals,
        program: "x = 1
            local function change() for k in pairs({1, 2}) do x = x + k end end
            local function twice() local a = x change() return a + x end
            for i = 1, 99 do twice() end
            return twice()",
        says: &["wrong: it:3 pc ", "(GetTabUp)", "entry string", "holds integer", "found integer"],
    },
    Case {
        fault: Fault::StaleLoads,
        program: "local t = {x = 1}
            local function add(t, u) local a = t.x u.x = a + 1 return a + t.x end
            for i = 1, 99 do add(t, t) end
            return add(t, t)",
        says: &["wrong: it:2 pc ", "(GetField)", "entry string", "holds integer", "found integer"],
    },
    Case {
        fault: Fault::NoisyLoops,
        program: "local t = {x = 1}
            local function change() for k in pairs(t) do t[k] = t[k] + 1 end end
            local function sum(t, n)
              local s = 0
              for i = 1, n do s = s + t.x change() s = s + t.x end
              return s
            end
            for i = 1, 99 do sum(t, 9) end
            return sum(t, 9)",
        says: &["wrong: it:3 pc ", "(GetField)", "entry string", "holds integer", "found integer"],
    },
    Case {
        fault: Fault::LoudPolls,
        // a loop of 300 iterations polls once
        program: "local t = {x = 1}
            local meta = {__gc = function() t.x = t.x + 1 end}
            local function sum(t, n)
              local s = 0
              for i = 1, n do s = s + t.x - t.x end
              return s
            end
            local s = 0
            for i = 1, 2000 do
              setmetatable({}, meta)
              s = s + sum(t, 300)
            end
            return s",
        says: &["wrong: it:3 pc ", "(GetField)", "entry string", "holds integer", "found integer"],
    },
    Case {
        fault: Fault::ConfusedRegisters,
        // `lookup` is inlined where `n`, which the closure shares, does not exist.
        program: "local key, other = {}, {}
            local function lookup(o, k)
              assert(o and k, 'both are needed')
              local inner = o.outs[k]
              local value = inner[other]
              if value then return value end
              return inner
            end
            local function each(list, f) for i = 1, #list do f(list[i]) end end
            local function sum(list, k)
              local s, count = 0, 0
              for i = 1, #list do
                do
                  local a, b, c, d = 0, 1, 2, 3
                  local n = 0
                  each(list, function(o) n = n + 1 end)
                  count = count + n
                end
                s = s + lookup(list[i], k)
              end
              return s + count
            end
            local objects = {}
            for i = 1, 4 do objects[i] = {outs = {[key] = {[other] = i}}} end
            for i = 1, 40 do sum(objects, key) end
            return sum(objects, key)",
        says: &["wrong: it:2 pc ", "(GetTable)", "a variable", "found table"],
    },
    Case {
        fault: Fault::UnguardedKind,
        program: "local function put(t, i, v) t[i] = v end
            local ints = {1, 2, 3}
            for i = 1, 1000 do put(ints, i % 3 + 1, i) end
            local up
            local id = debug.upvalueid(function() return up end, 1)
            local any = {'s', {}}
            put(any, 1, id)
            return type(any[1])",
        says: &["wrong: it:1 pc ", "(SetTable)", "entry integer 0x1", "holds light userdata"],
    },
];

/// Returns the result of a program as text.
fn shown(lua: &Lua, case: &Case) -> String {
    let program = format!("return tostring((function() {} end)())", case.program);
    lua.load(program).set_name("=it").call::<String>(()).expect("it runs")
}

fn run(case: &Case, fault: Option<Fault>) -> String {
    let (threshold, loop_threshold) = match case.fault {
        // with more feedback, the registers of the inlined frame are not loaded
        Fault::ConfusedRegisters => (2, 4),
        _ => (4, 8),
    };
    let engine = Engine::with_jit(JitOptions {
        threshold,
        loop_threshold,
        miss_threshold: 4,
        sync: true,
        verify_values: true,
        fault,
        ..JitOptions::default()
    });
    let lua = Lua::with_engine(&engine);
    if case.fault == Fault::LoudPolls {
        // finalizers run at polls of loops that allocate nothing
        lua.set_gc_phases(1);
    }
    let value = shown(&lua, case);
    assert!(
        engine.jit_metrics().iter().any(|&(name, n)| name == "versions installed" && n > 0),
        "nothing was compiled"
    );
    value
}

fn child(case: usize, with_fault: bool) -> Output {
    Command::new(std::env::current_exe().expect("a test has a file"))
        .args(["--exact", "restored_faults_end_the_process", "--nocapture"])
        .env(CHILD, format!("{case} {with_fault}"))
        .output()
        .expect("it starts")
}

#[test]
fn restored_faults_end_the_process() {
    if let Ok(what) = std::env::var(CHILD) {
        let (case, with_fault) = what.split_once(' ').expect("two words");
        let case = &CASES[case.parse::<usize>().expect("a number")];
        run(case, (with_fault == "true").then_some(case.fault));
        return;
    }
    for (n, case) in CASES.iter().enumerate() {
        let output = child(n, true);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.signal(), Some(ABORTED), "{:?}: {said}", case.fault);
        for words in case.says {
            assert!(said.contains(words), "{:?}: no '{words}' in: {said}", case.fault);
        }
        let output = child(n, false);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn checked_code_computes_what_others_do() {
    for case in CASES {
        let interpreted = shown(&Lua::with_engine(&Engine::interpreter()), case);
        assert_eq!(run(case, None), interpreted, "{}", case.program);
    }
}

/// Stores into objects that have been marked, by machine code.
const STORES: &str = "
    local function put(t, v) t.x = v end
    local all = {}
    for i = 1, 50 do all[i] = {x = {0}} end
    local s = 0
    for round = 1, 400 do
      for i = 1, #all do put(all[i], {round}) end
      s = s + all[round % 50 + 1].x[1]
    end
    return s";

/// The walk over the heap in the mode `gc-phases` detects a write barrier that machine code leaves
/// out.
#[test]
fn missing_write_barriers_are_found() {
    const NAME: &str = "missing_write_barriers_are_found";
    if let Ok(with_fault) = std::env::var(CHILD) {
        let options = JitOptions {
            threshold: 4,
            loop_threshold: u32::MAX,
            sync: true,
            fault: (with_fault == "true").then_some(Fault::NoBarrier),
            ..JitOptions::default()
        };
        let lua = Lua::with_engine(&Engine::with_jit(options));
        lua.set_gc_phases(1);
        assert_eq!(lua.load(STORES).eval::<i64>().expect("it runs"), 80_200);
        return;
    }
    let child = |with_fault: bool| {
        Command::new(std::env::current_exe().expect("a test has a file"))
            .args(["--exact", NAME, "--nocapture"])
            .env(CHILD, with_fault.to_string())
            .output()
            .expect("it starts")
    };
    let output = child(true);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("is reachable"), "{said}");
    let output = child(false);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
