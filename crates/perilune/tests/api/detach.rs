//! States that move between threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use perilune::{Lua, Result, UserData, Value};

struct Plain(Arc<AtomicU32>);

impl UserData for Plain {}

impl Drop for Plain {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn what_may_go() -> Result<()> {
    let lua = Lua::new();
    lua.load(
        "function f() return coroutine.yield() end co = coroutine.create(f) coroutine.resume(co)",
    )
    .exec()?;
    let n = Arc::new(AtomicU32::new(0));
    let count = n.clone();
    let add =
        lua.create_send_function(move |_, k: u32| Ok(count.fetch_add(k, Ordering::Relaxed)))?;
    lua.globals().set("add", add)?;
    let dropped = Arc::new(AtomicU32::new(0));
    lua.globals().set("u", lua.create_send_userdata(Plain(dropped.clone()))?)?;
    let key = lua.create_registry_value("kept")?;
    let detached = lua.detach().expect("nothing stays behind");
    let detached = std::thread::spawn(move || {
        let lua = detached.attach();
        let tables = if cfg!(miri) { 100 } else { 100_000 };
        lua.load("add(5) for i = 1, ... do local t = {} end").call::<()>(tables).unwrap();
        assert_eq!(lua.registry_value::<String>(&key).unwrap(), "kept");
        drop(key);
        let fails = lua.load("add({})").exec().unwrap_err();
        assert!(fails.to_string().starts_with("bad argument #1"));
        lua.detach().expect("nothing stays behind")
    })
    .join()
    .unwrap();
    assert_eq!(n.load(Ordering::Relaxed), 5);
    // the state ends on the thread where it is dropped
    std::thread::spawn(move || drop(detached)).join().unwrap();
    assert_eq!(dropped.load(Ordering::Relaxed), 1);
    Ok(())
}

#[test]
fn what_may_not() -> Result<()> {
    let stays = |lua: Lua, why: &str| {
        let e = lua.detach().expect_err("it stays");
        assert!(e.to_string().contains(why), "{e}");
        e.into_lua()
    };
    let lua = Lua::new();
    let t = lua.create_table()?;
    let lua = stays(lua, "a handle");
    drop(t);
    let weak = lua.weak();
    let lua = stays(lua, "`WeakLua`");
    drop(weak);
    let other = lua.clone();
    let lua = stays(lua, "another `Lua`");
    drop(other);
    lua.set_app_data(Arc::new(1));
    let lua = stays(lua, "application data");
    lua.remove_app_data::<Arc<i32>>();
    lua.set_warning_function(|_, _, _| Ok(()));
    let lua = stays(lua, "warning function");
    lua.remove_warning_function();
    lua.create_any_userdata(Arc::new(1))?;
    // garbage that was not collected yet counts as well
    let lua = stays(lua, "functions or userdata");
    lua.gc_collect()?;
    lua.gc_collect()?;
    let f = lua.create_function(|_, ()| Ok(()))?;
    lua.globals().set("f", f)?;
    let lua = stays(lua, "functions or userdata");
    lua.globals().set("f", Value::Nil)?;
    lua.gc_collect()?;
    lua.gc_collect()?;
    let inside = lua.create_send_function(|lua, ()| Ok(lua.clone().detach().is_err()))?;
    assert!(inside.call::<bool>(())?);
    drop(inside);
    lua.detach().expect("it goes");
    Ok(())
}

#[test]
fn states_with_a_callback_for_events_stay() -> Result<()> {
    let lua = Lua::new();
    let local = Arc::new(());
    lua.set_thread_event_callback(perilune::thread::ThreadTriggers::ON_YIELD, move |_, _| {
        let _ = local.clone();
        Ok(())
    });
    let e = lua.detach().expect_err("the callback may hold what belongs to this thread");
    assert!(e.to_string().contains("events of coroutines"), "{e}");
    let lua = e.into_lua();
    lua.remove_thread_event_callback();
    assert!(lua.detach().is_ok());
    Ok(())
}
