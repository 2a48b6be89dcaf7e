//! Thread safety: states and handles are `Send` with the feature `send` and not without it.

use perilune::{
    AnyUserData, BorrowedBytes, BorrowedStr, Chunk, Function, Lua, LuaString, MultiValue,
    RegistryKey, Table, Thread, Value, WeakLua,
};

#[cfg(not(feature = "send"))]
mod without {
    use super::*;

    /// A trait with one implementation for types that are not `Send` and two for others, so that a
    /// call is ambiguous for the latter.
    trait NotSend<A> {
        fn holds() {}
    }
    struct Sendable;
    impl<T: ?Sized> NotSend<()> for T {}
    impl<T: ?Sized + Send> NotSend<Sendable> for T {}

    /// Like [`NotSend`], for `Sync`.
    trait NotSync<A> {
        fn holds() {}
    }
    impl<T: ?Sized> NotSync<()> for T {}
    impl<T: ?Sized + Sync> NotSync<Sendable> for T {}

    macro_rules! neither {
        ($($t:ty),*) => {$(
            <$t as NotSend<_>>::holds();
            <$t as NotSync<_>>::holds();
        )*};
    }

    // The compilation is the test: it fails if one of the types is `Send` or `Sync`.
    #[test]
    fn states_stay_on_their_threads() {
        neither!(
            Lua,
            WeakLua,
            Table,
            Function,
            Thread,
            LuaString,
            AnyUserData,
            Value,
            MultiValue,
            Chunk<'static>,
            BorrowedBytes,
            BorrowedStr
        );
        #[cfg(feature = "async")]
        neither!(perilune::AsyncThread<()>);
        fn send<T: Send>() {}
        send::<RegistryKey>();
    }
}

