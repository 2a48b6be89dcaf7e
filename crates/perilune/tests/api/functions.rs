//! Functions, of Lua and of the host.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use perilune::{
    Engine, Error, Function, JitOptions, Lua, MultiValue, Result, Table, Value, Variadic,
};

#[test]
fn calls() -> Result<()> {
    let lua = Lua::new();
    let f: Function = lua.load("function(...) return select('#', ...), ... end").eval()?;
    assert_eq!(f.call::<i64>(())?, 0);
    assert_eq!(f.call::<(i64, String, bool)>(("a", true))?, (2, "a".into(), true));
    let all: MultiValue = f.call((1, 2.5, Value::Nil))?;
    assert_eq!(all.len(), 4);
    let many: Variadic<i64> = f.call(Variadic::from((0..1000).collect::<Vec<_>>()))?;
    assert_eq!((many.len(), many[0], many[1000]), (1001, 1000, 999));
    assert_eq!(f.call::<(i64, Option<i64>)>(())?, (0, None));
    Ok(())
}

#[test]
fn callbacks() -> Result<()> {
    let lua = Lua::new();
    let count = Arc::new(AtomicUsize::new(0));
    let c = count.clone();
    lua.globals().set(
        "add",
        lua.create_function(move |_, (a, b): (i64, i64)| {
            c.fetch_add(1, Ordering::Relaxed);
            Ok(a + b)
        })?,
    )?;
    assert_eq!(
        lua.load("local s = 0 for i = 1, 1000 do s = add(s, i) end return s").eval::<i64>()?,
        500_500
    );
    assert_eq!(count.load(Ordering::Relaxed), 1000);
    let e = lua.load("add(1, {})").exec().unwrap_err();
    let Error::CallbackError { cause, traceback } = &e else { panic!("{e}") };
    assert!(matches!(**cause, Error::BadArgument { pos: 2, .. }), "{cause}");
    assert!(traceback.starts_with("stack traceback:"));
    let nested = lua.create_function(|lua, t: Table| {
        lua.gc_collect()?;
        t.get::<Function>("f")?.call::<i64>((1, 2))
    })?;
    lua.globals().set("nested", nested)?;
    assert_eq!(lua.load("nested {f = add}").eval::<i64>()?, 3);
    drop(lua);
    assert_eq!(Arc::strong_count(&count), 1, "closures go with their state");
    Ok(())
}

#[test]
fn mutable_callbacks_are_not_reentered() -> Result<()> {
    let lua = Lua::new();
    let mut n = 0;
    let f = lua.create_function_mut(move |_, again: Option<Function>| {
        n += 1;
        match again {
            Some(f) => f.call::<i64>(()),
            None => Ok(n),
        }
    })?;
    assert_eq!((f.call::<i64>(())?, f.call::<i64>(())?), (1, 2));
    let e = f.call::<i64>(&f).unwrap_err();
    assert!(
        e.chain().any(|e| matches!(e.downcast_ref(), Some(Error::RecursiveMutCallback))),
        "{e}"
    );
    assert_eq!(f.call::<i64>(())?, 4);
    Ok(())
}

#[test]
fn binding() -> Result<()> {
    let lua = Lua::new();
    let f: Function = lua.load("function(...) return table.concat({...}, ' ') end").eval()?;
    let bound = f.bind(("a", 1))?;
    assert_eq!(bound.call::<String>(("b", 2))?, "a 1 b 2");
    assert_eq!(bound.bind("c")?.call::<String>(())?, "a 1 c");
    assert_eq!(f.bind(())?, f);
    assert!(matches!(f.bind(Variadic::from(vec![0; 255])), Err(Error::BindError)));
    let co = lua.create_thread(
        lua.load("function(a) coroutine.yield(a) return 2 end").eval::<Function>()?.bind(1)?,
    )?;
    assert_eq!((co.resume::<i64>(())?, co.resume::<i64>(())?), (1, 2));
    Ok(())
}

#[test]
fn environments_and_dumps() -> Result<()> {
    let lua = Lua::new();
    let f = lua.load("x = (x or 0) + 1 return x").set_name("=counter").into_function()?;
    let env = lua.create_table()?;
    env.set("x", 41)?;
    assert!(f.set_environment(env.clone())?);
    assert_eq!((f.call::<i64>(())?, f.environment()), (42, Some(env.clone())));
    assert_eq!(lua.globals().get::<Option<i64>>("x")?, None);
    let copy = lua.load(f.dump(true)).set_environment(env).into_function()?;
    assert_eq!(copy.call::<i64>(())?, 43);
    let program = lua.engine().compile("x = x + 1 return x", "=counter")?;
    let other = lua.create_table()?;
    other.set("x", 1)?;
    let of_program = lua.load_program(&program).set_environment(other.clone()).into_function()?;
    assert_eq!((of_program.call::<i64>(())?, of_program.environment()), (2, Some(other)));
    let info = f.info();
    assert_eq!(
        (info.what, info.short_src.as_deref(), info.is_vararg),
        ("main", Some("counter"), true)
    );
    let native = lua.create_function(|_, ()| Ok(()))?;
    assert_eq!(
        (native.info().what, native.environment(), native.dump(false).len()),
        ("C", None, 0)
    );
    Ok(())
}

