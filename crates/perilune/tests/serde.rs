//! Conversions between Lua values and types that serde supports.
#![cfg(feature = "serde")]

use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;

use perilune::serde::{Deserializer, Serializer};
use perilune::{
    AnyUserData, DeserializeOptions, Error, Lua, LuaSerdeExt, Result, SerializeOptions, UserData,
    Value,
};
use serde::de::DeserializeOwned;
use serde::ser::{SerializeMap, SerializeSeq, Serializer as _};
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
enum Shape {
    Nothing,
    Circle(f64),
    Line(i32, i32),
    Box { w: u8, h: Option<u8> },
}

#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
struct Everything {
    flag: bool,
    small: i8,
    large: u64,
    ratio: f64,
    letter: char,
    name: String,
    none: Option<i32>,
    some: Option<String>,
    list: Vec<i64>,
    empty: Vec<String>,
    nested: Vec<Vec<Option<u8>>>,
    map: BTreeMap<String, Shape>,
    keys: HashMap<i64, String>,
    shapes: Vec<Shape>,
    pair: (u8, String),
    unit: (),
    wrapped: Wrapped,
    boxed: Option<Box<Everything>>,
}

#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
struct Wrapped(Vec<u8>);

fn everything(depth: usize) -> Everything {
    let shapes =
        vec![Shape::Nothing, Shape::Circle(1.5), Shape::Line(1, -2), Shape::Box { w: 3, h: None }];
    Everything {
        flag: true,
        small: -7,
        large: 1 << 50,
        ratio: 0.1,
        letter: 'ß',
        name: "a\0b".to_owned(),
        none: None,
        some: Some(String::new()),
        list: (0..20).collect(),
        empty: Vec::new(),
        nested: vec![vec![], vec![Some(1), None, Some(3)]],
        map: shapes.iter().enumerate().map(|(i, s)| (format!("k{i}"), s.clone())).collect(),
        keys: [(1, "one".to_owned()), (-5, "five".to_owned())].into(),
        shapes,
        pair: (1, "two".to_owned()),
        unit: (),
        wrapped: Wrapped(vec![0, 255]),
        boxed: (depth > 0).then(|| Box::new(everything(depth - 1))),
    }
}

/// Converts a value to Lua and back, with both interfaces.
fn round<T: Serialize + DeserializeOwned + PartialEq + Debug>(lua: &Lua, v: &T) {
    let there = lua.to_value(v).unwrap();
    assert_eq!(&lua.from_value::<T>(there.clone()).unwrap(), v);
    let other = v.serialize(Serializer::new(lua)).unwrap();
    assert_eq!(&T::deserialize(Deserializer::new(other)).unwrap(), v);
    assert_eq!(&T::deserialize(Deserializer::new(there)).unwrap(), v);
}

#[test]
fn round_trips() {
    let lua = Lua::new();
    round(&lua, &everything(3));
    round(&lua, &i64::MIN);
    round(&lua, &'x');
    round(&lua, &Some(Some(1)));
    round(&lua, &Shape::Nothing);
    round(&lua, &Shape::Box { w: 1, h: Some(2) });
    round(&lua, &json!({"a": [1, null, {"b": "c"}], "d": 1.25, "e": [], "f": true}));
    lua.set_gc_stress(true);
    round(&lua, &everything(1));
}

