//! Loading chunks, and dumping functions as binary chunks.

use super::{Cx, Func, Val};
use crate::load::LoadError;
use crate::state::State;
use crate::value::Value;

impl Cx {
    /// Compiles a chunk, text or binary, to a function with `env` (default: the globals) as its
    /// first upvalue.
    ///
    /// # Errors
    /// Returns the message of the syntax error or of the rejected mode.
    pub fn load(
        &self,
        source: &[u8],
        name: &[u8],
        mode: &[u8],
        env: Option<Val<'_>>,
    ) -> Result<Val<'_>, Vec<u8>> {
        self.try_load(source, name, mode, env).map_err(|e| e.message)
    }

    /// Like [`Cx::load`]; the error tells the reason.
    ///
    /// # Errors
    /// As for [`Cx::load`].
    pub fn try_load(
        &self,
        source: &[u8],
        name: &[u8],
        mode: &[u8],
        env: Option<Val<'_>>,
    ) -> Result<Val<'_>, LoadError> {
        // SAFETY: N1.
        unsafe {
            State::load(self.state(), source, name, mode, env.map(Val::raw))
                .map(|f| Val::new(Value::function(f)))
        }
    }

    /// Makes a function of a compiled chunk, with `env`, or else the globals, as its first upvalue.
    /// Returns `None` if there is no memory for it.
    ///
    /// # Safety
    /// `proto` is verified, and belongs to the state's engine.
    pub unsafe fn instantiate(
        &self,
        proto: &std::sync::Arc<perilune_bytecode::Proto>,
        env: Option<Val<'_>>,
    ) -> Option<Val<'_>> {
        // SAFETY: N1.
        unsafe {
            let env = env.map_or_else(|| (*self.state()).environment(), Val::raw);
            let closure = State::instantiate(self.state(), proto.clone(), env);
            // After a failed allocation, constants may be the wrong strings.
            let failed = closure.is_null() || (*self.state()).heap.has_failed();
            (!failed).then(|| Val::new(Value::function(closure)))
        }
    }

    /// Returns true if [`Cx::load`] with `mode` certainly rejects every chunk that starts with
    /// `text`, with the same error. False means that this is not known.
    pub fn is_hopeless(&self, text: &[u8], mode: &[u8]) -> bool {
        // SAFETY: N1.
        let (depth, watch) = unsafe { ((*self.state()).native_depth, State::watch(self.state())) };
        match text.first() {
            None => false,
            Some(0x1B) => !mode.contains(&b'b'),
            Some(_) => !mode.contains(&b't') || perilune_syntax::is_hopeless(text, depth, &watch),
        }
    }

    /// Like [`Cx::is_hopeless`], for a text that grows until it is known to be. The text is only
    /// checked if its size has doubled since the check before, of `checked` bytes, so that the
    /// checks take no longer than loading it.
    pub fn has_become_hopeless(&self, text: &[u8], mode: &[u8], checked: &mut usize) -> bool {
        if text.len() < 2 * *checked {
            return false;
        }
        *checked = text.len();
        self.is_hopeless(text, mode)
    }

    /// Returns the binary chunk of a Lua function; `None` for a native one.
    pub fn dump(&self, f: Func<'_>, strip: bool) -> Option<Vec<u8>> {
        if f.is_native() {
            return None;
        }
        // SAFETY: N2; the instance of a closure lives at least as long as the closure.
        unsafe {
            let instance = (*f.val().raw().as_function()).instance;
            Some(perilune_bytecode::dump(&(*instance).proto, strip))
        }
    }
}
