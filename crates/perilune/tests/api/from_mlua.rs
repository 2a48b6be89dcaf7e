//! Less common parts of the API that programs written for mlua use: paths, small methods, `bstr`,
//! formatting of values.

use bstr::{BStr, BString};
use perilune::chunk::{AsChunk, Chunk, ChunkMode};
use perilune::debug::{Debug, DebugEvent, HookTriggers};
use perilune::function::FunctionInfo;
use perilune::state::{GcMode, LuaOptions, WeakLua};
use perilune::string::{BorrowedBytes, BorrowedStr};
use perilune::table::{TablePairs, TableSequence};
use perilune::thread::ThreadStatus;
use perilune::userdata::{UserDataMetatable, UserDataRef};
use perilune::{
    AnyUserData, Either, Error, ErrorContext, Function, Lua, LuaString, Result, Table, Value,
};

/// The names exist under the module paths of mlua.
#[test]
fn paths() -> Result<()> {
    fn chunk(lua: &Lua, c: impl AsChunk + 'static) -> Chunk<'static> {
        lua.load(c)
    }
    fn pairs<'a>(t: &'a Table) -> (TablePairs<'a, Value, Value>, TableSequence<'a, Value>) {
        (t.pairs(), t.sequence_values())
    }
    fn shown(_: &Lua, d: &Debug<'_>) -> perilune::error::Result<DebugEvent> {
        Ok(d.event())
    }
    let lua: perilune::state::Lua = Lua::new_with(perilune::StdLib::ALL_SAFE, LuaOptions::new())?;
    let chunk = chunk(&lua, "return function() end, {}, ''");
    assert_eq!(chunk.mode(), ChunkMode::Text);
    let (f, t, s): (Function, Table, LuaString) = chunk.eval()?;
    let info: FunctionInfo = f.info();
    let _: (BorrowedBytes, BorrowedStr) = (s.as_bytes(), s.to_str()?);
    let _: perilune::thread::Thread = lua.current_thread();
    assert_eq!((info.what, pairs(&t).1.count(), pairs(&t).0.count()), ("Lua", 0, 0));
    assert_eq!(lua.inspect_stack(0, |d| shown(&lua, d)).map(|_| ()), None);
    assert_eq!(HookTriggers::new(), HookTriggers::default());
    let any: AnyUserData = lua.create_any_userdata(1u8)?;
    let _: (UserDataRef<u8>, UserDataMetatable) = (any.borrow()?, any.metatable()?);
    let _: (Option<ThreadStatus>, Option<GcMode>, Option<perilune::error::Error>) =
        Default::default();
    Ok(())
}

#[test]
fn byte_strings() -> Result<()> {
    let lua = Lua::new();
    let bytes = b"\xff\0\xfe".as_slice();
    let echo: Function = lua.load("return ...").into_function()?;
    assert_eq!(echo.call::<BString>(BStr::new(bytes))?, bytes);
    assert_eq!(echo.call::<BString>(BString::from(bytes))?, bytes);
    assert_eq!(echo.call::<BString>((1.5, 2))?, "1.5");
    assert!(matches!(
        echo.call::<BString>(true),
        Err(Error::FromLuaConversionError { from: "boolean", .. })
    ));
    assert_eq!(echo.call::<LuaString>(LuaString::wrap(bytes))?, bytes);
    assert_eq!(echo.call::<LuaString>(LuaString::wrap(vec![b'x']))?, "x");
    Ok(())
}

#[test]
fn strings_compare_hash_and_show() -> Result<()> {
    use std::collections::HashSet;

    let lua = Lua::new();
    let s = lua.create_string("abc")?;
    assert!(s < *"abd" && s > b"abb"[..] && s <= *"abc");
    #[allow(clippy::mutable_key_type)] // the contents of strings never change
    let set: HashSet<BorrowedStr> = ["a", "b", "a"]
        .map(|text| lua.create_string(text).and_then(|s| s.to_str()))
        .into_iter()
        .collect::<Result<_>>()?;
    assert!(set.len() == 2 && set.contains("a"));
    assert_eq!((&s.as_bytes()).into_iter().copied().collect::<Vec<u8>>(), b"abc");
    let with_nul: BorrowedBytes = s.as_bytes_with_nul();
    assert_eq!(with_nul, b"abc\0");
    assert_eq!(lua.create_string("x".repeat(50))?.as_bytes_with_nul()[49..], *b"x\0");
    assert_eq!(BorrowedStr::try_from(&s)?, "abc");
    assert_eq!(format!("{s:?}"), "\"abc\"");
    assert_eq!(format!("{:?}", lua.create_string(b"a\xff\n")?), "b\"a\\xff\\n\"");
    Ok(())
}

#[test]
fn values_know_their_state() -> Result<()> {
    let lua = Lua::new();
    let weak: WeakLua = lua.weak();
    let values: Vec<Value> = lua.load("{ {}, print, 'x', coroutine.create(print) }").eval()?;
    for v in &values {
        assert_eq!(v.weak_lua(), Some(&weak));
    }
    assert!([Value::Nil, Value::Integer(1)].iter().all(|v| v.weak_lua().is_none()));
    let globals = lua.globals();
    assert!(globals.weak_lua().try_upgrade().is_some() && *globals.weak_lua() != Lua::new().weak());
    drop(lua);
    assert!(globals.weak_lua().try_upgrade().is_none());
    Ok(())
}