#[test]
fn values_are_what_lua_expects() -> Result<()> {
    let lua = Lua::new();
    lua.globals().set("v", lua.to_value(&everything(0))?)?;
    lua.globals().set("null", lua.null())?;
    lua.load(
        r#"
        assert(v.flag == true and v.small == -7 and v.letter == "ß" and v.name == "a\0b")
        assert(math.type(v.large) == "integer" and math.type(v.ratio) == "float")
        assert(v.none == null and v.unit == null and v.some == "")
        assert(#v.list == 20 and v.list[20] == 19)
        assert(#v.empty == 0 and getmetatable(v.empty) == false)
        assert(v.nested[2][2] == null and v.nested[2][3] == 3)
        assert(v.shapes[1] == "Nothing" and v.shapes[2].Circle == 1.5 and v.shapes[3].Line[2] == -2)
        assert(v.shapes[4].Box.w == 3 and v.keys[-5] == "five")
        "#,
    )
    .exec()
}

#[test]
fn options_of_serialisation() -> Result<()> {
    let lua = Lua::new();
    let plain = SerializeOptions::new().set_array_metatable(false);
    let Value::Table(t) = lua.to_value_with(&[1, 2], plain)? else { panic!("a table") };
    assert!(!t.has_metatable());
    let nils = plain.serialize_none_to_null(false).serialize_unit_to_null(false);
    assert!(lua.to_value_with(&None::<i32>, nils)?.is_nil());
    assert!(lua.to_value_with(&(), nils)?.is_nil());
    let Value::Table(t) = lua.to_value_with(&[Some(1), None, Some(3)], nils)? else {
        panic!("a table")
    };
    assert_eq!(t.get::<i64>(3)?, 3);
    assert!(t.get::<Value>(2)?.is_nil());
    let one = lua.to_value_with(&vec![vec![1]], plain.recursion_limit(1));
    assert!(matches!(one, Err(Error::SerializeError(m)) if m == "recursion limit exceeded"));
    lua.to_value_with(&vec![vec![1]], plain.recursion_limit(2))?;
    Ok(())
}

#[derive(Serialize)]
struct Deep(Option<Box<Deep>>);

#[test]
fn depth_is_limited() {
    let lua = Lua::new();
    let mut deep = Deep(None);
    for _ in 0..1000 {
        deep = Deep(Some(Box::new(deep)));
    }
    assert!(matches!(lua.to_value(&deep), Err(Error::SerializeError(_))));
    let nest = "local t = {} for i = 1, ... do t = {t} end return t";
    let tables = |n: i64| lua.load(nest).call::<Value>(n).unwrap();
    let read = |n| lua.from_value::<serde_json::Value>(tables(n));
    read(127).unwrap();
    assert!(
        matches!(read(128), Err(Error::DeserializeError(m)) if m == "recursion limit exceeded")
    );
    assert!(
        serde_json::to_string(&tables(127)).is_ok() && serde_json::to_string(&tables(128)).is_err()
    );
}

#[test]
fn tables_that_contain_themselves() -> Result<()> {
    let lua = Lua::new();
    let v: Value = lua.load("local t = {1}; t[2] = {up = t}; return t").eval()?;
    let e = lua.from_value::<serde_json::Value>(v.clone());
    assert!(matches!(e, Err(Error::DeserializeError(m)) if m == "recursive table detected"));
    assert!(serde_json::to_value(&v).is_err());
    let options = DeserializeOptions::new().deny_recursive_tables(false);
    assert_eq!(lua.from_value_with::<serde_json::Value>(v.clone(), options)?, json!([1, {}]));
    let json = serde_json::to_value(v.to_serializable().deny_recursive_tables(false)).unwrap();
    assert_eq!(json, json!([1, {}]));
    // the table occurs twice, but not inside itself
    let v: Value = lua.load("local t = {}; return {t, t}").eval()?;
    assert_eq!(lua.from_value::<serde_json::Value>(v)?, json!([{}, {}]));
    Ok(())
}

#[test]
fn lists_and_maps() -> Result<()> {
    let lua = Lua::new();
    let read = |code: &str, options: DeserializeOptions| {
        let v: Value = lua.load(code).eval().unwrap();
        let a = lua.from_value_with::<serde_json::Value>(v.clone(), options).unwrap();
        let s = v
            .to_serializable()
            .detect_mixed_tables(options.detect_mixed_tables)
            .encode_empty_tables_as_array(options.encode_empty_tables_as_array);
        assert_eq!(serde_json::to_value(s).unwrap(), a, "{code}");
        a.to_string()
    };
    let o = DeserializeOptions::new();
    assert_eq!(read("{}", o), "{}");
    assert_eq!(read("{}", o.encode_empty_tables_as_array(true)), "[]");
    assert_eq!(read("{1, 2, x = 3}", o), "[1,2]");
    assert_eq!(read("{[1] = 1, [3] = 3}", o.detect_mixed_tables(true)), "[1,null,3]");
    assert_eq!(read("{x = 3}", o.detect_mixed_tables(true)), r#"{"x":3}"#);
    let sparse: Value = lua.load("{[1 << 40] = 1}").eval()?;
    let map: HashMap<i64, i64> = lua.from_value_with(sparse, o.detect_mixed_tables(true))?;
    assert_eq!(map[&(1 << 40)], 1);
    let v: Value = lua.load("{b = 1, a = 2, [true] = 3, [2.5] = 4, [-1] = 5}").eval()?;
    let keys = lua.from_value_with::<Pairs>(v, o.sort_keys(true))?.0;
    assert_eq!(keys, ["true", "-1", "2.5", "a", "b"]);
    Ok(())
}

/// The keys of a map in their order, as text.
struct Pairs(Vec<String>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> std::result::Result<Pairs, D::Error> {
        struct V;
        impl<'de> serde::de::Visitor<'de> for V {
            type Value = Pairs;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a map")
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<Pairs, A::Error> {
                let mut keys = Vec::new();
                while let Some((k, _)) = map.next_entry::<Key, serde::de::IgnoredAny>()? {
                    keys.push(match k {
                        Key::Bool(b) => b.to_string(),
                        Key::Float(n) => n.to_string(),
                        Key::Text(t) => t,
                    });
                }
                Ok(Pairs(keys))
            }
        }
        d.deserialize_map(V)
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Key {
    Bool(bool),
    Float(f64),
    Text(String),
}

#[test]
fn what_has_no_counterpart() -> Result<()> {
    let lua = Lua::new();
    let v: Value =
        lua.load("{f = print, n = 1, co = coroutine.create(print), [print] = 2}").eval()?;
    let e = lua.from_value::<serde_json::Value>(v.clone()).unwrap_err();
    assert!(matches!(e, Error::DeserializeError(_)), "{e}");
    let options = DeserializeOptions::new().deny_unsupported_types(false);
    assert_eq!(lua.from_value_with::<serde_json::Value>(v.clone(), options)?, json!({"n": 1}));
    assert_eq!(
        serde_json::to_value(v.to_serializable().deny_unsupported_types(false)).unwrap(),
        json!({"n": 1})
    );
    for code in ["5", "'x'", "{}"] {
        let v: Value = lua.load(code).eval()?;
        assert!(lua.from_value::<bool>(v).is_err(), "{code}");
    }
    let bytes: Value = lua.load(r"'\xff'").eval()?;
    assert!(lua.from_value::<String>(bytes.clone()).is_err());
    assert_eq!(serde_json::to_value(&bytes).unwrap(), json!([255]));
    // the elements of a list that do not fit a tuple
    let long: Value = lua.load("{1, 2, 3}").eval()?;
    assert!(lua.from_value::<(i32, i32)>(long).is_err());
    // enums
    for code in [
        "{Circle = 1, Line = 2}",
        "{}",
        "{Circle = print}",
        "7",
        "'Square'",
        "'Circle'",
        "{Nothing = 1}",
    ] {
        let v: Value = lua.load(code).eval()?;
        assert!(lua.from_value::<Shape>(v).is_err(), "{code}");
    }
    // keys that tables cannot have
    assert!(lua.to_value(&HashMap::from([((), 1)])).is_ok());
    let nils = SerializeOptions::new().serialize_unit_to_null(false);
    assert!(lua.to_value_with(&HashMap::from([((), 1)]), nils).is_err());
    Ok(())
}

#[derive(Serialize)]
struct Point {
    x: i32,
    at: Vec<i32>,
}
impl UserData for Point {}

#[derive(Deserialize, Debug, PartialEq)]
struct PointBack {
    x: i32,
    at: Vec<i32>,
}

#[test]
fn userdata() -> Result<()> {
    let lua = Lua::new();
    let opaque = lua.create_userdata(Point { x: 0, at: vec![] })?;
    assert!(serde_json::to_value(Value::UserData(opaque.clone())).is_err());
    assert!(lua.from_value::<PointBack>(Value::UserData(opaque)).is_err());

    let u = lua.create_ser_userdata(Point { x: 1, at: vec![2, 3] })?;
    assert_eq!(serde_json::to_value(&u).unwrap(), json!({"x": 1, "at": [2, 3]}));
    lua.globals().set("u", &u)?;
    let v: Value = lua.load("{u, {u}}").eval()?;
    assert_eq!(serde_json::to_string(&v).unwrap(), r#"[{"x":1,"at":[2,3]},[{"x":1,"at":[2,3]}]]"#);
    let back = lua.from_value::<(PointBack, Vec<PointBack>)>(v)?;
    assert_eq!(back.0, PointBack { x: 1, at: vec![2, 3] });
    {
        let _writing = u.borrow_mut::<Point>()?;
        assert!(serde_json::to_value(&u).is_err());
        assert!(lua.from_value::<PointBack>(Value::UserData(u.clone())).is_err());
    }
    drop(u.take::<Point>()?);
    assert!(serde_json::to_value(&u).is_err());
    lua.globals().set("w", AnyUserData::wrap_ser(json!([1, null])))?;
    let w: Value = lua.globals().get("w")?;
    assert_eq!(lua.from_value::<Vec<Option<i32>>>(w)?, [Some(1), None]);
    Ok(())
}

/// Uses a serializer in ways that derived code does not.
struct Odd<'a>(&'a Lua);

impl Serialize for Odd<'_> {
    fn serialize<S: serde::Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
        let mut seq = s.serialize_seq(None)?;
        // calls Lua and collects while a table is under construction
        let n: i64 = self.0.load("collectgarbage(); return 1").eval().unwrap();
        seq.serialize_element(&n)?;
        // an element that fails leaves no values on the stack
        assert!(seq.serialize_element(&Failing).is_err());
        seq.serialize_element(&self.0.to_value(&[2]).unwrap())?;
        seq.end()
    }
}

struct Failing;

impl Serialize for Failing {
    fn serialize<S: serde::Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = s.serialize_map(Some(2))?;
        map.serialize_entry("a", &[1, 2])?;
        map.serialize_key("b")?;
        Err(serde::ser::Error::custom("no"))
    }
}

#[test]
fn odd_uses() -> Result<()> {
    let lua = Lua::new();
    lua.set_gc_stress(true);
    let v = lua.to_value(&Odd(&lua))?;
    assert_eq!(lua.from_value::<serde_json::Value>(v)?, json!([1, [2]]));
    assert!(lua.to_value(&vec![Failing]).is_err());
    // two at once, interleaved
    let mut a = Serializer::new(&lua).serialize_seq(None)?;
    let mut b = Serializer::new(&lua).serialize_map(None)?;
    a.serialize_element("x")?;
    b.serialize_key("k")?;
    a.serialize_element(&[1])?;
    b.serialize_value("v")?;
    assert_eq!(lua.from_value::<serde_json::Value>(SerializeSeq::end(a)?)?, json!(["x", [1]]));
    assert_eq!(lua.from_value::<serde_json::Value>(SerializeMap::end(b)?)?, json!({"k": "v"}));
    // a panic during serialization leaves the stack as it was
    struct Panics;
    impl Serialize for Panics {
        fn serialize<S: serde::Serializer>(&self, _: S) -> std::result::Result<S::Ok, S::Error> {
            panic!("on the way")
        }
    }
    let r = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| lua.to_value(&(1, Panics))));
    assert!(r.is_err());
    assert_eq!(lua.load("return 1 + 1").eval::<i64>()?, 2);
    Ok(())
}

