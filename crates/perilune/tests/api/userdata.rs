//! Userdata: types of the host in Lua.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use perilune::{
    AnyUserData, Error, Function, Lua, MetaMethod, ObjectLike, Result, UserData, UserDataFields,
    UserDataMethods, UserDataOwned, UserDataRef, UserDataRefMut, Value, Variadic,
};

struct Vec2 {
    x: f64,
    y: f64,
}

impl UserData for Vec2 {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field("kind", "vector");
        fields.add_field_method_get("x", |_, this| Ok(this.x));
        fields.add_field_method_set("x", |_, this, x| {
            this.x = x;
            Ok(())
        });
        fields.add_field_function_get("me", |_, u: AnyUserData| Ok(u));
        fields.add_meta_field("version", 3);
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("dot", |_, this, other: UserDataRef<Vec2>| {
            Ok(this.x * other.x + this.y * other.y)
        });
        methods.add_method_mut("scale", |_, this, k: f64| {
            this.x *= k;
            this.y *= k;
            Ok(())
        });
        methods.add_method_once("into", |_, this, ()| Ok(this.x));
        methods.add_function("new", |_, (x, y): (f64, f64)| Ok(Vec2 { x, y }));
        methods.add_meta_function(
            MetaMethod::Add,
            |_, (a, b): (UserDataRef<Vec2>, UserDataRef<Vec2>)| {
                Ok(Vec2 { x: a.x + b.x, y: a.y + b.y })
            },
        );
        methods.add_meta_method(MetaMethod::ToString, |_, this, ()| {
            Ok(format!("({}, {})", this.x, this.y))
        });
        methods.add_meta_method(MetaMethod::Eq, |_, this, other: UserDataRef<Vec2>| {
            Ok(this.x == other.x && this.y == other.y)
        });
        methods.add_meta_method(MetaMethod::Call, |_, this, k: f64| Ok(this.x + k));
        methods.add_method_mut("call", |_, this, f: Function| {
            this.x += 1.0;
            f.call::<Value>(())
        });
        methods.add_method("reading", |_, _, f: Function| f.call::<Value>(()));
    }
}

fn state() -> Result<Lua> {
    let lua = Lua::new();
    lua.globals().set("Vec2", lua.create_proxy::<Vec2>()?)?;
    lua.load("a, b = Vec2.new(1, 2), Vec2.new(3, 4)").exec()?;
    Ok(lua)
}

#[test]
fn fields_and_methods() -> Result<()> {
    let lua = state()?;
    let check = |text: &str| -> Result<()> {
        assert!(lua.load(text).eval::<bool>()?, "{text}");
        Ok(())
    };
    check("a.x == 1 and a.kind == 'vector' and a.me == a")?;
    check("a:dot(b) == 11")?;
    lua.load("a:scale(2) a.x = a.x + 1").exec()?;
    check("tostring(a) == '(3, 4)' and a == b and a ~= Vec2.new(0, 0)")?;
    check("tostring(a + b) == '(6, 8)' and a(1) == 4")?;
    check("type(a) == 'userdata' and getmetatable(a) == false")?;
    let a: AnyUserData = lua.globals().get("a")?;
    assert!(a.is::<Vec2>() && !a.is::<String>());
    assert_eq!((a.get::<f64>("x")?, a.call_method::<f64>("dot", &a)?), (3.0, 25.0));
    a.set("x", 0)?;
    assert_eq!(ObjectLike::call::<f64>(&a, 5)?, 5.0);
    assert_eq!(ObjectLike::to_string(&a)?, "(0, 4)");
    assert_eq!(a.metatable()?.get::<i64>("version")?, 3);
    assert_eq!(a.type_name()?, "Vec2");
    let fields = a.metatable()?.pairs::<Value>().collect::<Result<Vec<_>>>()?;
    assert!(fields.iter().any(|(name, _)| name == "version"), "{fields:?}");
    assert!(!fields.iter().any(|(name, _)| name == "__gc" || name == "__metatable"), "{fields:?}");
    assert!(matches!(a.metatable()?.set("__gc", 1), Err(Error::MetaMethodRestricted(_))));
    assert!(matches!(a.metatable()?.set("__index", 1), Err(Error::MetaMethodTypeError { .. })));
    assert_eq!(format!("{a:#?}"), "(0, 4)");
    let e = lua.load("a.unknown.x = 1").exec().unwrap_err();
    assert!(e.to_string().contains("attempt to index a nil value (field 'unknown')"), "{e}");
    let e = lua.load("a.unknown = 1").exec().unwrap_err();
    assert!(e.to_string().contains("attempt to set an unknown field 'unknown'"), "{e}");
    Ok(())
}

