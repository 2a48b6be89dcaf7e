//! Events of coroutines that the host creates and resumes.

use std::cell::Cell;

use crate::control::Handle;
use crate::sync::XRc;
use crate::triggers::{ThreadEventKind, ThreadTriggers};
use crate::types::MaybeSend;
use crate::{Error, Lua, Result, Thread};

/// An event of a coroutine.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ThreadEvent {
    /// The coroutine was created.
    Create(Thread),
    /// The coroutine is about to be resumed.
    Resume(Thread),
    /// The coroutine has yielded.
    Yield(Thread),
}

impl Thread {
    /// Reports an event if it is one of the triggers, and no other event is being reported.
    ///
    /// # Errors
    /// Returns the error of the callback.
    #[inline]
    pub(crate) fn tell(
        &self,
        which: impl FnOnce(ThreadTriggers) -> bool,
        event: ThreadEventKind,
    ) -> Result<()> {
        if which(self.0.control.thread_events.triggers.get()) { self.told(event) } else { Ok(()) }
    }

    #[cold]
    fn told(&self, event: ThreadEventKind) -> Result<()> {
        /// Ends the report when it is dropped, even during a panic.
        struct Told<'a>(&'a Cell<Option<u64>>);
        impl Drop for Told<'_> {
            fn drop(&mut self) {
                self.0.set(None);
            }
        }
        let watch = &self.0.control.thread_events;
        let callback = watch.callback.borrow().clone();
        let Some(callback) = callback.filter(|_| watch.telling.get().is_none()) else {
            return Ok(());
        };
        watch.telling.set(Some(self.0.word().bits()));
        let _told = Told(&watch.telling);
        callback(&self.0, event)
    }

    /// Returns an error while an event of this coroutine is being reported.
    pub(crate) fn check_not_told(&self) -> Result<()> {
        if self.0.control.thread_events.telling.get().is_some_and(|t| t == self.0.word().bits()) {
            let message = "cannot resume or reset a thread from within its own event callback";
            return Err(Error::runtime(message));
        }
        Ok(())
    }
}

impl Lua {
    /// Sets the callback for events of coroutines that the host creates and resumes, and replaces
    /// the previous one. Lua code that uses `coroutine` causes no events. An error of the callback
    /// becomes the error of the operation; values that the coroutine has yielded are then lost.
    ///
    /// ```
    /// use std::sync::{Arc, atomic::{AtomicUsize, Ordering}};
    /// use perilune::Lua;
    /// use perilune::thread::ThreadTriggers;
    ///
    /// # fn main() -> perilune::Result<()> {
    /// let lua = Lua::new();
    /// let yields = Arc::new(AtomicUsize::new(0));
    /// let seen = yields.clone();
    /// lua.set_thread_event_callback(ThreadTriggers::ON_YIELD, move |_, _| {
    ///     seen.fetch_add(1, Ordering::Relaxed);
    ///     Ok(())
    /// });
    /// let f = lua.load("coroutine.yield() coroutine.yield()").into_function()?;
    /// let co = lua.create_thread(f)?;
    /// while co.is_resumable() {
    ///     co.resume::<()>(())?;
    /// }
    /// assert_eq!(yields.load(Ordering::Relaxed), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_thread_event_callback<F>(&self, triggers: ThreadTriggers, callback: F)
    where
        F: Fn(&Lua, ThreadEvent) -> Result<()> + MaybeSend + 'static,
    {
        let _entry = self.enter();
        let callback = move |thread: &Handle, event| {
            let th = Thread(thread.clone());
            let event = match event {
                ThreadEventKind::Create => ThreadEvent::Create(th),
                ThreadEventKind::Resume => ThreadEvent::Resume(th),
                ThreadEventKind::Yield => ThreadEvent::Yield(th),
            };
            callback(Lua::of(&thread.control), event)
        };
        self.control.thread_events.set(Some((triggers, XRc::new(callback))));
    }

    /// Removes the callback set by [`Lua::set_thread_event_callback`].
    pub fn remove_thread_event_callback(&self) {
        let _entry = self.enter();
        self.control.thread_events.set(None);
    }
}
