//! Hooks and active functions.

use std::cell::RefCell;
use std::sync::{Arc, Mutex};

use perilune::{DebugEvent, Error, Function, HookTriggers, Lua, Result, VmState};

#[test]
fn events() -> Result<()> {
    let lua = Lua::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    lua.load("function f() return g() end function g() return 1 end").set_name("=lib").exec()?;
    lua.set_hook(HookTriggers::ON_CALLS | HookTriggers::ON_RETURNS, move |_, d| {
        let name = d.names().name.map(|n| n.into_owned()).unwrap_or_default();
        if d.source().short_src.as_deref() == Some("lib") {
            log.lock().unwrap().push((d.event(), name));
        }
        Ok(VmState::Continue)
    })?;
    lua.load("local x = f()").exec()?;
    lua.remove_hook();
    lua.load("f()").exec()?;
    let expected = [
        (DebugEvent::Call, "f".to_owned()),
        (DebugEvent::TailCall, String::new()),
        (DebugEvent::Ret, String::new()),
    ];
    assert_eq!(*seen.lock().unwrap(), expected);
    Ok(())
}

/// Scripts see that the host has set a hook, but cannot call its function.
#[test]
fn scripts_do_not_get_the_function() -> Result<()> {
    let lua = Lua::with_engine(&perilune::Engine::interpreter());
    let get = "local hook, mask, count = debug.gethook() return hook, mask, count";
    let hook = || lua.load(get).eval::<(String, String, i64)>();
    lua.set_hook(HookTriggers::new().on_calls().every_nth_instruction(9), |_, d| {
        d.current_line();
        Ok(VmState::Yield)
    })?;
    assert_eq!(hook()?, ("external hook".to_owned(), "c".to_owned(), 9));
    lua.remove_hook();
    lua.set_global_hook(HookTriggers::ON_RETURNS, |_, _| Ok(VmState::Continue))?;
    let external = ("external hook".to_owned(), "r".to_owned(), 0);
    assert_eq!(hook()?, external);
    let get = format!("return coroutine.wrap(function() {get} end)()");
    assert_eq!(lua.load(get).eval::<(String, String, i64)>()?, external);
    Ok(())
}

#[test]
fn a_hook_stops_a_program() -> Result<()> {
    let lua = Lua::new();
    let n = RefCell::new(10);
    lua.set_hook(HookTriggers::new().every_nth_instruction(1000), move |_, d| {
        assert_eq!(d.event(), DebugEvent::Count);
        *n.borrow_mut() -= 1;
        if *n.borrow() == 0 { Err(Error::runtime("enough")) } else { Ok(VmState::Continue) }
    })?;
    let e = lua.load("while true do end").exec().unwrap_err();
    assert!(e.to_string().starts_with("runtime error: enough"), "{e}");
    lua.remove_hook();
    assert_eq!(lua.load("6 * 7").eval::<i64>()?, 42);
    let co = lua.create_thread(lua.load("function() return 1 end").eval::<Function>()?)?;
    co.set_hook(HookTriggers::ON_CALLS, |_, _| Err(Error::runtime("never")))?;
    assert!(co.resume::<()>(()).is_err());
    Ok(())
}

#[test]
fn levels() -> Result<()> {
    let lua = Lua::new();
    let f = lua.create_function(|lua, ()| {
        assert_eq!(lua.inspect_stack(0, |d| d.source().what), Some("C"));
        assert!(lua.inspect_stack(99, |_| ()).is_none());
        let at =
            lua.inspect_stack(1, |d| (d.current_line(), d.stack().num_params, d.is_tail_call()));
        let text = lua.traceback(Some("here"), 1)?.to_string_lossy();
        Ok((at.unwrap().0, text))
    })?;
    lua.globals().set("f", f)?;
    let (line, text): (i64, String) =
        lua.load("\n\nlocal a, b = f() return a, b").set_name("=x").eval()?;
    assert_eq!(line, 3);
    assert!(text.starts_with("here\nstack traceback:\n\tx:3: in main chunk"), "{text}");
    Ok(())
}

/// Runs a coroutine whose hook yields before each line; returns its output at each resumption.
fn lines_by_resumes(lua: &Lua, source: &str) -> Result<Vec<Option<usize>>> {
    let co = lua.create_thread(lua.load(source).set_name("=lines").into_function()?)?;
    let at = Arc::new(Mutex::new(None));
    let line = at.clone();
    co.set_hook(HookTriggers::EVERY_LINE, move |_, d| {
        *line.lock().unwrap() = d.current_line();
        Ok(VmState::Yield)
    })?;
    let mut lines = Vec::new();
    while co.is_resumable() {
        // the values with which a hook's yield is resumed are discarded
        co.resume::<()>((1, 2, 3))?;
        lines.push(at.lock().unwrap().take());
        lua.gc_collect()?;
    }
    Ok(lines)
}