#[test]
fn wrong_selves_are_errors() -> Result<()> {
    let lua = state()?;
    let message = |text: &str| lua.load(text).exec().unwrap_err().to_string();
    let m = message("a.dot(1, b)");
    assert!(
        m.starts_with(
            "bad argument `self` to `Vec2.dot`: error converting Lua integer to userdata"
        ),
        "{m}"
    );
    assert!(
        message("a.dot()")
            .starts_with("bad argument `self` to `Vec2.dot`: error converting Lua nil")
    );
    assert!(message("a:dot()").starts_with("bad argument #2 to `Vec2.dot`: "));
    assert!(message("Vec2.new(1)").starts_with("bad argument #2 to `Vec2.new`: "));
    lua.globals().set("other", lua.create_any_userdata(1u8)?)?;
    let m = message("a.dot(other, b)");
    assert!(
        m.starts_with("bad argument `self` to `Vec2.dot`: userdata is not expected type"),
        "{m}"
    );
    assert!(message("a:dot(other)").starts_with("bad argument #2 to `Vec2.dot`: userdata is not"));
    assert!(
        message("Vec2:scale(1)")
            .starts_with("bad argument `self` to `Vec2.scale`: userdata is not")
    );
    let m = message("a.dot(io.stdout, b)");
    assert!(
        m.starts_with("bad argument `self` to `Vec2.dot`: userdata is not expected type"),
        "{m}"
    );
    Ok(())
}

#[test]
fn borrows() -> Result<()> {
    let lua = state()?;
    let a: AnyUserData = lua.globals().get("a")?;
    let message = |text: &str| lua.load(text).exec().unwrap_err().to_string();
    let m = message("a:call(function() return a.x end)");
    assert!(m.contains("error borrowing userdata"), "{m}");
    let m = message("a:reading(function() a:scale(1) end)");
    assert!(m.contains("error mutably borrowing userdata"), "{m}");
    lua.load("a:reading(function() return a:reading(function() return a.x end) end)").exec()?;
    // the same closure, mutably, with another value
    let m = message("a:call(function() b:call(function() end) end)");
    assert!(m.contains("mutable callback called recursively"), "{m}");
    {
        let (r, s) = (a.borrow::<Vec2>()?, a.borrow::<Vec2>()?);
        assert_eq!(r.x, s.x);
        assert!(matches!(a.borrow_mut::<Vec2>(), Err(Error::UserDataBorrowMutError)));
        assert!(matches!(a.take::<Vec2>(), Err(Error::UserDataBorrowMutError)));
        assert!(matches!(a.destroy(), Err(Error::UserDataBorrowMutError)));
        assert!(matches!(a.borrow::<String>(), Err(Error::UserDataTypeMismatch)));
    }
    {
        let mut w = a.borrow_mut::<Vec2>()?;
        w.x = 9.0;
        assert!(matches!(a.borrow::<Vec2>(), Err(Error::UserDataBorrowError)));
        assert!(message("a.x = 1").contains("error mutably borrowing userdata"));
    }
    assert_eq!(a.borrow_scoped(|v: &Vec2| v.x)?, 9.0);
    a.borrow_mut_scoped(|v: &mut Vec2| v.x = 8.0)?;
    assert_eq!(lua.load("a:into()").eval::<f64>()?, 8.0);
    assert!(matches!(a.borrow::<Vec2>(), Err(Error::UserDataDestructed)));
    assert!(message("return a.x").contains("userdata has been destructed"));
    assert_eq!(a.type_id(), None);
    let owned: UserDataOwned<Vec2> = lua.load("b").eval()?;
    assert_eq!(owned.x, 3.0);
    assert!(message("b:dot(b)").contains("userdata has been destructed"));
    Ok(())
}

