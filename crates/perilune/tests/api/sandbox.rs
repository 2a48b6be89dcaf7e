//! The sandbox: its contents, and attempts of scripts to escape.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use perilune::{
    Engine, Error, Function, JitOptions, Limit, Lua, Result, Sandbox, SandboxOptions, Table, Value,
};

fn sandbox() -> Sandbox {
    SandboxOptions::new().build().expect("it is made")
}

/// Returns all functions that a script can reach from its globals and from metatables, by path.
fn reachable(lua: &Lua) -> Result<BTreeSet<String>> {
    let script = "
        local seen, out = {}, {}
        local function walk(v, path)
            if type(v) == 'function' then out[#out + 1] = path end
            if type(v) == 'table' and not seen[v] then
                seen[v] = true
                for k, x in next, v do
                    walk(k, path .. '.?')
                    walk(x, path == '' and tostring(k) or path .. '.' .. tostring(k))
                end
            end
            local m = getmetatable(v)
            if m then walk(m, path .. '<meta>') end
        end
        walk(_G, '')
        for name, v in next, { string = '', number = 1, boolean = true, thread = \
        coroutine.create(print), ['function'] = print } do
            walk(v, name)
        end
        return out";
    let list: Vec<String> = lua.load(script).eval()?;
    Ok(list.into_iter().filter(|p| p != "function").collect())
}

/// A function that is added to the libraries is not in a sandbox unless this list contains it.
#[test]
fn these_functions_and_no_others() -> Result<()> {
    let expected = "
        assert error getmetatable ipairs load next pairs pcall print rawequal rawget rawlen rawset \
        select setmetatable tonumber tostring type
        warn xpcall
        coroutine.close coroutine.create coroutine.isyieldable coroutine.resume coroutine.running \
        coroutine.status coroutine.wrap coroutine.yield
        debug.traceback os.clock os.date os.difftime os.time
        math.abs math.acos math.asin math.atan math.ceil math.cos math.deg math.exp math.floor \
        math.fmod math.log math.max math.min math.modf math.rad
        math.atan2 math.cosh math.frexp math.ldexp math.log10 math.pow math.sinh math.tanh
        math.random math.randomseed math.sin math.sqrt math.tan math.tointeger math.type math.ult
        string.byte string.char string.find string.format string.gmatch string.gsub string.len \
        string.lower string.match string.pack string.packsize
        string.rep string.reverse string.sub string.unpack string.upper
        table.concat table.insert table.move table.pack table.remove table.sort table.unpack
        utf8.char utf8.codepoint utf8.codes utf8.len utf8.offset";
    let expected: BTreeSet<String> = expected.split_whitespace().map(str::to_owned).collect();
    assert_eq!(reachable(sandbox().lua())?, expected);
    Ok(())
}

#[test]
#[cfg_attr(miri, ignore = "compiles what is hot")]
fn scripts_do_not_get_out() -> Result<()> {
    // Each script returns only nil and false, or fails; `binary` is a binary chunk.
    let scripts = [
        "return io, package, require, dofile, loadfile, collectgarbage",
        "return os.execute, os.exit, os.remove, os.rename, os.getenv, os.tmpname, os.setlocale",
        "return debug.getinfo, debug.getregistry, debug.setmetatable, debug.getupvalue, \
         debug.sethook",
        "return getmetatable(''), getmetatable('').__index",
        "getmetatable('').__index = { escaped = true } return ('').escaped",
        "debug.setmetatable('', { __index = { escaped = true } }) return ('').escaped",
        "return string.dump",
        "return ('').dump",
        // binary chunks, in all ways to load them
        "return (load(binary))",
        "return (load(binary, 'x', 'b'))",
        "return (load(binary, 'x', 'bt'))",
        "local n = 0 return (load(function() n = n + 1 return n == 1 and binary:sub(1, 1) or \
         n == 2 and binary:sub(2) or nil end, 'x', 'bt'))",
        "local ok, f = pcall(load, binary, 'x', 'bt', {}) return ok and f",
        "return load('return io, os and os.execute', 'x', 't')()",
        "return load('return io', 'x', 'bt', setmetatable({}, { __index = _G }))()",
        "return coroutine.wrap(function() return io, require end)()",
        "return select(2, xpcall(error, function() return io or false end))",
    ];
    let gets_out = |lua: &Lua, script: &str| -> Result<Option<Value>> {
        let chunk = lua.load("return 1").into_function()?.dump(true);
        lua.globals().set("binary", lua.create_string(chunk)?)?;
        let Ok(values) = lua.load(script).eval::<perilune::MultiValue>() else { return Ok(None) };
        let nothing = |v: &Value| matches!(v, Value::Nil | Value::Boolean(false));
        Ok(values.into_iter().find(|v| !nothing(v)))
    };
    for script in scripts {
        // SAFETY: the scripts load only the binary chunk that was just created.
        let open = unsafe { Lua::unsafe_new() };
        assert!(gets_out(&open, script)?.is_some(), "outside of a sandbox, too: {script}");
        let found = gets_out(sandbox().lua(), script)?;
        assert!(found.is_none(), "{script}: {found:?}");
    }
    Ok(())
}

#[test]
fn finalizers_of_scripts_do_not_run() -> Result<()> {
    let script = "ran = false setmetatable({}, { __gc = function() ran = true end })";
    let sandbox = sandbox();
    sandbox.load(script).exec()?;
    let plain = Lua::new();
    plain.load(script).exec()?;
    for lua in [sandbox.lua(), &plain] {
        lua.gc_collect()?;
        lua.gc_collect()?;
    }
    assert!(plain.load("return ran").eval::<bool>()?, "the object is garbage");
    assert!(!sandbox.load("return ran").eval::<bool>()?);
    Ok(())
}

#[test]
fn what_is_there_works() -> Result<()> {
    let sandbox = sandbox();
    let script = "
        local f = assert(load('x = 1 return ...', '=part', 'bt', { }))
        assert(f(5) == 5 and x == nil)
        local env = {}
        load('y = 2', 'part', nil, env)()
        assert(env.y == 2 and y == nil)
        assert(not pcall(load('y = 1', 'part', 't', nil)), 'an environment of nil is none')
        local parts = { 'return ', '4', '2' }
        assert(load(function() return table.remove(parts, 1) end)() == 42)
        local f, why = load('x =', '=part')
        assert(f == nil and why:find('part:1:', 1, true))
        local ok, why = pcall(load)
        assert(not ok and why:find('bad argument #1', 1, true), why)
        assert(('x'):rep(3) == 'xxx' and os.time() > 0 and debug.traceback('m'):find('^m\\nstack'))
        print('one', 2) warn('@on') warn('not shown')
        return 'done'";
    assert_eq!(sandbox.run(|_| sandbox.load(script).eval::<String>())?, "done");
    Ok(())
}

#[test]
fn the_host_gets_what_is_printed() -> Result<()> {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let heard = lines.clone();
    let print = move |line: &str| {
        let mut lines = heard.lock().unwrap();
        lines.push(line.to_owned());
        if lines.len() > 3 { Err(Error::runtime("enough is said")) } else { Ok(()) }
    };
    let sandbox = SandboxOptions::new().print(print).build()?;
    let shown = "setmetatable({}, { __tostring = function() return 'me' end })";
    sandbox.load(format!("print('a', 1, nil, 2.0, {shown}) print() print('\\255')")).exec()?;
    assert_eq!(*lines.lock().unwrap(), ["a\t1\tnil\t2.0\tme", "", "\u{fffd}"]);
    let why = sandbox.load("print('x') print('y')").exec().unwrap_err();
    assert!(why.to_string().contains("enough is said"), "{why}");
    Ok(())
}

#[test]
fn binary_chunks_of_the_host_are_refused_too() -> Result<()> {
    let sandbox = sandbox();
    let binary = sandbox.load("return 1").into_function()?.dump(true);
    assert!(sandbox.load(&binary).exec().is_err());
    assert_eq!(sandbox.lua().load(&binary).eval::<i64>()?, 1, "the host may");
    Ok(())
}

/// Returns a sandbox with limits for each run.
fn limited() -> Result<Sandbox> {
    // Miri takes seconds for a few instructions.
    let time = Duration::from_secs(if cfg!(miri) { 1000 } else { 10 });
    let options = SandboxOptions::new().memory(4 << 20).time(time);
    options.instructions(300_000).build()
}

#[test]
#[cfg_attr(miri, ignore = "takes long")]
fn limits_cannot_be_caught() -> Result<()> {
    use Limit::{Instructions, Memory};
    let scripts = [
        ("while true do end", Instructions),
        ("while true do pcall(function() while true do end end) end", Instructions),
        ("repeat until not coroutine.wrap(function() while true do end end)()", Instructions),
        ("while true do xpcall(error, function() while true do end end) end", Instructions),
        (
            "while true do local c <close> = setmetatable({}, { __close = function() while true do \
             end end }) end",
            Instructions,
        ),
        ("return ('a'):rep(50000):find('.-.-.-.-b')", Instructions),
        (
            "local t = {} for i = 1, 1e5 do t[i] = i % 7 end table.sort(t, function() return true \
             end)",
            Instructions,
        ),
        ("local function f() return f() end f()", Instructions),
        ("load(function() return 'x = 1 ' end)", Instructions),
        ("return ('x'):rep(1 << 26)", Memory),
        ("local s = 'x' while true do s = s .. s end", Memory),
        ("local t = {} while true do t[#t + 1] = ('x'):rep(1000) .. #t end", Memory),
        (
            "local t = {} return table.concat({ ('x'):rep(2e6), ('y'):rep(2e6), ('z'):rep(2e6) })",
            Memory,
        ),
    ];
    let sandbox = limited()?;
    for (script, limit) in scripts {
        let result = sandbox.run(|_| sandbox.load(script).exec());
        assert!(result.is_err(), "{script}");
        assert_eq!(sandbox.reached(), Some(limit), "{script}: {result:?}");
        // the next run has limits of its own
        sandbox.lua().gc_collect()?;
        assert_eq!(sandbox.run(|_| sandbox.load("return 6 * 7").eval::<i64>())?, 42, "{script}");
        assert_eq!(sandbox.reached(), None);
    }
    Ok(())
}

#[test]
#[cfg_attr(miri, ignore = "measures time")]
fn time_is_a_limit_of_its_own() -> Result<()> {
    let sandbox = SandboxOptions::new().time(Duration::from_millis(20)).build()?;
    for script in ["while true do pcall(error) end", "return ('a'):rep(200000):find('.-.-.-.-b')"] {
        assert!(sandbox.run(|_| sandbox.load(script).exec()).is_err());
        assert_eq!(sandbox.reached(), Some(Limit::Time), "{script}");
    }
    // the time limit of a run does not apply after its end
    std::thread::sleep(Duration::from_millis(40));
    sandbox.lua().load("for i = 1, 1000 do end").exec()?;
    Ok(())
}

#[test]
fn what_a_script_says_is_no_limit() -> Result<()> {
    let sandbox = limited()?;
    for script in
        ["error('instruction limit exceeded', 0)", "error('time limit exceeded')", "error({})"]
    {
        assert!(sandbox.run(|_| sandbox.load(script).exec()).is_err());
        assert_eq!(sandbox.reached(), None, "{script}");
    }
    Ok(())
}

#[test]
#[cfg_attr(miri, ignore = "takes long")]
fn results_are_looked_at_within_the_limits() -> Result<()> {
    let sandbox = limited()?;
    let script = "return setmetatable({}, { __tostring = function() while true do end end })";
    assert!(sandbox.run(|_| sandbox.load(script).eval::<Value>()?.to_string()).is_err());
    assert_eq!(sandbox.reached(), Some(Limit::Instructions));
    Ok(())
}

#[test]
#[cfg_attr(miri, ignore = "takes long")]
fn a_run_in_a_run_has_the_limits_of_that() -> Result<()> {
    let sandbox = std::rc::Rc::new(limited()?);
    let result = sandbox.run(|lua| {
        sandbox.run(|_| sandbox.load("x = 1").exec())?;
        lua.load("while true do end").exec()
    });
    assert!(result.is_err() && sandbox.reached() == Some(Limit::Instructions));
    // a panic of the host ends a run like everything else
    let panic = std::panic::AssertUnwindSafe(|| sandbox.run(|_| -> Result<()> { panic!("host") }));
    assert!(std::panic::catch_unwind(panic).is_err());
    assert_eq!(sandbox.lua().instructions_left(), None);
    assert!(sandbox.run(|_| sandbox.load("while true do end").exec()).is_err());
    Ok(())
}

#[test]
#[cfg_attr(miri, ignore = "needs memory for machine code")]
fn engines_of_the_host() -> Result<()> {
    let engine = Engine::with_jit(JitOptions::default());
    let refused = SandboxOptions::new().engine(&engine).instructions(1).build();
    assert!(refused.unwrap_err().to_string().contains("not counted"));
    for engine in [Engine::interpreter(), engine] {
        let sandbox = SandboxOptions::new().engine(&engine).memory(4 << 20).build()?;
        let program = engine.compile("return n + ...", "=p")?;
        sandbox.lua().globals().set("n", 1)?;
        assert_eq!(sandbox.run(|lua| lua.load_program(&program).call::<i64>(41))?, 42);
    }
    Ok(())
}

/// No code of a script runs after its time limit.
#[test]
fn there_are_no_finalizers() -> Result<()> {
    let sandbox = limited()?;
    let script = "
        local function endless() ran = true while true do end end
        setmetatable({}, { __gc = endless })
        kept = setmetatable({}, { __gc = endless })
        late = { __gc = endless } setmetatable({}, late)";
    sandbox.run(|_| sandbox.load(script).exec())?;
    sandbox.lua().gc_collect()?;
    sandbox.lua().gc_collect()?;
    assert!(sandbox.lua().globals().get::<Value>("ran")?.is_nil());
    drop(sandbox);
    Ok(())
}

/// Values that the host adds are available; changes by scripts stay in their state.
#[test]
fn states_are_apart() -> Result<()> {
    let (a, b) = (sandbox(), sandbox());
    a.load("string.rep = nil math.pi = 3 tostring = nil").exec()?;
    let f = b.lua().create_function(|_, ()| Ok("host"))?;
    b.lua().globals().set("f", f)?;
    b.load("assert(f() == 'host' and ('x'):rep(2) == 'xx' and math.pi > 3)").exec()?;
    let globals: Table = a.lua().globals();
    assert!(globals.get::<Option<Function>>("f")?.is_none());
    Ok(())
}

/// Text that consists of the same long string many times is limited as well.
#[test]
fn long_lines_reach_the_memory_limit() -> Result<()> {
    let sandbox = SandboxOptions::new()
        .memory(8 << 20)
        .print(|line| Err(Error::runtime(line.len())))
        .build()?;
    sandbox.lua().set_warning_function(|_, text, _| panic!("{}", text.len()));
    for f in ["print", "warn"] {
        let text = format!(
            "local s, t = ('x'):rep(1 << 20), {{}}
            for i = 1, 200 do t[i] = s end
            {f}(table.unpack(t))"
        );
        assert!(sandbox.run(|_| sandbox.load(text).exec()).is_err());
        assert_eq!(sandbox.reached(), Some(Limit::Memory), "{f}");
    }
    Ok(())
}

#[test]
fn load_with_many_arguments() -> Result<()> {
    let sandbox = sandbox();
    let text = "local many = {}
        for i = 1, 200 do many[i] = i end
        return load('return x', 'name', 't', {x = 5}, table.unpack(many))()";
    assert_eq!(sandbox.run(|_| sandbox.load(text).eval::<i64>())?, 5);
    Ok(())
}
