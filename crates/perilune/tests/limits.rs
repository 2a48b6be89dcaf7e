//! Endless programs can be stopped: by an interrupt from another thread, by hooks that count, and
//! by limits of time, instructions and memory.

mod modes;

use std::thread;
use std::time::{Duration, Instant};

use modes::{MODES, Mode};
use perilune::{Engine, Error, Lua};

/// Programs that do not end by themselves and keep no memory alive.
const ENDLESS: &[&str] = &[
    "while true do end",
    "repeat until false",
    "::top:: goto top",
    "local x = 0 while true do x = x + 1 end",
    "local x = 0 while x ~= 0.5 do x = x - 1 end",
    "for i = math.mininteger, math.maxinteger do end",
    "for i = math.maxinteger, math.mininteger, -1 do end",
    "for i = 1, math.huge, 0.0001 do end",
    "for i = 1.0, math.huge, 1e-300 do end",
    "local function f(n) return f(n + 1) end f(1)",
    "local f, g function f() return g() end function g(...) return f(...) end f()",
    "local t = setmetatable({}, {__call = function(self) return self() end}) t()",
    "local m = {} function m:go() return self:go() end m:go()",
    "for i in function() return 1 end do end",
    "local t = {1} while true do for k, v in pairs(t) do t[k] = v end end",
    "local t = {1, 2} while true do for i, v in ipairs(t) do end end",
    "local t = setmetatable({}, {__index = function(t, k) while true do end end}) return t.x",
    "local t = setmetatable({}, {__add = function(a, b) return a end}) while true do t = t + 1 end",
    "local t = setmetatable({}, {__lt = function(a, b) repeat until a ~= b end}) return t < t",
    "local t = setmetatable({}, {__eq = function(a, b) while a do end end}) return t == \
     setmetatable({}, getmetatable(t))",
    "table.sort({1, 2, 3}, function() while true do end end)",
    "('x'):gsub('x', function() while true do end end)",
    "local co = coroutine.wrap(function() while true do end end) co()",
    "local co = coroutine.wrap(function() while true do coroutine.yield() end end) while true do \
     co() end",
    "while true do coroutine.wrap(function() end)() end",
    "local function f() end while true do f() end",
    "local function f(...) return ... end while true do f(1, 2, 3) end",
    "while true do local t = {} end",
    "while true do local s = 'a' .. 1 end",
    "while true do math.floor(1.5) end",
    "do local c <close> = setmetatable({}, {__close = function() while true do end end}) end",
    "local s = 0 while true do for i = 1, 10 do for j = 1, 10 do s = s + j end end end",
    "local t = {0} for i = 1, math.maxinteger do t[1] = t[1] ~ i end",
    "local t = {0} while true do for i = 1, 1000 do t[1] = t[1] ~ i end end",
];

/// Programs that keep more and more memory alive.
const GROWING: &[&str] = &[
    "local t = {} while true do t[#t + 1] = {} end",
    "local t = {} while true do t = {t} end",
    "local t = {} for i = 1, math.huge do t[i] = i end",
    "local t = {} for i = 1, math.maxinteger do t['k' .. i] = i end",
    "local s = 'x' while true do s = s .. s end",
    "local t, n = {}, 0 while true do n = n + 1 t[n] = function() return n end end",
    "local t = {} while true do t[#t + 1] = coroutine.create(function() end) end",
    "local t = {} while true do t[#t + 1] = ('x'):rep(1000) .. #t end",
    "local t = {} for i in function() return 1 end do table.insert(t, {x = 1, y = 2}) end",
    "local t = setmetatable({}, {__index = function(t, k) t[k] = {} return t[k] end}) for i = 1, \
     math.huge do t[i].x = i end",
];

/// An interrupted program stops within this time if the machine is not too busy.
const LIMIT: Duration = Duration::from_millis(100);

