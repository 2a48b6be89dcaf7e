//! What happens between the passes of Cranelift: the text of those that are over is given back.

use std::any::Any;

use cranelift_codegen::timing::{Pass, Profiler, set_thread_profiler};
use perilune_runtime::resident;

/// The number of instructions of Cranelift IR from which on a function is large. Compiling it takes
/// about as much memory as there is text to give back.
const LARGE: usize = 2000;

/// Is told of each pass of this thread, in place of a profiler.
struct Passes;

impl Profiler for Passes {
    /// Gives text back before the two passes that need the most memory.
    fn start_pass(&self, pass: Pass) -> Box<dyn Any> {
        if matches!(pass, Pass::regalloc | Pass::vcode_emit) {
            resident::give_text_back();
        }
        Box::new(())
    }
}

/// Calls `compile`, which compiles a function of so many instructions of Cranelift IR.
pub(super) fn watched<R>(instructions: usize, compile: impl FnOnce() -> R) -> R {
    /// The profiler of the thread before.
    struct Restore(Option<Box<dyn Profiler>>);
    impl Drop for Restore {
        fn drop(&mut self) {
            self.0.take().map(set_thread_profiler);
        }
    }
    if instructions < LARGE || !resident::may_give_text_back() {
        return compile();
    }
    let _restore = Restore(Some(set_thread_profiler(Box::new(Passes))));
    compile()
}
