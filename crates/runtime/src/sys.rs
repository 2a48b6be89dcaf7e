//! Functions of the C library that Rust's library lacks: processor time, calendar time, time zones.

use std::ffi::CString;

/// Returns the processor time of the process in seconds (C's `clock`).
pub fn processor_time() -> f64 {
    // SAFETY: no preconditions; the structure is written before it is read.
    unsafe {
        let mut t = std::mem::zeroed::<libc::timespec>();
        if libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut t) != 0 {
            return 0.0;
        }
        // C's `clock` counts whole microseconds.
        (t.tv_sec as f64 * 1e6 + (t.tv_nsec / 1000) as f64) / 1e6
    }
}

/// Returns the processor time of the thread in nanoseconds.
pub fn thread_time() -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a live structure; an unknown clock leaves it as it is.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// A calendar time (C's `struct tm`).
#[derive(Clone, Copy)]
pub struct Calendar(libc::tm);

/// The fields that a program may set; as in C, `year` counts from 1900 and `month` from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Fields {
    pub year: i32,
    pub month: i32,
    pub day: i32,
    pub hour: i32,
    pub min: i32,
    pub sec: i32,
    /// Returns the day of the year, from 0.
    pub yday: i32,
    /// Returns the day of the week; Sunday is 0.
    pub wday: i32,
    /// Returns whether daylight saving time is in effect; negative if unknown.
    pub isdst: i32,
}

impl Calendar {
    /// Converts seconds since the epoch to universal or local time; `None` when the year does not
    /// fit.
    pub fn of(seconds: i64, universal: bool) -> Option<Calendar> {
        // SAFETY: both functions write the structure that they are given, or return null.
        unsafe {
            let mut tm = std::mem::zeroed::<libc::tm>();
            let r = if universal {
                libc::gmtime_r(&raw const seconds, &raw mut tm)
            } else {
                libc::localtime_r(&raw const seconds, &raw mut tm)
            };
            (!r.is_null()).then_some(Calendar(tm))
        }
    }

    /// Makes a local time from fields that need not be in range. Returns the seconds since the
    /// epoch and the normalized time; `None` if they cannot be represented.
    pub fn normalize(f: Fields) -> Option<(i64, Calendar)> {
        // SAFETY: `mktime` reads and writes the structure only; zeroes are valid for the rest of
        // it.
        unsafe {
            let mut tm = std::mem::zeroed::<libc::tm>();
            tm.tm_year = f.year;
            tm.tm_mon = f.month;
            tm.tm_mday = f.day;
            tm.tm_hour = f.hour;
            tm.tm_min = f.min;
            tm.tm_sec = f.sec;
            tm.tm_isdst = f.isdst;
            let t = libc::mktime(&raw mut tm);
            (t != -1).then_some((t, Calendar(tm)))
        }
    }

    /// Returns the fields.
    pub fn fields(&self) -> Fields {
        Fields {
            year: self.0.tm_year,
            month: self.0.tm_mon,
            day: self.0.tm_mday,
            hour: self.0.tm_hour,
            min: self.0.tm_min,
            sec: self.0.tm_sec,
            yday: self.0.tm_yday,
            wday: self.0.tm_wday,
            isdst: self.0.tm_isdst,
        }
    }

    /// Appends one conversion, such as `%Y` or `%Ey` (C's `strftime`).
    pub fn format(&self, out: &mut Vec<u8>, conversion: &[u8]) {
        let Ok(c) = CString::new(conversion) else { return };
        let mut text = [0u8; 250];
        // SAFETY: the buffer's size is given; both strings end with a zero.
        let n = unsafe {
            libc::strftime(text.as_mut_ptr().cast(), text.len(), c.as_ptr(), &raw const self.0)
        };
        out.extend_from_slice(&text[..n]);
    }
}

/// Returns the lowest address and the size in bytes of the calling thread's native stack; zero if
/// unknown.
#[cfg(target_os = "linux")]
pub fn native_stack() -> (usize, usize) {
    initial_stack().unwrap_or_else(asked_stack)
}

/// Returns the same for the initial thread of the process, or `None` for another thread or an
/// unusual stack.
///
/// The C library would read `/proc/self/maps`, which takes about as long as much of the rest of
/// starting a process.
#[cfg(target_os = "linux")]
fn initial_stack() -> Option<(usize, usize)> {
    /// The kernel leaves at least this much address space for a stack that grows.
    const GAP: usize = 64 << 20;
    /// Alignment of both ends; larger than what the kernel puts above the name.
    const ALIGN: usize = 1 << 16;
    // SAFETY: no preconditions; the structure is written before it is read.
    unsafe {
        if libc::syscall(libc::SYS_gettid) != libc::c_long::from(libc::getpid()) {
            return None;
        }
        let mut limit = std::mem::zeroed::<libc::rlimit>();
        if libc::getrlimit(libc::RLIMIT_STACK, &raw mut limit) != 0 {
            return None;
        }
        let size = usize::try_from(limit.rlim_cur).ok().filter(|size| *size <= GAP)?;
        // The name of the program is the first item that the kernel puts on the stack.
        let end = libc::getauxval(libc::AT_EXECFN) as usize;
        let top = end & !(ALIGN - 1);
        let here = 0u8;
        let used = top.checked_sub((&raw const here).addr())?;
        let size = size.checked_sub(2 * ALIGN)? & !(ALIGN - 1);
        (used < size / 2).then_some((top - size, end - (top - size)))
    }
}

/// Returns the same for any thread, as the C library reports it.
#[cfg(target_os = "linux")]
fn asked_stack() -> (usize, usize) {
    // SAFETY: the attributes are initialized by the call that requests them, read, and destroyed
    // once.
    unsafe {
        let mut attributes = std::mem::zeroed::<libc::pthread_attr_t>();
        if libc::pthread_getattr_np(libc::pthread_self(), &raw mut attributes) != 0 {
            return (0, 0);
        }
        let mut low = std::ptr::null_mut();
        let mut size = 0;
        let r = libc::pthread_attr_getstack(&raw const attributes, &raw mut low, &raw mut size);
        libc::pthread_attr_destroy(&raw mut attributes);
        if r == 0 { (low.addr(), size) } else { (0, 0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    #[cfg_attr(miri, ignore = "calls the C library")]
    fn stack_of_another_thread() {
        let here = 0u8;
        assert!(initial_stack().is_none(), "tests run on threads of their own");
        let (low, size) = native_stack();
        assert!((low..low + size).contains(&(&raw const here).addr()));
    }

    #[test]
    #[cfg_attr(miri, ignore = "calls the C library")]
    fn calendar() {
        let c = Calendar::of(86_400 * 365, true).unwrap();
        assert_eq!((c.fields().year, c.fields().month, c.fields().day), (71, 0, 1));
        let mut out = Vec::new();
        c.format(&mut out, b"%Y");
        assert_eq!(out, b"1971");
        assert!(Calendar::of(i64::MAX, true).is_none());
        let (t, n) = Calendar::normalize(Fields { month: 13, ..c.fields() }).unwrap();
        assert_eq!(n.fields().year, 72);
        assert!(t > 0 && processor_time() >= 0.0);
    }
}
