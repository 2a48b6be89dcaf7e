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
