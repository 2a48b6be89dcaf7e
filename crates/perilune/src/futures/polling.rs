//! The context in which futures are polled.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ptr::NonNull;
use std::task::Waker;

/// The context of a state in which futures are polled.
#[derive(Default)]
pub(crate) struct Polling {
    /// The waker of the polling task, which outlives the poll.
    pub(super) waker: Cell<Option<NonNull<Waker>>>,
    /// The `MultiValue` that [`Lua::yield_with`](crate::Lua::yield_with) sends or receives. Its
    /// type is erased because a control block contains this field, and values contain handles,
    /// which depend on control blocks.
    pub(super) exchange: RefCell<Option<Box<dyn Any>>>,
    /// Whether an async function is being polled, which receives what is exchanged.
    pub(super) is_exchanging: Cell<bool>,
}

/// The exchange of values with one async function, for the duration of its poll. It hides that of
/// an outer one, which it restores even after a panic.
pub(super) struct Exchange<'a> {
    polling: &'a Polling,
    before: Option<Box<dyn Any>>,
    was_exchanging: bool,
}

impl<'a> Exchange<'a> {
    /// Begins the exchange with the values that the function receives.
    pub(super) fn new(polling: &'a Polling, values: Option<Box<dyn Any>>) -> Exchange<'a> {
        let before = polling.exchange.replace(values);
        Exchange { polling, before, was_exchanging: polling.is_exchanging.replace(true) }
    }

    /// Ends the exchange, and returns the values that the function sends.
    pub(super) fn end(self) -> Option<Box<dyn Any>> {
        self.polling.exchange.take()
    }
}

impl Drop for Exchange<'_> {
    fn drop(&mut self) {
        self.polling.is_exchanging.set(self.was_exchanging);
        let unused = self.polling.exchange.replace(self.before.take());
        drop(unused);
    }
}

/// Installs a waker for the duration of a poll.
pub(super) struct Waking<'a> {
    polling: &'a Polling,
    before: Option<NonNull<Waker>>,
}

impl<'a> Waking<'a> {
    pub(super) fn new(polling: &'a Polling, waker: &'a Waker) -> Waking<'a> {
        Waking { polling, before: polling.waker.replace(Some(NonNull::from(waker))) }
    }
}

impl Drop for Waking<'_> {
    fn drop(&mut self) {
        self.polling.waker.set(self.before);
    }
}
