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
