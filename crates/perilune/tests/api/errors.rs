//! Propagation of errors and panics through Lua.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use perilune::{
    Engine, Error, ErrorContext, ExternalError, Function, JitOptions, Lua, LuaOptions, Result,
    StdLib, Table, Value,
};

#[test]
fn kinds() {
    let lua = Lua::new();
    let syntax = |text: &str| lua.load(text).exec().unwrap_err();
    assert!(matches!(syntax("x = "), Error::SyntaxError { incomplete_input: true, .. }));
    assert!(matches!(syntax("x ="), Error::SyntaxError { incomplete_input: true, .. }));
    assert!(matches!(syntax("= 1"), Error::SyntaxError { incomplete_input: false, .. }));
    let e = lua.load("error('oops', 0)").set_name("=c").exec().unwrap_err();
    let Error::RuntimeError(text) = &e else { panic!("{e}") };
    assert!(
        text.starts_with(
            "oops\nstack traceback:\n\t[C]: in function 'error'\n\tc:1: in main chunk"
        ),
        "{text}"
    );
    let e = lua.load("error({})").exec().unwrap_err();
    assert!(matches!(&e, Error::RuntimeError(m) if m.starts_with("table: 0x")), "{e}");
    let e = lua.load("error(setmetatable({}, {__tostring = function() return 'mine' end}))").exec();
    assert!(e.unwrap_err().to_string().starts_with("runtime error: mine\n"));
    lua.set_memory_limit(lua.used_memory() + 1_000_000).unwrap();
    let e = lua.load("local s = 'x' while true do s = s .. s end").exec().unwrap_err();
    assert!(matches!(e, Error::MemoryError(_)), "{e}");
    let e = lua.create_string("y".repeat(2_000_000)).unwrap_err();
    assert!(matches!(e, Error::MemoryError(_)), "{e}");
    lua.set_memory_limit(0).unwrap();
    assert_eq!(lua.load("1 + 1").eval::<i64>().unwrap(), 2);
}

/// The traceback of an error below a tail call is that of PUC Lua's command.
#[test]
fn tracebacks_below_tail_calls() -> Result<()> {
    let expected = "runtime error: t:1: x\nstack traceback:\n\t[C]: in function 'error'\n\tt:1: in \
                    function <t:1>\n\t(...tail calls...)\n\t[C]: in ?";
    let mut engines = vec![Engine::interpreter()];
    if !cfg!(miri) {
        let jit = JitOptions { threshold: 1, sync: true, ..JitOptions::default() };
        engines.push(Engine::with_jit(jit));
    }
    for engine in engines {
        let lua = Lua::with_engine(&engine);
        for call in ["f()", "f(1, 2)", "f(...)", "setmetatable({}, {__call = f})()"] {
            let text = format!("local function f() error('x') end\nreturn {call}");
            let chunk: Function = lua.load(text).set_name("=t").into_function()?;
            for _ in 0..4 {
                assert_eq!(chunk.call::<()>(()).unwrap_err().to_string(), expected, "{call}");
            }
        }
    }
    Ok(())
}

#[test]
fn errors_of_callbacks_keep_what_they_are() -> Result<()> {
    let lua = Lua::new();
    let f = lua.create_function(|_, ()| -> Result<()> {
        Err(std::io::Error::other("disk").into_lua_err().context("saving"))
    })?;
    lua.globals().set("f", f)?;
    let e = lua.load("f()").exec().unwrap_err();
    assert!(e.downcast_ref::<std::io::Error>().is_some());
    assert!(e.to_string().starts_with("saving\ndisk\nstack traceback:\n"), "{e}");
    let (ok, caught): (bool, Error) = lua.load("pcall(f)").eval()?;
    assert!(!ok && caught.downcast_ref::<std::io::Error>().is_some());
    let text: String = lua.load("local _, e = pcall(f) return tostring(e)").eval()?;
    assert!(text.starts_with("saving\ndisk"), "{text}");
    assert!(matches!(lua.load("select(2, pcall(f))").eval::<Value>()?, Value::Error(_)));
    // raised again by Lua, and by a callback
    let again: Function = lua.load("function(e) error(e) end").eval()?;
    let e = again.call::<()>(Error::runtime("mine")).unwrap_err();
    assert!(matches!(&e, Error::RuntimeError(m) if m == "mine"), "{e}");
    let g = lua.create_function(|_, f: Function| f.call::<()>(()))?;
    let e = g.call::<()>(lua.globals().get::<Function>("f")?).unwrap_err();
    assert!(e.downcast_ref::<std::io::Error>().is_some());
    assert!(e.chain().count() >= 3);
    Ok(())
}

