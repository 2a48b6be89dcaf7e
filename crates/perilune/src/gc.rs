//! The collector and the memory limit.

use perilune_runtime::state::State;

use crate::stack::Online;
use crate::{Lua, Result};

/// Parameters of the incremental mode (manual 2.5.1); those not set stay what they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GcIncParams {
    /// Pause, in percent.
    pub pause: Option<i32>,
    /// Step multiplier, in percent.
    pub step_multiplier: Option<i32>,
    /// Logarithm of the step size in bytes.
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

    /// Sets the step size.
    #[must_use]
    pub fn step_size(mut self, v: i32) -> GcIncParams {
        self.step_size = Some(v);
        self
    }
}

/// Parameters of the generational mode (manual 2.5.2); those not set stay what they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GcGenParams {
    /// Minor multiplier, in percent.
    pub minor_multiplier: Option<i32>,
    /// The growth of the heap, in percent of its size after the last major collection, that turns the
    /// next minor collection into a major one: the manual's major multiplier.
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

/// Mode of the collector.
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
    /// Bytes in use.
    pub fn used_memory(&self) -> usize {
        // SAFETY: P1.
        unsafe { (*self.enter().st).gc_count_bytes() }
    }

    /// Sets how many bytes the state may take, 0 for no limit; what needs more raises "not enough memory". Gives the limit before.
    ///
    /// # Errors
    /// None at present.
    pub fn set_memory_limit(&self, bytes: usize) -> Result<usize> {
        let entry = self.enter();
        // SAFETY: P1.
        let old = unsafe {
            let old = (*entry.st).memory_limit();
            let limit = if bytes == 0 { usize::MAX } else { bytes };
            (*entry.st).set_memory_limit(limit);
            if (*entry.st).gc_count_bytes() > limit {
                // the next safepoint sees whether that much is in use indeed
                (*entry.st).request(perilune_runtime::state::poll::GC);
            }
            old
        };
        Ok(if old == usize::MAX { 0 } else { old })
    }

    /// Whether the collector is not stopped.
    pub fn gc_is_running(&self) -> bool {
        // SAFETY: P1.
        unsafe { (*self.enter().st).gc_is_running() }
    }

    /// Stops the collector.
    pub fn gc_stop(&self) {
        // SAFETY: P1.
        unsafe { (*self.enter().st).gc_stop() }
    }

    /// Lets the collector run again.
    pub fn gc_restart(&self) {
        // SAFETY: P1.
        unsafe { (*self.enter().st).gc_restart() }
    }

    /// A full collection. Nothing happens inside a finalizer.
    ///
    /// # Errors
    /// None at present.
    pub fn gc_collect(&self) -> Result<()> {
        let entry = self.enter();
        self.expire_registry_values();
        let _online = Online::new(entry.st);
        // SAFETY: P1: a safepoint, as what is in use is on the stack or in slots of handles.
        unsafe { State::collecting_for_host(entry.st, || (*entry.st).gc_full()) };
        Ok(())
    }

    /// A basic step of the collector; whether it ended a cycle.
    ///
    /// # Errors
    /// None at present.
    pub fn gc_step(&self) -> Result<bool> {
        let entry = self.enter();
        let _online = Online::new(entry.st);
        // SAFETY: as above.
        Ok(unsafe { (*entry.st).gc_step(0) }.unwrap_or(false))
    }

    /// Sets the mode; gives the one before.
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
}