#[test]
fn borrows_outlive_what_lua_holds() -> Result<()> {
    let lua = Lua::new();
    let dropped = Arc::new(Mutex::new(0));
    struct Noisy(Arc<Mutex<i32>>, i32);
    impl Drop for Noisy {
        fn drop(&mut self) {
            *self.0.lock().unwrap() += 1;
        }
    }
    impl UserData for Noisy {
        fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
            methods.add_method("run", |lua, this, f: Function| {
                f.call::<()>(())?;
                lua.gc_collect()?;
                lua.gc_collect()?;
                assert_eq!(*this.0.lock().unwrap(), 0);
                Ok(this.1)
            });
        }
    }
    let u = lua.create_userdata(Noisy(dropped.clone(), 7))?;
    let borrowed: UserDataRef<Noisy> = u.borrow()?;
    drop(u);
    lua.gc_collect()?;
    assert_eq!((borrowed.1, *dropped.lock().unwrap()), (7, 0));
    drop(borrowed);
    lua.gc_collect()?;
    lua.gc_collect()?;
    assert_eq!(*dropped.lock().unwrap(), 1);
    // A debugger removes the last reference while a method runs.
    let full = Lua::with_engine(lua.engine());
    full.globals().set("make", full.create_function(|_, ()| Ok(Noisy(Arc::default(), 5)))?)?;
    let text = "local f = make().run
        return f(make(), function()
            for i = 1, 9 do if debug.getlocal(2, i) then debug.setlocal(2, i, nil) end end
        end)";
    assert_eq!(full.load(text).eval::<i64>()?, 5);
    Ok(())
}

#[test]
fn user_values_and_any_types() -> Result<()> {
    let lua = Lua::new();
    let u = lua.create_any_userdata(vec![1, 2, 3])?;
    assert_eq!(u.user_value::<Value>()?, Value::Nil);
    u.set_user_value("first")?;
    u.set_nth_user_value(5, 5)?;
    u.set_named_user_value("n", true)?;
    lua.gc_collect()?;
    assert_eq!((u.user_value::<String>()?, u.nth_user_value::<i64>(5)?), ("first".into(), 5));
    assert!(u.named_user_value::<bool>("n")? && u.nth_user_value::<i64>(0).is_err());
    lua.register_userdata_type::<String>(|r| {
        r.add_method("len", |_, this, ()| Ok(this.len()));
        r.add_meta_method(MetaMethod::Index, |_, _, key: String| Ok(key + "?"));
    })?;
    let s = lua.create_any_userdata("text".to_owned())?;
    assert_eq!(s.call_method::<i64>("len", ())?, 4);
    assert_eq!(s.get::<String>("what")?, "what?");
    lua.globals().set("s", AnyUserData::wrap("wrapped".to_owned()))?;
    assert_eq!(lua.load("s:len()").eval::<i64>()?, 7);
    let mut w: UserDataRefMut<String> = lua.globals().get("s")?;
    w.push('!');
    assert!(lua.load("s:len()").exec().is_err());
    drop(w);
    assert_eq!(lua.load("s:len()").eval::<i64>()?, 8);
    let t = lua.create_table()?;
    t.set("list", vec![lua.create_any_userdata("deep".to_owned())?])?;
    assert_eq!(t.get_path::<String>("list[1].x")?, "x?");
    assert_eq!(t.get_path::<Option<i64>>("none?.x")?, None);
    assert!(t.get_path::<Value>("none.x").is_err());
    Ok(())
}

