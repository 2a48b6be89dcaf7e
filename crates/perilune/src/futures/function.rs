//! Lua functions that run futures.

use std::any::Any;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use perilune_runtime::native::{Cx, NativeResult};
use perilune_runtime::thread::Thread as ThreadObject;
use perilune_runtime::value::{SlotExt, Value as Word};

use super::polling::Exchange;
use crate::callback::inside;
use crate::cell::HostCell;
use crate::function::Wrapped;
use crate::stack::{Raw, Stack};
use crate::traits::{FromLuaMulti, IntoLua, IntoLuaMulti};
use crate::types::MaybeSend;
use crate::{Error, ExternalError, Function, Lua, MultiValue, Result};

/// A future that pushes its results.
pub(crate) trait Task {
    /// Polls the future. When it is ready, pushes the results and returns their number.
    fn poll(self: Pin<&mut Self>, s: Stack<'_>, cx: &mut Context<'_>) -> Poll<Result<usize>>;
}

/// A future of results.
struct TaskOf<F>(F);

impl<F, R> Task for TaskOf<F>
where
    F: Future<Output = Result<R>>,
    R: IntoLuaMulti,
{
    fn poll(self: Pin<&mut Self>, s: Stack<'_>, cx: &mut Context<'_>) -> Poll<Result<usize>> {
        // SAFETY: the field is pinned as the whole task is, since nothing moves it out.
        let future = unsafe { self.map_unchecked_mut(|r| &mut r.0) };
        // SAFETY: results are pushed on the stack of the running function.
        future.poll(cx).map(|r| r.and_then(|r| unsafe { r.push_into_stack_multi(s) }))
    }
}

type Boxed = Pin<Box<dyn Task>>;

