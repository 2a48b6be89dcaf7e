//! States that change threads.

use crate::Lua;
use crate::sync::XRc;

/// A state that nothing refers to and that holds nothing which is bound to its thread: it may change threads. Dropping it ends the state where it is.
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

// SAFETY: P5 (a detached state is alone): `Lua::detach` has seen that no handle, `Lua` or `WeakLua` refers to the control block, so that its counts are touched by whoever has this
// value only, and that no host value in the state is one that may not change threads: those hold the control block.
unsafe impl Send for Detached {}

impl Detached {
    /// The state, for this thread.
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
    /// Lets the state change threads, if nothing of it stays behind.
    ///
    /// # Errors
    /// The state itself: when handles, other `Lua`s or [`crate::WeakLua`]s refer to it, when it has app data or a warning function, and when it has functions or userdata that are not
    /// known to be `Send`, garbage that is not collected yet included: those of [`Lua::create_function`], [`Lua::create_userdata`] and the methods of userdata types, whereas
    /// [`Lua::create_send_function`] makes functions that are. Registry keys and interrupt handles may stay behind.
    pub fn detach(self) -> Result<Detached, Lua> {
        let control = &self.control;
        let alone = XRc::strong_count(control) == 1 && XRc::weak_count(control) == 1;
        let still = control.owners() == 1 && !control.state.get().is_null();
        let bare = control.app_data.is_empty() && control.warning.borrow().is_none();
        if alone && still && bare { Ok(Detached(self)) } else { Err(self) }
    }
}
