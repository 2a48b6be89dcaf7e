//! Scopes.

use std::panic::{AssertUnwindSafe, catch_unwind};

use perilune::{AnyUserData, Error, Function, Lua, ObjectLike, Result, UserData, UserDataMethods};

struct Counter(i64);

impl UserData for Counter {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("get", |_, this, ()| Ok(this.0));
        methods.add_method_mut("inc", |_, this, ()| {
            this.0 += 1;
            Ok(())
        });
    }
}

#[test]
fn functions_end_with_their_scope() -> Result<()> {
    let lua = Lua::new();
    let (mut n, text) = (0, String::from("text"));
    let kept: Function = lua.scope(|scope| {
        let f = scope.create_function_mut(|_, k: i64| {
            n += k;
            Ok(text.as_str())
        })?;
        assert_eq!(f.call::<String>(2)?, "text");
        lua.globals().set("f", &f)?;
        lua.load("for i = 1, 10 do f(i) end").exec()?;
        Ok(f)
    })?;
    assert_eq!(n, 57);
    for e in [kept.call::<()>(1).unwrap_err(), lua.load("f(1)").exec().unwrap_err()] {
        let Error::CallbackError { cause, .. } = &e else { panic!("{e}") };
        assert!(matches!(**cause, Error::CallbackDestructed), "{e}");
    }
    Ok(())
}

#[test]
fn userdata_end_with_their_scope() -> Result<()> {
    let lua = Lua::new();
    let (shared, mut counter) = (Counter(5), Counter(0));
    let (a, b) = lua.scope(|scope| {
        let a = scope.create_userdata_ref(&shared)?;
        let b = scope.create_userdata_ref_mut(&mut counter)?;
        b.call_method::<()>("inc", ())?;
        assert_eq!(a.call_method::<i64>("get", ())?, 5);
        let e = a.call_method::<()>("inc", ()).unwrap_err();
        assert!(e.to_string().contains("error mutably borrowing userdata"), "{e}");
        assert!(matches!(b.take::<Counter>(), Err(Error::UserDataTypeMismatch)));
        assert!(matches!(b.borrow::<Counter>(), Err(Error::UserDataTypeMismatch)));
        assert_eq!(b.borrow_scoped(|c: &Counter| c.0)?, 1);
        Ok((a, b))
    })?;
    assert_eq!(counter.0, 1);
    for u in [a, b] {
        let e = u.call_method::<i64>("get", ()).unwrap_err();
        assert!(e.to_string().contains("userdata has been destructed"), "{e}");
    }
    Ok(())
}

#[test]
fn values_that_borrow() -> Result<()> {
    struct View<'a>(&'a mut Vec<i64>);
    impl UserData for View<'_> {
        fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
            methods.add_method_mut("push", |_, this, v| {
                this.0.push(v);
                Ok(this.0.len())
            });
        }
    }
    let lua = Lua::new();
    let (mut list, mut other) = (vec![1], vec![]);
    let kept: AnyUserData = lua.scope(|scope| {
        let u = scope.create_userdata(View(&mut list))?;
        let v = scope.create_userdata(View(&mut other))?;
        assert_eq!(u.call_method::<i64>("push", 2)?, 2);
        // the methods of one userdata are not those of another
        let push: Function = u.get("push")?;
        assert!(push.call::<()>((&v, 1)).is_err());
        assert!(u.type_id().is_none());
        Ok(u)
    })?;
    assert_eq!((list, other.len()), (vec![1, 2], 0));
    assert!(kept.call_method::<i64>("push", 2).is_err());
    Ok(())
}

#[test]
fn panics_and_destructors() {
    let lua = Lua::new();
    let mut ended = false;
    let r = catch_unwind(AssertUnwindSafe(|| {
        lua.scope(|scope| {
            lua.globals().set("f", scope.create_function(|_, ()| Ok(()))?)?;
            scope.add_destructor(|| ended = true);
            panic!("inside");
            #[allow(unreachable_code)]
            Ok(())
        })
    }));
    assert!(r.is_err() && ended);
    assert!(lua.load("f()").exec().is_err());
    assert_eq!(lua.load("6 * 7").eval::<i64>().unwrap(), 42);
}

#[test]
fn values_without_a_size_differ() -> Result<()> {
    struct Key<'a>(std::marker::PhantomData<&'a ()>);
    impl UserData for Key<'_> {
        fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
            methods.add_method("open", |_, _, ()| Ok("open"));
        }
    }
    struct Other<'a>(std::marker::PhantomData<&'a ()>);
    impl UserData for Other<'_> {}
    let lua = Lua::new();
    lua.scope(|scope| {
        let key = scope.create_userdata(Key(Default::default()))?;
        let other = scope.create_userdata(Other(Default::default()))?;
        let open: Function = key.get("open")?;
        assert_eq!(open.call::<String>(&key)?, "open");
        let e = open.call::<String>(&other).unwrap_err();
        assert!(e.to_string().contains("userdata is not expected type"), "{e}");
        Ok(())
    })
}
