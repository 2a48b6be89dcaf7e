//! Coroutines.

use perilune::{Engine, Error, Function, Lua, Result, ThreadStatus};

#[test]
fn life() -> Result<()> {
    let lua = Lua::new();
    let f: Function = lua
        .load("function(a) for i = 1, 2 do a = coroutine.yield(a + i) end return 'end' end")
        .eval()?;
    let co = lua.create_thread(f.clone())?;
    assert_eq!(co.status(), ThreadStatus::Resumable);
    assert_eq!((co.resume::<i64>(10)?, co.resume::<i64>(20)?), (11, 22));
    assert_eq!(co.resume::<String>(())?, "end");
    assert_eq!(co.status(), ThreadStatus::Finished);
    assert!(matches!(co.resume::<()>(()), Err(Error::CoroutineUnresumable)));
    co.reset(f)?;
    assert_eq!(co.resume::<i64>(1)?, 2);
    Ok(())
}

#[test]
fn errors_and_reset() -> Result<()> {
    let lua = Lua::new();
    let f: Function =
        lua.load("function() coroutine.yield() error('broken') end").set_name("=co").eval()?;
    let co = lua.create_thread(f.clone())?;
    co.resume::<()>(())?;
    let e = co.resume::<()>(()).unwrap_err();
    assert!(
        e.to_string().contains(
            "co:1: broken\nstack traceback:\n\t[C]: in function 'error'\n\tco:1: in function"
        ),
        "{e}"
    );
    assert_eq!(co.status(), ThreadStatus::Error);
    co.reset(f)?;
    assert_eq!(co.status(), ThreadStatus::Resumable);
    co.resume::<()>(())?;
    co.close()?;
    assert_eq!(co.status(), ThreadStatus::Finished);
    let closing: Function = lua
        .load(
            "function() local x <close> = setmetatable({}, {__close = function() closed = true \
               end}) coroutine.yield() end",
        )
        .eval()?;
    let co = lua.create_thread(closing)?;
    co.resume::<()>(())?;
    co.close()?;
    assert!(lua.globals().get::<bool>("closed")?);

    // only what the coroutine itself has raised was returned before
    for (closing, is_new) in [("", false), ("error(e, 0)", false), ("error('later', 0)", true)] {
        let text = format!(
            "local x <close> = setmetatable({{}}, {{__close = function(_, e) {closing} end}}) \
             error('first', 0)"
        );
        let co = lua.create_thread(lua.load(text).into_function()?)?;
        assert!(co.resume::<()>(()).unwrap_err().to_string().contains("first"));
        match co.close() {
            Ok(()) => assert!(!is_new, "{closing}"),
            Err(e) => assert!(is_new && e.to_string().contains("later"), "{closing}: {e}"),
        }
        co.close()?;
    }
    Ok(())
}

#[test]
fn callbacks_in_coroutines() -> Result<()> {
    let lua = Lua::new();
    let inner = lua.create_function(|lua, f: Function| {
        let co = lua.current_thread();
        assert!(co.is_running() && co.reset(f.clone()).is_err());
        let other = lua.create_thread(f)?;
        other.resume::<i64>(5)
    })?;
    lua.globals().set("inner", inner)?;
    let text = "local co = coroutine.wrap(function() coroutine.yield(inner(function(n) return n * \
                2 end)) end) return co()";
    assert_eq!(lua.load(text).eval::<i64>()?, 10);
    Ok(())
}

#[test]
fn events_are_told_in_order() -> Result<()> {
    use std::sync::{Arc, Mutex};

    use perilune::thread::{ThreadEvent, ThreadTriggers};

    let lua = Lua::new();
    let log = Arc::new(Mutex::new(String::new()));
    let told = log.clone();
    let all = ThreadTriggers::ON_CREATE | ThreadTriggers::ON_RESUME | ThreadTriggers::ON_YIELD;
    lua.set_thread_event_callback(all, move |lua, event| {
        let (what, co) = match event {
            ThreadEvent::Create(co) => ('c', co),
            ThreadEvent::Resume(co) => ('r', co),
            ThreadEvent::Yield(co) => ('y', co),
            _ => unreachable!("there are three"),
        };
        assert!(co.is_resumable());
        // events of a running callback are not reported, and the coroutine itself stays as it is
        assert!(co.resume::<()>(()).is_err() && co.reset(lua.load("").into_function()?).is_err());
        lua.create_thread(lua.load("return").into_function()?)?.resume::<()>(())?;
        told.lock().unwrap().push(what);
        Ok(())
    });
    let co = lua.create_thread(lua.load("coroutine.yield(1) return 2").into_function()?)?;
    assert_eq!((co.resume::<i64>(())?, co.resume::<i64>(())?), (1, 2));
    lua.load("coroutine.wrap(coroutine.yield)()").exec()?;
    assert_eq!(*log.lock().unwrap(), "cryr", "Lua's own coroutines are not the host's");

    lua.set_thread_event_callback(ThreadTriggers::ON_RESUME, |_, _| Err(Error::runtime("no")));
    let co = lua.create_thread(lua.load("return ...").into_function()?)?;
    assert!(co.resume::<i64>(1).is_err() && co.is_resumable());
    lua.remove_thread_event_callback();
    assert_eq!(co.resume::<i64>(3)?, 3);
    Ok(())
}

#[test]
fn hooks_that_replace_the_coroutine() -> Result<()> {
    let lua = Lua::with_engine(&Engine::interpreter());
    let hook = "local v = ...
        debug.sethook(function() debug.setlocal(2, 1, v) end, 'c')";
    let hook: Function = lua.load(hook).into_function()?;
    for v in ["1", "coroutine.running()"] {
        let v: perilune::Value = lua.load(format!("return {v}")).eval()?;
        for is_resumed in [false, true] {
            let co = lua.create_thread(lua.load("coroutine.yield()").into_function()?)?;
            hook.call::<()>(&v)?;
            let _ = if is_resumed { co.resume::<()>(()) } else { co.close() };
            lua.remove_hook();
        }
    }
    assert!(!lua.load("return coroutine.isyieldable()").eval::<bool>()?);
    Ok(())
}