/// Runs the program, interrupts it, and measures how long it continues.
fn latency(lua: &Lua, program: &str, after: Duration) -> Duration {
    let interrupt = lua.interrupt_handle();
    let waker = thread::spawn(move || {
        thread::sleep(after);
        let requested = Instant::now();
        interrupt.request();
        requested
    });
    let result = lua.load(program).exec();
    let ended = Instant::now();
    match result {
        Err(Error::RuntimeError(message)) if message.contains("interrupted!") => {}
        other => panic!("{program}: {other:?}"),
    }
    ended.saturating_duration_since(waker.join().expect("it does not panic"))
}

#[test]
#[cfg_attr(miri, ignore = "measures time")]
fn interrupts_stop_endless_programs() {
    for mode in MODES {
        for program in ENDLESS {
            let lua = mode.state();
            let mut least = Duration::MAX;
            // other processes may delay a try
            for after in [20, 5, 20, 10] {
                least = least.min(latency(&lua, program, Duration::from_millis(after)));
                if least <= LIMIT {
                    break;
                }
            }
            assert!(least <= LIMIT, "{mode:?}: {program} ran for {least:?}");
            // the state is usable
            assert_eq!(
                lua.load("return 6 * 7").call::<String>(()).expect("it runs"),
                "42",
                "{mode:?}"
            );
        }
    }
}

#[test]
fn counts_of_instructions_stop_endless_programs() {
    let before = "debug.sethook(function() debug.sethook() error('counted') end, '', 100000); ";
    for mode in MODES {
        for program in ENDLESS {
            if program.contains("coroutine") {
                // hooks belong to one coroutine
                continue;
            }
            let lua = mode.state();
            let result = lua.load(format!("{before}{program}")).exec();
            let message = result.expect_err(program).to_string();
            assert!(message.contains("counted"), "{mode:?}: {program}: {message}");
        }
        // set while the loop is machine code already
        let lua = mode.state();
        let program =
            format!("local i = 0 while true do i = i + 1 if i == 5000 then {before} end end");
        let message = lua.load(program).exec().expect_err("it is endless").to_string();
        assert!(message.contains("counted"), "{mode:?}: {message}");
    }
}

#[test]
fn the_memory_limit_stops_growing_programs() {
    for mode in MODES {
        for program in GROWING {
            let lua = mode.state();
            lua.set_memory_limit(12 << 20).expect("it can be set");
            let result = lua.load(*program).exec();
            let message = result.expect_err(program).to_string();
            assert!(message.contains("not enough memory"), "{mode:?}: {program}: {message}");
            assert_eq!(
                lua.load("return #{1, 2, 3}").call::<String>(()).expect("it runs"),
                "3",
                "{mode:?}"
            );
        }
    }
}

/// Runs a program that does not end and catches all errors that it can.
fn stubborn(program: &str) -> String {
    format!(
        "while true do
           pcall(xpcall, function()
             local c <close> = setmetatable({{}}, {{__close = function() {program} end}})
             {program}
           end, function() {program} end)
         end"
    )
}

#[test]
#[cfg_attr(miri, ignore = "measures time")]
fn time_limits_stand_until_they_are_set_again() {
    for mode in MODES {
        for program in ENDLESS
            .iter()
            .map(|p| (*p).to_owned())
            .chain(ENDLESS.iter().map(|p| stubborn(&format!("do {p} end"))))
        {
            if program.contains("goto") && program.contains("pcall") {
                continue; // the label would be defined twice
            }
            let lua = mode.state();
            let mut over = Duration::MAX;
            // other processes may delay a try
            for _ in 0..4 {
                let limit = Duration::from_millis(10);
                let begun = Instant::now();
                lua.set_time_limit(Some(limit)).expect("it is set");
                let message = lua.load(&*program).exec().expect_err(&program).to_string();
                over = over.min(begun.elapsed().saturating_sub(limit));
                assert!(message.contains("time limit exceeded"), "{mode:?}: {program}: {message}");
                if over <= LIMIT {
                    break;
                }
            }
            assert!(over <= LIMIT, "{mode:?}: {program} ran for {over:?}");
            let message = lua.load("while true do end").exec().expect_err("no time").to_string();
            assert!(message.contains("time limit exceeded"), "{mode:?}: {message}");
            lua.set_time_limit(Some(Duration::from_secs(3600))).expect("it is set");
            assert_eq!(
                lua.load("local s = 0 for i = 1, 1000 do s = s + i end return s")
                    .eval::<i64>()
                    .expect("it runs"),
                500_500
            );
        }
    }
}