#[test]
fn hooks_yield_in_front_of_lines() -> Result<()> {
    let source = "local t = { value = 40 }\nlocal function f(n)\nreturn n + 2\nend\nresult = \
                  f(\nt.value)\nreturn result";
    for stress in [false, true] {
        let lua = Lua::new();
        lua.set_gc_stress(stress);
        lua.set_small_stack(stress);
        let lines = lines_by_resumes(&lua, source)?;
        let expected = [1, 4, 5, 6, 5, 3, 6, 7].map(Some);
        assert_eq!(lines[..lines.len() - 1], expected, "as the lines are without yields");
        assert_eq!(lines.last(), Some(&None));
        assert_eq!(lua.globals().get::<i64>("result")?, 42);
    }
    Ok(())
}

/// Returns the lines that the same hook sees when it does not yield.
#[test]
fn yields_do_not_change_what_hooks_see() -> Result<()> {
    let source = "local n = 0\nfor i = 1, 3 do\nn = n + select('#', (function(...)\nreturn \
                  ...\nend)(i, i))\nend\nn = n .. ''\nreturn n";
    let lua = Lua::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    let co = lua.create_thread(lua.load(source).into_function()?)?;
    co.set_hook(HookTriggers::EVERY_LINE, move |_, d| {
        log.lock().unwrap().push(d.current_line());
        Ok(VmState::Continue)
    })?;
    assert_eq!(co.resume::<String>(())?, "6");
    let mut expected = seen.lock().unwrap().clone();
    expected.push(None);
    assert_eq!(lines_by_resumes(&lua, source)?, expected);
    Ok(())
}

#[test]
fn count_hooks_share_time() -> Result<()> {
    let lua = Lua::new();
    let slice = HookTriggers::new().every_nth_instruction(100);
    let tasks: Vec<_> = (0..3)
        .map(|i| {
            let f = lua.load("local n = 0 for _ = 1, 1000 do n = n + 1 end return n + ...");
            let co = lua.create_thread(f.into_function()?)?;
            co.set_hook(slice, |_, _| Ok(VmState::Yield))?;
            co.resume::<()>(i)?;
            Ok(co)
        })
        .collect::<Result<_>>()?;
    let mut results = vec![0; 3];
    let mut rounds = 0;
    while tasks.iter().any(|co| co.is_resumable()) {
        rounds += 1;
        for (co, result) in tasks.iter().zip(&mut results) {
            if co.is_resumable() {
                *result = co.resume::<Option<i64>>(())?.unwrap_or(0);
            }
        }
    }
    assert_eq!(results, [1000, 1001, 1002]);
    assert!(rounds >= 10, "{rounds}");
    Ok(())
}

#[test]
fn a_hook_that_may_not_yield_continues() -> Result<()> {
    let lua = Lua::new();
    // in the main coroutine, and inside a function of the host
    lua.set_hook(HookTriggers::EVERY_LINE, |_, _| Ok(VmState::Yield))?;
    assert_eq!(lua.load("local a = 1\nreturn a").eval::<i64>()?, 1);
    lua.remove_hook();
    let co = lua.create_thread(
        lua.load("return table.concat({ 'a', 'b' }, ','), load('return\\n7')()").into_function()?,
    )?;
    co.set_hook(HookTriggers::ON_CALLS | HookTriggers::ON_RETURNS, |_, _| Ok(VmState::Yield))?;
    assert_eq!(co.resume::<(String, i64)>(())?, ("a,b".to_owned(), 7));
    let sorted = lua.load(
        "local t = { 3, 1, 2 }\ntable.sort(t, function(a, b)\nreturn a < b\nend)\nreturn t[1], \
         t[3]",
    );
    let co = lua.create_thread(sorted.into_function()?)?;
    co.set_hook(HookTriggers::EVERY_LINE, |_, _| Ok(VmState::Yield))?;
    let mut last = (None, None);
    while co.is_resumable() {
        last = co.resume::<(Option<i64>, Option<i64>)>(())?;
    }
    assert_eq!(last, (Some(1), Some(3)));
    Ok(())
}

