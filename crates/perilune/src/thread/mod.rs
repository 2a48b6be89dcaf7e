//! Coroutines ([`Thread`]) and their events.

mod create;
mod events;
mod resume;

use std::ffi::c_void;

use perilune_runtime::thread::Status;

#[cfg(feature = "async")]
pub use crate::futures::AsyncThread;
pub use crate::triggers::ThreadTriggers;
pub use events::ThreadEvent;

use crate::WeakLua;
use crate::control::Handle;

/// A handle to a coroutine.
///
/// ```
/// let lua = perilune::Lua::new();
/// let f = lua.load("function(a) local b = coroutine.yield(a + 1); return b * 2 end").eval()?;
/// let co = lua.create_thread(f)?;
/// assert_eq!(co.resume::<i64>(1)?, 2);
/// assert_eq!(co.resume::<i64>(10)?, 20);
/// assert!(co.is_finished() && co.resume::<()>(()).is_err());
/// # Ok::<(), perilune::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Thread(pub(crate) Handle);

/// The status of a coroutine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadStatus {
    /// The coroutine has not started, or has yielded.
    Resumable,
    /// The coroutine is running.
    Running,
    /// The coroutine has resumed another one and is waiting for it.
    Normal,
    /// The coroutine has ended.
    Finished,
    /// The coroutine has ended with an error.
    Error,
}

impl Thread {
    /// Returns the status.
    ///
    /// # Panics
    /// Panics when the state has ended.
    pub fn status(&self) -> ThreadStatus {
        let _guard = self.0.hold();
        let th = self.0.word().as_thread();
        // SAFETY: P1: rooted by the handle.
        unsafe {
            match (*th).status {
                Status::Suspended => ThreadStatus::Resumable,
                Status::Running => ThreadStatus::Running,
                Status::Normal => ThreadStatus::Normal,
                Status::Dead if (*th).failed => ThreadStatus::Error,
                Status::Dead => ThreadStatus::Finished,
            }
        }
    }

    /// Returns whether the coroutine can be resumed.
    pub fn is_resumable(&self) -> bool {
        self.status() == ThreadStatus::Resumable
    }

    /// Returns whether the coroutine is running.
    pub fn is_running(&self) -> bool {
        self.status() == ThreadStatus::Running
    }

    /// Returns whether the coroutine is waiting for another one that it has resumed.
    pub fn is_normal(&self) -> bool {
        self.status() == ThreadStatus::Normal
    }

    /// Returns whether the coroutine has ended.
    pub fn is_finished(&self) -> bool {
        self.status() == ThreadStatus::Finished
    }

    /// Returns whether the coroutine has ended with an error.
    pub fn is_error(&self) -> bool {
        self.status() == ThreadStatus::Error
    }

    /// Returns a weak reference to the coroutine's state.
    pub fn weak_lua(&self) -> &WeakLua {
        &self.0.control.weak
    }

    /// Returns the address that identifies the coroutine.
    pub fn to_pointer(&self) -> *const c_void {
        std::ptr::with_exposed_provenance(self.0.word().bits() as usize)
    }
}
