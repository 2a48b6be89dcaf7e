//! Tables.

use perilune::{Error, FromLua, Function, Lua, Result, Table, Value};

#[test]
fn get_and_set() -> Result<()> {
    let lua = Lua::new();
    let t = lua.create_table()?;
    t.set("a", 1)?;
    t.set(2.5, "float")?;
    t.set(true, vec![1, 2, 3])?;
    assert_eq!(t.get::<i64>("a")?, 1);
    assert_eq!(t.get::<String>(2.5)?, "float");
    assert_eq!(t.get::<Vec<u8>>(true)?, [1, 2, 3]);
    assert_eq!(t.get::<Value>("missing")?, Value::Nil);
    assert!(t.contains_key("a")? && !t.contains_key("b")?);
    assert!(t.set(Value::Nil, 1).is_err() && t.raw_set(f64::NAN, 1).is_err());
    t.set("a", Value::Nil)?;
    assert!(!t.contains_key("a")?);
    Ok(())
}

#[test]
fn metamethods() -> Result<()> {
    let lua = Lua::new();
    let t: Table = lua
        .load(
            "setmetatable({}, {__index = function(_, k) return k .. '!' end, __newindex = \
               function(t, k, v) rawset(t, k, v * 2) end, __len = function() return 7 end})",
        )
        .eval()?;
    assert_eq!(t.get::<String>("x")?, "x!");
    t.set("y", 4)?;
    assert_eq!((t.get::<i64>("y")?, t.len()?, t.raw_len()), (8, 7, 0));
    assert_eq!(t.raw_get::<Option<i64>>("x")?, None);
    let fails: Table =
        lua.load("setmetatable({}, {__index = function() error('no') end})").eval()?;
    let e = fails.get::<Value>("x").unwrap_err();
    assert!(matches!(&e, Error::RuntimeError(m) if m.contains("no")), "{e}");
    assert!(fails.metatable().is_some() && fails.has_metatable());
    fails.set_metatable(None)?;
    assert_eq!(fails.get::<Value>("x")?, Value::Nil);
    let a: Table = lua.load("setmetatable({1}, {__eq = function() return true end})").eval()?;
    let b = lua.create_table()?;
    assert!(a.equals(&b)? && a != b);
    Ok(())
}

#[test]
fn lists() -> Result<()> {
    let lua = Lua::new();
    let t = lua.create_sequence_from([1, 2, 3])?;
    t.push(4)?;
    t.raw_insert(1, 0)?;
    assert_eq!(t, [0, 1, 2, 3, 4]);
    assert_eq!(t.pop::<i64>()?, 4);
    t.raw_remove(1)?;
    assert_eq!(t.sequence_values::<i64>().collect::<Result<Vec<_>>>()?, [1, 2, 3]);
    assert!(t.raw_insert(9, 1).is_err() && t.raw_remove(9).is_err());
    assert_eq!((t.raw_pop::<i64>()?, t.len()?), (3, 2));
    let mut sum = 0;
    t.for_each_value(|v: i64| {
        sum += v;
        Ok(())
    })?;
    assert_eq!(sum, 3);
    t.clear()?;
    assert!(t.is_empty());
    assert_eq!(t.pop::<Option<i64>>()?, None);
    Ok(())
}

#[test]
fn traversal() -> Result<()> {
    let lua = Lua::new();
    let t: Table = lua.load("{10, 20, x = 30, [false] = 40}").eval()?;
    let mut values = Vec::new();
    for pair in t.pairs::<Value, i64>() {
        let (k, v) = pair?;
        t.set(k, Value::Nil)?;
        values.push(v);
    }
    values.sort_unstable();
    assert_eq!(values, [10, 20, 30, 40]);
    assert!(t.is_empty());
    let t = lua.create_table_from([("a", 1), ("b", 2)])?;
    let mut n = 0;
    t.for_each(|k: String, v: i64| {
        n += k.len() as i64 * v;
        lua.gc_collect()
    })?;
    assert_eq!(n, 3);
    assert!(t.pairs::<i64, i64>().any(|p| p.is_err()));
    Ok(())
}

#[test]
fn promises_of_iterators_are_not_trusted() -> Result<()> {
    /// Promises as many elements as there can be, and has three.
    struct Promising(i64);
    impl Iterator for Promising {
        type Item = i64;
        fn next(&mut self) -> Option<i64> {
            self.0 += 1;
            (self.0 <= 3).then_some(self.0)
        }
        fn size_hint(&self) -> (usize, Option<usize>) {
            (usize::MAX, None)
        }
    }
    let lua = Lua::new();
    assert_eq!(lua.create_sequence_from(Promising(0))?.raw_len(), 3);
    assert_eq!(lua.create_table_from(Promising(0).map(|n| (n, n)))?.raw_len(), 3);
    Ok(())
}

/// The number of tables nested in a value.
struct Depth(usize);

impl FromLua for Depth {
    fn from_lua(value: Value, _: &Lua) -> Result<Depth> {
        let Value::Table(t) = value else { return Ok(Depth(0)) };
        t.get::<Depth>("next").map(|d| Depth(d.0 + 1))
    }
}

#[test]
fn conversions_inside_lookups_by_metamethods() -> Result<()> {
    let lua = Lua::new();
    let nested = "local t
        for i = 1, 100 do t = setmetatable({}, {__index = {next = t}}) end
        return t";
    let t: Value = lua.load(nested).eval()?;
    assert_eq!(lua.unpack::<Depth>(t.clone())?.0, 100);
    let f = lua.create_function(|_, d: Depth| Ok(d.0))?;
    let resumed: Function =
        lua.load("local f, t = ... return coroutine.wrap(f)(t)").into_function()?;
    assert_eq!(resumed.call::<usize>((f, t))?, 100);
    Ok(())
}

#[test]
fn invalid_keys_are_named_as_in_lua() -> Result<()> {
    let lua = Lua::new();
    let plain = lua.create_table()?;
    let other: Table = lua.load("return setmetatable({}, {})").eval()?;
    for t in [plain, other] {
        let e = t.set(Value::Nil, 1).unwrap_err();
        assert!(e.to_string().contains("table index is nil"), "{e}");
        let e = t.set(f64::NAN, 1).unwrap_err();
        assert!(e.to_string().contains("table index is NaN"), "{e}");
    }
    Ok(())
}
