//! Events of coroutines that the host creates and resumes.

use std::cell::{Cell, RefCell};
use std::ops::{BitOr, BitOrAssign};

use crate::sync::XRc;
use crate::types::MaybeSend;
use crate::{Error, Lua, Result, Thread};

/// The coroutine events for which a callback is called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThreadTriggers {
    /// After [`Lua::create_thread`] has created a coroutine.
    pub on_create: bool,
    /// Before the host resumes a coroutine ([`Thread::resume`], or as a future).
    pub on_resume: bool,
    /// After a coroutine that the host resumed has yielded.
    pub on_yield: bool,
}

impl ThreadTriggers {
    /// Triggers on creation.
    pub const ON_CREATE: ThreadTriggers = ThreadTriggers::new().on_create();
    /// Triggers on resumption.
    pub const ON_RESUME: ThreadTriggers = ThreadTriggers::new().on_resume();
    /// Triggers on a yield.
    pub const ON_YIELD: ThreadTriggers = ThreadTriggers::new().on_yield();

    /// Returns triggers for no event.
    pub const fn new() -> ThreadTriggers {
        ThreadTriggers { on_create: false, on_resume: false, on_yield: false }
    }

    /// Adds creation.
    #[must_use]
    pub const fn on_create(mut self) -> ThreadTriggers {
        self.on_create = true;
        self
    }

    /// Adds resumption.
    #[must_use]
    pub const fn on_resume(mut self) -> ThreadTriggers {
        self.on_resume = true;
        self
    }

    /// Adds yields.
    #[must_use]
    pub const fn on_yield(mut self) -> ThreadTriggers {
        self.on_yield = true;
        self
    }
}

impl BitOr for ThreadTriggers {
    type Output = ThreadTriggers;
    fn bitor(mut self, other: ThreadTriggers) -> ThreadTriggers {
        self |= other;
        self
    }
}

impl BitOrAssign for ThreadTriggers {
    fn bitor_assign(&mut self, other: ThreadTriggers) {
        self.on_create |= other.on_create;
        self.on_resume |= other.on_resume;
        self.on_yield |= other.on_yield;
    }
}

/// An event of a coroutine.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ThreadEvent {
    /// It was created.
    Create(Thread),
    /// It is about to be resumed.
    Resume(Thread),
    /// It has yielded.
    Yield(Thread),
}

type Callback = dyn Fn(&Lua, ThreadEvent) -> Result<()>;

/// The callback for coroutine events.
#[derive(Default)]
pub(crate) struct Watch {
    triggers: Cell<ThreadTriggers>,
    callback: RefCell<Option<XRc<Callback>>>,
    /// The address of the coroutine whose event is being reported.
    telling: Cell<Option<u64>>,
}

impl Watch {
    /// Sets or removes the callback. The previous one is dropped last, as its destructor may use
    /// the state.
    pub(crate) fn set(&self, watch: Option<(ThreadTriggers, XRc<Callback>)>) {
        let (triggers, callback) = watch.unzip();
        self.triggers.set(triggers.unwrap_or_default());
        let before = self.callback.replace(callback);
        drop(before);
    }
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
        event: fn(Thread) -> ThreadEvent,
    ) -> Result<()> {
        if which(self.0.control.thread_events.triggers.get()) { self.told(event) } else { Ok(()) }
    }

    #[cold]
    fn told(&self, event: fn(Thread) -> ThreadEvent) -> Result<()> {
        /// Ends the report, also after a panic.
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
        callback(Lua::of(&self.0.control), event(self.clone()))
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
    /// becomes the error of the operation; yielded values are lost then.
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
        self.control.thread_events.set(Some((triggers, XRc::new(callback))));
    }

    /// Removes the callback set by [`Lua::set_thread_event_callback`].
    pub fn remove_thread_event_callback(&self) {
        let _entry = self.enter();
        self.control.thread_events.set(None);
    }
}
