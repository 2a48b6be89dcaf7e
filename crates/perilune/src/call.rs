//! Calls with a message handler.

use perilune_runtime::frame::{Frame, flags};
use perilune_runtime::native::{Cx, Val};

/// Calls the function pushed with [`Cx::push_callee`], like [`Cx::call_protected`], with the last
/// `nargs` values as arguments and value 0 of the stack as the message handler. Returns the number
/// of results, which are on top of the stack. The handler is called at the point where the error is
/// raised, and its result replaces the error (`lua_pcall`, manual 4.6).
///
/// # Errors
/// Returns an error when the function failed; the handler's result is then on top of the stack.
///
/// # Panics
/// Panics when there is no value 0 below the function.
#[allow(clippy::result_unit_err)] // the error is a value on the stack
pub fn call_with_handler(cx: &mut Cx, nargs: usize) -> Result<usize, ()> {
    assert!(cx.top() >= nargs + 3);
    let bits = flags::PROTECTED | flags::HANDLER;
    let kept = cx.top() - nargs - 2;
    // SAFETY: N1: the frame of this function is on top. A call from native code enters a boundary
    // frame, and errors do not propagate beyond it to a protected frame, so the flags only make the
    // handler known.
    unsafe { Frame((*cx.state()).base).add_flags(bits) };
    let mut r = cx.call_handled(nargs);
    // SAFETY: N1: the frame is on top again.
    let handled = unsafe {
        Frame((*cx.state()).base).clear_flags(bits);
        (*cx.state()).error_handled
    };
    if r.is_err() && !handled {
        // the call failed before its frame existed
        cx.push_callee(cx.get(0));
        cx.push(cx.get(kept));
        r = cx.call_protected(1).map_or(Err(()), |n| {
            cx.set(kept, if n > 0 { cx.get(cx.top() - n) } else { Val::NIL });
            cx.set_top(kept + 1);
            Err(())
        });
    }
    r
}
