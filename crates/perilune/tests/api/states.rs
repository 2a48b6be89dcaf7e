//! States: their end, several states at once, and values stored in them.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex};

use perilune::native::Cx;
use perilune::{Engine, Error, Function, JitOptions, Lua, Result, Table, Thread, Value};

/// Returns the message of the panic of `f`.
fn panic_of<R>(f: impl FnOnce() -> R) -> String {
    let Err(panic) = catch_unwind(AssertUnwindSafe(f)) else { panic!("it did not panic") };
    panic
        .downcast_ref::<&str>()
        .map(|s| (*s).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap()
}

/// Runs `f` with the state in the form in which native functions receive it.
fn with<R>(lua: &Lua, f: impl FnOnce(&mut Cx) -> R) -> R {
    // SAFETY: the function uses values of this state only, and asks nothing of its caller.
    unsafe { lua.with(f) }
}

const GONE: &str = "Lua instance is destroyed";

#[test]
fn handles_that_outlive_the_state() -> Result<()> {
    let lua = Lua::new();
    let weak = lua.weak();
    let t = lua.create_table()?;
    let f: Function = lua.load("function() end").eval()?;
    let s = lua.create_string("kept")?;
    let co = lua.create_thread(f.clone())?;
    let bytes = s.as_bytes();
    drop(lua);
    assert!(weak.try_upgrade().is_some(), "borrowed contents keep the state");
    assert_eq!(bytes, "kept");
    drop(bytes);
    assert!(weak.try_upgrade().is_none());
    assert_eq!(panic_of(|| t.get::<Value>("x")), GONE);
    assert_eq!(panic_of(|| t.set("x", 1)), GONE);
    assert_eq!(panic_of(|| t.raw_len()), GONE);
    assert_eq!(panic_of(|| t.pairs::<Value, Value>().count()), GONE);
    assert_eq!(panic_of(|| f.call::<()>(())), GONE);
    assert_eq!(panic_of(|| s.to_str()), GONE);
    assert_eq!(panic_of(|| co.resume::<()>(())), GONE);
    assert_eq!(panic_of(|| t == t.clone()), GONE);
    assert_eq!(panic_of(|| weak.upgrade()), GONE);
    let _ = format!("{t:?} {f:?} {s:?} {co:?}");
    for (v, name) in [
        (Value::Table(t.clone()), "table"),
        (Value::Function(f.clone()), "function"),
        (Value::Thread(co.clone()), "thread"),
    ] {
        assert_eq!(format!("{v:#?}"), format!("{name}: <destroyed>"));
    }
    drop((t.clone(), t, f, s, co));
    Ok(())
}

#[test]
fn values_of_other_states() -> Result<()> {
    let (a, b) = (Lua::new(), Lua::new());
    let (ta, tb) = (a.create_table()?, b.create_table()?);
    let foreign = "Lua instance passed Value created from a different main Lua state";
    assert_eq!(panic_of(|| ta.set("x", &tb)), foreign);
    assert_eq!(panic_of(|| ta.set(&tb, 1)), foreign);
    assert_eq!(panic_of(|| ta == tb), foreign);
    assert_eq!(panic_of(|| a.load("").set_environment(tb.clone()).exec()), foreign);
    assert_eq!(panic_of(|| a.set_globals(tb.clone())), foreign);
    let f: Function = a.load("function(...) return ... end").eval()?;
    assert_eq!(panic_of(|| f.call::<()>(&tb)), foreign);
    let bad = tb.clone();
    let g = a.create_function(move |_, ()| Ok(bad.clone()))?;
    assert_eq!(panic_of(|| g.call::<()>(())), foreign);
    let key = a.create_registry_value(1)?;
    assert!(matches!(b.registry_value::<i64>(&key), Err(Error::MismatchedRegistryKey)));
    assert!(matches!(b.remove_registry_value(key), Err(Error::MismatchedRegistryKey)));
    // both still work
    ta.set("x", 1)?;
    tb.set("x", ta.get::<i64>("x")?)?;
    assert_eq!(f.call::<i64>(7)?, 7);
    Ok(())
}

#[test]
fn the_last_owner_goes_inside_a_call() -> Result<()> {
    let lua = Lua::new();
    let weak = lua.weak();
    #[allow(clippy::arc_with_non_send_sync)] // it is `Send` and `Sync` with the feature `send`
    let cell = Arc::new(Mutex::new(None));
    let inner = cell.clone();
    let f = lua.create_function(move |_, t: Table| {
        drop(inner.lock().unwrap().take());
        t.set("x", 42)?;
        t.get::<i64>("x")
    })?;
    let t = lua.create_table()?;
    *cell.lock().unwrap() = Some(lua);
    assert_eq!(f.call::<i64>(&t)?, 42);
    assert!(weak.try_upgrade().is_none());
    assert_eq!(panic_of(|| t.raw_len()), GONE);
    Ok(())
}

thread_local! {
    static KEPT: RefCell<Vec<Lua>> = const { RefCell::new(Vec::new()) };
}

#[test]
fn finalizers_use_the_state_that_ends() -> Result<()> {
    let lua = Lua::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    let held = lua.create_table()?;
    let finalizer = lua.create_function(move |lua, t: Table| {
        held.set("again", t.get::<i64>("n")?)?;
        log.lock().unwrap().push(held.get::<i64>("again")?);
        lua.gc_collect()?;
        KEPT.with_borrow_mut(|k| k.push(lua.clone()));
        Ok(())
    })?;
    let make: Function =
        lua.load("function(f, n) return setmetatable({n = n}, {__gc = f}) end").eval()?;
    let t: Table = make.call((&finalizer, 1))?;
    make.call::<Value>((finalizer, 2))?;
    lua.gc_collect()?;
    assert_eq!(*seen.lock().unwrap(), [2]);
    KEPT.with_borrow_mut(Vec::clear);
    drop(lua);
    assert_eq!(*seen.lock().unwrap(), [2, 1]);
    // A finalizer has kept the state alive.
    assert_eq!(t.get::<i64>("n")?, 1);
    let kept = KEPT.with_borrow_mut(|k| k.pop()).unwrap();
    assert_eq!(kept.load("6 * 7").eval::<i64>()?, 42);
    drop(kept);
    assert_eq!(panic_of(|| t.raw_len()), GONE);
    Ok(())
}

/// Finalizers that are called after a panic can use the state like the others.
#[test]
fn a_panic_does_not_end_the_state_early() -> Result<()> {
    /// Panics when it is dropped.
    struct Panics;

    impl Drop for Panics {
        fn drop(&mut self) {
            resume_unwind(Box::new("app data"));
        }
    }

    let libs = perilune::StdLib::ALL_SAFE;
    for panics in [true, false] {
        let options = perilune::LuaOptions::new().catch_rust_panics(!panics);
        let lua = Lua::new_with(libs, options)?;
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = seen.clone();
        let finalizer = lua.create_function(move |lua, t: Table| {
            let copy = lua.create_table_from([("n", t.get::<i64>("n")?)])?;
            log.lock().unwrap().push(copy.get::<i64>("n")?);
            if panics { resume_unwind(Box::new("finalizer")) } else { Ok(()) }
        })?;
        let make = "kept = {} for i = 1, 3 do kept[i] = setmetatable({n = i}, {__gc = ...}) end";
        lua.load(make).call::<()>(finalizer)?;
        lua.set_app_data(Panics);
        assert_eq!(panic_of(|| drop(lua)), if panics { "finalizer" } else { "app data" });
        assert_eq!(*seen.lock().unwrap(), [3, 2, 1]);
    }
    Ok(())
}

/// Finalizers that are called when the state ends have the application data, and the host receives
/// their errors.
#[test]
fn the_last_finalizers_use_values_of_the_host() -> Result<()> {
    let lua = Lua::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    lua.set_app_data(42u32);
    lua.set_warning_function(move |lua, text, _| {
        let number = lua.app_data_ref::<u32>().map(|n| *n);
        log.lock().unwrap().push((number, text.to_owned()));
        Ok(())
    });
    let make = "x = setmetatable({}, {__gc = function() warn('end') error('failed', 0) end})";
    lua.load(make).exec()?;
    drop(lua);
    let expected = ["end", "error in __gc (failed)"].map(|text| (Some(42), text.to_owned()));
    assert_eq!(*seen.lock().unwrap(), expected);
    Ok(())
}

#[test]
fn handles_dropped_by_the_collector() -> Result<()> {
    let lua = Lua::new();
    // a function that owns a handle, which is dropped when the function is swept
    struct Noisy(Table, Arc<Mutex<u32>>);
    impl Drop for Noisy {
        fn drop(&mut self) {
            // uses the state from inside a safepoint
            self.0.set("x", self.0.get::<i64>("x").unwrap() + 1).unwrap();
            *self.1.lock().unwrap() += 1;
        }
    }
    let dropped = Arc::new(Mutex::new(0));
    let t = lua.create_table()?;
    t.set("x", 0)?;
    for _ in 0..10 {
        let noisy = Noisy(t.clone(), dropped.clone());
        lua.create_function(move |_, ()| noisy.0.get::<i64>("x"))?;
    }
    lua.gc_collect()?;
    lua.gc_collect()?;
    assert_eq!((*dropped.lock().unwrap(), t.get::<i64>("x")?), (10, 10));
    let tables = if cfg!(miri) { 100 } else { 100_000 };
    lua.load("for i = 1, ... do local _ = {} end").call::<()>(tables)?;
    Ok(())
}

#[test]
fn lent_states_are_not_entered() -> Result<()> {
    let lua = Lua::new();
    let t = lua.create_table()?;
    let busy = "the state is in use by Lua::with";
    assert_eq!(panic_of(|| with(&lua, |_| t.get::<Value>("x"))), busy);
    assert_eq!(panic_of(|| with(&lua, |_| with(&lua, |_| ()))), busy);
    with(&lua, |_| drop(t.clone()));
    // functions of the host that it calls can use the state
    lua.globals().set("f", lua.create_function(move |_, ()| t.set("x", 1))?)?;
    with(&lua, |cx| {
        let f = cx.globals().get_name(cx, "f");
        cx.push_callee(f);
        cx.call(0).unwrap();
    });
    Ok(())
}

#[test]
fn registry_and_app_data() -> Result<()> {
    let lua = Lua::new();
    let mut key = lua.create_registry_value("a")?;
    assert_eq!(lua.registry_value::<String>(&key)?, "a");
    lua.replace_registry_value(&mut key, 5)?;
    assert!(lua.owns_registry_value(&key));
    let key = std::thread::spawn(move || key).join().unwrap();
    assert_eq!(lua.registry_value::<i64>(&key)?, 5);
    lua.remove_registry_value(key)?;
    lua.set_named_registry_value("n", vec![1])?;
    assert_eq!(lua.named_registry_value::<Vec<i64>>("n")?, [1]);
    lua.unset_named_registry_value("n")?;
    assert_eq!(lua.named_registry_value::<Value>("n")?, Value::Nil);
    assert_eq!(lua.set_app_data(1u32), None);
    assert_eq!(lua.set_app_data(2u32), Some(1));
    lua.set_app_data("text");
    {
        let n = lua.app_data_ref::<u32>().unwrap();
        assert!(lua.try_app_data_mut::<u32>().is_err());
        assert!(lua.try_set_app_data(3u32).is_err());
        *lua.app_data_mut::<&str>().unwrap() = "other";
        assert_eq!((*n, *lua.app_data_ref::<&str>().unwrap()), (2, "other"));
    }
    assert_eq!((lua.remove_app_data::<u32>(), lua.remove_app_data::<u32>()), (Some(2), None));
    Ok(())
}

#[test]
fn app_data_goes_with_the_state() {
    let lua = Lua::new();
    let rc = Arc::new(());
    lua.set_app_data((rc.clone(), lua.globals()));
    let t = lua.globals();
    drop(lua);
    assert_eq!(Arc::strong_count(&rc), 1);
    drop(t);
}

#[test]
fn warnings_and_threads() -> Result<()> {
    let lua = Lua::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    lua.set_warning_function(move |lua, text, _| {
        let main: Thread = lua.current_thread();
        assert!(main.is_running());
        log.lock().unwrap().push(text.to_owned());
        Ok(())
    });
    lua.load("warn('a', 'b') warn('@on')").exec()?;
    lua.warning("c", false);
    lua.remove_warning_function();
    lua.warning("d", false);
    assert_eq!(*seen.lock().unwrap(), ["ab", "@on", "c"]);
    Ok(())
}

#[test]
fn panics_of_warning_functions_are_ignored() -> Result<()> {
    /// Panics when it is dropped.
    struct PanicsAgain(#[expect(dead_code, reason = "held")] Arc<()>);

    impl Drop for PanicsAgain {
        fn drop(&mut self) {
            resume_unwind(Box::new(()));
        }
    }

    let lua = Lua::new();
    let owner = Arc::new(());
    let payload = owner.clone();
    lua.set_warning_function(move |_, _, _| resume_unwind(Box::new(PanicsAgain(payload.clone()))));
    // the collector passes the error of a finalizer on as a warning
    lua.load("warn('a') setmetatable({}, {__gc = error}) collectgarbage()").exec()?;
    lua.remove_warning_function();
    assert_eq!(Arc::strong_count(&owner), 1);
    Ok(())
}

#[test]
fn engines_compile_programs_of_their_own() -> Result<()> {
    let engine = || Engine::with_jit(JitOptions::default());
    let (one, other) = (engine(), engine());
    let program = one.compile("return ...", "=program")?;
    assert_eq!(other.precompile(&program), 0);
    with(&Lua::with_engine(&one), |cx| {
        let f = cx.load(b"return ...", b"=function", b"t", None).expect("it compiles");
        assert_eq!(other.precompile_function(cx, f.as_func().expect("a function")), 0);
    });
    Ok(())
}
