//! Less resident memory for a command whose programs are small beside the compiler.
//!
//! Compiling executes megabytes of the compiler's text, one pass after the other, and all of it
//! stays resident. The system reads it again from its cache of the file when it is executed next,
//! so it can be given back between two passes: at the peak of a large compile only the text of the
//! current pass is resident then.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the program has asked for it.
static ON: AtomicBool = AtomicBool::new(false);

/// Prefers little resident memory, for the whole process: all threads allocate from one arena of
/// the C library, so that what compiling has freed serves the program, and the text of the program
/// is given back to the system while large functions are compiled. For commands, at their start.
pub fn save_memory() {
    ON.store(true, Ordering::Relaxed);
    // SAFETY: the function has no requirements.
    #[cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

/// Returns whether text may be given back now: not while the process is traced, as the breakpoints
/// of a debugger are changes of the text, which would be lost.
pub fn may_give_text_back() -> bool {
    ON.load(Ordering::Relaxed)
        && cfg!(all(target_os = "linux", not(miri)))
        && std::fs::read_to_string("/proc/self/status").is_ok_and(|status| {
            status.lines().any(|line| line.strip_prefix("TracerPid:").map(str::trim) == Some("0"))
        })
}

/// Gives the text and the constants of the program to the system, which reads them again from the
/// file where they are needed.
pub fn give_text_back() {
    #[cfg(target_os = "linux")]
    sys::give_text_back();
}

#[cfg(target_os = "linux")]
mod sys {
    use std::ptr::null_mut;

    pub(super) fn give_text_back() {
        // SAFETY: the callback fulfils the contract of the function, and uses no data.
        unsafe { libc::dl_iterate_phdr(Some(visit), null_mut()) };
    }

    /// Gives the segments that are never written back, if it is the object that contains this
    /// function. Returns whether it is, which ends the iteration.
    unsafe extern "C" fn visit(
        info: *mut libc::dl_phdr_info,
        _size: usize,
        _data: *mut libc::c_void,
    ) -> libc::c_int {
        let info = &*info;
        let headers = std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum));
        let loaded = headers.iter().filter(|header| header.p_type == libc::PT_LOAD);
        let segments = loaded.map(|header| {
            let start = (info.dlpi_addr + header.p_vaddr) as usize;
            (start, start + header.p_memsz as usize, header.p_flags)
        });
        let here = give_text_back as fn() as usize;
        if !segments.clone().any(|(start, end, _)| (start..end).contains(&here)) {
            return 0;
        }
        let page = libc::sysconf(libc::_SC_PAGESIZE) as usize;
        for (start, end, flags) in segments {
            // whole pages that belong to no other segment
            let (start, end) = (start.next_multiple_of(page), end / page * page);
            if flags & libc::PF_W == 0 && start < end {
                // The contents are those of the file: nothing has written to the pages, as they
                // have no relocations and no debugger has set breakpoints.
                libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_DONTNEED);
            }
        }
        1
    }
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    use super::*;

    /// Returns the resident kilobytes of the mapping that contains this function.
    fn resident_text() -> usize {
        let here = resident_text as fn() -> usize as usize;
        let maps = std::fs::read_to_string("/proc/self/smaps").expect("there are mappings");
        let mut lines = maps.lines();
        let contains = |line: &str| {
            let range = line.split(' ').next().and_then(|range| range.split_once('-'));
            let number = |text| usize::from_str_radix(text, 16).ok();
            range.is_some_and(|(start, end)| {
                number(start).is_some_and(|start| start <= here)
                    && number(end).is_some_and(|end| here < end)
            })
        };
        lines.find(|line| contains(line)).expect("it is mapped");
        let size = lines.find_map(|line| line.strip_prefix("Rss:")).expect("its size is known");
        size.trim().trim_end_matches(" kB").parse().expect("a number")
    }

    #[test]
    fn text_is_given_back_and_read_again() {
        // Other tests run, and read parts of it again.
        let falls = || {
            let before = resident_text();
            give_text_back();
            resident_text() < before
        };
        assert!((0..100).any(|_| falls()), "the text stays resident");
    }

    #[test]
    fn text_stays_unless_the_program_asks() {
        assert!(!may_give_text_back());
    }
}
