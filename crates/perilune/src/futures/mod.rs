//! Async functions of the host, and calls as futures (feature `async`).
//!
//! An async function runs in a coroutine. While its future is pending it yields a marker, and each
//! resumption of the coroutine polls the future again. [`AsyncThread`] does that for an executor;
//! Lua code sees the marker as a yielded value.

mod call;
mod function;
mod thread;

pub use call::AsyncCallFuture;
pub(crate) use function::AsyncCallee;
pub use function::LuaNativeAsyncFn;
pub use thread::AsyncThread;

use std::cell::{Cell, RefCell};
use std::ptr::NonNull;
use std::task::Waker;

use crate::{LightUserData, Lua, MultiValue};

/// The context of a state in which futures are polled.
#[derive(Default)]
pub(crate) struct Polling {
    /// The waker of the polling task, which outlives the poll.
    waker: Cell<Option<NonNull<Waker>>>,
    /// The values that [`Lua::yield_with`] sends or receives.
    exchange: RefCell<Option<MultiValue>>,
}

/// Installs a waker for the duration of a poll.
struct Waking<'a> {
    polling: &'a Polling,
    before: Option<NonNull<Waker>>,
}

impl<'a> Waking<'a> {
    fn new(polling: &'a Polling, waker: &'a Waker) -> Waking<'a> {
        Waking { polling, before: polling.waker.replace(Some(NonNull::from(waker))) }
    }
}

impl Drop for Waking<'_> {
    fn drop(&mut self) {
        self.polling.waker.set(self.before);
    }
}

impl Lua {
    /// The marker that a coroutine yields while its future is pending.
    #[doc(hidden)]
    pub fn poll_pending() -> LightUserData {
        static MARKER: u8 = 0;
        LightUserData((&raw const MARKER).cast_mut().cast())
    }
}
