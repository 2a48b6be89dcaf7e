//! Long-running library functions stop soon after an interrupt from another thread, and no
//! finalizer keeps an interrupt from the script.

mod modes;

use std::thread;
use std::time::{Duration, Instant};

use perilune::{Error, Function, Lua};

/// Preparations and long operations. Each operation takes far longer than [`LIMIT`].
const OPERATIONS: &[(&str, &str)] = &[
    ("", "return ('x'):rep(2^31 // 1 - 1)"),
    ("", "return ('abc'):rep(2^28 // 1, ', ')"),
    ("s = ('x'):rep(2^28)", "return s:lower()"),
    ("s = ('x'):rep(2^28)", "return s:upper()"),
    ("s = ('x'):rep(2^28)", "return s:reverse()"),
    ("s = ('x'):rep(2^28)", "return s:find('%d')"),
    ("s = ('x'):rep(2^28)", "return s:find('x*%d')"),
    ("s = ('('):rep(2^28)", "return s:find('%b()')"),
    ("s = ('a'):rep(2^18)", "return s:find('.-.-.-b')"),
    ("s = ('a'):rep(2^18)", "return s:match('a*a*a*b')"),
    ("s = ('a'):rep(2^25)", "return s:gsub('a', 'b')"),
    ("s = ('a'):rep(2^25)", "return s:gsub('(a)', '%1%1')"),
    ("s = ('a'):rep(2^25)", "return s:gsub('a', { a = 'b' })"),
    ("s = ('a'):rep(2^25)", "return s:gsub('a', string.upper)"),
    ("s = ('%%'):rep(2^26)", "return s:format()"),
    ("s = ('x'):rep(2^28)", "return string.pack(s)"),
    ("s = ('x'):rep(2^28)", "return string.packsize(s)"),
    ("s = (' '):rep(2^28)", "return string.unpack(s, '')"),
    ("s = ('x'):rep(2^28)", "return utf8.len(s)"),
    ("s = ('x'):rep(2^28)", "return utf8.offset(s, 2^28 // 1)"),
    ("s = ('x'):rep(2^28)", "return utf8.offset(s, -2^28 // 1)"),
    ("t = {} for i = 1, 2000 do t[i] = ('x'):rep(2^18) end", "return table.concat(t, ',')"),
    ("t = {} for i = 1, 2^22 do t[i] = 'x' end", "for i = 1, 100 do table.concat(t) end"),
    ("t = {} for i = 1, 2^22 do t[i] = i * 7919 % 2^22 // 1 end", "table.sort(t)"),
    ("t = {} for i = 1, 2^22 do t[i] = i * 7919 % 2^22 end", "table.sort(t)"),
    ("t = {} for i = 1, 2^18 do t[i] = ('x'):rep(50) .. i * 7919 % 2^18 end", "table.sort(t)"),
    ("t = {} for i = 1, 2^20 do t[i] = i * 7919 % 2^20 // 1 end", "table.sort(t, math.ult)"),
    ("t = { 1, 2 }", "table.move(t, 1, 2^50 // 1, 3, {})"),
    ("t = setmetatable({}, { __len = function() return 2^50 // 1 end })", "table.insert(t, 1, 0)"),
    ("t = setmetatable({}, { __len = function() return 2^50 // 1 end })", "table.remove(t, 1)"),
    (
        "t = setmetatable({}, { __index = function() return '' end })",
        "table.concat(t, '', 1, 2^50 // 1)",
    ),
];

/// Time within which an operation must stop, including scheduling delays.
const LIMIT: Duration = Duration::from_millis(20);

/// How often an operation may be tried. An operation that really stops late does so every time.
const ATTEMPTS: usize = 60;

/// Runs and interrupts an operation. Returns how long it continues, or `None` if it ended by
/// itself.
fn latency(setup: &str, operation: &str, after: Duration) -> Option<Duration> {
    let lua = Lua::with_engine(&perilune::Engine::interpreter());
    lua.load(setup).exec().expect("it can be set up");
    let interrupt = lua.interrupt_handle();
    let waker = thread::spawn(move || {
        thread::sleep(after);
        let requested = Instant::now();
        interrupt.request();
        requested
    });
    let result = lua.load(operation).exec();
    let ended = Instant::now();
    let requested = waker.join().expect("it does not panic");
    match result {
        Ok(()) => None,
        Err(Error::RuntimeError(message)) if message.contains("interrupted!\nstack traceback:") => {
            Some(ended.saturating_duration_since(requested))
        }
        Err(error) => panic!("{operation}: {error}"),
    }
}

#[test]
#[cfg_attr(miri, ignore = "measures time")]
fn long_operations_stop_soon() {
    for (setup, operation) in OPERATIONS {
        let mut least = Duration::MAX;
        // Other processes may delay many attempts, and a fast machine may finish before the
        // interrupt.
        for after in [20, 10, 5].into_iter().cycle().take(ATTEMPTS) {
            if let Some(time) = latency(setup, operation, Duration::from_millis(after)) {
                least = least.min(time);
            }
            if least <= LIMIT {
                break;
            }
        }
        println!("{least:>12.1?}  {operation}");
        assert!(least <= LIMIT, "{operation} went on for {least:?}");
    }
}

