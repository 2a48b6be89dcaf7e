//! Conversions.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::{CString, OsString};
use std::fmt::Debug;
use std::path::PathBuf;

use perilune::{
    Either, Error, FromLua, Function, IntoLua, LightUserData, Lua, LuaString, Result, Value,
};

/// Converts a value to Lua and back.
fn round<T: IntoLua + FromLua + Clone + PartialEq + Debug>(lua: &Lua, v: T) {
    let back: T = lua.convert(v.clone()).unwrap();
    assert_eq!(back, v);
    let f: perilune::Function = lua.load("function(...) return ... end").eval().unwrap();
    assert_eq!(f.call::<T>(v.clone()).unwrap(), v);
}

#[test]
fn round_trips() {
    let lua = Lua::new();
    for n in [0, 1, -1, i64::MAX, i64::MIN] {
        round(&lua, n);
        round(&lua, i128::from(n));
    }
    round(&lua, u8::MAX);
    round(&lua, 1u64 << 60);
    round(&lua, 0.1);
    round(&lua, f32::MAX);
    round(&lua, true);
    round(&lua, 'ß');
    round(&lua, String::from("a\0b"));
    round(&lua, Box::<str>::from("x"));
    round(&lua, CString::new("c").unwrap());
    round(&lua, OsString::from("os"));
    round(&lua, PathBuf::from("/tmp"));
    round(&lua, Some(5));
    round(&lua, None::<String>);
    round(&lua, vec![Some("a".to_owned()), Some("b".to_owned())]);
    round(&lua, [1, 2, 3]);
    round(&lua, Box::<[u8]>::from([1, 2]));
    round(&lua, HashMap::from([("a".to_owned(), 1), ("b".to_owned(), 2)]));
    round(&lua, BTreeMap::from([(1, true), (5, false)]));
    round(&lua, HashSet::from(["x".to_owned()]));
    round(&lua, BTreeSet::from([3, 4]));
    round(&lua, LightUserData(std::ptr::without_provenance_mut(16)));
    round(&lua, Either::<i64, String>::Left(1));
    round(&lua, Either::<i64, String>::Right("r".into()));
}

#[test]
fn numbers_convert_as_in_lua() -> Result<()> {
    let lua = Lua::new();
    assert_eq!(lua.convert::<i64>(3.0)?, 3);
    assert_eq!(lua.convert::<i64>("0x10")?, 16);
    assert_eq!(lua.convert::<f64>("1e2")?, 100.0);
    assert_eq!(lua.convert::<u64>(1e19)?, 10_000_000_000_000_000_000);
    assert_eq!(lua.convert::<String>(1.5)?, "1.5");
    assert_eq!(lua.convert::<String>(7)?, "7");
    assert!(matches!(lua.pack(u64::MAX)?, Value::Number(_)));
    for (fails, text) in [
        (lua.convert::<u8>(256).map(drop), "error converting Lua integer to u8 (out of range)"),
        (lua.convert::<i64>(1.5).map(drop), "error converting Lua number to i64 (out of range)"),
        (
            lua.convert::<u8>(true).map(drop),
            "error converting Lua boolean to u8 (expected number or string coercible to number)",
        ),
        (lua.convert::<u64>(1e300).map(drop), "error converting Lua number to u64 (out of range)"),
        (
            lua.convert::<i64>(f64::NAN).map(drop),
            "error converting Lua number to i64 (out of range)",
        ),
        (
            lua.convert::<String>(lua.create_table()?).map(drop),
            "error converting Lua table to String (expected string or number)",
        ),
        (
            lua.convert::<Vec<i64>>(1).map(drop),
            "error converting Lua integer to Vec<i64> (expected table)",
        ),
        (
            lua.convert::<[u8; 2]>(vec![1]).map(drop),
            "error converting Lua table to [u8; 2] (expected table of length 2, got 1)",
        ),
    ] {
        let e = fails.unwrap_err();
        assert_eq!(e.to_string(), text);
    }
    Ok(())
}

