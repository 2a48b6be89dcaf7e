//! Reads the processor time of a thread from another thread.

use std::io::Write;
use std::mem::MaybeUninit;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// A script that has not stopped this long after it should have is assumed not to stop at all.
const PATIENCE: Duration = Duration::from_secs(60);

/// The clock of a thread's processor time.
#[derive(Clone, Copy)]
struct Clock(libc::clockid_t);

impl Clock {
    /// Returns the clock of this thread.
    fn of_this_thread() -> Clock {
        let mut id = MaybeUninit::uninit();
        // SAFETY: the thread is alive, and the id is written unless there is an error.
        let id = unsafe {
            assert_eq!(libc::pthread_getcpuclockid(libc::pthread_self(), id.as_mut_ptr()), 0);
            id.assume_init()
        };
        Clock(id)
    }

    /// Returns the time of the clock; its thread must be alive.
    fn now(self) -> Duration {
        let mut t = MaybeUninit::uninit();
        // SAFETY: the time is written unless there is an error.
        let t = unsafe {
            assert_eq!(libc::clock_gettime(self.0, t.as_mut_ptr()), 0);
            t.assume_init()
        };
        Duration::new(t.tv_sec as u64, t.tv_nsec as u32)
    }
}

/// Runs `f` and measures the processor time that it takes.
pub(crate) fn processor_time<R>(f: impl FnOnce() -> R) -> (R, Duration) {
    let clock = Clock::of_this_thread();
    let before = clock.now();
    let r = f();
    (r, clock.now() - before)
}

/// Runs `f`, and calls `stop` on another thread at `due`. Returns an upper bound of the processor
/// time that `f` took since then (the clock is read before that), or `None` if `f` ended before. If
/// `stops_here`, it is `stop` that stops `f`, so the time counts from the call. If `f` does not
/// stop, the process ends with `what` as the message.
pub(crate) fn overrun<R>(
    what: &str,
    due: Duration,
    stops_here: bool,
    stop: impl FnOnce() + Send,
    f: impl FnOnce() -> R,
) -> (R, Option<Duration>) {
    let clock = Clock::of_this_thread();
    let begun = Instant::now();
    let (done, is_done) = channel();
    thread::scope(|scope| {
        let watcher = scope.spawn(move || {
            let mut at_due = clock.now();
            while begun.elapsed() < due {
                at_due = clock.now();
                match is_done.recv_timeout(Duration::from_micros(200)) {
                    Err(RecvTimeoutError::Timeout) => {}
                    _ => return None,
                }
            }
            if stops_here {
                at_due = clock.now();
            }
            stop();
            if is_done.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                give_up(what);
            }
            Some(at_due)
        });
        let r = f();
        let end = clock.now();
        let _ = done.send(());
        let at_due = watcher.join().expect("the watcher does not panic");
        (r, at_due.map(|at_due| end.saturating_sub(at_due)))
    })
}

/// Runs `f`. If it takes longer than a script that should have ended may, the process ends with
/// `what` as the message.
pub(crate) fn within_patience<R>(what: &str, f: impl FnOnce() -> R) -> R {
    let (done, is_done) = channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            if is_done.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                give_up(what);
            }
        });
        let r = f();
        drop(done);
        r
    })
}

/// Ends the process, as a script does not end.
fn give_up(what: &str) -> ! {
    // not captured by the test, whose output would be lost
    let _ = writeln!(std::io::stderr(), "does not stop: {what}");
    std::process::abort();
}

fn memory(name: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("it is Linux");
    let line = status.lines().find(|l| l.starts_with(name)).expect("it is Linux");
    let kilobytes = line.split_whitespace().nth(1).and_then(|n| n.parse::<usize>().ok());
    kilobytes.expect("a number") * 1024
}

/// Resets [`peak`], and returns the resident memory of this process, without what the allocator
/// has kept of memory that was freed before.
pub(crate) fn reset_peak() -> usize {
    #[cfg(target_env = "gnu")]
    // SAFETY: the function has no requirements.
    unsafe {
        libc::malloc_trim(0);
    }
    std::fs::write("/proc/self/clear_refs", "5").expect("it is Linux");
    memory("VmRSS:")
}

/// Returns the largest resident memory of this process since [`reset_peak`].
pub(crate) fn peak() -> usize {
    memory("VmHWM:")
}
