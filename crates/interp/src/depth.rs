//! The nesting depth of calls from native code.

use perilune_runtime::debug;
use perilune_runtime::native::Raised;
use perilune_runtime::state::{State, StateRef};
use perilune_runtime::tier::MAX_NATIVE_DEPTH;

use crate::handler::call_handler;
use crate::machine;

/// The maximum number of nested entries while an overflow is being handled.
const MAX_HANDLING: u32 = (MAX_NATIVE_DEPTH + 1) / 10 * 11 - 1;

/// Raises "C stack overflow". Deep inside the handling of such an error, raises an error without
/// calling a handler.
///
/// # Safety
/// I2.
#[cold]
pub(crate) unsafe fn depth_error(st: *mut State) -> Result<(), Raised> {
    let mut s = StateRef::new(st);
    if !machine::has_reserve(st) {
        // there is no room for a handler
        let e = debug::runtime_error(st, b"C stack overflow");
        s.error_handled = true;
        return Err(e);
    }
    if s.native_depth == MAX_NATIVE_DEPTH {
        s.native_depth += 1;
        let e = debug::runtime_error(st, b"C stack overflow");
        // the handler uses the room above the limit
        let _ = call_handler(st);
        s.native_depth -= 1;
        Err(e)
    } else if s.native_depth >= MAX_HANDLING {
        Err(State::raise_in_handler(st))
    } else {
        Ok(())
    }
}