#[test]
fn a_coroutine_stopped_by_a_hook_can_be_looked_at_closed_and_reset() -> Result<()> {
    let lua = Lua::new();
    let source = "local c <close> = setmetatable({}, { __close = function() closed = true end \
                  })\nlocal x = 1\nreturn x";
    let stopped = || -> Result<_> {
        let co = lua.create_thread(lua.load(source).set_name("=s").into_function()?)?;
        co.set_hook(HookTriggers::EVERY_LINE, |_, d| {
            Ok(if d.current_line() == Some(2) { VmState::Yield } else { VmState::Continue })
        })?;
        co.resume::<()>(())?;
        assert!(co.is_resumable());
        Ok(co)
    };
    let co = stopped()?;
    let traceback: String = traceback_of(&lua, &co)?;
    assert!(traceback.contains("s:2: in main chunk"), "{traceback}");
    co.close()?;
    assert!(co.is_finished() && lua.globals().get::<bool>("closed")?);
    let co = stopped()?;
    co.remove_hook();
    co.reset(lua.load("return ...").into_function()?)?;
    assert_eq!(co.resume::<i64>(5)?, 5, "arguments are for the new function");
    // a coroutine that is never resumed is collected
    drop(stopped()?);
    lua.gc_collect()?;
    Ok(())
}

fn traceback_of(lua: &Lua, co: &perilune::Thread) -> Result<String> {
    lua.load_std_libs(perilune::StdLib::DEBUG)?;
    lua.load("return debug.traceback(...)").call(co)
}

#[test]
#[cfg_attr(miri, ignore = "runs machine code")]
fn hooks_yield_from_what_was_compiled() -> Result<()> {
    let engine = perilune::Engine::with_jit(perilune::JitOptions {
        threshold: 1,
        loop_threshold: 1,
        sync: true,
        ..Default::default()
    });
    let lua = Lua::with_engine(&engine);
    lua.load("function hot(n) local s = 0 for i = 1, n do s = s + i end return s end").exec()?;
    lua.load("for _ = 1, 100 do hot(100) end").exec()?;
    let co = lua.create_thread(lua.globals().get("hot")?)?;
    co.set_hook(HookTriggers::new().every_nth_instruction(50), |_, _| Ok(VmState::Yield))?;
    let (mut result, mut rounds) = (co.resume::<Option<i64>>(100)?, 1);
    while co.is_resumable() {
        result = co.resume(())?;
        rounds += 1;
    }
    assert_eq!(result, Some(5050));
    assert!(rounds > 3, "{rounds}");
    Ok(())
}

#[test]
fn global_hooks_are_for_all_coroutines() -> Result<()> {
    let lua = Lua::new();
    let lines = Arc::new(Mutex::new(std::collections::BTreeSet::new()));
    let seen = lines.clone();
    lua.set_global_hook(HookTriggers::EVERY_LINE, move |_, d| {
        seen.lock().unwrap().insert(d.current_line());
        Ok(VmState::Continue)
    })?;
    let count = || std::mem::take(&mut *lines.lock().unwrap()).len();
    lua.load("local a = 1\nlocal b = 2").exec()?;
    assert_eq!(count(), 2);
    lua.load("coroutine.wrap(function()\ncoroutine.wrap(function()\nreturn 1\nend)()\nend)()")
        .exec()?;
    assert_eq!(count(), 5, "lines of three coroutines");
    let made =
        lua.create_thread(lua.load("local a\ncoroutine.yield()\nreturn a").into_function()?)?;
    made.resume::<()>(())?;
    assert_eq!(count(), 2);
    // coroutines with the global hook call the new function
    let others = Arc::new(Mutex::new(0));
    let seen = others.clone();
    lua.set_global_hook(HookTriggers::ON_CALLS, move |_, _| {
        *seen.lock().unwrap() += 1;
        Ok(VmState::Continue)
    })?;
    made.resume::<()>(())?;
    assert_eq!((count(), *others.lock().unwrap()), (0, 2));
    lua.remove_global_hook();
    lua.load("local a = 1\nlocal b = 2 coroutine.wrap(function() return 1 end)()").exec()?;
    assert_eq!((count(), *others.lock().unwrap()), (0, 2));
    // a hook of a single coroutine remains
    let co = lua.create_thread(lua.load("return 1").into_function()?)?;
    co.set_hook(HookTriggers::EVERY_LINE, |_, _| Err(Error::runtime("mine")))?;
    lua.set_global_hook(HookTriggers::EVERY_LINE, |_, _| Ok(VmState::Continue))?;
    lua.remove_global_hook();
    let Err(Error::RuntimeError(why)) = co.resume::<()>(()) else { panic!("the hook was called") };
    assert_eq!(why, "mine", "an error of a hook is raised as it is");
    Ok(())
}
