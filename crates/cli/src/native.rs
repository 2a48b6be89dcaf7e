//! Access to the state in the form in which native functions receive it.

use perilune::Lua;
use perilune::native::Cx;

/// Runs `f` with the state, and removes the values that `f` leaves on the stack. Nothing else may
/// use the state meanwhile.
pub(crate) fn with_cx<R>(lua: &Lua, f: impl FnOnce(&mut Cx) -> R) -> R {
    // SAFETY: the command has only one state, so it has no values of other states, and it does not
    // inspect the running native function.
    unsafe { lua.with(f) }
}
