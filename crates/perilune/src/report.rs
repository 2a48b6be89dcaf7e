//! A report on the machine code when the process exits.

use std::sync::Once;

use perilune_code::fork;
use perilune_code::lock::{Mutex, lock};

use crate::Engine;

/// The engine to report on.
static DUE: Mutex<Option<Engine>> = Mutex::new(None);
static HANDLER: Once = Once::new();

/// Writes [`Engine::jit_report`] to standard error when the process exits, including by `os.exit`,
/// unless [`report_now`] has already done so. Intended for commands.
pub fn report_at_exit(engine: &Engine) {
    *lock(&DUE) = Some(engine.clone());
    let _inside = fork::enter();
    // SAFETY: the handler is an ordinary function that does not unwind.
    HANDLER.call_once(|| unsafe {
        libc::atexit(at_exit);
    });
}

/// Writes the pending report.
pub fn report_now() {
    let engine = lock(&DUE).take();
    if let Some(engine) = engine {
        perilune_stdlib::io::write_error(engine.jit_report().as_bytes());
    }
}

extern "C" fn at_exit() {
    // A panic cannot be reported at this point.
    let _ = std::panic::catch_unwind(report_now);
}
