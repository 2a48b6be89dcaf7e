//! Creation of functions of the host.

use crate::callback::{Mutable, Plain};
use crate::traits::{FromLuaMulti, IntoLuaMulti};
use crate::types::MaybeSend;
use crate::{Function, Lua, Result};

impl Lua {
    /// Creates a Lua function that calls `func`. The value of `Ok` becomes the results; `Err` is
    /// raised as an error. The function is treated as not `Send`; see
    /// [`Lua::create_send_function`].
    ///
    /// ```
    /// let lua = perilune::Lua::new();
    /// let greet = lua.create_function(|_, name: String| Ok(format!("Hello, {name}!")))?;
    /// lua.globals().set("greet", greet)?;
    /// assert_eq!(lua.load("greet 'moon'").eval::<String>()?, "Hello, moon!");
    /// # Ok::<(), perilune::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Error::MemoryError`](crate::Error::MemoryError) when the memory limit is reached.
    pub fn create_function<F, A, R>(&self, func: F) -> Result<Function>
    where
        F: Fn(&Lua, A) -> Result<R> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti,
    {
        self.enter().stack().function(Plain(func), true)
    }

    /// Like [`Lua::create_function`], for `FnMut` closures. Calling the function while it runs
    /// fails with [`Error::RecursiveMutCallback`](crate::Error::RecursiveMutCallback).
    ///
    /// # Errors
    /// Returns [`Error::MemoryError`](crate::Error::MemoryError) when the memory limit is reached.
    pub fn create_function_mut<F, A, R>(&self, func: F) -> Result<Function>
    where
        F: FnMut(&Lua, A) -> Result<R> + MaybeSend + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti,
    {
        self.enter().stack().function(Mutable(func.into()), true)
    }

    /// Like [`Lua::create_function`], for closures that may change threads: the state can be
    /// detached ([`Lua::detach`]) while the function exists.
    ///
    /// # Errors
    /// Returns [`Error::MemoryError`](crate::Error::MemoryError) when the memory limit is reached.
    pub fn create_send_function<F, A, R>(&self, func: F) -> Result<Function>
    where
        F: Fn(&Lua, A) -> Result<R> + Send + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti,
    {
        self.enter().stack().function(Plain(func), false)
    }

    /// Combines [`Lua::create_function_mut`] and [`Lua::create_send_function`].
    ///
    /// # Errors
    /// Returns [`Error::MemoryError`](crate::Error::MemoryError) when the memory limit is reached.
    pub fn create_send_function_mut<F, A, R>(&self, func: F) -> Result<Function>
    where
        F: FnMut(&Lua, A) -> Result<R> + Send + 'static,
        A: FromLuaMulti,
        R: IntoLuaMulti,
    {
        self.enter().stack().function(Mutable(func.into()), false)
    }
}
