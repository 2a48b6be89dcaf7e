//! The garbage collector and the memory limit.

pub use perilune_runtime::heap::{Part as GcPart, Pause as GcPause};
use perilune_runtime::state::State;

use crate::stack::Online;
use crate::{Lua, Result};

/// Parameters of the incremental mode (manual 2.5.1). A parameter that is `None` keeps its value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GcIncParams {
    /// Pause, in percent.
    pub pause: Option<i32>,
    /// Step multiplier, in percent.
    pub step_multiplier: Option<i32>,
    /// Logarithm to base 2 of the step size in bytes.
    pub step_size: Option<i32>,
}

impl GcIncParams {
    /// Sets the pause.
    #[must_use]
    pub fn pause(mut self, v: i32) -> GcIncParams {
        self.pause = Some(v);
        self
    }

    /// Sets the step multiplier.
    #[must_use]
    pub fn step_multiplier(mut self, v: i32) -> GcIncParams {
        self.step_multiplier = Some(v);
        self
    }

    /// Sets the logarithm to base 2 of the step size in bytes.
    #[must_use]
    pub fn step_size(mut self, v: i32) -> GcIncParams {
        self.step_size = Some(v);
        self
    }
}

/// Parameters of the generational mode (manual 2.5.2). A parameter that is `None` keeps its value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GcGenParams {
    /// Minor multiplier, in percent.
    pub minor_multiplier: Option<i32>,
    /// The growth of the heap, in percent of its size after the last major collection, that turns
    /// the next minor collection into a major one: the manual's major multiplier.
    pub minor_to_major: Option<i32>,
}

impl GcGenParams {
    /// Sets the minor multiplier.
    #[must_use]
    pub fn minor_multiplier(mut self, v: i32) -> GcGenParams {
        self.minor_multiplier = Some(v);
        self
    }

    /// Sets the threshold for major collections: the manual's major multiplier.
    #[must_use]
    pub fn minor_to_major(mut self, v: i32) -> GcGenParams {
        self.minor_to_major = Some(v);
        self
    }
}

/// The mode of the collector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GcMode {
    /// Incremental.
    Incremental(GcIncParams),
    /// Generational.
    Generational(GcGenParams),
}

fn parameter(v: Option<i32>) -> usize {
    v.and_then(|v| usize::try_from(v).ok()).unwrap_or(0)
}

impl Lua {
    /// Returns the number of bytes in use.
    pub fn used_memory(&self) -> usize {
        // SAFETY: P1.
        unsafe { (*self.enter().st).gc_count_bytes() }
    }

    /// Limits the memory of the state to `bytes`; 0 removes the limit. An allocation beyond the
    /// limit raises "not enough memory". Returns the previous limit.
    ///
    /// # Errors
    /// Does not fail at present.
    pub fn set_memory_limit(&self, bytes: usize) -> Result<usize> {
        let entry = self.enter();
        // SAFETY: P1.
        let old = unsafe {
            let old = (*entry.st).memory_limit();
            let limit = if bytes == 0 { usize::MAX } else { bytes };
            (*entry.st).set_memory_limit(limit);
            if (*entry.st).gc_count_bytes() > limit {
                // the next safepoint checks whether that much is still in use
                (*entry.st).request(perilune_runtime::state::poll::GC);
            }
            old
        };
        Ok(if old == usize::MAX { 0 } else { old })
    }

    /// Returns whether the collector is running, that is, not stopped by [`Lua::gc_stop`] or the
    /// program.
    pub fn gc_is_running(&self) -> bool {
        // SAFETY: P1.
        unsafe { (*self.enter().st).gc_is_running() }
    }

    /// Stops the collector.
    pub fn gc_stop(&self) {
        // SAFETY: P1.
        unsafe { (*self.enter().st).gc_stop() }
    }

    /// Restarts the collector.
    pub fn gc_restart(&self) {
        // SAFETY: P1.
        unsafe { (*self.enter().st).gc_restart() }
    }

    /// Performs a full collection. Does nothing inside a finalizer.
    ///
    /// # Errors
    /// Does not fail at present.
    pub fn gc_collect(&self) -> Result<()> {
        let entry = self.enter();
        self.expire_registry_values();
        let _online = Online::new(entry.st);
        // SAFETY: P1: a safepoint, as all live values are on the stack or in slots of handles.
        unsafe { State::collecting_for_host(entry.st, || (*entry.st).gc_full()) };
        Ok(())
    }

    /// Performs a basic step of the collector. Returns whether the step completed a cycle.
    ///
    /// # Errors
    /// Does not fail at present.
    pub fn gc_step(&self) -> Result<bool> {
        let entry = self.enter();
        let _online = Online::new(entry.st);
        // SAFETY: as above.
        Ok(unsafe { (*entry.st).gc_step(0) }.unwrap_or(false))
    }

    /// Sets the mode and returns the previous one.
    pub fn gc_set_mode(&self, mode: GcMode) -> GcMode {
        use perilune_runtime::heap::Mode;
        let entry = self.enter();
        let _online = Online::new(entry.st);
        // SAFETY: as above.
        let set = || unsafe {
            match mode {
                GcMode::Incremental(p) => (*entry.st).gc_set_incremental(
                    parameter(p.pause),
                    parameter(p.step_multiplier),
                    parameter(p.step_size),
                ),
                GcMode::Generational(p) => (*entry.st).gc_set_generational(
                    parameter(p.minor_multiplier),
                    parameter(p.minor_to_major),
                ),
            }
        };
        // SAFETY: as above.
        let before = unsafe { State::collecting_for_host(entry.st, set) };
        match before {
            Mode::Incremental => GcMode::Incremental(GcIncParams::default()),
            Mode::Generational => GcMode::Generational(GcGenParams::default()),
        }
    }

    /// Starts or ends recording how long each pause of the collector stops the program. Recording
    /// costs a few system calls per pause. Pauses recorded before the call are discarded.
    pub fn gc_record_pauses(&self, on: bool) {
        // SAFETY: P1.
        unsafe { (*self.enter().st).heap.record_pauses(on) }
    }

    /// Returns the pauses that were recorded since the last call. Collections that the program or
    /// the host requests are not recorded.
    pub fn gc_take_pauses(&self) -> Vec<GcPause> {
        // SAFETY: P1.
        unsafe { (*self.enter().st).heap.take_pauses() }
    }
}
