//! What happens between the passes of Cranelift: the text of those that are over is given back, if
//! the process would grow otherwise.

use std::any::Any;
use std::cell::Cell;
use std::time::{Duration, Instant};

use cranelift_codegen::timing::{Pass, Profiler, set_thread_profiler};
use perilune_runtime::resident;

/// The number of instructions of Cranelift IR from which on a function is large: giving text back
/// while it is compiled lowers the peak. With smaller functions it makes no difference.
const LARGE: usize = 600;
/// The bytes that the register allocator touches for an instruction, and other passes.
const BY_ALLOCATOR: usize = 512;
const BY_OTHERS: usize = 256;
/// The bytes of text that the register allocator and what follows it execute.
const TEXT: usize = 2 << 20;
/// How long text and freed memory stay resident while smaller functions are compiled. Getting them
/// again takes a few tenths of a millisecond.
const STAY: Duration = Duration::from_millis(100);

thread_local! {
    /// When this thread gave freed memory back.
    static LAST: Cell<Option<Instant>> = const { Cell::new(None) };
    /// Text has been given back since the current compile began, or the last one.
    static IS_GIVEN: Cell<bool> = const { Cell::new(true) };
    /// The last compile has left its text resident.
    static IS_WARM: Cell<bool> = const { Cell::new(false) };
}

/// Gives text back.
fn give_text_back() {
    IS_GIVEN.set(true);
    IS_WARM.set(false);
    resident::give_text_back();
}

/// Is told of each pass of this thread, in place of a profiler.
struct Passes {
    instructions: usize,
    /// The most resident bytes that the process has had.
    peak: usize,
    /// Whether the function is large.
    is_large: bool,
    /// Whether freed memory is to be given back, too.
    is_due: bool,
}

impl Profiler for Passes {
    /// Gives memory back before the register allocator, which takes the most, and in large
    /// functions also text before other passes that execute much: if the pass would raise the peak.
    fn start_pass(&self, pass: Pass) -> Box<dyn Any> {
        let grows_by = match pass {
            Pass::regalloc => BY_ALLOCATOR,
            Pass::vcode_lower | Pass::vcode_emit if self.is_large => BY_OTHERS,
            _ => return Box::new(()),
        };
        let text = if IS_WARM.get() { 0 } else { TEXT };
        let room = self.instructions * grows_by + text;
        if resident::has_at_most(self.peak.saturating_sub(room)) {
            return Box::new(());
        }
        give_text_back();
        if pass == Pass::regalloc && self.is_due {
            resident::give_freed_memory_back();
        }
        Box::new(())
    }
}

/// Calls `compile`, which compiles a function of so many instructions of Cranelift IR. If the
/// process would grow otherwise, gives text back if the function is large, and text and freed
/// memory if the thread has not done so for a while; the first time, what has been executed to
/// start the program is given back, too.
pub(super) fn watched<R>(instructions: usize, compile: impl FnOnce() -> R) -> R {
    IS_GIVEN.set(false);
    let result = watching(instructions, compile);
    IS_WARM.set(!IS_GIVEN.get());
    result
}

fn watching<R>(instructions: usize, compile: impl FnOnce() -> R) -> R {
    /// The profiler of the thread before.
    struct Restore(Option<Box<dyn Profiler>>);
    impl Drop for Restore {
        fn drop(&mut self) {
            self.0.take().map(set_thread_profiler);
        }
    }
    let is_due = LAST.get().is_none_or(|last| last.elapsed() >= STAY);
    let is_large = instructions >= LARGE;
    if !is_due && !is_large {
        return compile();
    }
    let Some(peak) = resident::peak_to_keep() else { return compile() };
    if is_due {
        LAST.set(Some(Instant::now()));
    }
    let passes = Box::new(Passes { instructions, peak, is_large, is_due });
    let _restore = Restore(Some(set_thread_profiler(passes)));
    compile()
}

/// Gives text and freed memory back while there is nothing to compile.
pub(super) fn rest() {
    if resident::may_give_text_back() {
        give_text_back();
        resident::give_freed_memory_back();
    }
}