/// Creates the future of a call from the `n` arguments on the stack that start at `at`.
type Start = dyn Fn(Stack<'_>, usize, usize) -> Result<Boxed>;

/// The bound value of the native function.
pub(crate) struct AsyncCallee(Box<Start>);

impl AsyncCallee {
    /// Creates a callee from a function that creates futures. `start` receives the arguments of a
    /// call on the stack.
    pub(crate) fn new<F, R>(
        start: impl Fn(Stack<'_>, usize, usize) -> Result<F> + 'static,
    ) -> AsyncCallee
    where
        F: Future<Output = Result<R>> + 'static,
        R: IntoLuaMulti,
    {
        AsyncCallee::of_boxed(move |s, at, n| Ok(Box::pin(TaskOf(start(s, at, n)?))))
    }

    fn of_boxed(start: impl Fn(Stack<'_>, usize, usize) -> Result<Boxed> + 'static) -> AsyncCallee {
        AsyncCallee(Box::new(start))
    }
}

/// The future of a call: value 0 of the frame that awaits it.
struct Waiting {
    future: Option<Boxed>,
    /// Whether the future waits for the values of [`Lua::yield_with`].
    exchanging: bool,
}

/// The outcome of a step of a call.
enum Next {
    /// The call returned this number of values.
    Return(usize),
    /// The call yielded this number of values.
    Yield(usize),
}

/// The native function that runs futures.
fn run(cx: &mut Cx) -> NativeResult {
    let (step, top) = (cx.step(), cx.top());
    let next = inside(cx, |s| {
        let mut values = None;
        if step == 0 {
            // SAFETY: the function is bound to the cell, which Lua cannot change (HIDDEN), and
            // alive, as it is the callee of the running frame; the value is never taken.
            let callee = unsafe { &*crate::callback::bound::<AsyncCallee>(s.cx()) };
            let future = (callee.0)(s, 0, top)?;
            s.cut(0);
            s.poll()?;
            let waiting = Waiting { future: Some(future), exchanging: false };
            s.push(s.udata(HostCell::boxed(waiting, Some(&s.lua.control))));
        } else {
            // SAFETY: values up to the top exist.
            values = Some((1..top).map(|i| s.value(unsafe { s.get(i) })).collect::<MultiValue>());
            s.cut(1);
        }
        poll(s, values)
    })?;
    match next {
        Next::Return(n) => cx.ret(n),
        Next::Yield(n) => {
            let kept = cx.top() - n;
            let r = cx.yield_then(n, 1);
            if r.is_err() {
                // the call cannot be resumed later
                debug_assert_eq!(kept, 1);
                let v = Raw(cx.get(0).raw());
                let _ = inside(cx, |s| {
                    drop(take(s, v));
                    Ok(())
                });
            }
            r
        }
    }
}

/// Returns the call whose future is value 0. The reference must not be used after other code has
/// run, which may use the call as well.
fn waiting<'a>(s: Stack<'a>) -> Result<&'a mut Waiting> {
    // SAFETY: the frame has value 0.
    let cell = HostCell::<Waiting>::of(s, unsafe { s.get(0) }).ok_or(Error::CallbackDestructed)?;
    // SAFETY: P1: the cell is rooted in the running frame; only this function and the cancellation
    // of a suspended call use it.
    Ok(unsafe { &mut *HostCell::value(cell) })
}

/// Polls the future in value 0, after the coroutine was resumed with values. During the poll, the
/// future is taken out of the cell, so that code that it runs can neither free nor poll it.
fn poll(s: Stack<'_>, values: Option<MultiValue>) -> Result<Next> {
    let before = waiting(s)?;
    let mut future = before.future.take().ok_or(Error::CallbackDestructed)?;
    let values = values.filter(|_| before.exchanging).map(boxed);
    let polling = &s.lua.control.polling;
    // SAFETY: the waker outlives the poll in which it was set.
    let waker = polling.waker.get().map_or(Waker::noop(), |w| unsafe { w.as_ref() });
    let exchange = Exchange::new(polling, values);
    let r = future.as_mut().poll(s, &mut Context::from_waker(waker));
    let mine = exchange.end().map(unboxed);
    match r {
        Poll::Pending => {
            s.cut(1);
            *waiting(s)? = Waiting { future: Some(future), exchanging: mine.is_some() };
            match mine {
                Some(values) => {
                    s.reserve(values.len())?;
                    for v in &values {
                        s.push(s.raw(v)?);
                    }
                    Ok(Next::Yield(values.len()))
                }
                None => {
                    s.push(Raw(Word::light(Lua::poll_pending().bits())));
                    Ok(Next::Yield(1))
                }
            }
        }
        Poll::Ready(r) => {
            drop(future);
            r.map(Next::Return)
        }
    }
}

/// Boxes values that are exchanged with an async function.
fn boxed(values: MultiValue) -> Box<dyn Any> {
    Box::new(values)
}

/// Unboxes values that are exchanged with an async function.
fn unboxed(values: Box<dyn Any>) -> MultiValue {
    *values.downcast().expect("only values are exchanged")
}

/// Takes the future out of a call.
fn take(s: Stack<'_>, v: Raw) -> Option<Boxed> {
    let cell = HostCell::<Waiting>::of(s, v)?;
    // SAFETY: P1: the call is suspended or gone, so nothing else uses the cell.
    unsafe { (*HostCell::value(cell)).future.take() }
}

/// Drops the future that a suspended coroutine awaits, if there is one.
pub(super) fn cancel(s: Stack<'_>, th: *mut ThreadObject) {
    // SAFETY: P1: the coroutine is rooted by a handle and does not run, so its frame on top is
    // between base and top.
    let first = unsafe { ((*th).base < (*th).top).then(|| Raw((*th).base.get())) };
    drop(first.and_then(|v| take(s, v)));
}

impl Stack<'_> {
    /// Creates a function that runs futures.
    pub(crate) fn async_function(self, callee: AsyncCallee) -> Result<Function> {
        self.poll()?;
        let cell = self.udata(HostCell::boxed(callee, Some(&self.lua.control)));
        let cx = self.cx();
        // SAFETY: the value was just created.
        let cell = unsafe { perilune_runtime::native::Val::of(cx, cell.0) };
        let f = cx.func(run, &[cell]);
        f.hide_bound();
        let f = f.val().raw();
        Ok(Function(self.handle(Raw(f))))
    }
}

/// A Rust closure or function whose parameters are the Lua arguments and that returns a future.
pub trait LuaNativeAsyncFn<A: FromLuaMulti> {
    /// The output of the future.
    type Output;
    /// Calls the function.
    fn call(&self, args: A) -> impl Future<Output = Self::Output> + MaybeSend + 'static;
}

macro_rules! native_functions {
    ($(($($name:ident)*))*) => {$(
        impl<FN, $($name,)* F, R> LuaNativeAsyncFn<($($name,)*)> for FN
        where
            FN: Fn($($name,)*) -> F,
            F: Future<Output = R> + MaybeSend + 'static,
            ($($name,)*): FromLuaMulti,
        {
            type Output = R;
            #[allow(non_snake_case)]
            fn call(&self, args: ($($name,)*)) -> impl Future<Output = R> + MaybeSend + 'static {
                let ($($name,)*) = args;
                self($($name,)*)
            }
        }
    )*};
}

native_functions! {
    () (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E G) (A B C D E G H) (A B C D E G H I)
    (A B C D E G H I J) (A B C D E G H I J K) (A B C D E G H I J K L) (A B C D E G H I J K L M)
    (A B C D E G H I J K L M N) (A B C D E G H I J K L M N O) (A B C D E G H I J K L M N O P)
    (A B C D E G H I J K L M N O P Q)
}

