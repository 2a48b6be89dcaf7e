//! Deep recursion on threads with small native stacks ends in errors and not in a crash.

mod modes;

use std::thread;

use modes::{MODES, Mode};

/// Endless recursions through every kind of call.
const DEEP: &[&str] = &[
    "local function f() return 1 + f() end f()",
    "local function f(...) local a = f(1, ...) return a end f()",
    "local function f() local ok, m = pcall(f) error(m, 0) end f()",
    "local function f() return (pcall(f)) end return f() and error('C stack overflow')",
    "local t = {} setmetatable(t, {__index = function(t, k) return t[k] end}) return t.x",
    "local t = setmetatable({}, {__add = function(a, b) return a + b end}) return t + 1",
    "local t = setmetatable({}, {__lt = function(a, b) return a < b end}) return t < 1",
    "local t = setmetatable({}, {__eq = function(a, b) return a == b end}) return t == \
     setmetatable({}, getmetatable(t))",
    "local t = setmetatable({}, {__concat = function(a, b) return a .. b end}) return t .. 'x'",
    "local t = setmetatable({}, {__call = function(t) local r = t() return r end}) t()",
    "local t = setmetatable({}, {__newindex = function(t, k, v) t[k] = v end}) t.x = 1",
    "local function f() table.sort({1, 2, 3}, function(a, b) f() return a < b end) end f()",
    "local function f() return (('x'):gsub('x', function() f() end)) end f()",
    "local function f() local co = coroutine.wrap(f) co() end f()",
    "local function f() for k in function() return f() end do end end f()",
    "local function f() tostring(setmetatable({}, {__tostring = function() return f() end})) \
     return 'x' end f()",
    "local function f(n) local t = {} for i = 1, 3 do t[i] = n end table.sort(t, function(a, b) \
     return f(n + 1) end) end f(1)",
    "error((select(2, load('return ' .. ('('):rep(300)))))",
];

fn ends_in_errors(mode: Mode, size: usize) {
    for program in DEEP {
        let run = move || {
            let lua = mode.state();
            let message = lua.load(*program).exec().expect_err(program).to_string();
            assert!(
                message.contains("overflow") || message.contains("error in error handling"),
                "{mode:?}: {program}: {message}"
            );
            assert_eq!(
                lua.load("return 6 * 7").call::<String>(()).expect("it runs"),
                "42",
                "{mode:?}"
            );
        };
        let thread = thread::Builder::new().stack_size(size).spawn(run).expect("a thread starts");
        assert!(thread.join().is_ok(), "{mode:?}: {program}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "deep")]
fn with_256_kilobytes() {
    for mode in MODES {
        ends_in_errors(mode, 256 << 10);
    }
}

#[test]
#[cfg_attr(miri, ignore = "deep")]
fn with_1_megabyte() {
    for mode in MODES {
        ends_in_errors(mode, 1 << 20);
    }
}
