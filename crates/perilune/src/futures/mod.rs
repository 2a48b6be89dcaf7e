//! Functions of the host that wait, and calls that wait for them (feature `async`).
//!
//! A function made of a future runs in a coroutine: as long as the future is pending it yields a marker, and whoever resumes the coroutine polls the
//! future again. [`AsyncThread`] does that for an executor; to everyone else the marker is a value that was yielded.

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

/// What a state knows while futures are polled.
#[derive(Default)]
pub(crate) struct Polling {
    /// The waker of the task that polls, which outlives the poll.
    waker: Cell<Option<NonNull<Waker>>>,
    /// What [`Lua::yield_with`] hands out or gets back.
    exchange: RefCell<Option<MultiValue>>,
}

/// A waker for the time of a poll.
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
    /// What a coroutine yields while its future is pending.
    #[doc(hidden)]
    pub fn poll_pending() -> LightUserData {
        static MARKER: u8 = 0;
        LightUserData((&raw const MARKER).cast_mut().cast())
    }
}
