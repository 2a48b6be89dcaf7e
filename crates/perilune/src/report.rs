//! A report on machine code when the process ends, however it ends.

use std::sync::{Mutex, Once, PoisonError};

use crate::Engine;

/// Whose report is due.
static DUE: Mutex<Option<Engine>> = Mutex::new(None);
static HANDLER: Once = Once::new();

/// Writes [`Engine::jit_report`] to the standard error when the process exits, `os.exit` included, unless [`report_now`] did before. For commands.
pub fn report_at_exit(engine: &Engine) {
    *DUE.lock().unwrap_or_else(PoisonError::into_inner) = Some(engine.clone());
    // SAFETY: the handler is an ordinary function that does not unwind.
    HANDLER.call_once(|| unsafe {
        libc::atexit(at_exit);
    });
}

/// Writes the report that is due.
pub fn report_now() {
    let engine = DUE.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(engine) = engine {
        perilune_stdlib::io::write_error(engine.jit_report().as_bytes());
    }
}

extern "C" fn at_exit() {
    // Nothing can be done about a panic here.
    let _ = std::panic::catch_unwind(report_now);
}