/// Lists and maps that grow without end reach the memory limit, although their elements need no
/// memory of their own.
#[test]
fn the_memory_limit_holds() -> Result<()> {
    struct Endless {
        list: bool,
    }
    impl Serialize for Endless {
        fn serialize<S: serde::Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
            if self.list { to.collect_seq(0..) } else { to.collect_map((0..).map(|i| (i, i))) }
        }
    }
    let lua = Lua::new();
    for list in [true, false] {
        lua.set_memory_limit(lua.used_memory() + (1 << 20))?;
        let r = lua.to_value(&Endless { list });
        assert!(matches!(r, Err(Error::MemoryError(_))), "{r:?}");
        lua.set_memory_limit(0)?;
        lua.gc_collect()?;
    }
    Ok(())
}

#[test]
fn inside_callbacks() -> Result<()> {
    let lua = Lua::new();
    let f = lua.create_function(|lua, v: Value| {
        let json: serde_json::Value = lua.from_value(v)?;
        lua.to_value(&json!({ "got": json }))
    })?;
    lua.globals().set("f", f)?;
    lua.load(
        "local co = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(f({i, \
         {i}}).got[2][1]) end end)
         assert(co() == 1 and co() == 2 and co() == 3)
         assert(not pcall(f, print))",
    )
    .exec()
}