#[test]
fn index_metamethod_with_any_number_of_results() -> Result<()> {
    let lua = Lua::new();
    lua.register_userdata_type::<u8>(|r| {
        r.add_method("get", |_, this, ()| Ok(*this));
        r.add_meta_method(MetaMethod::Index, |_, _, key: String| {
            Ok(if key == "none" { Variadic::new() } else { Variadic::from(vec![1, 2, 3]) })
        });
    })?;
    let u = lua.create_any_userdata(5_u8)?;
    assert_eq!((u.get::<i64>("some")?, u.get::<Option<i64>>("none")?), (1, None));
    let f = lua.load("local u = ... return u:get(), u.some, u.none, 7").into_function()?;
    assert_eq!(f.call::<(u8, i64, Option<i64>, i64)>(u)?, (5, 1, None, 7));
    Ok(())
}

#[test]
fn drop_in_odd_orders() -> Result<()> {
    let lua = Lua::new();
    let weak = lua.weak();
    struct Keeper(#[allow(dead_code)] Option<AnyUserData>, Option<perilune::Table>);
    impl UserData for Keeper {}
    impl Drop for Keeper {
        fn drop(&mut self) {
            if let Some(t) = &self.1 {
                t.set("dropped", true).unwrap();
            }
        }
    }
    let t = lua.create_table()?;
    let inner = lua.create_userdata(Keeper(None, Some(t.clone())))?;
    let outer = lua.create_userdata(Keeper(Some(inner.clone()), None))?;
    drop(inner);
    outer.destroy()?;
    assert!(matches!(outer.destroy(), Err(Error::UserDataDestructed)));
    lua.gc_collect()?;
    lua.gc_collect()?;
    assert!(t.get::<bool>("dropped")?);
    // a userdata that owns its own state, and one whose destructor needs a state that has ended
    struct Own(#[allow(dead_code)] Lua);
    let own = lua.create_any_userdata(Own(lua.clone()))?;
    own.destroy()?;
    let late = lua.create_any_userdata(Keeper(Some(own), None))?;
    drop(late);
    drop(lua);
    assert!(weak.try_upgrade().is_none());
    Ok(())
}

#[test]
#[cfg_attr(miri, ignore = "runs machine code")]
fn computed_fields_are_the_same_in_machine_code() -> Result<()> {
    struct Meter(i64);
    impl UserData for Meter {
        fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
            fields.add_field_method_get("reading", |_, this| Ok(this.0));
            fields.add_field_method_get("nothing", |_, _| Ok(Value::Nil));
            fields.add_field_method_get("broken", |_, this| {
                if this.0 < 0 { Err(Error::runtime("no reading")) } else { Ok("fine") }
            });
        }
        fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
            methods.add_method("twice", |_, this, ()| Ok(this.0 * 2));
        }
    }
    let program = "local a, b = ...
        local function sum(m)
          local s = 0
          for i = 1, 200 do s = s + m.reading + m:twice() end
          return s, (m.nothing), m.broken
        end
        local calls = 0
        local out = {sum(a), select(2, sum(a)), select(3, sum(a))}
        out[#out + 1] = tostring(select(2, pcall(sum, b))):match 'no reading'
        debug.sethook(function() calls = calls + 1 end, 'c')
        out[#out + 1] = sum(a)
        debug.sethook()
        return table.concat(out, ' ', 1, 1), tostring(out[2]), out[3], out[4], calls";
    let run = |engine: &perilune::Engine| -> Result<(String, String, String, Option<String>, i64)> {
        let lua = Lua::with_engine(engine);
        lua.load(program).call((Meter(3), Meter(-1)))
    };
    let sync =
        perilune::JitOptions { threshold: 1, loop_threshold: 1, sync: true, ..Default::default() };
    let plain = run(&perilune::Engine::interpreter())?;
    assert_eq!((plain.0.as_str(), plain.1.as_str()), ("1800", "nil"));
    assert_eq!(run(&perilune::Engine::with_jit(sync))?, plain);
    Ok(())
}

/// The collector counts the bytes of values in userdata, so that large ones do not pile up.
#[test]
fn dropped_values_of_userdata_do_not_pile_up() -> Result<()> {
    static ALIVE: AtomicUsize = AtomicUsize::new(0);
    static MOST: AtomicUsize = AtomicUsize::new(0);
    const SIZE: usize = 1024;

    struct Large([u8; SIZE]);
    impl UserData for Large {}
    impl Drop for Large {
        fn drop(&mut self) {
            std::hint::black_box(&self.0);
            ALIVE.fetch_sub(1, Ordering::Relaxed);
        }
    }

    let lua = Lua::new();
    let make = lua.create_function(|_, byte: u8| {
        MOST.fetch_max(ALIVE.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        Ok(Large([byte; SIZE]))
    })?;
    lua.globals().set("make", make)?;
    let used = lua.used_memory();
    let n: usize = if cfg!(miri) { 100 } else { 1000 };
    let keep = "local kept = {} for i = 1, ... do kept[i] = make(1) end KEPT = kept";
    lua.load(keep).call::<()>(n)?;
    lua.gc_collect()?;
    assert_eq!(ALIVE.load(Ordering::Relaxed), n);
    let counted = lua.used_memory() - used;
    assert!((n * SIZE..n * SIZE * 13 / 10).contains(&counted), "{counted} bytes are counted");
    lua.load("KEPT = nil").exec()?;
    lua.gc_collect()?;

    MOST.store(0, Ordering::Relaxed);
    let many = if cfg!(miri) { 2_000 } else { 1_000_000 };
    lua.load("for i = 1, ... do make(2) end").call::<()>(many)?;
    let most = MOST.load(Ordering::Relaxed) * SIZE;
    assert!(most < 1 << 20, "up to {most} bytes of dead values");
    Ok(())
}

/// A type with constants of its own type.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Level(i64);

impl UserData for Level {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field("LOW", Level(1));
        fields.add_field("NAME", "level");
        fields.add_field("twice", 5);
        fields.add_field_method_get("value", |_, this| Ok(this.0));
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("twice", |_, this, ()| Ok(Level(this.0 * 2)));
    }
}

/// A type with a field that has no value.
struct Fails;

impl UserData for Fails {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field("x", u128::MAX);
        fields.add_field("y", NoValue);
    }
}

struct NoValue;

impl perilune::IntoLua for NoValue {
    fn into_lua(self, _: &Lua) -> Result<Value> {
        Err(Error::runtime("no value"))
    }
}

#[test]
fn fields_may_be_of_the_type_itself() -> Result<()> {
    let lua = Lua::new();
    lua.globals().set("level", Level(5))?;
    let text = "return level.LOW.value, level.LOW:twice().value, level.LOW.LOW.NAME, level.other";
    let (low, twice, name, other) = lua.load(text).eval::<(i64, i64, String, Value)>()?;
    assert_eq!((low, twice, name.as_str()), (1, 2, "level"));
    assert!(other.is_nil());
    for _ in 0..2 {
        assert!(lua.create_userdata(Fails).unwrap_err().to_string().contains("no value"));
    }
    Ok(())
}

#[test]
fn registries_do_not_change_states() -> Result<()> {
    struct Plain;
    let (one, other) = (Lua::new(), Lua::new());
    let mut inner = Ok(());
    let outer = one.register_userdata_type::<Plain>(|mine| {
        inner = other.register_userdata_type::<Plain>(|theirs| {
            theirs.add_method("method", |_, _, ()| Ok(1));
            std::mem::swap(mine, theirs);
        });
    });
    for e in [outer.unwrap_err(), inner.unwrap_err()] {
        assert!(e.to_string().contains("belongs to another state"), "{e}");
    }
    let u = one.create_any_userdata(Plain)?;
    drop(other);
    one.gc_collect()?;
    assert!(u.call_method::<i64>("method", ()).is_err());
    Ok(())
}