#[test]
fn panics_resume_in_the_host() {
    let lua = Lua::new();
    let f = lua.create_function(|_, ()| -> Result<()> { panic!("deep") }).unwrap();
    lua.globals().set("f", f).unwrap();
    let panic = catch_unwind(AssertUnwindSafe(|| lua.load("f()").exec())).unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"deep"));
    // caught by Lua, kept, and raised twice
    lua.load("_, e = pcall(f)").exec().unwrap();
    assert_eq!(lua.load("tostring(e)").eval::<String>().unwrap(), "deep");
    let panic = catch_unwind(AssertUnwindSafe(|| lua.load("error(e)").exec())).unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"deep"));
    assert!(matches!(lua.load("error(e)").exec(), Err(Error::PreviouslyResumedPanic)));
    assert_eq!(lua.load("6 * 7").eval::<i64>().unwrap(), 42);
}

#[test]
fn panics_pass_pcall_by_option() {
    let options = LuaOptions::new().catch_rust_panics(false);
    let lua = Lua::new_with(StdLib::ALL_SAFE, options).unwrap();
    let f = lua.create_function(|_, ()| -> Result<()> { panic!("deep") }).unwrap();
    lua.globals().set("f", f).unwrap();
    for text in
        ["pcall(f)", "local t = setmetatable({}, {__index = f}) return t.x", "coroutine.wrap(f)()"]
    {
        let panic = catch_unwind(AssertUnwindSafe(|| lua.load(text).exec())).unwrap_err();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"deep"), "{text}");
        assert_eq!(lua.load("6 * 7").eval::<i64>().unwrap(), 42);
    }
}

#[test]
fn chains() {
    let e = Error::BadArgument { to: None, pos: 1, name: None, cause: Arc::new(Error::StackError) };
    let e = e.context("first").context("second");
    assert_eq!(e.to_string(), format!("second\nbad argument #1: {}", Error::StackError));
    assert_eq!(e.chain().count(), 3);
}

/// Errors of `anyhow` become errors of the callback that returns them, and keep the error inside.
#[cfg(feature = "anyhow")]
#[test]
fn errors_of_anyhow() -> Result<()> {
    let lua = Lua::new();
    let f = lua.create_function(|_, own: bool| {
        let e = match own {
            true => anyhow::Error::new(Error::BindError),
            false => anyhow::anyhow!("no such file").context("reading the settings"),
        };
        Err::<(), _>(e.into())
    })?;
    let e = f.call::<()>(true).unwrap_err();
    assert!(e.chain().any(|e| matches!(e.downcast_ref(), Some(Error::BindError))), "{e}");
    let e = f.call::<()>(false).unwrap_err();
    assert!(e.to_string().contains("reading the settings"), "{e}");
    lua.globals().set("e", anyhow::anyhow!("a value"))?;
    assert_eq!(lua.load("return tostring(e)").eval::<String>()?, "a value");
    Ok(())
}