#[test]
fn programs_of_other_engines_do_not_run() -> Result<()> {
    let (lua, other) = (Lua::new(), Lua::with_engine(&perilune::Engine::new()));
    let program = other.engine().compile("return 1", "=one")?;
    assert_eq!(other.load_program(&program).eval::<i64>()?, 1);
    for result in [
        lua.load_program(&program).eval::<i64>().map(drop),
        lua.load_program(&program).into_function().map(drop),
    ] {
        let why = result.unwrap_err().to_string();
        assert!(why.contains("the program belongs to another engine"), "{why}");
    }
    Ok(())
}

/// The compiler takes globals that have not changed for constants; the host changes them, and the
/// environment, while compiled functions wait for it to return.
#[test]
#[cfg_attr(miri, ignore = "runs machine code")]
fn the_host_changes_globals_of_waiting_functions() -> Result<()> {
    type Change = fn(&Lua, &Function) -> Result<()>;
    let changes: [Change; 4] = [
        |lua, _| lua.globals().set("f", lua.create_function(|_, n: i64| Ok(n * 1000))?),
        |lua, _| lua.load("f = function(n) return n * 1000 end").exec(),
        |lua, _| lua.globals().raw_set("f", lua.create_function(|_, n: i64| Ok(n * 1000))?),
        |lua, run| {
            let env = lua.create_table()?;
            env.set("f", lua.create_function(|_, n: i64| Ok(n * 1000))?)?;
            env.set("change", lua.globals().get::<Function>("change")?)?;
            run.set_environment(env).map(|_| ())
        },
    ];
    let jit = JitOptions { threshold: 4, loop_threshold: 4, sync: true, ..JitOptions::default() };
    for (n, change) in changes.into_iter().enumerate() {
        let lua = Lua::with_engine(&Engine::with_jit(jit.clone()));
        lua.load("function f(n) if n < 1 then return 0 end return 1 + f(n - 1) end").exec()?;
        let run: Function =
            lua.load("function(i) local a = f(2) change(i) return a + f(3) end").eval()?;
        let called = run.clone();
        lua.globals().set(
            "change",
            lua.create_function(move |lua, i: i64| match i {
                90 => change(lua, &called),
                _ => Ok(()),
            })?,
        )?;
        for i in 0..100 {
            let expected = [5, 3002, 5000][usize::from(i >= 90) + usize::from(i > 90)];
            assert_eq!(run.call::<i64>(i)?, expected, "change {n}, call {i}");
        }
    }
    Ok(())
}

/// States share machine code, but each has globals of its own: what is constant in one may have
/// changed in another.
#[test]
#[cfg_attr(miri, ignore = "runs machine code")]
fn globals_change_in_one_of_several_states() -> Result<()> {
    let jit = JitOptions { threshold: 4, loop_threshold: 4, sync: true, ..JitOptions::default() };
    let engine = Engine::with_jit(jit);
    let program = engine.compile(
        "function f(n) if n < 1 then return 0 end return 1 + f(n - 1) end
        function use(i) local a = f(2) if change then change(i) end return a + f(3) end",
        "=p",
    )?;
    let states = [0, 1, 2].map(|_| Lua::with_engine(&engine));
    for lua in &states {
        lua.load_program(&program).exec()?;
    }
    let uses = |n: usize| states[n].globals().get::<Function>("use");
    let all = [uses(0)?, uses(1)?, uses(2)?];
    for i in 0..60 {
        for run in &all {
            assert_eq!(run.call::<i64>(i)?, 5);
        }
    }
    let change = "function change(i) if i == 70 then f = function(n) return n * 10 end end end";
    states[1].load(change).exec()?;
    for i in 60..120 {
        let results = [all[0].call::<i64>(i)?, all[1].call::<i64>(i)?, all[2].call::<i64>(i)?];
        let changed = [5, 32, 50][usize::from(i >= 70) + usize::from(i > 70)];
        assert_eq!(results, [5, changed, 5], "call {i}");
    }
    Ok(())
}

#[test]
fn wrapping() -> Result<()> {
    fn divide(a: i64, b: i64) -> std::result::Result<i64, std::fmt::Error> {
        a.checked_div(b).ok_or(std::fmt::Error)
    }
    let lua = Lua::new();
    lua.globals().set("divide", Function::wrap(divide))?;
    lua.globals().set("twice", Function::wrap_raw(|n: i64| 2 * n))?;
    assert_eq!(lua.load("twice(divide(42, 2))").eval::<i64>()?, 42);
    let e = lua.load("divide(1, 0)").exec().unwrap_err();
    assert!(e.downcast_ref::<std::fmt::Error>().is_some(), "{e}");
    Ok(())
}

#[test]
fn debuggers_do_not_reach_what_functions_hold() -> Result<()> {
    let lua = Lua::with_engine(Lua::new().engine());
    let text = String::from("held");
    lua.globals().set("f", lua.create_function(move |_, ()| Ok(text.clone()))?)?;
    lua.load(
        "assert(not debug.setupvalue(f, 1, nil) and not debug.getupvalue(f, 1) and not \
              debug.upvalueid(f, 1))",
    )
    .exec()?;
    assert_eq!(lua.load("f()").eval::<String>()?, "held");
    // the coroutine of a function is shown, as in PUC, but cannot be replaced
    lua.load(
        "local function show(...) return ... end
        local resume = coroutine.wrap(show)
        assert(not debug.setupvalue(resume, 1, 5) and debug.getupvalue(resume, 1) == '')
        assert(resume(42) == 42)",
    )
    .exec()
}
