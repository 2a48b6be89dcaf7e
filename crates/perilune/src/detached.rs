//! States that move between threads.

use std::fmt;

use crate::Lua;
use crate::sync::XRc;

/// A state that may be sent to another thread: nothing else refers to it, and it holds nothing that
/// is bound to its thread. Dropping it ends the state on the current thread.
///
/// ```
/// let lua = perilune::Lua::new();
/// lua.load("x = 41").exec()?;
/// let detached = lua.detach().expect("no handle is left");
/// let x: i64 = std::thread::spawn(move || {
///     let lua = detached.attach();
///     lua.load("x + 1").eval()
/// })
/// .join()
/// .unwrap()?;
/// assert_eq!(x, 42);
/// # Ok::<(), perilune::Error>(())
/// ```
pub struct Detached(Lua);

// SAFETY: P5 (a detached state is alone): `Lua::detach` has checked that no handle, `Lua` or
// `WeakLua` refers to the control block, so only the owner of this value touches its counts, and
// that the state holds no host value that must not change threads: such values hold the control
// block.
unsafe impl Send for Detached {}

impl Detached {
    /// Attaches the state to the current thread.
    pub fn attach(self) -> Lua {
        self.0
    }
}

impl fmt::Debug for Detached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Detached")
    }
}

/// The error of [`Lua::detach`]: says what binds the state to its thread, and holds the state.
pub struct DetachError {
    lua: Lua,
    reason: Reason,
}

/// What binds a state to its thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reason {
    Owners,
    Weak,
    Handles,
    AppData,
    Warnings,
    Events,
}

impl DetachError {
    /// Returns the state, which is still attached to the current thread.
    pub fn into_lua(self) -> Lua {
        self.lua
    }
}

impl fmt::Display for DetachError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.reason {
            Reason::Owners => "another `Lua` refers to the state, or the state is running",
            Reason::Weak => "a `WeakLua` refers to the state",
            Reason::Handles => {
                "a handle refers to the state, or the state has functions or userdata that are not \
                 known to be `Send`"
            }
            Reason::AppData => "the state has application data",
            Reason::Warnings => "the state has a warning function",
            Reason::Events => "the state has a callback for events of coroutines",
        })
    }
}

impl fmt::Debug for DetachError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DetachError").field("reason", &self.reason).finish_non_exhaustive()
    }
}

impl std::error::Error for DetachError {}

impl Lua {
    /// Detaches the state, so that it can be sent to another thread.
    ///
    /// # Errors
    /// Returns an error, which gives the state back, if handles, other `Lua`s or
    /// [`crate::WeakLua`]s refer to the state, if it has application data, a warning function or a
    /// callback for coroutine events, or if it contains functions or userdata that are not known to
    /// be `Send`, even if they are garbage that has not been collected yet. These are functions
    /// created by [`Lua::create_function`], userdata created by [`Lua::create_userdata`], and
    /// methods of userdata types. Functions created with [`Lua::create_send_function`] may move
    /// with the state. Registry keys and interrupt handles may remain on other threads.
    pub fn detach(self) -> Result<Detached, DetachError> {
        let control = &self.control;
        let reason = if control.owners() != 1 || control.state.get().is_null() {
            Reason::Owners
        } else if XRc::weak_count(control) != 1 {
            Reason::Weak
        } else if !control.app_data.is_empty() {
            Reason::AppData
        } else if control.warning.borrow().is_some() {
            Reason::Warnings
        } else if control.thread_events.callback.borrow().is_some() {
            Reason::Events
        } else if XRc::strong_count(control) != 1 {
            Reason::Handles
        } else {
            return Ok(Detached(self));
        };
        Err(DetachError { lua: self, reason })
    }
}
