//! States that move between threads.

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

impl std::fmt::Debug for Detached {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Detached")
    }
}

impl Lua {
    /// Detaches the state, so that it can be sent to another thread.
    ///
    /// # Errors
    /// Returns the state itself when handles, other `Lua`s or [`crate::WeakLua`]s refer to it, when
    /// it has application data, a warning function or a callback for events of coroutines, or when
    /// it has functions or userdata that are not known to be `Send`, even if they are garbage not
    /// collected yet. Those are the functions created by [`Lua::create_function`], the userdata
    /// created by [`Lua::create_userdata`], and the methods of userdata types. Functions that may
    /// move are created with [`Lua::create_send_function`]. Registry keys and interrupt handles may
    /// stay on their threads.
    pub fn detach(self) -> Result<Detached, Lua> {
        let control = &self.control;
        let alone = XRc::strong_count(control) == 1 && XRc::weak_count(control) == 1;
        let still = control.owners() == 1 && !control.state.get().is_null();
        let bare = control.app_data.is_empty()
            && control.warning.borrow().is_none()
            && control.thread_events.callback.borrow().is_none();
        if alone && still && bare { Ok(Detached(self)) } else { Err(self) }
    }
}
