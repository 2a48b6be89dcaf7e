//! Warnings that the host receives (manual 6.1, `warn`).

use super::{Cx, Raised};

impl Cx {
    /// Returns whether the host receives warnings.
    pub fn has_warning_receiver(&self) -> bool {
        // SAFETY: N1.
        unsafe { (*self.state()).warn.is_some() }
    }

    /// Passes a warning, which has at least one part, to the host. Returns false if the host does
    /// not receive warnings.
    ///
    /// # Errors
    /// Returns the error that the host raises.
    pub fn warn_host(&self, parts: &[&[u8]]) -> Result<bool, Raised> {
        // SAFETY: N1; the receiver may use the state, as the frame of this function is on top.
        unsafe {
            let st = self.state();
            let Some(receiver) = (*st).warn else { return Ok(false) };
            receiver(st, parts)?;
        }
        Ok(true)
    }
}