#[test]
fn errors_have_parents() {
    let error = Error::runtime("inner").context("middle").context("outer");
    let messages: Vec<String> =
        std::iter::successors(Some(&error), |e| e.parent()).map(|e| e.to_string()).collect();
    assert!(messages.len() >= 2 && messages.last().unwrap() == "runtime error: inner");
    assert!(Error::external(std::io::Error::other("x")).parent().is_none());
}

#[test]
fn any_value_becomes_an_error() -> Result<()> {
    let lua = Lua::new();
    let text = |v: Value| -> Result<String> { lua.unpack::<Error>(v).map(|e| e.to_string()) };
    assert_eq!(text(Value::Boolean(true))?, "runtime error: true");
    let shown = lua.load("setmetatable({}, { __tostring = function() return 'me' end })").eval()?;
    assert_eq!(text(shown)?, "runtime error: me");
    Ok(())
}

#[test]
fn either_is_that_of_the_crate_either() -> Result<()> {
    let lua = Lua::new();
    let mut e: either::Either<i64, String> =
        lua.load("return 'x'").eval::<Either<i64, String>>()?;
    if let Some(s) = e.as_mut().right() {
        s.push('y');
    }
    assert_eq!(e.to_string(), "xy");
    Ok(())
}

#[test]
fn lists_end_at_the_first_nil() -> Result<()> {
    let lua = Lua::new();
    let t: Table = lua.load("{ 1, 2, nil, 4 }").eval()?;
    assert_eq!(t, [1, 2]);
    assert!(t != [1] && t != [1, 2, 3]);
    let mut seen = Vec::new();
    t.for_each_value(|v: i64| {
        seen.push(v);
        Ok(())
    })?;
    assert_eq!(seen, [1, 2]);
    // holes are preserved
    let t = lua.create_sequence_from([Some(1), None, Some(3)])?;
    assert_eq!((t.get::<i64>(1)?, t.get::<Option<i64>>(2)?, t.get::<i64>(3)?), (1, None, 3));
    assert_eq!(t.raw_len(), 3);
    let n: usize = if cfg!(miri) { 300 } else { 10_000 };
    let many = lua.create_sequence_from((0..n).map(|i| i.to_string()))?;
    assert_eq!((many.raw_len(), many.get::<String>(n)?), (n, (n - 1).to_string()));
    Ok(())
}

#[test]
fn tables_with_metamethods_push_pop_and_remove() -> Result<()> {
    let lua = Lua::new();
    let (proxy, inner): (Table, Table) = lua
        .load(
            "local inner = { 'a', 'b', 'c' }
             return setmetatable({}, {
                 __len = function() return #inner end, __index = inner, __newindex = inner }), \
                 inner",
        )
        .eval()?;
    proxy.remove(1)?;
    assert_eq!(inner, ["b", "c"]);
    assert!(proxy.remove(3).is_err());
    proxy.set("x", 1)?;
    proxy.remove("x")?;
    assert!(inner.get::<Value>("x")?.is_nil() && proxy.is_empty());
    let plain = lua.create_sequence_from([1, 2, 3])?;
    plain.remove(2)?;
    assert_eq!(plain, [1, 3]);
    let long: Table =
        lua.load("setmetatable({}, { __len = function() return math.maxinteger end })").eval()?;
    assert!(long.push(1).unwrap_err().to_string().contains("table length overflow"));
    let empty = lua.create_table_from([(0, 42)])?;
    empty.set_metatable(Some(lua.create_table()?))?;
    assert_eq!((empty.pop::<Value>()?, empty.get::<i64>(0)?), (Value::Nil, 42));
    Ok(())
}

#[test]
fn tables_show_what_is_in_them() -> Result<()> {
    let lua = Lua::new();
    let t: Table = lua
        .load("local t = { 1, 2.5, a = 'x', ['b c'] = { true }, e = {} } t[true] = 1 return t")
        .eval()?;
    assert_eq!(
        format!("{t:#?}"),
        "{\n  [true] = 1,\n  [1] = 1,\n  [2] = 2.5,\n  a = \"x\",\n  [\"b c\"] = \
         {\n    true,\n  },\n  e = {},\n}"
    );
    t.set("self", &t)?;
    assert!(format!("{t:#?}").contains("  self = table: 0x"));
    assert_eq!(format!("{:#?}", Value::Integer(1)), "1");
    let any = Value::UserData(lua.create_any_userdata(1u8)?);
    assert!(format!("{any:#?}").starts_with("u8: 0x"), "{any:#?}");
    Ok(())
}

#[test]
fn a_scope_that_ends_makes_nothing() -> Result<()> {
    struct OnDrop<F: FnMut()>(F);
    impl<F: FnMut()> Drop for OnDrop<F> {
        fn drop(&mut self) {
            (self.0)();
        }
    }
    let lua = Lua::new();
    let (value, refused) = (7_u8, std::cell::Cell::new(0));
    let (data, count) = (&value, &refused);
    lua.scope(|scope| {
        let guard = OnDrop(move || {
            let made = [
                scope.create_function(|_, ()| Ok(())).is_err(),
                scope.create_function_mut(|_, ()| Ok(())).is_err(),
                scope.create_any_userdata_ref(data).is_err(),
                scope.create_any_userdata(1, |_| ()).is_err(),
            ];
            count.set(made.iter().filter(|refused| **refused).count());
        });
        scope.create_function(move |_, ()| {
            let _ = &guard;
            Ok(())
        })?;
        Ok(())
    })?;
    assert_eq!(refused.get(), 4);
    Ok(())
}