/// Programs that record their progress in `log`.
const COUNTED: &[&str] = &[
    "local i = 0 while true do i = i + 1 log = i end",
    "for i = 1, math.huge do log = i end",
    "for i = 1, math.maxinteger do log = i if i % 3 == 0 then goto on end log = log + 0.5 ::on:: \
     end",
    "local function f(n) log = n return f(n + 1) end f(1)",
    "local function fib(n) log = log + 1 if n < 2 then return n end return fib(n - 1) + fib(n - 2) \
     end log = 0 fib(80)",
    "local mt = {} mt.__index = function(t, k) log = k return t[k + 1] end log = 0 return \
     setmetatable({}, mt)[1]",
    "local v = setmetatable({}, {__add = function(a, b) log = log + 1 return a end}) log = 0 while \
     true do v = v + 1 end",
    "log = 0 while true do table.sort({3, 1, 2, 5, 4}, function(a, b) log = log + 1 return a < b \
     end) end",
    "log = 0 local co = coroutine.wrap(function() while true do log = log + 1 coroutine.yield() \
     end end) while true do co() end",
    "log = 0 while true do pcall(function() log = log + 1 error('caught') end) end",
    "log = 0 while true do for k, v in pairs({1, 2, x = 3}) do log = log + v end end",
    "log = '' while true do log = log .. 'x' if #log > 50 then log = '' end end",
    "log = 0 while true do log = log + #('a'):rep(3):gsub('a', function(c) log = log + 1 return c \
     .. c end) end",
    "log = 0 local o = {n = 0} function o:step() self.n = self.n + 1 log = self.n return self end \
     while true do o:step():step() end",
    // loops without calls, of which an iteration would be peeled if their code did not count
    "local t, n = {1, 2, 3, x = 1}, 0 log = 0 while true do for i = 1, #t do n = n + t[i] + t.x \
     end log = n end",
    "local t, n = {x = 1.5}, 0 while true do n = n + t.x if n % 3 == 0 then n = n + 1 end end",
    // loops whose code exits to the interpreter at the test that ends each iteration
    "log = 0 local function f(t, g) local n = 0 repeat n = n + 1 log = log + 1 until g(n) >= t.b \
     end for i = 1, 99 do f({b = 9}, function(n) return n end) end while true do f({b = 30.0}, \
     function(n) return n + 0.5 end) f({b = 9}, function(n) return n end) end",
    "log = 0 local function f(t, g) local n = 0 while g(n) < t.b do n = n + 1 log = log + 1 end \
     end for i = 1, 99 do f({b = 9}, function(n) return n end) end while true do f({b = 30.0}, \
     function(n) return n + 0.5 end) f({b = 9}, function(n) return n end) end",
    "log = 0 local function f(b) local n = 0 repeat n = n + 1 log = log + 1 until n == b end while \
     true do f(7) f(9.0) end",
    "log = 0 while true do log = log + select('#', (function(...) return ... end)(1, 2, 3)) end",
];

#[test]
fn instruction_limits_are_the_same_in_all_modes() {
    for program in COUNTED {
        for limit in [0, 1, 50, 1_000, 33_333, 250_000] {
            let mut expected = None;
            for mode in MODES {
                let lua = mode.state_that(true);
                lua.set_instruction_limit(Some(limit)).expect("it counts");
                let message =
                    lua.load(*program).set_name("=it").exec().expect_err(program).to_string();
                let stopped = message.contains("instruction limit exceeded")
                    || (limit > 100_000 && message.contains("stack overflow"));
                assert!(stopped, "{mode:?}: {program}: {message}");
                let left = lua.instructions_left();
                lua.set_instruction_limit(None).expect("it counts");
                let log: String = lua.load("return tostring(log)").eval().expect("it runs");
                let seen = (log, left, message);
                let expected = expected.get_or_insert_with(|| seen.clone());
                assert_eq!(*expected, seen, "{mode:?}, limit {limit}: {program}");
            }
        }
    }
}

