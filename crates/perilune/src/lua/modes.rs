//! Modes for tests.

use perilune_runtime::chaos::Chaos;
use perilune_runtime::exit_stress::ExitStress;
use perilune_runtime::state::poll;

use crate::Lua;

impl Lua {
    /// Makes the state collect at each safepoint that follows an allocation. This is a mode for
    /// tests.
    pub fn set_gc_stress(&self, on: bool) {
        // SAFETY: P1.
        unsafe { (*self.enter().st).set_gc_stress(on) }
    }

    /// Makes each safepoint perform one tiny increment of the collector's work, in phases and modes
    /// that `seed` determines, and walks the heap after each collection. This is a mode for tests.
    pub fn set_gc_phases(&self, seed: u64) {
        // SAFETY: P1.
        unsafe { (*self.enter().st).set_gc_phases(seed) }
    }

    /// Disables the write barrier, so that a test can show that [`Lua::set_gc_phases`] detects the
    /// error.
    #[doc(hidden)]
    pub fn lose_write_barriers(&self) {
        // SAFETY: P1.
        unsafe { (*self.enter().st).lose_barriers() }
    }

    /// Selects the portable loop of the interpreter or the handlers generated for the processor,
    /// which are the default. Platforms without handlers always use the loop.
    pub fn set_portable_interpreter(&self, on: bool) {
        // SAFETY: P1.
        unsafe { (*self.enter().st).portable = on }
    }

    /// Makes stacks grow by no more than necessary, so that they move often. This is a mode for
    /// tests.
    pub fn set_small_stack(&self, on: bool) {
        // SAFETY: P1.
        unsafe { (*self.enter().st).small_stack = on }
    }

    /// Makes safepoints trigger random events, determined by `seed`: collections, stack
    /// reallocations, replacement of code. This is a mode for tests, for a state of an engine with
    /// [`perilune_jit::JitOptions::chaos`].
    pub fn set_chaos(&self, seed: u64) {
        let entry = self.enter();
        // SAFETY: P1.
        unsafe {
            (*entry.st).chaos = Some(Box::new(Chaos::new(seed)));
            (*entry.st).request(poll::CHAOS);
        }
    }

    /// Makes guards of compiled code fail although their conditions hold, as determined by `seed`,
    /// so that all side exits are taken. This is a mode for tests, for a state of an engine with
    /// [`perilune_jit::JitOptions::stress_exits`].
    pub fn set_exit_stress(&self, seed: u64) {
        // SAFETY: P1.
        unsafe { (*self.enter().st).exit_stress = ExitStress::new(seed) }
    }
}
