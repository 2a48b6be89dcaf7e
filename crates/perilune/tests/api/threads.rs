//! Coroutines.

use perilune::{Error, Function, Lua, Result, ThreadStatus};

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
        .load("function() local x <close> = setmetatable({}, {__close = function() closed = true end}) coroutine.yield() end")
        .eval()?;
    let co = lua.create_thread(closing)?;
    co.resume::<()>(())?;
    co.close()?;
    assert!(lua.globals().get::<bool>("closed")?);
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
    let text = "local co = coroutine.wrap(function() coroutine.yield(inner(function(n) return n * 2 end)) end) return co()";
    assert_eq!(lua.load(text).eval::<i64>()?, 10);
    Ok(())
}
