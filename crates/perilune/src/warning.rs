//! Warnings (manual 6.1, `warn`).

use perilune_runtime::discard_panic;
use perilune_runtime::native::{Cx, Raised};
use perilune_runtime::state::State;

use crate::sync::XRc;
use crate::types::MaybeSend;
use crate::{Lua, Result};

impl Lua {
    /// Sets a function to which warnings are passed. Each message is passed as a whole, so the last
    /// argument of the function is always false. Control messages such as `@on` are passed as well.
    /// Errors and panics of the function are ignored.
    pub fn set_warning_function<F>(&self, callback: F)
    where
        F: Fn(&Lua, &str, bool) -> Result<()> + MaybeSend + 'static,
    {
        let entry = self.enter();
        self.control.warning.replace(Some(XRc::new(callback)));
        // SAFETY: P1.
        unsafe { (*entry.st).warn = Some(deliver) };
    }

    /// Sends warnings to standard error again, if they are on.
    pub fn remove_warning_function(&self) {
        let entry = self.enter();
        // SAFETY: P1.
        unsafe { (*entry.st).warn = None };
        self.control.warning.take();
    }

    /// Emits a warning. `incomplete` is accepted for compatibility with mlua and ignored: each call
    /// emits a whole message.
    pub fn warning(&self, message: impl AsRef<str>, incomplete: bool) {
        let _ = incomplete;
        let entry = self.enter();
        emit(entry.stack().cx(), message.as_ref().as_bytes());
    }
}

/// Emits a warning. An error of a function of C code that receives it is ignored.
pub(crate) fn emit(cx: &mut Cx, message: &[u8]) {
    let kept = cx.top();
    if perilune_stdlib::base::emit_warning(cx, message).is_err() {
        cx.recover(kept);
        cx.pop(1);
    }
}

/// Passes a warning to the host's function.
///
/// # Safety
/// The frame of a native function of the state is on top.
unsafe fn deliver(st: *mut State, parts: &[&[u8]]) -> std::result::Result<(), Raised> {
    // SAFETY: the state is alive, and the caller into it counts as an owner.
    let lua = unsafe { Lua::borrowed(st) };
    let Some(f) = lua.control.warning.borrow().clone() else { return Ok(()) };
    // SAFETY: the frame of a native function is on top.
    let cx = unsafe { Cx::from_state(st) };
    // the parts may be the same long string many times
    cx.check_room(parts.iter().map(|part| part.len()).sum())?;
    let before = lua.control.state.replace(st);
    let message = String::from_utf8_lossy(&parts.concat()).into_owned();
    // A panic must not cross the collector, which also emits warnings.
    let r = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| f(&lua, &message, false)));
    lua.control.state.set(before);
    if let Err(panic) = r {
        discard_panic(panic);
    }
    Ok(())
}