#[test]
fn bytes_that_are_not_text() -> Result<()> {
    let lua = Lua::new();
    let s = lua.create_string(b"\xff\0x")?;
    assert!(matches!(s.to_str(), Err(Error::FromLuaConversionError { .. })));
    assert!(lua.convert::<String>(&s).is_err());
    assert_eq!(s.as_bytes(), b"\xff\0x");
    assert_eq!(s.to_string_lossy(), "\u{fffd}\0x");
    assert_eq!(lua.convert::<LuaString>(12)?, "12");
    assert_eq!(lua.convert::<String>(Cow::Borrowed("cow"))?, "cow");
    assert!(lua.convert::<bool>(0)?);
    assert!(!lua.convert::<bool>(Value::Nil)?);
    Ok(())
}

#[test]
fn floats_out_of_the_range_of_integers() -> Result<()> {
    let lua = Lua::new();
    macro_rules! fails {
        ($($t:ident $text:literal;)*) => {$(
            let e = lua.load(concat!("return ", $text)).eval::<$t>().unwrap_err();
            assert!(e.to_string().contains("out of range"), "{}: {e}", $text);
        )*};
    }
    fails! {
        i64 "2^63"; i64 "'9223372036854775808'"; i64 "-2^64"; i64 "1.5"; i64 "1/0";
        isize "2^63"; u64 "2^64"; u64 "0/0"; usize "2^64"; i128 "2^127"; u128 "2^128";
        i32 "2^31"; u8 "256.0"; u8 "-1.0";
    }
    assert_eq!(lua.load("-2^63").eval::<i64>()?, i64::MIN);
    assert_eq!(lua.load("2^63 - 1024").eval::<i64>()?, i64::MAX - 1023);
    assert_eq!(lua.load("2^63").eval::<u64>()?, 1 << 63);
    assert_eq!(lua.load("127.0").eval::<i8>()?, i8::MAX);
    assert_eq!(lua.load("2^31 - 1").eval::<i32>()?, i32::MAX);
    assert_eq!(lua.load("2^64").eval::<u128>()?, 1 << 64);
    Ok(())
}

#[test]
fn deep_tables_are_shown_in_part() -> Result<()> {
    let lua = Lua::new();
    let depth = if cfg!(miri) { 1_000 } else { 100_000 };
    let deep = "local t = {} for i = 1, ... do t = {t} end return t";
    let shown = format!("{:#?}", lua.load(deep).call::<Value>(depth)?);
    assert!(shown.starts_with("{\n  {\n    {\n") && shown.contains("table: 0x"));
    Ok(())
}

#[test]
fn null_pointers_are_shown_as_by_the_c_library() -> Result<()> {
    let lua = Lua::new();
    let show: Function = lua.load("function(p) return tostring(p), ('%p'):format(p) end").eval()?;
    let (shown, formatted) = show.call::<(String, String)>(Value::NULL)?;
    assert_eq!((shown.as_str(), formatted.as_str()), ("userdata: (nil)", "(null)"));
    Ok(())
}

#[cfg(unix)]
#[test]
fn strings_of_the_system_are_bytes() -> Result<()> {
    use std::os::unix::ffi::OsStringExt;

    let lua = Lua::new();
    let name = OsString::from_vec(b"a\xFFb".to_vec());
    round(&lua, name.clone());
    round(&lua, PathBuf::from(&name));
    assert_eq!(lua.convert::<LuaString>(name.as_os_str())?, b"a\xFFb");
    assert_eq!(lua.convert::<LuaString>(std::path::Path::new(&name))?, b"a\xFFb");
    Ok(())
}

#[test]
fn lists_convert_up_to_their_border() -> Result<()> {
    let lua = Lua::new();
    round(&lua, vec![Some(1), None, Some(3)]);
    round(&lua, [Some(1), None, Some(3)]);
    let holes: Value = lua.load("return {1, nil, 3}").eval()?;
    assert_eq!(lua.unpack::<Vec<Option<i64>>>(holes.clone())?, [Some(1), None, Some(3)]);
    assert!(lua.unpack::<Vec<i64>>(holes).is_err());
    Ok(())
}
