//! The compiler, as a state calls it.

use std::ptr::null;
use std::sync::Arc;
use std::sync::atomic::AtomicPtr;

use perilune_bytecode::Proto;

use super::State;
use crate::chaos::Chaos;
use crate::instance::Instance;

/// A count at which the compiler is called, and then again at regular intervals.
///
/// The interval is the next power of two, so that a test is a mask and a comparison.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Threshold {
    pub(crate) mask: u32,
    pub(crate) phase: u32,
}

impl Threshold {
    /// A count that is reached only when a counter wraps.
    pub const NEVER: Threshold = Threshold { mask: u32::MAX, phase: 0 };

    /// Returns the threshold that is first reached at exactly `count`, or at 1 if that is 0.
    pub const fn at(count: u32) -> Threshold {
        let count = if count == 0 { 1 } else { count };
        let mask = match u32::MAX.checked_shr((count - 1).leading_zeros()) {
            Some(mask) => mask,
            None => 0,
        };
        Threshold { mask, phase: count & mask }
    }

    /// Returns the interval; 0 if it is that of a counter that wraps.
    pub const fn interval(self) -> u32 {
        self.mask.wrapping_add(1)
    }

    /// Returns whether a counter that is incremented by one reaches the threshold, or a multiple of
    /// the interval after it, with the value `count`.
    #[inline(always)]
    pub fn is_reached(self, count: u32) -> bool {
        count & self.mask == self.phase
    }
}

impl State {
    /// Discards the addresses of all stitched code in the state. Its functions run in the
    /// interpreter until [`Tier::stitch`] is called for them.
    ///
    /// # Safety
    /// `st` is alive and belongs to this thread, which is not in stitched code and will load the
    /// address from the instance before it enters some.
    pub unsafe fn forget_stitched(st: *mut State) {
        for &instance in (&(*st).heap).instances() {
            (*instance).stitched = null();
        }
    }
}

/// The requests that a state makes to the compiler.
pub trait Tier {
    /// Returns the slot of a function's method, if it has one already; it lives as long as the
    /// proto.
    fn slot(&mut self, proto: &Arc<Proto>) -> Option<*const AtomicPtr<u8>>;
    /// Handles a method that is entered often and has no code according to the instance. Sets the
    /// instance's slot to that of the method, and requests code for it.
    ///
    /// # Safety
    /// `inst` is a live instance of the state.
    unsafe fn hot_entry(&mut self, st: *mut State, inst: *mut Instance);
    /// Handles a loop of the method that has run many iterations; `pc` is where it continues.
    /// Returns the address of code that continues from there, or null.
    ///
    /// # Safety
    /// As for [`Tier::hot_entry`].
    unsafe fn hot_loop(&mut self, st: *mut State, inst: *mut Instance, pc: u32) -> *const u8;
    /// Sets [`Instance::stitched`] of an instance without stitched code, if there is memory for the
    /// code. Code that is not there yet is chosen by the feedback of this instance. If there is no
    /// memory, sets [`State::stitch_threshold`] such that functions without stitched code do not
    /// ask for it. The state has not entered stitched code since it called the runtime.
    ///
    /// # Safety
    /// As for [`Tier::hot_entry`].
    unsafe fn stitch(&mut self, st: *mut State, inst: *mut Instance);
    /// Announces the versions of code in use. Called when the poll word's QUIESCENCE bit is set.
    ///
    /// # Safety
    /// This is a safepoint of the state.
    unsafe fn announce(&mut self, st: *mut State);
    /// Returns whether the version with this code id was permanently removed from its slot, so that
    /// frames in it should continue elsewhere.
    fn is_retired(&mut self, code: u32) -> bool;
    /// Records that code of the version `code`, which runs the frame on top, has met cases that it
    /// was not compiled for, `misses` times ([`crate::tier::MISSES_PER_EXIT`]). `left` says that
    /// this time the code has exited to the interpreter.
    ///
    /// # Safety
    /// As for [`Tier::hot_entry`].
    unsafe fn missed(&mut self, st: *mut State, code: u32, misses: u32, left: bool);
    /// Records that the frame on top, a frame of machine code, is about to be deoptimized.
    ///
    /// # Safety
    /// As for [`Tier::hot_entry`].
    unsafe fn exited(&mut self, st: *mut State);
    /// Performs a random operation on code, in the mode `chaos`.
    ///
    /// # Safety
    /// This is a safepoint of the state.
    unsafe fn chaos(&mut self, st: *mut State, chaos: &mut Chaos);
    /// Records that the host enters the state, which it may already have entered.
    fn enter(&mut self);
    /// Records that the host leaves the state. Each call corresponds to one of [`Tier::enter`].
    fn leave(&mut self);
    /// Records that a native function is about to wait for something other than the state. Nothing
    /// accesses the state meanwhile.
    fn block(&mut self);
    /// Records that the native function continues.
    fn unblock(&mut self);
}

#[cfg(test)]
mod tests {
    use super::Threshold;

    #[test]
    fn thresholds_are_exact() {
        for count in (1..=70).chain([1000, 1024, 1 << 20]) {
            let threshold = Threshold::at(count);
            let first = (1..).find(|&n| threshold.is_reached(n));
            let again = (count + 1..).find(|&n| threshold.is_reached(n));
            assert_eq!(first, Some(count));
            assert_eq!(again, Some(count + count.next_power_of_two()));
        }
        assert!(Threshold::at(0).is_reached(1));
        for count in [u32::MAX, u32::MAX - 1, (1 << 31) + 1, 1 << 31] {
            let threshold = Threshold::at(count);
            assert!(threshold.is_reached(count) && !threshold.is_reached(count - 1));
            assert!(!threshold.is_reached(1));
        }
        assert!(!(1..1000).any(|n| Threshold::NEVER.is_reached(n)));
    }
}
