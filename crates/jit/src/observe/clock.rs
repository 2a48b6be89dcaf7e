//! Clocks of the system.

/// Returns the processor time of this thread, in nanoseconds.
pub(crate) fn thread_time() -> u64 {
    time(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Returns the processor time of all threads of the process, in nanoseconds.
pub(crate) fn process_time() -> u64 {
    time(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// Returns the time since the system started, in nanoseconds, as `perf` counts it.
pub(super) fn monotonic_time() -> u64 {
    time(libc::CLOCK_MONOTONIC)
}

fn time(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a live timespec; an unknown clock leaves it as it is.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
