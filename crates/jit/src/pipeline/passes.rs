//! Returns memory to the system: the program text of Cranelift's finished passes before the next
//! pass, if the process would otherwise grow, and freed memory when nothing is left to compile.

use std::any::Any;
use std::cell::Cell;
use std::time::{Duration, Instant};

use cranelift_codegen::timing::{Pass, Profiler, set_thread_profiler};
use perilune_runtime::resident;

/// The minimum number of Cranelift IR instructions of a large function. Releasing program text
/// during the compile of a large function lowers the peak; for smaller functions it makes no
/// difference.
const LARGE: usize = 1500;
/// The bytes that the register allocator touches for each instruction.
const BY_ALLOCATOR: usize = 512;
/// The bytes of text that the register allocator and later passes execute.
const TEXT: usize = 2 << 20;
/// How long text stays resident while smaller functions are compiled. Faulting it in again takes a
/// few tenths of a millisecond.
const STAY: Duration = Duration::from_millis(100);

thread_local! {
    /// The last time that this thread returned text to the system for a function of any size.
    static LAST: Cell<Option<Instant>> = const { Cell::new(None) };
    /// Whether text has been released since the current compile began, or in the last compile.
    static IS_RELEASED: Cell<bool> = const { Cell::new(true) };
    /// Whether the last compile has left its text resident.
    static IS_WARM: Cell<bool> = const { Cell::new(false) };
}

/// Releases the program text.
fn release_text() {
    IS_RELEASED.set(true);
    IS_WARM.set(false);
    resident::release_text();
}

/// Implements Cranelift's profiler interface in order to be called at each pass on this thread. It
/// does no profiling.
struct Passes {
    instructions: usize,
    /// The peak of the process's resident bytes.
    peak: usize,
}

impl Profiler for Passes {
    /// Releases text before the register allocator, which takes the most memory of all passes, if
    /// the allocator would raise the peak.
    fn start_pass(&self, pass: Pass) -> Box<dyn Any> {
        if pass == Pass::regalloc {
            let text = if IS_WARM.get() { 0 } else { TEXT };
            let room = self.instructions * BY_ALLOCATOR + text;
            if !resident::has_at_most(self.peak.saturating_sub(room)) {
                release_text();
            }
        }
        Box::new(())
    }
}

/// Calls `compile`, which compiles a function with this number of Cranelift IR instructions. If the
/// process would otherwise grow, releases text if the function is large or if the thread has not
/// done so for a while. The first time, this includes the text that was executed to start the
/// program.
pub(super) fn watched<R>(instructions: usize, compile: impl FnOnce() -> R) -> R {
    IS_RELEASED.set(false);
    let result = watching(instructions, compile);
    IS_WARM.set(!IS_RELEASED.get());
    result
}

fn watching<R>(instructions: usize, compile: impl FnOnce() -> R) -> R {
    /// Restores the previous profiler of the thread.
    struct Restore(Option<Box<dyn Profiler>>);
    impl Drop for Restore {
        fn drop(&mut self) {
            self.0.take().map(set_thread_profiler);
        }
    }
    let is_due = LAST.get().is_none_or(|last| last.elapsed() >= STAY);
    if !is_due && instructions < LARGE {
        return compile();
    }
    let Some(peak) = resident::peak_to_keep() else { return compile() };
    if is_due {
        LAST.set(Some(Instant::now()));
    }
    let passes = Box::new(Passes { instructions, peak });
    let _restore = Restore(Some(set_thread_profiler(passes)));
    compile()
}

/// Returns text and freed memory to the system, because no job is left.
pub(super) fn rest() {
    if resident::may_release_text() {
        release_text();
        resident::release_freed_memory();
    }
}
