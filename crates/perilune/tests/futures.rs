//! Async functions of the host, and calls that await them.
#![cfg(feature = "async")]

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use futures_util::StreamExt;
use perilune::{
    Error, Function, Lua, MetaMethod, ObjectLike, Result, Thread, UserData, UserDataMethods,
    UserDataRef, Value,
};

/// Polls a future to its end whenever it is woken; returns its output and the number of polls. A
/// future that never wakes its task fails the test.
fn block_on<F: Future>(future: F) -> (F::Output, usize) {
    struct Count(AtomicUsize);
    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let count = Arc::new(Count(AtomicUsize::new(0)));
    let waker = Waker::from(count.clone());
    let mut future = pin!(future);
    for polls in 1.. {
        let woken = count.0.load(Ordering::SeqCst);
        if let Poll::Ready(r) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return (r, polls);
        }
        assert!(count.0.load(Ordering::SeqCst) > woken, "nothing wakes the task");
    }
    unreachable!()
}

/// A future that is pending `n` times.
struct Turns(usize);

impl Future for Turns {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.0 == 0 {
            return Poll::Ready(());
        }
        self.0 -= 1;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

fn with_turns() -> Lua {
    let lua = Lua::new();
    let turns = lua
        .create_async_function(|_, (n, v): (usize, Value)| async move {
            Turns(n).await;
            Ok((v, n))
        })
        .unwrap();
    lua.globals().set("turns", turns).unwrap();
    lua
}

#[test]
fn calls_wait() -> Result<()> {
    let lua = with_turns();
    let turns: Function = lua.globals().get("turns")?;
    let ((v, n), polls) = {
        let (r, polls) = block_on(turns.call_async::<(String, usize)>((3, "x")));
        (r?, polls)
    };
    assert_eq!((v.as_str(), n, polls), ("x", 3, 4));
    // ready at once
    assert_eq!(block_on(turns.call_async::<()>((0, "x"))).1, 1);
    // in Lua, through functions that call back
    let code = "
        local sum = 0
        for _, n in ipairs {1, 2, 3} do
            local ok, v, m = pcall(turns, n, n * 10)
            assert(ok and v == n * 10 and m == n)
            sum = sum + v
        end
        local t = setmetatable({}, {__index = function(_, k) return (turns(2, k)) end})
        return sum + t[5], select('#', turns(1)), ...";
    let (r, polls) = block_on(lua.load(code).call_async::<(i64, i64, String)>("end"));
    assert_eq!(r?, (65, 2, "end".to_owned()));
    assert_eq!(polls, 1 + 6 + 2 + 1);
    assert_eq!(block_on(lua.load("turns(1, 2) + 1").eval_async::<i64>()).0?, 3);
    block_on(lua.load("x = turns(1, 2)").exec_async()).0?;
    assert_eq!(lua.globals().get::<i64>("x")?, 2);
    Ok(())
}

#[test]
fn many_results() -> Result<()> {
    let lua = Lua::new();
    let many = lua.create_async_function(|_, n: i64| async move {
        Turns(1).await;
        Ok((1..=n).collect::<perilune::Variadic<i64>>())
    })?;
    lua.globals().set("many", many)?;
    let (r, _) = block_on(lua.load("select('#', many(200)), #{many(3)}, (many(0))").eval_async::<(
        i64,
        i64,
        Value,
    )>());
    assert_eq!(r?, (200, 3, Value::Nil));
    Ok(())
}

#[test]
fn errors_pass() -> Result<()> {
    let lua = Lua::new();
    let fail = lua.create_async_function(|_, ()| async {
        Turns(2).await;
        Err::<(), _>(Error::runtime("too late"))
    })?;
    lua.globals().set("fail", &fail)?;
    let e = block_on(fail.call_async::<()>(())).0.unwrap_err();
    let Error::CallbackError { cause, .. } = &e else { panic!("{e:?}") };
    assert!(matches!(&**cause, Error::RuntimeError(m) if m == "too late"), "{e:?}");
    let (r, _) = block_on(
        lua.load("local ok, e = pcall(fail) return ok, tostring(e)").eval_async::<(bool, String)>(),
    );
    let (ok, message) = r?;
    assert!(!ok && message.contains("too late"), "{message}");
    // arguments that do not convert
    let int = lua.create_async_function(|_, n: i64| async move { Ok(n) })?;
    assert!(block_on(int.call_async::<i64>("x")).0.is_err());
    // outside a coroutine, and where Lua cannot yield
    let e = fail.call::<()>(()).unwrap_err();
    assert!(e.to_string().contains("outside a coroutine"), "{e}");
    let sort = lua.load("table.sort({3, 2, 1}, function() fail() end)");
    let e = block_on(sort.exec_async()).0.unwrap_err();
    assert!(e.to_string().contains("across a C-call boundary"), "{e}");
    Ok(())
}

#[test]
fn panics_pass() -> Result<()> {
    let lua = Lua::new();
    let f = lua.create_async_function(|_, ()| async {
        Turns(1).await;
        if true {
            panic!("in a future");
        }
        Ok(())
    })?;
    let r =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| block_on(f.call_async::<()>(()))));
    assert_eq!(r.unwrap_err().downcast_ref::<&str>(), Some(&"in a future"));
    lua.globals().set("f", f)?;
    let (ok, _) = block_on(lua.load("return (pcall(f))").eval_async::<bool>());
    assert!(!ok?);
    Ok(())
}

