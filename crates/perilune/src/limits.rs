//! Limits of a script: time and instructions. That of memory is [`Lua::set_memory_limit`].
//!
//! A limit that was reached stands: whatever the script catches, closes or finalizes, the next safepoint raises the error again, until
//! control is back in the host, and every further call fails, until the host sets the limit anew.

use std::time::{Duration, Instant};

use perilune_runtime::state::poll;

use crate::alarm::Alarm;
use crate::{Error, Lua, Result};

impl Lua {
    /// Gives the script this much time from now on, by the clock; `None` takes the limit away. Then it fails with "time limit exceeded", in
    /// machine code and in library functions that run long as everywhere. Functions of the host are not stopped.
    ///
    /// A thread of the process watches the clocks of all states that have such a limit.
    ///
    /// # Errors
    /// When that thread cannot be started.
    ///
    /// ```
    /// use std::time::Duration;
    /// # let lua = perilune::Lua::new();
    /// lua.set_time_limit(Some(Duration::from_millis(20)))?;
    /// let error = lua.load("while true do pcall(function() while true do end end) end").exec().unwrap_err();
    /// assert!(error.to_string().contains("time limit exceeded"));
    /// lua.set_time_limit(None)?;
    /// lua.load("x = 1").exec()?;
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn set_time_limit(&self, limit: Option<Duration>) -> Result<()> {
        let entry = self.enter();
        // its alarm does not ring any more when it is gone
        self.control.alarm.take();
        // SAFETY: P1.
        unsafe { (*entry.st).lift_limit(poll::OUT_OF_TIME) };
        // a time that no clock will ever show is none
        if let Some(at) = limit.and_then(|limit| Instant::now().checked_add(limit)) {
            let gate = self.control.gate.clone();
            let ring = move || gate.request(poll::OUT_OF_TIME);
            let alarm = Alarm::set(at, Box::new(ring)).map_err(Error::external)?;
            self.control.alarm.set(Some(alarm));
        }
        Ok(())
    }

    /// Lets the script execute so many more instructions; `None` takes the limit away. Then it fails with "instruction limit exceeded".
    ///
    /// It is deterministic: a program stops at the same place in the interpreter and in machine code. A function counts all its instructions when it is
    /// called, a loop all of its own when it goes round, so the limit is met early rather than late; library functions that run long count 100 for each
    /// piece of their work. Finalizers count too, and when they run is not deterministic.
    ///
    /// # Errors
    /// [`Error::RuntimeError`] when the state's engine has a compiler whose code does not count ([`crate::JitOptions::counts`]).
    ///
    /// ```
    /// use perilune::{Engine, JitOptions, Lua};
    /// let engine = Engine::with_jit(JitOptions { counts: true, ..JitOptions::default() });
    /// let lua = Lua::with_engine(&engine);
    /// lua.set_instruction_limit(Some(1_000_000))?;
    /// let error = lua.load("while true do end").exec().unwrap_err();
    /// assert!(error.to_string().contains("instruction limit exceeded"));
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn set_instruction_limit(&self, limit: Option<u64>) -> Result<()> {
        let entry = self.enter();
        // SAFETY: P1.
        let st = unsafe { &mut *entry.st };
        if !st.counts {
            if self.control.engine.jit.is_some() {
                let message = "instructions are not counted by this engine's compiler";
                return Err(Error::RuntimeError(message.to_owned()));
            }
            st.counts = true;
        }
        st.fuel = limit.unwrap_or(u64::MAX);
        st.lift_limit(poll::OUT_OF_FUEL);
        Ok(())
    }

    /// The instructions that are left of the limit; `None` without one.
    pub fn instructions_left(&self) -> Option<u64> {
        let entry = self.enter();
        // SAFETY: P1.
        let st = unsafe { &*entry.st };
        (st.counts && st.fuel <= u64::MAX / 2).then_some(st.fuel)
    }
}