#[test]
fn engines_whose_code_does_not_count_say_so() {
    let lua = Mode::Background.state();
    assert!(lua.set_instruction_limit(Some(1)).is_err());
    assert_eq!(lua.instructions_left(), None);
}

#[test]
fn searches_for_files_keep_the_limits() {
    const PROGRAMS: &[&str] = &[
        "package.searchpath(('x'):rep(1e6), ('?;'):rep(100))",
        "package.searchpath(('.'):rep(1e5), '?', '.', ('y'):rep(1e3))",
        "package.searchpath('x', ('a;'):rep(2e6))",
        "package.path = ('?;'):rep(50) require(('x'):rep(1e6))",
        "package.cpath = ('?;'):rep(50) require(('x'):rep(1e6))",
    ];
    for program in PROGRAMS {
        let lua = Lua::new();
        lua.set_memory_limit(8 << 20).unwrap();
        let e = lua.load(*program).exec().unwrap_err();
        assert!(matches!(e, Error::MemoryError(_)), "{program}: {e}");
        assert!(lua.used_memory() < 9 << 20, "{program}");
    }
    let lua = Lua::new();
    lua.set_time_limit(Some(Duration::from_millis(100))).unwrap();
    let begun = Instant::now();
    let e = lua.load("package.searchpath('x', ('/no/such/directory/?;'):rep(1e6))").exec();
    assert!(e.unwrap_err().to_string().contains("time"));
    assert!(begun.elapsed() < Duration::from_secs(5));
}

/// Functions that meet no safepoint of their own, at least when they are compiled.
const SHORT: &[&str] = &[
    "function(i) tostring(i + 0.5) end",
    "function(i) for j = 1, 2 do end tostring(i + 0.5) end",
    "function(i) return i .. 'x' end",
    "function(i) return {i} end",
    "function(i) return nil + i end",
    "function(i) error(i .. 'x') end",
    "tostring",
    "string.char",
];

/// Suspended coroutines, which yield soon after they are resumed.
const YIELDING: &[&str] = &[
    "function() while true do coroutine.yield(tostring(0.5) .. 'x') end end",
    "function() local function f() coroutine.yield() return f() end f() end",
    "function() for i = 1, math.huge do coroutine.yield({i}) end end",
];

#[test]
fn calls_of_short_functions_keep_the_memory_limit() {
    const LIMIT: usize = 4 << 20;
    const CALLS: i64 = if cfg!(miri) { 1_000 } else { 150_000 };
    for mode in MODES {
        for text in SHORT.iter().chain(YIELDING) {
            let lua = mode.state();
            lua.set_memory_limit(LIMIT).expect("it is set");
            let f: perilune::Function = lua.load(*text).eval().expect("it is a function");
            let co = lua.create_thread(f.clone()).expect("there is memory");
            for i in 0..CALLS {
                if YIELDING.contains(text) {
                    co.resume::<()>(()).expect("it yields");
                } else {
                    let r = f.call::<()>(i % 100);
                    let fails = text.contains("nil +") || text.contains("error");
                    assert_eq!(r.is_err(), fails, "{mode:?}: {text}: {r:?}");
                }
                let used = lua.used_memory();
                assert!(used < LIMIT, "{mode:?}: {text}: {used} bytes after {i} calls");
            }
        }
    }
}

