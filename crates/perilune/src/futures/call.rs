//! Calls as futures.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::AsyncThread;
use crate::traits::{FromLuaMulti, IntoLuaMulti};
use crate::{Chunk, Error, Function, Result};

/// A call as a future ([`Function::call_async`]). Dropping it cancels the call: the future that it
/// awaits is dropped, and to-be-closed variables are closed.
#[must_use = "futures do nothing unless you `.await` or poll them"]
#[derive(Debug)]
pub struct AsyncCallFuture<R>(Result<AsyncThread<R>>);

impl<R> AsyncCallFuture<R> {
    pub(crate) fn error(e: Error) -> AsyncCallFuture<R> {
        AsyncCallFuture(Err(e))
    }
}

impl<R: FromLuaMulti> Future for AsyncCallFuture<R> {
    type Output = Result<R>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<R>> {
        match &mut self.get_mut().0 {
            Ok(thread) => Pin::new(thread).poll(cx),
            Err(e) => Poll::Ready(Err(e.clone())),
        }
    }
}

impl Function {
    /// Calls the function in a new coroutine, as a future for any executor. Values that the
    /// coroutine yields, other than by async functions, are ignored.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> perilune::Result<()> {
    /// let lua = perilune::Lua::new();
    /// let double = lua.create_async_function(|_, n: i64| async move {
    ///     tokio::task::yield_now().await;
    ///     Ok(n * 2)
    /// })?;
    /// assert_eq!(double.call_async::<i64>(21).await?, 42);
    /// # Ok(())
    /// # }
    /// ```
    pub fn call_async<R: FromLuaMulti>(&self, args: impl IntoLuaMulti) -> AsyncCallFuture<R> {
        let entry = self.0.enter();
        let thread = entry.lua.create_thread(self.clone());
        AsyncCallFuture(thread.and_then(|th| th.into_async(args)).map(|mut th| {
            th.owned = true;
            th
        }))
    }
}

impl Chunk<'_> {
    /// Like [`Chunk::exec`], as a future.
    ///
    /// # Errors
    /// See [`Chunk::exec`].
    pub async fn exec_async(self) -> Result<()> {
        self.call_async(()).await
    }

    /// Like [`Chunk::eval`], as a future.
    ///
    /// # Errors
    /// See [`Chunk::eval`].
    pub async fn eval_async<R: FromLuaMulti>(self) -> Result<R> {
        let f = self.into_evaluated()?;
        f.call_async(()).await
    }

    /// Like [`Chunk::call`], as a future.
    ///
    /// # Errors
    /// See [`Chunk::call`].
    pub async fn call_async<R: FromLuaMulti>(self, args: impl IntoLuaMulti) -> Result<R> {
        let f = self.into_function()?;
        f.call_async(args).await
    }
}
