//! Provides native stack for compiling on the thread that runs the program.

use std::cell::Cell;

/// The bytes of stack that the compiler may need.
const NEEDED: usize = 512 << 10;

thread_local! {
    /// The lowest address of this thread's stack, once it is known.
    static LOW: Cell<usize> = const { Cell::new(0) };
}

/// Runs `compile`, on a new thread if this one has little stack left.
pub(crate) fn with_room(compile: impl FnOnce() + Send) {
    #[cfg(target_os = "linux")]
    if LOW.get() == 0 {
        LOW.set(perilune_runtime::sys::native_stack().0);
    }
    let here = 0u8;
    if (&raw const here).addr().wrapping_sub(LOW.get()) >= NEEDED {
        return compile();
    }
    std::thread::scope(|scope| {
        // if the thread cannot be started, the method stays uncompiled
        let _ = std::thread::Builder::new().spawn_scoped(scope, compile);
    });
}
