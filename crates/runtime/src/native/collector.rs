//! The collector, as native functions control it (manual 6.1, `collectgarbage`).

use super::Cx;
use crate::heap::Mode;

impl Cx {
    /// Performs a full collection (`collectgarbage("collect")`).
    pub fn gc_full(&mut self) {
        // SAFETY: N1; `&mut self` ends the life of every value.
        unsafe { (*self.state()).gc_full() };
    }

    /// Performs a collector step as if `kilobytes` had been allocated; returns whether it ended a
    /// cycle.
    pub fn gc_step(&mut self, kilobytes: usize) -> bool {
        // SAFETY: as above.
        unsafe { (*self.state()).gc_step(kilobytes).unwrap_or(false) }
    }

    /// Stops the collector.
    pub fn gc_stop(&mut self) {
        // SAFETY: N1.
        unsafe { (*self.state()).gc_stop() }
    }

    /// Restarts the collector.
    pub fn gc_restart(&mut self) {
        // SAFETY: N1.
        unsafe { (*self.state()).gc_restart() }
    }

    /// Returns whether the collector is not stopped.
    pub fn gc_is_running(&self) -> bool {
        // SAFETY: N1.
        unsafe { (*self.state()).gc_is_running() }
    }

    /// Returns whether a finalizer is running, so that requests to the collector do nothing.
    pub fn gc_is_blocked(&self) -> bool {
        // SAFETY: N1.
        unsafe { (*self.state()).gc_is_blocked() }
    }

    /// Returns the number of bytes in use.
    pub fn gc_count_bytes(&self) -> usize {
        // SAFETY: N1.
        unsafe { (*self.state()).gc_count_bytes() }
    }

    /// Returns the number of bytes that the memory limit leaves.
    pub fn room(&self) -> usize {
        // SAFETY: N1.
        let st = unsafe { &*self.state() };
        st.memory_limit().saturating_sub(st.gc_count_bytes())
    }

    /// Sets the incremental mode; 0 leaves a parameter unchanged. Returns whether the mode was
    /// generational.
    pub fn gc_set_incremental(&mut self, pause: usize, multiplier: usize, size: usize) -> bool {
        // SAFETY: N1.
        unsafe { (*self.state()).gc_set_incremental(pause, multiplier, size) == Mode::Generational }
    }

    /// Sets the generational mode; 0 leaves a parameter unchanged. Returns whether the mode was
    /// generational.
    pub fn gc_set_generational(&mut self, minor: usize, major: usize) -> bool {
        // SAFETY: N1; `&mut self` ends the life of every value.
        unsafe { (*self.state()).gc_set_generational(minor, major) == Mode::Generational }
    }

    /// Sets the pause and returns the old one.
    pub fn gc_set_pause(&mut self, percent: usize) -> usize {
        // SAFETY: N1.
        unsafe { (*self.state()).gc_set_pause(percent) }
    }

    /// Sets the step multiplier and returns the old one.
    pub fn gc_set_step_multiplier(&mut self, percent: usize) -> usize {
        // SAFETY: N1.
        unsafe { (*self.state()).gc_set_step_multiplier(percent) }
    }
}
