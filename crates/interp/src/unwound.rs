//! Makes a state usable again after a panic of a native function.

use perilune_runtime::frame::flags;
use perilune_runtime::state::{State, StateRef};
use perilune_runtime::thread::{Status, Thread};
use perilune_runtime::value::Value;

/// The data that a call from native code restores when it ends.
#[derive(Clone, Copy)]
pub(crate) struct Before {
    /// The coroutine that calls.
    pub(crate) thread: *mut Thread,
    /// The base of the calling frame, as an offset in the stack.
    pub(crate) base: isize,
    /// The place of the callee, as an offset in the stack.
    pub(crate) callee: isize,
    /// `State::native_depth`.
    pub(crate) depth: u32,
    /// The coroutine's `non_yieldable`.
    pub(crate) non_yieldable: u32,
    /// Further flags of the callee's frame.
    pub(crate) flags: u16,
}

impl Before {
    /// Records the state before a call of `callee`.
    ///
    /// # Safety
    /// I2.
    #[inline(always)]
    pub(crate) unsafe fn call(st: *mut State, callee: *mut Value, flags: u16) -> Before {
        let thread = (*st).thread;
        Before {
            thread,
            base: (*st).base.offset_from((*thread).stack),
            callee: callee.offset_from((*thread).stack),
            depth: (*st).native_depth,
            non_yieldable: (*thread).non_yieldable,
            flags,
        }
    }

    /// Begins the call.
    ///
    /// # Safety
    /// I2.
    #[inline(always)]
    pub(crate) unsafe fn begin(self, st: *mut State, yields: bool) {
        (*st).native_depth = self.depth + 1;
        (*self.thread).non_yieldable = self.non_yieldable + u32::from(!yields);
    }

    /// Ends the call: restores the depth.
    ///
    /// # Safety
    /// I2; the same coroutine runs.
    #[inline(always)]
    pub(crate) unsafe fn end(self, st: *mut State) {
        (*self.thread).non_yieldable = self.non_yieldable;
        (*st).native_depth = self.depth;
        if self.depth == 0 {
            leave_tier(st);
        }
    }

    /// Returns a guard that restores the state if the call unwinds.
    ///
    /// # Safety
    /// I2; the value is dropped or forgotten before the frame that calls is left.
    #[inline(always)]
    pub(crate) unsafe fn unless_unwound(self, st: *mut State) -> Unwound {
        Unwound { st, before: self }
    }
}

/// Notifies the compiler that the host's call has ended.
///
/// # Safety
/// I2; the call has entered the tier.
pub(crate) unsafe fn leave_tier(st: *mut State) {
    if let Some(tier) = &mut (*st).tier {
        tier.leave();
    }
}

/// A call from native code that is in progress. If it is dropped by unwinding, it restores the
/// state before the call: frames above are removed, and their variables are closed without calling
/// `__close`; coroutines that were running are dead.
pub(crate) struct Unwound {
    st: *mut State,
    pub(crate) before: Before,
}

impl Unwound {
    #[cold]
    unsafe fn restore(&mut self) {
        let mut s = StateRef::new(self.st);
        let before = self.before;
        while s.thread != before.thread {
            let co = s.thread;
            s.close_upvalues((*co).stack);
            (*co).has_bottom = false;
            s.base = (*co).stack;
            s.top = (*co).stack;
            Thread::save_registers(self.st);
            (&mut (*co).to_close).clear();
            (&mut (*co).returning).clear();
            (*co).status = Status::Dead;
            let from = std::mem::replace(&mut (*co).resumer, std::ptr::null_mut());
            Thread::load_registers(self.st, from);
            (*from).status = Status::Running;
            s.barrier(from.cast());
        }
        let th = before.thread;
        let callee = (*th).stack.offset(before.callee);
        s.close_upvalues(callee);
        (&mut (*th).to_close).retain(|&slot| (slot as isize) < before.callee);
        (&mut (*th).returning).retain(|&(base, _)| (base as isize) < before.callee);
        s.base = (*th).stack.offset(before.base);
        s.top = callee;
        s.raised_at = None;
        s.error_handled = false;
        if before.flags & flags::FINALIZER != 0 {
            s.finalizer_unwound();
        }
        s.sync_hook();
        before.end(self.st);
    }
}

impl Drop for Unwound {
    fn drop(&mut self) {
        // SAFETY: I2 held where the call began, and all frames above are being unwound; the stack
        // may have moved, so places in it are offsets.
        unsafe { self.restore() }
    }
}
