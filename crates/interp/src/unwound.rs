//! Making a state usable again after a panic of a native function.

use perilune_runtime::frame::flags;
use perilune_runtime::state::{State, StateRef};
use perilune_runtime::thread::{Status, Thread};
use perilune_runtime::value::Value;

/// A call from native code that is under way. Dropped, by unwinding, it puts the state back to what
/// it was before the call: frames above are gone, their variables closed without their `__close`
/// being called; coroutines that were running are dead.
pub(crate) struct Unwound {
    st: *mut State,
    thread: *mut Thread,
    base: isize,
    callee: isize,
    depth: u32,
    non_yieldable: u32,
    flags: u16,
}

impl Unwound {
    /// Before a call of `callee`.
    ///
    /// # Safety
    /// I2; the value is dropped or forgotten before the frame on top is left.
    #[inline(always)]
    pub(crate) unsafe fn before(st: *mut State, callee: *mut Value, flags: u16) -> Unwound {
        let thread = (*st).thread;
        Unwound {
            st,
            thread,
            base: (*st).base.offset_from((*thread).stack),
            callee: callee.offset_from((*thread).stack),
            depth: (*st).native_depth,
            non_yieldable: (*thread).non_yieldable,
            flags,
        }
    }

    #[cold]
    unsafe fn restore(&mut self) {
        let mut s = StateRef::new(self.st);
        while s.thread != self.thread {
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
        let th = self.thread;
        let callee = (*th).stack.offset(self.callee);
        s.close_upvalues(callee);
        (&mut (*th).to_close).retain(|&slot| (slot as isize) < self.callee);
        (&mut (*th).returning).retain(|&(base, _)| (base as isize) < self.callee);
        s.base = (*th).stack.offset(self.base);
        s.top = callee;
        s.native_depth = self.depth;
        (*th).non_yieldable = self.non_yieldable;
        s.raised_at = None;
        s.error_handled = false;
        if self.flags & flags::HOOK != 0
            && let Some(hook) = (*th).hook.as_mut()
        {
            hook.active = false;
        }
        if self.flags & flags::FINALIZER != 0 {
            s.finalizer_unwound();
        }
        s.sync_hook();
        if self.depth == 0
            && let Some(tier) = &mut s.tier
        {
            tier.leave();
        }
    }
}

impl Drop for Unwound {
    fn drop(&mut self) {
        // SAFETY: I2 held where the call began, and all frames above are being unwound; the stack
        // may have moved, so places in it are offsets.
        unsafe { self.restore() }
    }
}