#[test]
fn calls_of_short_functions_are_stopped() {
    for mode in MODES {
        for text in SHORT.iter().chain(YIELDING).filter(|text| text.contains(' ')) {
            let lua = mode.state();
            let f: perilune::Function = lua.load(*text).eval().expect("it is a function");
            let co = lua.create_thread(f.clone()).expect("there is memory");
            let run = || match YIELDING.contains(text) {
                true => co.resume::<()>(()).map_err(|e| e.to_string()),
                false => f.call::<()>(1).map_err(|e| e.to_string()),
            };
            (0..2_000).for_each(|_| drop(run()));
            lua.interrupt_handle().request();
            let e = run().expect_err(text);
            assert!(e.contains("interrupted!"), "{mode:?}: {text}: {e}");
            let e = run().err().unwrap_or_default();
            assert!(!e.contains("interrupted!"), "{mode:?}: {text}: {e}");
            lua.set_time_limit(Some(Duration::ZERO)).expect("it is set");
            thread::sleep(Duration::from_millis(20));
            for _ in 0..3 {
                let e = run().expect_err(text);
                assert!(e.contains("time limit exceeded"), "{mode:?}: {text}: {e}");
            }
            lua.set_time_limit(None).expect("it is set");
            let e = run().err().unwrap_or_default();
            assert!(!e.contains("time limit"), "{mode:?}: {text}: {e}");
        }
    }
}

/// The reader of `load` runs between the pieces of a program, and may do nothing but allocate.
#[test]
fn readers_of_programs_collect_garbage() {
    for mode in MODES {
        let lua = mode.state();
        let grown: f64 = lua
            .load(
                "local i, n = 0, ...
                 collectgarbage() local before = collectgarbage('count')
                 load(function() i = i + 1 if i < n then tostring(i) return ' ' end end)
                 return collectgarbage('count') - before",
            )
            .call(if cfg!(miri) { 1_000 } else { 300_000 })
            .expect("it runs");
        assert!(grown < 4096.0, "{mode:?}: {grown} KB");
    }
}

/// A long source, which is also the name of its chunk, needs no room for copies below the limit.
#[test]
fn long_sources_load_near_the_memory_limit() {
    let lua = Lua::with_engine(&Engine::interpreter());
    lua.set_memory_limit(lua.used_memory() + (4 << 20)).unwrap();
    let text = "collectgarbage('stop')
        local s, other = '--' .. ('x'):rep(1 << 20), ('y'):rep(1 << 20)
        other = other .. 'z'
        assert(load(s))";
    lua.load(text).exec().unwrap();
}

/// Functions that search for patterns collect garbage before they report a lack of memory.
#[test]
fn patterns_collect_garbage_near_the_memory_limit() {
    for call in [
        "s:gsub(s, 'y')",
        "s:gsub('x', 'yz')",
        "s:gsub('(x)', '%1%1')",
        "s:gsub(s, {})",
        "s:gmatch(s)()",
        "s:gmatch('.*')()",
    ] {
        let lua = Lua::with_engine(&Engine::interpreter());
        lua.set_memory_limit(lua.used_memory() + (4 << 20)).unwrap();
        let text = format!(
            "collectgarbage('stop')
             local s = ('x'):rep(1 << 18)
             local function fill() return ('y'):rep((15 << 18) - (1 << 17)) end
             fill()
             return {call}"
        );
        lua.load(text).exec().expect(call);
    }
}

/// A traceback contains the name of a function once for each of many levels.
#[test]
fn tracebacks_with_long_names_stay_below_the_memory_limit() {
    let lua = Lua::with_engine(&Engine::interpreter());
    let limit = 16 << 20;
    lua.set_memory_limit(lua.used_memory() + limit).unwrap();
    let text = "local name = ('x'):rep(1 << 20)
        local f = assert(load('local n = ... local function go(n) if n > 0 then ' .. name
          .. '(n - 1) return end error(\"end\") end return go'))()
        _G[name] = f
        name = nil
        collectgarbage()
        f(30)";
    let e = lua.load(text).exec().unwrap_err().to_string();
    assert!(e.contains(": end\nstack traceback:\n") && e.contains("'xxx"), "{}", e.len());
    assert!(e.contains("in function '?'") && e.len() < limit, "{}", e.len());
}
