//! The types that represent a state. Operations on a state are in separate files, by subject.

mod app_data;
mod create;
mod globals;
mod lend;
mod modes;

use std::mem::ManuallyDrop;
use std::ops::Deref;

use perilune_runtime::state::State;

use crate::control::{Control, Entry};
use crate::sync::{XRc, XWeak};
use crate::{Engine, Interrupt};

/// A Lua state: a heap and a set of globals. It is cheap to clone; clones refer to the same state.
/// A state stays on its thread, unless the feature `send` is enabled; then any thread may use it,
/// and each operation, including dropping a handle, waits until no other thread is using the state.
///
/// The state lives while a `Lua` exists or a call into it is running. Handles
/// ([`Table`](crate::Table), [`crate::Function`], ..) do not keep it alive: using one afterwards
/// panics with "Lua instance is destroyed".
///
/// ```
/// use perilune::{Lua, Result};
///
/// fn main() -> Result<()> {
///     let lua = Lua::new();
///     lua.globals().set("planet", "Mars")?;
///     let text: String = lua.load("'Hello, ' .. planet").eval()?;
///     assert_eq!(text, "Hello, Mars");
///     Ok(())
/// }
/// ```
#[repr(transparent)]
pub struct Lua {
    pub(crate) control: XRc<Control>,
}

impl Clone for Lua {
    #[inline(always)]
    fn clone(&self) -> Lua {
        self.control.retain();
        Lua { control: self.control.clone() }
    }
}

impl Drop for Lua {
    #[inline(always)]
    fn drop(&mut self) {
        self.control.release();
    }
}

impl std::fmt::Debug for Lua {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Lua({:p})", XRc::as_ptr(&self.control))
    }
}

/// A `Lua` that does not count as an owner, for a callback.
pub(crate) struct Borrowed(ManuallyDrop<Lua>);

impl Deref for Borrowed {
    type Target = Lua;
    #[inline(always)]
    fn deref(&self) -> &Lua {
        &self.0
    }
}

impl Lua {
    /// Returns the `Lua` that a reference to a control block represents.
    #[inline(always)]
    pub(crate) fn of(control: &XRc<Control>) -> &Lua {
        // SAFETY: `Lua` is a transparent wrapper; a reference drops nothing, and `Lua` is only
        // cloned by counting itself.
        unsafe { &*(&raw const *control).cast() }
    }

    /// Returns the `Lua` of a state, for a callback of it.
    ///
    /// # Safety
    /// `st` is alive, was created by this crate, and outlives the result.
    #[inline(always)]
    pub(crate) unsafe fn borrowed(st: *mut State) -> Borrowed {
        let control = XRc::from_raw((*st).host.cast::<Control>());
        Borrowed(ManuallyDrop::new(Lua { control }))
    }

    /// Begins an operation.
    ///
    /// # Panics
    /// Panics when the state has ended, or is lent by [`Lua::with`].
    #[inline(always)]
    pub(crate) fn enter(&self) -> Entry<'_> {
        Entry::new(&self.control)
    }

    /// Returns the state's engine.
    pub fn engine(&self) -> &Engine {
        &self.control.engine
    }

    /// Returns a weak reference to the state.
    pub fn weak(&self) -> WeakLua {
        self.control.weak.clone()
    }

    /// Returns a handle that stops the running script from another thread or a signal handler.
    pub fn interrupt_handle(&self) -> Interrupt {
        Interrupt(self.control.gate.clone())
    }
}

/// A weak reference to a state ([`Lua::weak`]).
#[derive(Clone, Debug)]
pub struct WeakLua(pub(crate) XWeak<Control>);

impl WeakLua {
    /// Returns the state.
    ///
    /// # Panics
    /// Panics when the state has ended.
    pub fn upgrade(&self) -> Lua {
        self.try_upgrade().expect("Lua instance is destroyed")
    }

    /// Returns the state, if it still exists.
    pub fn try_upgrade(&self) -> Option<Lua> {
        let control = self.0.upgrade()?;
        {
            let _guard = control.lock.hold();
            if !control.is_alive() {
                return None;
            }
            control.retain();
        }
        Some(Lua { control })
    }
}

impl PartialEq for WeakLua {
    fn eq(&self, other: &WeakLua) -> bool {
        self.0.ptr_eq(&other.0)
    }
}

impl Eq for WeakLua {}
