//! Operations while the collector runs at every safepoint and stacks move as often as possible.

use std::collections::BTreeMap;

use perilune::{
    AnyUserData, Function, Lua, MetaMethod, ObjectLike, Result, Table, UserData, UserDataMethods,
    UserDataRef, Value, Variadic,
};

struct Text(String);

impl UserData for Text {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("join", |lua, this, (a, b): (String, UserDataRef<Text>)| {
            lua.create_string(format!("{}{a}{}", this.0, b.0))
        });
        methods.add_meta_method(MetaMethod::Index, |lua, this, key: String| {
            lua.create_table_from([(key, this.0.clone())])
        });
    }
}

fn exercise(lua: &Lua) -> Result<()> {
    for round in 0..20 {
        let t = lua.create_table()?;
        for i in 0..30 {
            t.set(
                format!("key {round} {i}"),
                format!("value {i} that is not short enough to be interned, by far"),
            )?;
            t.push(vec![i.to_string(), format!("{i}{i}")])?;
        }
        let mut seen = 0;
        for pair in t.pairs::<Value, Value>() {
            let (k, v) = pair?;
            seen += usize::from(k.is_string() == v.is_string());
        }
        assert_eq!(seen, 60);
        let map: BTreeMap<String, String> = {
            let copy = lua.create_table()?;
            t.for_each(|k: Value, v: Value| if k.is_string() { copy.set(k, v) } else { Ok(()) })?;
            lua.convert(copy)?
        };
        assert_eq!(map.len(), 30);
        let callback = lua.create_function(|lua, (t, rest): (Table, Variadic<String>)| {
            let all = lua.create_sequence_from(rest.iter().map(|s| s.as_str()))?;
            t.set("all", &all)?;
            Ok((all, rest.len(), format!("{}!", rest.concat())))
        })?;
        lua.globals().set("callback", callback)?;
        let f: Function = lua
            .load(
                "function(t, ...) local a, n, s = callback(t, ...) return s .. n, #a, t.all == a \
                   end",
            )
            .eval()?;
        let (s, n, same): (String, i64, bool) = f.call((&t, "a", "b", "c".repeat(60)))?;
        assert_eq!((s.len(), n, same), (64, 3, true));
        let deep: Function = lua
            .load(
                "function(n, f) if n == 0 then return f() end return \
                                       (select(2, n, DEEP(n - 1, f))) end",
            )
            .eval()?;
        lua.globals().set("DEEP", &deep)?;
        let inner = lua.create_function(|lua, ()| lua.create_string("deep inside"))?;
        assert_eq!(deep.call::<String>((50, inner))?, "deep inside");
        let (a, b) = (lua.create_userdata(Text("a".repeat(50)))?, Text("b".into()));
        let joined: String = a.call_method("join", ("-", b)).or_else(|_| {
            let join: Function =
                lua.load("function(a, b) return Text.join(a, '-', b) end").eval()?;
            join.call((&a, lua.create_userdata(Text("b".into()))?))
        })?;
        assert_eq!(joined.len(), 52);
        assert_eq!(ObjectLike::get::<Table>(&a, "x")?.get::<String>("x")?.len(), 50);
        let e = lua
            .load("error(setmetatable({}, {__tostring = function() return ('x'):rep(50) end}))")
            .exec();
        assert!(e.unwrap_err().to_string().contains(&"x".repeat(50)));
        let failing =
            lua.create_function(|_, u: AnyUserData| u.borrow::<String>().map(|s| s.len()))?;
        assert!(failing.call::<i64>(&a).is_err());
    }
    Ok(())
}

#[test]
#[cfg_attr(miri, ignore = "takes too long")]
fn all_operations() -> Result<()> {
    for (stress, small) in [(true, false), (false, true), (true, true)] {
        let lua = Lua::new();
        lua.set_gc_stress(stress);
        lua.set_small_stack(small);
        exercise(&lua)?;
    }
    Ok(())
}