/// The place where an error is raised determines its kind, not its text.
#[test]
fn kinds_of_errors_do_not_follow_from_messages() {
    let lua = Lua::new();
    let raised = |text: &str| lua.load(text).exec().unwrap_err();
    for text in ["not enough memory", "stack overflow", "interrupted!", "C stack overflow"] {
        for program in [
            format!("error('{text}')"),
            format!("coroutine.wrap(function() error('{text}') end)()"),
            format!(
                "local _ <close> = setmetatable({{}}, {{__close = function() error('{text}') end}})"
            ),
        ] {
            let e = raised(&program);
            assert!(matches!(&e, Error::RuntimeError(m) if m.contains(text)), "{program}: {e}");
        }
        let f = lua.load(format!("error('{text}')")).into_function().unwrap();
        let e = lua.create_thread(f).unwrap().resume::<()>(()).unwrap_err();
        assert!(matches!(&e, Error::RuntimeError(m) if m.contains(text)), "{e}");
    }

    const EXHAUST: &str = "(function() return ('x'):rep(1 << 30) end)()";
    lua.set_memory_limit(16 << 20).unwrap();
    for program in [
        format!("return {EXHAUST}"),
        format!("coroutine.wrap(function() return {EXHAUST} end)()"),
        // Errors that are caught meanwhile change nothing.
        format!(
            "local _ <close> = setmetatable({{}}, {{__close = function() pcall(error, 1) end}})
            return {EXHAUST}"
        ),
    ] {
        let e = raised(&program);
        assert!(matches!(e, Error::MemoryError(_)), "{program}: {e}");
    }
    let f = lua.load(format!("return {EXHAUST}")).into_function().unwrap();
    let thread = lua.create_thread(f).unwrap();
    let e = thread.resume::<()>(()).unwrap_err();
    assert!(matches!(e, Error::MemoryError(_)), "{e}");
    // The program raises the error that it has caught, which is then the same.
    let e = raised(&format!("local _, e = pcall(function() return {EXHAUST} end) error(e, 0)"));
    assert!(matches!(e, Error::MemoryError(_)), "{e}");
}

thread_local! {
    /// What the `Display` of [`Shown`] does.
    static SHOW: std::cell::RefCell<Option<Function>> = const { std::cell::RefCell::new(None) };
    static DROPPED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// An error that runs Lua when it is shown.
#[derive(Debug)]
struct Shown;

impl std::error::Error for Shown {}

impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let show = SHOW.with_borrow_mut(Option::take).expect("it is set");
        show.call::<()>(()).expect("it returns");
        assert!(!DROPPED.get(), "the error is dropped while it is shown");
        f.write_str("shown")
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        DROPPED.set(true);
    }
}

/// `debug.setlocal` may remove an error from the frames that hold it.
#[test]
fn errors_live_while_they_are_shown() -> Result<()> {
    let lua = Lua::with_engine(&Engine::interpreter());
    let remove = "for level = 1, 4 do
            for i = 1, 10 do
                local name, v = debug.getlocal(level, i)
                if name and type(v) == 'userdata' then debug.setlocal(level, i, nil) end
            end
        end
        collectgarbage() collectgarbage()";
    SHOW.set(Some(lua.load(remove).into_function()?));
    lua.globals().set("make", lua.create_function(|_, ()| Ok(Error::external(Shown)))?)?;
    assert_eq!(lua.load("return tostring(make())").eval::<String>()?, "shown");
    Ok(())
}

#[test]
fn tracebacks_of_metamethods() -> Result<()> {
    let lua = Lua::new();
    let text = "local function broken() error('x') end
        local function event(...) broken() return ... end
        local meta = {__index = event, __newindex = event, __len = event, __eq = event}
        meta.__tostring = event
        return setmetatable({}, meta), setmetatable({}, meta)";
    let (t, other): (Table, Table) = lua.load(text).set_name("=t").eval()?;
    let check = || {
        let errors = [
            t.get::<Value>("k").unwrap_err(),
            t.set("k", 1).unwrap_err(),
            t.len().unwrap_err(),
            t.equals(&other).unwrap_err(),
            Value::Table(t.clone()).to_string().unwrap_err(),
        ];
        for e in errors {
            let text = e.to_string();
            assert!(text.contains("t:1: in upvalue 'broken'\n\tt:2: in "), "{text}");
        }
    };
    check();
    lua.scope(|scope| {
        let f = scope.create_function(|_, ()| {
            check();
            Ok(())
        })?;
        let called: Function = lua.load("local f = ... f() error('later')").into_function()?;
        let e = called.call::<()>(f).unwrap_err().to_string();
        assert!(e.contains("later") && !e.contains("'broken'"), "{e}");
        Ok(())
    })
}
