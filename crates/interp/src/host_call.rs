//! Operations of the host on coroutines, which need not be inside a call of a function.

use perilune_runtime::native::Raised;
use perilune_runtime::state::State;
use perilune_runtime::thread::Thread;

use crate::unwound::leave_tier;
use crate::{coroutine, machine};

/// An operation of the host that runs Lua code and is not inside a call.
///
/// Such an operation must do what [the outermost call](crate::call) does: limit the use of the
/// native stack of this thread, which need not be the one of the previous call, and enter the
/// compiler's protocol, without which the code that runs may be freed.
struct HostCall {
    st: *mut State,
}

impl HostCall {
    /// # Safety
    /// I2; the value is dropped before the state is used by other code of the host.
    unsafe fn begin(st: *mut State) -> HostCall {
        machine::measure(st);
        if let Some(tier) = &mut (*st).tier {
            tier.enter();
        }
        HostCall { st }
    }
}

impl Drop for HostCall {
    fn drop(&mut self) {
        // SAFETY: the operation has ended, and `begin` has entered the tier.
        unsafe { leave_tier(self.st) }
    }
}

/// Implements `Vm::resume`.
///
/// # Safety
/// As [`coroutine::resume`].
pub(crate) unsafe fn resume(
    st: *mut State,
    co: *mut Thread,
    nargs: usize,
) -> Result<usize, Raised> {
    let _host_call = ((*st).native_depth == 0).then(|| HostCall::begin(st));
    coroutine::resume(st, co, nargs)
}

/// Implements `Vm::close`.
///
/// # Safety
/// As [`coroutine::close`].
pub(crate) unsafe fn close(st: *mut State, co: *mut Thread) -> Result<(), Raised> {
    let _host_call = ((*st).native_depth == 0).then(|| HostCall::begin(st));
    coroutine::close(st, co)
}