#[test]
fn an_interrupted_sort_keeps_all_elements() {
    let lua = Lua::with_engine(&perilune::Engine::interpreter());
    let script = "local seen, count = {}, 0
        for i = 1, #t do if not seen[t[i]] then seen[t[i]] = true count = count + 1 end end
        return count";
    for element in ["i * 7919 % 2^17 // 1", "i * 7919 % 2^17", "'k' .. i * 7919 % 2^17"] {
        let setup = format!("t = {{}} for i = 1, 2^17 do t[i] = {element} end");
        lua.load(setup).exec().expect("it can be set up");
        for after in [0, 300, 1000, 2000] {
            let interrupt = lua.interrupt_handle();
            let waker = thread::spawn(move || {
                thread::sleep(Duration::from_micros(after));
                interrupt.request();
            });
            let _ = lua.load("table.sort(t)").exec();
            waker.join().expect("it does not panic");
            // The request may come when the sort is over.
            let _ = lua.load("for i = 1, 10 do end").exec();
            assert_eq!(
                lua.load(script).call::<String>(()).expect("it runs"),
                "131072",
                "{element}"
            );
        }
    }
}

/// Returns a function that interrupts the script that calls it.
fn request_function(lua: &Lua) -> Function {
    let interrupt = lua.interrupt_handle();
    let request = move |_: &Lua, ()| {
        interrupt.request();
        Ok(())
    };
    lua.create_function(request).expect("there is memory")
}

/// An error in a finalizer is only a warning, so an interrupt that meets a finalizer must stop the
/// script as well.
#[test]
fn an_interrupted_finalizer_does_not_save_the_script() {
    let finalizers = [
        "request() local n = 0 for i = 1, 10 do n = n + i end",
        "pcall(function() request() while true do end end)",
        "coroutine.wrap(function() request() while true do end end)()",
        "request() load(function() while true do end end)",
        "request()",
    ];
    for mode in modes::MODES {
        for finalizer in finalizers {
            let what = format!("{mode:?}: {finalizer}");
            let lua = mode.state();
            lua.globals().set("request", request_function(&lua)).expect("there is memory");
            // in case it is lost
            lua.set_time_limit(Some(Duration::from_secs(20))).expect("it can be set");
            let script = format!(
                "setmetatable({{}}, {{ __gc = function() {finalizer} end }})
                while true do collectgarbage() end"
            );
            let error = lua.load(script).exec().expect_err(&what).to_string();
            assert!(error.contains("interrupted!"), "{what}: {error}");
            lua.load("for i = 1, 10 do end").exec().expect("the request was obeyed");
        }
    }
}

#[test]
fn an_interrupt_does_not_skip_the_variable_that_is_closed_next() {
    for mode in modes::MODES {
        let lua = mode.state();
        let program = "
            local request = ...
            local function closing(name)
                return setmetatable({}, { __close = function() closed = closed .. name end })
            end
            local function run(operand)
                local outer <close> = closing(' outer')
                do
                    local inner <close> = closing(' inner')
                    local sum = operand + 1
                end
                closed = closed .. ' not reached'
            end
            closed = ''
            for _ = 1, 100 do run(1) end
            closed = ''
            run(setmetatable({}, { __add = request }))";
        let error =
            lua.load(program).call::<()>(request_function(&lua)).expect_err("it is interrupted");
        assert!(error.to_string().contains("interrupted!"), "{mode:?}: {error}");
        let closed: String = lua.globals().get("closed").expect("it is a text");
        assert_eq!(closed, " inner outer", "{mode:?}");
    }
}

#[test]
fn an_interrupt_does_not_skip_the_variables_that_native_code_closes() {
    let programs = [
        // `coroutine.close`
        "local suspended = coroutine.create(function()
            local outer <close> = closing(' outer')
            local inner <close> = closing(' inner')
            coroutine.yield()
        end)
        coroutine.resume(suspended)
        local sum = operand + 1
        return (coroutine.close(suspended))",
        // native code that catches an error
        "return (load(function()
            local outer <close> = closing(' outer')
            local inner <close> = closing(' inner')
            local difference = operand - 1
        end))",
    ];
    for mode in modes::MODES {
        for program in programs {
            let lua = mode.state();
            let program = format!(
                "local request, fail = ...
                closed = ''
                local function closing(name)
                    local function close() closed = closed .. name end
                    return setmetatable({{}}, {{ __close = close }})
                end
                local operand = setmetatable({{}}, {{ __add = request, __sub = fail }})
                {program}"
            );
            let interrupt = lua.interrupt_handle();
            let fail = move |_: &Lua, ()| -> Result<(), Error> {
                interrupt.request();
                Err(Error::runtime("failed"))
            };
            let fail = lua.create_function(fail).expect("there is memory");
            let request = request_function(&lua);
            let _ = lua.load(&program).call::<Option<bool>>((request, fail));
            let closed: String = lua.globals().get("closed").expect("it is a text");
            assert_eq!(closed, " inner outer", "{mode:?}: {program}");
        }
    }
}