#[test]
fn debug_functions_do_not_free_a_future_that_runs() -> Result<()> {
    // SAFETY: the program uses `debug` only as PUC Lua allows.
    let lua = unsafe { Lua::unsafe_new() };
    let f = lua.create_async_function(|_, g: Function| async move {
        let kept = vec![9u8; 4000];
        Turns(1).await;
        g.call::<()>(())?;
        Ok(kept.into_iter().map(i64::from).sum::<i64>())
    })?;
    lua.globals().set("f", f)?;
    let program = "
      return f(function()
        local found = 0
        for level = 1, 2 do
          for i = 1, 5 do
            local name, v = debug.getlocal(level, i)
            if type(v) == 'userdata' then
              assert(debug.setlocal(level, i, nil) == '(C temporary)')
              found = found + 1
            end
          end
        end
        assert(found == 1)
        for _ = 1, 3 do collectgarbage() end
        local t = {}
        for i = 1, 1000 do t[i] = ('x'):rep(i) end
      end)";
    let (sum, _) = block_on(lua.load(program).eval_async::<i64>());
    assert_eq!(sum?, 36_000);
    Ok(())
}

/// A value that reports its destruction.
#[derive(Clone)]
struct Guard(Arc<AtomicUsize>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn dropping_cancels() -> Result<()> {
    let lua = Lua::new();
    let drops = Arc::new(AtomicUsize::new(0));
    let d = drops.clone();
    let wait = lua.create_async_function(move |lua, ()| {
        let guard = Guard(d.clone());
        async move {
            std::future::pending::<()>().await;
            drop((guard, lua));
            Ok(())
        }
    })?;
    lua.globals().set("wait", wait)?;
    let f = lua
        .load(
            "local v <close> = setmetatable({}, {__close = function() closed = (closed or 0) + 1 \
               end}) wait() never = true",
        )
        .into_function()?;
    for n in 1..=3 {
        let mut call = Box::pin(f.call_async::<()>(()));
        assert!(call.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        assert_eq!(drops.load(Ordering::SeqCst), n - 1);
        drop(call);
        assert_eq!(drops.load(Ordering::SeqCst), n);
        assert_eq!(lua.globals().get::<usize>("closed")?, n);
    }
    // before it began
    drop(f.call_async::<()>(()));
    assert_eq!(lua.globals().get::<usize>("closed")?, 3);
    assert!(lua.globals().get::<Value>("never")?.is_nil());
    // a coroutine whose future is dropped stays alive, and can be driven again
    let co = lua.create_thread(f)?;
    let mut first = Box::pin(co.clone().into_async::<()>(())?);
    assert!(first.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    drop(first);
    assert!(co.is_resumable());
    co.close()?;
    // dropped at the end of the state
    drop(co);
    let weak = lua.weak();
    lua.gc_collect()?;
    lua.gc_collect()?;
    drop(lua);
    assert!(weak.try_upgrade().is_none());
    assert_eq!(drops.load(Ordering::SeqCst), 4);
    Ok(())
}

#[test]
fn futures_outlive_states() -> Result<()> {
    let lua = with_turns();
    let turns: Function = lua.globals().get("turns")?;
    let call = turns.call_async::<()>((1, 1));
    drop((turns, lua));
    // the call holds handles only
    let r = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| block_on(call)));
    assert!(r.is_err());
    Ok(())
}

#[test]
fn coroutines_as_streams() -> Result<()> {
    let lua = with_turns();
    let code = "function(n) for i = 1, n do turns(i, 0) coroutine.yield(i) end return 'end' end";
    let f: Function = lua.load(code).eval()?;
    let (all, _) = block_on(async {
        let stream = lua.create_thread(f.clone())?.into_async::<Value>(3)?;
        Ok::<_, Error>(stream.map(|v| v.unwrap().to_string().unwrap()).collect::<Vec<_>>().await)
    });
    assert_eq!(all?, ["1", "2", "3", "end"]);
    // as a future: yielded values are ignored
    let co = lua.create_thread(f)?;
    let (r, _) = block_on(co.clone().into_async::<String>(2)?);
    assert_eq!(r?, "end");
    assert!(matches!(co.clone().into_async::<()>(()), Err(Error::CoroutineUnresumable)));
    // one that fails ends
    let bad = lua.create_thread(lua.load("coroutine.yield(1) error('bad')").into_function()?)?;
    let (all, _) = block_on(bad.into_async::<i64>(())?.map(|r| r.is_ok()).collect::<Vec<_>>());
    assert_eq!(all, [true, false]);
    Ok(())
}

#[test]
fn yields_with_values() -> Result<()> {
    let lua = Lua::new();
    let echo = lua.create_async_function(|lua, mut v: i64| async move {
        for _ in 0..3 {
            Turns(1).await;
            let (a, b): (i64, i64) = lua.yield_with((v, v + 1)).await?;
            v = a * b;
        }
        Ok(v)
    })?;
    let co = lua.create_thread(echo)?;
    let pending = |v: Value| v == Value::LightUserData(Lua::poll_pending());
    assert!(pending(co.resume(1)?));
    assert_eq!(co.resume::<(i64, i64)>(())?, (1, 2));
    assert!(pending(co.resume((3, 4))?));
    assert_eq!(co.resume::<(i64, i64)>(())?, (12, 13));
    assert!(pending(co.resume((1, 1))?));
    assert_eq!(co.resume::<(i64, i64)>("ignored")?, (1, 2));
    assert_eq!(co.resume::<i64>((5, 6))?, 30);
    assert!(co.is_finished());
    Ok(())
}

#[test]
fn exchanges_do_not_mix() -> Result<()> {
    let lua = Lua::new();
    let inner = lua.create_async_function(|_, ()| async {
        Turns(2).await;
        Ok(7)
    })?;
    let outer = lua.create_async_function(move |lua, ()| {
        let inner = inner.clone();
        async move {
            let (yielded, called) = futures_util::future::join(
                lua.yield_with::<i64>("out"),
                inner.call_async::<i64>(()),
            )
            .await;
            Ok((yielded?, called?))
        }
    })?;
    let co = lua.create_thread(outer)?;
    assert_eq!(co.resume::<String>(())?, "out");
    let mut back: Value = co.resume(41)?;
    while co.is_resumable() {
        back = co.resume(())?;
    }
    assert_eq!(back, Value::Integer(41));
    Ok(())
}

#[test]
fn hot_code_waits() -> Result<()> {
    let lua = with_turns();
    let code = "
        local function last(i) return turns(i % 2, i) end
        local function deep(i) local v = last(i) return v end
        local sum = 0
        for i = 1, 5000 do
            sum = sum + deep(i)
            if i % 1000 == 0 then collectgarbage() end
        end
        return sum";
    let (r, polls) = block_on(lua.load(code).call_async::<i64>(()));
    assert_eq!(r?, 5000 * 5001 / 2);
    assert_eq!(polls, 2501);
    // in metamethods and iterators that hot code calls
    let code = "
        local mt = {__index = function(_, k) return (turns(1, k)) end, __add = function(_, n) \
        return (turns(1, n)) end,
                    __call = function(_, _, k) if k < 500 then return (turns(1, k + 1)) end end}
        local t, sum = setmetatable({}, mt), 0
        for i = 1, 500 do sum = sum + t[i] + (t + i) end
        for k in t, nil, 0 do sum = sum + k end
        return sum";
    let (r, polls) = block_on(lua.load(code).call_async::<i64>(()));
    assert_eq!(r?, 3 * 500 * 501 / 2);
    assert_eq!(polls, 1501);
    Ok(())
}

struct Counter(u64);

impl UserData for Counter {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_async_method("get", |_, this, ()| async move {
            Turns(1).await;
            Ok(this.0)
        });
        methods.add_async_method_mut("add", |_, mut this, n: u64| async move {
            Turns(1).await;
            this.0 += n;
            Ok(())
        });
        methods.add_async_method_once("take", |_, this, ()| async move {
            Turns(1).await;
            Ok(this.0)
        });
        methods.add_async_function("make", |_, n: u64| async move {
            Turns(1).await;
            Ok(Counter(n))
        });
        methods.add_async_meta_method(MetaMethod::Call, |_, this, n: u64| async move {
            Turns(1).await;
            Ok(this.0 * n)
        });
        methods.add_async_meta_method_mut(
            MetaMethod::NewIndex,
            |_, mut this, (_, v): (String, u64)| async move {
                Turns(1).await;
                this.0 = v;
                Ok(())
            },
        );
        methods.add_async_meta_function(
            MetaMethod::Add,
            |_, (a, b): (UserDataRef<Counter>, u64)| async move {
                Turns(1).await;
                Ok(a.0 + b)
            },
        );
    }
}

