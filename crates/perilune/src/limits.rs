//! Limits on the time and the number of instructions of a script. [`Lua::set_memory_limit`] limits
//! its memory.
//!
//! A limit that was reached stays in force: whatever the script catches, closes or finalizes, the
//! next safepoint raises the error again until control returns to the host. Every further call of a
//! function in Lua, and every resumption of a coroutine, fails until the host sets the limit again.

use std::time::{Duration, Instant};

use perilune_runtime::state::poll;

use crate::alarm::Alarm;
use crate::{Error, Lua, Result};

impl Lua {
    /// Limits the script to this much wall-clock time from now on; `None` removes the limit. After
    /// that time the script fails with "time limit exceeded", even in machine code and in
    /// long-running library functions. Functions of the host are not stopped.
    ///
    /// One thread of the process watches the clocks of all states that have such a limit.
    ///
    /// # Errors
    /// Returns an error when that thread cannot be started.
    ///
    /// ```
    /// use std::time::Duration;
    /// # let lua = perilune::Lua::new();
    /// lua.set_time_limit(Some(Duration::from_millis(20)))?;
    /// let endless = "while true do pcall(function() while true do end end) end";
    /// let error = lua.load(endless).exec().unwrap_err();
    /// assert!(error.to_string().contains("time limit exceeded"));
    /// lua.set_time_limit(None)?;
    /// lua.load("x = 1").exec()?;
    /// # Ok::<(), perilune::Error>(())
    /// ```
    pub fn set_time_limit(&self, limit: Option<Duration>) -> Result<()> {
        let entry = self.enter();
        // dropping the previous alarm cancels it
        self.control.alarm.take();
        // SAFETY: P1.
        unsafe { (*entry.st).lift_limit(poll::OUT_OF_TIME) };
        // a time that the clock cannot represent is no limit
        if let Some(at) = limit.and_then(|limit| Instant::now().checked_add(limit)) {
            let gate = self.control.gate.clone();
            let ring = move || gate.request(poll::OUT_OF_TIME);
            let alarm = Alarm::set(at, Box::new(ring)).map_err(Error::external)?;
            self.control.alarm.set(Some(alarm));
        }
        Ok(())
    }

    /// Limits the script to this number of further instructions; `None` removes the limit. When
    /// they are used up, the script fails with "instruction limit exceeded".
    ///
    /// The limit is deterministic: a program stops at the same place in the interpreter and in
    /// machine code. Each call counts as all instructions of the function, and each back edge as
    /// all instructions of the loop, so the limit may be reached early but never late. Each piece
    /// of work of a long-running library function, which takes up to a millisecond, counts as 100
    /// instructions: only a time limit bounds the time of such functions. Instructions of
    /// finalizers count as well, and when finalizers run is not deterministic.
    ///
    /// # Errors
    /// Returns [`Error::RuntimeError`] when the state's engine has a compiler whose code does not
    /// count ([`crate::JitOptions::counts`]).
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
                let message =
                    "instructions are not counted by this engine's code (JitOptions::counts)";
                return Err(Error::RuntimeError(message.to_owned()));
            }
            st.counts = true;
        }
        st.fuel = limit.unwrap_or(u64::MAX);
        st.lift_limit(poll::OUT_OF_FUEL);
        Ok(())
    }

    /// Returns the number of instructions left until the limit; `None` without a limit, or while
    /// more than `u64::MAX / 2` are left.
    pub fn instructions_left(&self) -> Option<u64> {
        let entry = self.enter();
        // SAFETY: P1.
        let st = unsafe { &*entry.st };
        (st.counts && st.fuel <= u64::MAX / 2).then_some(st.fuel)
    }
}