#[cfg(feature = "send")]
mod with {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Barrier, mpsc};
    use std::thread;
    use std::time::Duration;

    use super::*;
    use perilune::{
        Error, ObjectLike, Result, UserData, UserDataFields, UserDataMethods, UserDataRef,
        UserDataRefMut,
    };

    #[test]
    fn states_may_go_anywhere() {
        fn both<T: Send + Sync>() {}
        both::<Lua>();
        both::<WeakLua>();
        both::<Table>();
        both::<Function>();
        both::<Thread>();
        both::<LuaString>();
        both::<AnyUserData>();
        both::<Value>();
        both::<MultiValue>();
        both::<RegistryKey>();
        both::<BorrowedBytes>();
        both::<BorrowedStr>();
        both::<Error>();
        both::<UserDataRef<String>>();
        both::<UserDataRefMut<String>>();
        fn send<T: Send>() {}
        send::<Chunk<'static>>();
        #[cfg(feature = "async")]
        both::<perilune::AsyncThread<()>>();
        #[cfg(feature = "async")]
        both::<perilune::AsyncCallFuture<()>>();
    }

    const THREADS: usize = 4;

    /// Runs `f` on several threads at once.
    fn together(f: impl Fn(usize) + Sync) {
        let start = Barrier::new(THREADS);
        thread::scope(|s| {
            for i in 0..THREADS {
                let (f, start) = (&f, &start);
                s.spawn(move || {
                    start.wait();
                    f(i);
                });
            }
        });
    }

    #[test]
    fn operations_exclude_each_other() -> Result<()> {
        let lua = Lua::new();
        let t = lua.create_table()?;
        lua.globals().set("t", &t)?;
        let step: Function = lua
            .load("function() local n = t.n or 0 for _ = 1, 50 do end t.n = n + 1 end")
            .eval()?;
        together(|i| {
            for k in 0..500 {
                step.call::<()>(()).unwrap();
                let s = lua
                    .create_string(format!(
                        "{i}/{k}, which is longer than a string that is interned"
                    ))
                    .unwrap();
                t.set(format!("k{i}"), &s).unwrap();
                assert_eq!(t.get::<LuaString>(format!("k{i}")).unwrap(), s);
                let copy = s.clone();
                drop(s);
                assert!(copy.to_str().unwrap().starts_with(&format!("{i}/{k},")));
                let part = lua.create_sequence_from(0..10).unwrap();
                assert_eq!((part.raw_len(), part.pairs::<i64, i64>().count()), (10, 10));
                if k % 100 == 0 {
                    lua.gc_collect().unwrap();
                }
            }
        });
        assert_eq!(t.get::<usize>("n")?, THREADS * 500);
        Ok(())
    }

    #[test]
    fn handles_are_dropped_anywhere() -> Result<()> {
        let lua = Lua::new();
        let (send, receive) = mpsc::channel::<Value>();
        let dropper = thread::spawn(move || receive.into_iter().count());
        for i in 0..5000 {
            send.send(Value::Table(lua.create_table()?)).unwrap();
            if i % 500 == 0 {
                lua.gc_collect()?;
            }
        }
        drop(send);
        assert_eq!(dropper.join().unwrap(), 5000);
        Ok(())
    }

    /// A type that counts its dropped values.
    struct Dropped(Arc<AtomicUsize>);
    impl UserData for Dropped {}
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn the_last_owner_ends_the_state() {
        let drops = Arc::new(AtomicUsize::new(0));
        for _ in 0..200 {
            let lua = Lua::new_with(perilune::StdLib::NONE, perilune::LuaOptions::new()).unwrap();
            lua.globals().set("d", Dropped(drops.clone())).unwrap();
            let table = lua.globals();
            let weak = lua.weak();
            let owners: Vec<Lua> = (0..THREADS).map(|_| lua.clone()).collect();
            drop(lua);
            let start = Barrier::new(THREADS);
            thread::scope(|s| {
                for lua in owners {
                    let (start, weak, table) = (&start, &weak, table.clone());
                    s.spawn(move || {
                        start.wait();
                        drop(lua);
                        if let Some(again) = weak.try_upgrade() {
                            again.globals().set("x", 1).unwrap();
                        }
                        drop(table);
                    });
                }
            });
            assert!(weak.try_upgrade().is_none());
        }
        assert_eq!(drops.load(Ordering::SeqCst), 200);
    }

    struct Shared {
        text: String,
    }

    impl UserData for Shared {
        fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
            fields.add_field_method_get("text", |_, this| Ok(this.text.clone()));
        }
        fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
            methods.add_method("len", |_, this, ()| Ok(this.text.len()));
            methods.add_method_mut("push", |_, this, s: String| {
                this.text.push_str(&s);
                Ok(())
            });
        }
    }

    #[test]
    fn borrows_are_seen_by_all() -> Result<()> {
        let lua = Lua::new();
        let u = lua.create_userdata(Shared { text: "ab".to_owned() })?;
        let reading = u.borrow::<Shared>()?;
        thread::scope(|s| {
            s.spawn(|| {
                assert_eq!(u.borrow::<Shared>().unwrap().text, "ab");
                assert!(matches!(
                    u.borrow_mut::<Shared>().map(drop),
                    Err(Error::UserDataBorrowMutError)
                ));
                assert_eq!(u.call_method::<usize>("len", ()).unwrap(), 2);
                assert!(u.call_method::<()>("push", "c").is_err());
                assert_eq!(reading.text, "ab");
            });
        });
        thread::scope(|s| {
            s.spawn(move || drop(reading));
        });
        let mut writing = u.borrow_mut::<Shared>()?;
        thread::scope(|s| {
            let u = &u;
            s.spawn(move || {
                writing.text.push('d');
                assert!(u.call_method::<usize>("len", ()).is_err());
                drop(writing);
                assert_eq!(u.call_method::<usize>("len", ()).unwrap(), 3);
            });
        });
        together(|_| {
            for _ in 0..200 {
                u.call_method::<()>("push", "x").unwrap();
            }
        });
        assert_eq!(u.borrow::<Shared>()?.text.len(), 3 + THREADS * 200);
        Ok(())
    }

    #[test]
    fn callbacks_use_the_state_that_calls_them() -> Result<()> {
        let lua = Lua::new();
        lua.set_app_data(0usize);
        let f = lua.create_function(|lua, n: usize| {
            *lua.app_data_mut::<usize>().unwrap() += 1;
            if n > 0 { lua.globals().get::<Function>("f")?.call::<usize>(n - 1) } else { Ok(n) }
        })?;
        lua.globals().set("f", &f)?;
        together(|_| {
            for _ in 0..100 {
                f.call::<usize>(9).unwrap();
            }
        });
        assert_eq!(*lua.app_data_ref::<usize>().unwrap(), THREADS * 100 * 10);
        Ok(())
    }

    #[test]
    fn app_data_keeps_others_out() {
        let lua = Lua::new();
        lua.set_app_data(1i32);
        let mut data = lua.app_data_mut::<i32>().unwrap();
        let (send, receive) = mpsc::channel();
        thread::scope(|s| {
            s.spawn(|| send.send(*lua.app_data_ref::<i32>().unwrap()).unwrap());
            // the other thread waits for the borrow to end
            assert!(receive.recv_timeout(Duration::from_millis(20)).is_err());
            *data = 2;
            drop(data);
            assert_eq!(receive.recv().unwrap(), 2);
        });
    }

    #[test]
    fn machine_code_changes_threads() -> Result<()> {
        let lua = Lua::new();
        let f: Function = lua
            .load("function(n) local s = 0 for i = 1, n do s = s + i % 7 end return s end")
            .eval()?;
        let expected: i64 = (1..=20_000).map(|i| i % 7).sum();
        let co: Thread = lua
            .load("coroutine.create(function() for i = 1, 1e9 do coroutine.yield(i) end end)")
            .eval()?;
        let seen = AtomicUsize::new(0);
        together(|_| {
            for _ in 0..50 {
                assert_eq!(f.call::<i64>(20_000).unwrap(), expected);
                seen.fetch_max(co.resume::<usize>(()).unwrap(), Ordering::SeqCst);
            }
        });
        assert_eq!(seen.into_inner(), THREADS * 50);
        // deep recursion is measured against the stack of the thread that recurses
        let deep: Function = lua
            .load("function() local function r(n) return 1 + r(n + 1) end return (pcall(r, 1)) end")
            .eval()?;
        let sort: Function = lua
            .load(
                "local function s(n) table.sort({2, 1}, function(a, b) if n > 0 then s(n - 1) \
                   end return a < b end) end return function() return pcall(s, 500) end",
            )
            .eval()?;
        for kb in [256, 8192] {
            let (deep, sort) = (deep.clone(), sort.clone());
            let small = thread::Builder::new().stack_size(kb << 10);
            let run = move || {
                assert!(!deep.call::<bool>(()).unwrap());
                assert!(!sort.call::<bool>(()).unwrap());
            };
            small.spawn(run).unwrap().join().unwrap();
        }
        Ok(())
    }

    #[test]
    fn scopes_keep_others_out() -> Result<()> {
        let lua = Lua::new();
        let mut n = 0;
        let (send, receive) = mpsc::channel::<()>();
        thread::scope(|threads| {
            lua.scope(|scope| {
                lua.globals().set(
                    "f",
                    scope.create_function_mut(|_, ()| {
                        n += 1;
                        Ok(())
                    })?,
                )?;
                let lua = lua.clone();
                threads.spawn(move || {
                    // waits for the end of the scope
                    assert!(lua.load("f()").exec().is_err());
                    send.send(()).unwrap();
                });
                lua_calls(&receive);
                Ok(())
            })
        })?;
        assert_eq!(n, 0);
        Ok(())
    }

    fn lua_calls(other: &mpsc::Receiver<()>) {
        assert!(other.recv_timeout(Duration::from_millis(20)).is_err());
    }

    #[cfg(feature = "async")]
    #[tokio::test(flavor = "multi_thread", worker_threads = 3)]
    async fn futures_change_threads() -> Result<()> {
        let lua = Lua::new();
        let sleep = lua.create_async_function(|lua, n: u64| async move {
            tokio::time::sleep(Duration::from_millis(n % 3)).await;
            tokio::task::yield_now().await;
            lua.globals().set("last", n)?;
            Ok(n)
        })?;
        lua.globals().set("sleep", sleep)?;
        let f: Function = lua.load("function(n) return sleep(n) + sleep(1) end").eval()?;
        let tasks: Vec<_> = (0..50u64).map(|i| tokio::spawn(f.call_async::<u64>(i))).collect();
        for (i, task) in tasks.into_iter().enumerate() {
            assert_eq!(task.await.unwrap()?, i as u64 + 1);
        }
        let chunk = lua.load("sleep(2)").set_name("chunk");
        assert_eq!(tokio::spawn(chunk.eval_async::<u64>()).await.unwrap()?, 2);
        Ok(())
    }
}