#[test]
fn methods_wait() -> Result<()> {
    let lua = Lua::new();
    let c = lua.create_userdata(Counter(1))?;
    lua.globals().set("c", &c)?;
    let code = "c:add(2) assert(c:get() == 3) assert(c(5) == 15) c.n = 8 assert(c + 1 == 9) \
                assert(c.make(4):get() == 4)
                local ok, e = pcall(c.get, 5) assert(not ok) return tostring(e)";
    let e = block_on(lua.load(code).call_async::<String>(())).0?;
    assert!(e.contains("bad argument `self` to `Counter.get`"), "{e}");
    assert_eq!(block_on(c.call_async_method::<u64>("get", ())).0?, 8);
    assert_eq!(block_on(c.call_async::<u64>(2)).0?, 16);
    assert!(block_on(c.call_async_method::<u64>("none", ())).0.is_err());
    // the borrow lasts as long as the call
    let mut add = Box::pin(c.call_async_method::<()>("add", 1));
    assert!(add.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    assert!(c.borrow::<Counter>().is_err());
    drop(add);
    assert_eq!(c.borrow::<Counter>()?.0, 8);
    assert_eq!(block_on(c.call_async_method::<u64>("take", ())).0?, 8);
    let e = block_on(c.call_async_method::<u64>("take", ())).0;
    assert!(e.is_err());
    Ok(())
}

#[test]
fn wrapped_functions() -> Result<()> {
    let lua = Lua::new();
    async fn half(n: i64) -> std::result::Result<i64, std::num::ParseIntError> {
        Turns(1).await;
        if n % 2 == 0 { Ok(n / 2) } else { "odd".parse() }
    }
    lua.globals().set("half", Function::wrap_async(half))?;
    let code = "local v, e = raw(3) assert(v == nil and e) return half(4) + raw(6)";
    lua.globals().set(
        "raw",
        Function::wrap_raw_async(
            |n: i64| async move { if n == 3 { Err("odd") } else { Ok(n / 2) } },
        ),
    )?;
    assert_eq!(block_on(lua.load(code).call_async::<i64>(())).0?, 5);
    assert!(block_on(lua.load("half(3)").exec_async()).0.is_err());
    Ok(())
}

#[test]
fn nested_and_collected() -> Result<()> {
    let lua = with_turns();
    lua.set_gc_stress(true);
    let call = lua.create_async_function(|_, (f, v): (Function, Value)| async move {
        Turns(1).await;
        f.call_async::<Value>((2, v)).await
    })?;
    lua.globals().set("call", call)?;
    let code = "local s = '' for i = 1, 5 do s = s .. call(turns, {tostring(i)})[1] end return s";
    assert_eq!(block_on(lua.load(code).call_async::<String>(())).0?, "12345");
    Ok(())
}

#[tokio::test]
async fn on_tokio() -> Result<()> {
    let lua = Lua::new();
    let sleep = lua.create_async_function(|_, ms: u64| async move {
        tokio::time::sleep(Duration::from_millis(ms)).await;
        Ok(ms)
    })?;
    lua.globals().set("sleep", sleep)?;
    let calls = (1..=5)
        .map(|i| lua.load("local a = sleep(...) return a + sleep(1)").call_async::<u64>(i * 3));
    let all =
        futures_util::future::join_all(calls).await.into_iter().collect::<Result<Vec<_>>>()?;
    assert_eq!(all, [4, 7, 10, 13, 16]);
    let slow = lua.load("sleep(100000)").exec_async();
    assert!(tokio::time::timeout(Duration::from_millis(5), slow).await.is_err());
    let co: Thread = lua
        .load("coroutine.create(function() sleep(1) return coroutine.isyieldable() end)")
        .eval()?;
    assert!(co.into_async::<bool>(())?.await?);
    Ok(())
}

#[test]
fn values_are_yielded_from_async_functions_only() -> Result<()> {
    let lua = Lua::new();
    let e = block_on(lua.yield_with::<()>("stale")).0.unwrap_err();
    assert!(e.to_string().contains("outside an async function"), "{e}");
    let pause = lua.create_async_function(|_, ()| async {
        let mut ready = false;
        std::future::poll_fn(|_| {
            if std::mem::replace(&mut ready, true) { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        Ok(())
    })?;
    let yielded: Value = lua.load("return coroutine.wrap(...)()").call(pause)?;
    assert!(matches!(yielded, Value::LightUserData(_)), "{yielded:?}");
    Ok(())
}