impl Function {
    /// Like [`Function::wrap`], for async functions.
    pub fn wrap_async<F, A, R, E>(func: F) -> impl IntoLua
    where
        F: LuaNativeAsyncFn<A, Output = std::result::Result<R, E>> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti,
        E: ExternalError,
    {
        Wrapped(move |lua: &Lua| {
            lua.enter().stack().async_function(AsyncCallee::of_boxed(move |s, at, n| {
                // SAFETY: these values are the arguments of the call.
                let args = unsafe { A::from_stack_args(at, n, 1, None, s)? };
                let future = func.call(args);
                let future = async move { future.await.map_err(ExternalError::into_lua_err) };
                Ok(Box::pin(TaskOf(future)) as Boxed)
            }))
        })
    }

    /// Like [`Function::wrap_async`], for futures that do not fail. A `Result` that they return
    /// becomes two results in Lua.
    pub fn wrap_raw_async<F, A>(func: F) -> impl IntoLua
    where
        F: LuaNativeAsyncFn<A> + MaybeSend + 'static,
        F::Output: IntoLuaMulti,
        A: FromLuaMulti,
    {
        Wrapped(move |lua: &Lua| {
            lua.enter().stack().async_function(AsyncCallee::of_boxed(move |s, at, n| {
                // SAFETY: these values are the arguments of the call.
                let args = unsafe { A::from_stack_args(at, n, 1, None, s)? };
                let future = func.call(args);
                Ok(Box::pin(TaskOf(async move { Ok(future.await) })) as Boxed)
            }))
        })
    }
}

impl Lua {
    /// Creates a Lua function that runs the future of `func` and returns its results. While the
    /// future is pending, the calling coroutine is suspended, so the function must be called from a
    /// coroutine that an executor drives, through [`Function::call_async`] or a similar function.
    ///
    /// The future may hold the state, which is its first argument. If the coroutine is then neither
    /// driven to completion nor dropped through [`Function::call_async`], it keeps the state alive.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> perilune::Result<()> {
    /// let lua = perilune::Lua::new();
    /// let sleep = lua.create_async_function(|_, ms: u64| async move {
    ///     tokio::time::sleep(std::time::Duration::from_millis(ms)).await;
    ///     Ok(ms)
    /// })?;
    /// lua.globals().set("sleep", sleep)?;
    /// assert_eq!(lua.load("return sleep(1) + sleep(2)").eval_async::<u64>().await?, 3);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns [`Error::MemoryError`](crate::Error::MemoryError) when the memory limit is reached.
    pub fn create_async_function<F, A, FR, R>(&self, func: F) -> Result<Function>
    where
        F: Fn(Lua, A) -> FR + MaybeSend + 'static,
        A: FromLuaMulti,
        FR: Future<Output = Result<R>> + MaybeSend + 'static,
        R: IntoLuaMulti,
    {
        self.enter().stack().async_function(AsyncCallee::new(move |s, at, n| {
            // SAFETY: these values are the arguments of the call.
            let args = unsafe { A::from_stack_args(at, n, 1, None, s)? };
            Ok(func(s.lua.clone(), args))
        }))
    }

    /// Yields values from the coroutine that runs the enclosing async function, like
    /// `coroutine.yield`, and returns the values with which the coroutine is resumed.
    ///
    /// ```
    /// use perilune::{Lua, Result};
    ///
    /// async fn count(lua: Lua, up_to: i64) -> Result<()> {
    ///     for i in 1..=up_to {
    ///         lua.yield_with::<()>(i).await?;
    ///     }
    ///     Ok(())
    /// }
    ///
    /// # fn main() -> Result<()> {
    /// let lua = Lua::new();
    /// lua.globals().set("count", lua.create_async_function(count)?)?;
    /// let text = "local n = 0
    ///     for i in coroutine.wrap(function() count(10) end) do n = n + i end
    ///     return n";
    /// assert_eq!(lua.load(text).eval::<i64>()?, 55);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns the error of a conversion, or an error outside an async function.
    pub async fn yield_with<R: FromLuaMulti>(&self, args: impl IntoLuaMulti) -> Result<R> {
        let mut args = Some(args.into_lua_multi(self)?);
        let values = std::future::poll_fn(move |_| {
            let _entry = self.enter();
            let polling = &self.control.polling;
            if !polling.is_exchanging.get() {
                let message = "attempt to yield from outside an async function";
                return Poll::Ready(Err(Error::runtime(message)));
            }
            match args.take() {
                Some(values) => {
                    polling.exchange.replace(Some(boxed(values)));
                    Poll::Pending
                }
                None => Poll::Ready(Ok(polling.exchange.take().map(unboxed).unwrap_or_default())),
            }
        });
        R::from_lua_multi(values.await?, self)
    }
}
