//! Coroutines as futures and streams.

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use perilune_runtime::value::Tag;

use super::function;
use super::polling::Waking;
use crate::traits::{FromLuaMulti, IntoLuaMulti};
use crate::{Error, Lua, MultiValue, Result, Thread, ThreadStatus};

/// A coroutine that an executor drives ([`Thread::into_async`]). As a future it resolves to the
/// results of the coroutine; as a stream it produces the values that it yields and returns.
///
/// ```
/// use futures_util::TryStreamExt;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> perilune::Result<()> {
/// let lua = perilune::Lua::new();
/// let f = lua.load("function(n) for i = 1, n do coroutine.yield(i) end return 10 end").eval()?;
/// let mut numbers = lua.create_thread(f)?.into_async::<i64>(3)?;
/// let mut all = Vec::new();
/// while let Some(n) = numbers.try_next().await? {
///     all.push(n);
/// }
/// assert_eq!(all, [1, 2, 3, 10]);
/// # Ok(())
/// # }
/// ```
#[must_use = "futures do nothing unless you `.await` or poll them"]
#[derive(Debug)]
pub struct AsyncThread<R> {
    thread: Thread,
    /// The values of the first resumption.
    args: Option<MultiValue>,
    /// Whether the coroutine ends when this is dropped.
    pub(super) owned: bool,
    result: PhantomData<fn() -> R>,
}

impl Thread {
    /// Creates a future and stream from the coroutine, which starts or resumes with `args`.
    ///
    /// # Errors
    /// Returns [`Error::CoroutineUnresumable`] if the coroutine cannot be resumed, or the error of
    /// the conversion.
    pub fn into_async<R: FromLuaMulti>(self, args: impl IntoLuaMulti) -> Result<AsyncThread<R>> {
        let entry = self.0.enter();
        if self.status() != ThreadStatus::Resumable {
            return Err(Error::CoroutineUnresumable);
        }
        let args = Some(args.into_lua_multi(entry.lua)?);
        drop(entry);
        Ok(AsyncThread { thread: self, args, owned: false, result: PhantomData })
    }
}

/// The outcome of a resumption.
enum Step<R> {
    /// The coroutine awaits a future.
    Pending,
    /// The coroutine yielded.
    Yielded(R),
    /// The coroutine returned.
    Returned(R),
}

impl<R> AsyncThread<R> {
    /// Resumes the coroutine. `yielded` converts the values that it yields.
    fn step<T>(
        &mut self,
        cx: &Context<'_>,
        returned: impl FnOnce(OnStack<'_>) -> Result<T>,
        yielded: impl FnOnce(OnStack<'_>) -> Result<T>,
    ) -> Result<Step<T>> {
        let entry = self.thread.0.enter();
        let _waking = Waking::new(&entry.lua.control.polling, cx.waker());
        self.thread.about_to_resume()?;
        let args = self.args.take().unwrap_or_default();
        self.thread.resume_with(args, |s, at, n| {
            let results = OnStack { s, at, n };
            if self.thread.status() != ThreadStatus::Resumable {
                return returned(results).map(Step::Returned);
            }
            // SAFETY: the value exists.
            let first = (n == 1).then(|| unsafe { s.get(at) }.0);
            let pending = Lua::poll_pending().bits();
            if first.is_some_and(|v| v.tag() == Tag::LIGHT && v.bits() == pending) {
                return Ok(Step::Pending);
            }
            yielded(results).map(Step::Yielded)
        })
    }
}

/// Values on the stack.
struct OnStack<'a> {
    s: crate::stack::Stack<'a>,
    at: usize,
    n: usize,
}

impl OnStack<'_> {
    fn convert<R: FromLuaMulti>(self) -> Result<R> {
        // SAFETY: the values exist.
        unsafe { R::from_stack_multi(self.at, self.n, self.s) }
    }
}

impl<R: FromLuaMulti> Future for AsyncThread<R> {
    type Output = Result<R>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<R>> {
        if self.thread.status() != ThreadStatus::Resumable {
            return Poll::Ready(Err(Error::CoroutineUnresumable));
        }
        match self.step(cx, |r| r.convert().map(Some), |_| Ok(None)) {
            Ok(Step::Returned(Some(r))) => Poll::Ready(Ok(r)),
            Ok(Step::Pending) => Poll::Pending,
            // other yielded values are ignored
            Ok(Step::Yielded(_) | Step::Returned(None)) => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Err(e) => Poll::Ready(Err(e)),
        }
    }
}

impl<R: FromLuaMulti> Stream for AsyncThread<R> {
    type Item = Result<R>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<R>>> {
        if self.thread.status() != ThreadStatus::Resumable {
            return Poll::Ready(None);
        }
        match self.step(cx, |r| r.convert(), |r| r.convert()) {
            Ok(Step::Pending) => Poll::Pending,
            Ok(Step::Yielded(r) | Step::Returned(r)) => Poll::Ready(Some(Ok(r))),
            Err(e) => Poll::Ready(Some(Err(e))),
        }
    }
}

impl<R> Drop for AsyncThread<R> {
    fn drop(&mut self) {
        let _guard = self.thread.0.hold();
        if !self.owned || !self.thread.0.control.is_free() {
            return;
        }
        let entry = self.thread.0.enter();
        if self.thread.status() == ThreadStatus::Resumable {
            function::cancel(entry.stack(), self.thread.0.word().as_thread());
        }
        // A panic of a to-be-closed variable would abort the process here.
        if !std::thread::panicking() {
            let _ = self.thread.close();
        }
    }
}
