//! Controls which pages are resident: maps memory before it is written, and reduces the resident
//! memory of a command whose programs are small compared with the compiler.
//!
//! Compiling executes megabytes of the compiler's program text, one pass after the other, and all
//! of it stays resident. The system maps the text again from its file cache when it is executed the
//! next time, so it can be released between two passes: at the peak of a large compile, only the
//! text of the current pass is then resident. The same holds for the text and data used during
//! startup, most of which is a megabyte of the C library, and for the compiler while it is idle.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the program has called [`save_memory`].
static ON: AtomicBool = AtomicBool::new(false);

/// The largest number of resident bytes at which a process counts as small, so that some megabytes
/// are a considerable part of it.
const SMALL: usize = 40 << 20;

/// The text and the constants of the program and its libraries, as ranges of addresses. They are
/// determined at the start of the program, since libraries that it loads later may be unloaded.
static TEXT: OnceLock<Vec<(usize, usize)>> = OnceLock::new();

/// Reduces the resident memory of the whole process: the text of the program is returned to the
/// system while large functions are compiled, and freed memory while there is nothing to compile.
/// Commands call this when they start.
pub fn save_memory() {
    ON.store(true, Ordering::Relaxed);
    text();
}

/// Returns [`TEXT`].
fn text() -> &'static [(usize, usize)] {
    TEXT.get_or_init(|| {
        #[cfg(all(target_os = "linux", not(miri)))]
        return sys::find_text();
        #[cfg(not(all(target_os = "linux", not(miri))))]
        Vec::new()
    })
}

/// Returns whether program text should be returned to the system now. It should not be in a process
/// that is so large that this makes no difference, nor while the process is traced: the breakpoints
/// of a debugger are changes to the text, which would be lost.
pub fn may_release_text() -> bool {
    peak_to_keep().is_some()
}

/// Returns the largest number of bytes of the process that were resident at any time, if text [may
/// be returned](may_release_text) in order not to exceed it; 0 if the system does not provide it.
pub fn peak_to_keep() -> Option<usize> {
    if !ON.load(Ordering::Relaxed) || cfg!(any(not(target_os = "linux"), miri)) || !is_small() {
        return None;
    }
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let value = |key| status.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
    let kilobytes = value("VmHWM:").and_then(|peak| peak.strip_suffix(" kB")?.parse().ok());
    (value("TracerPid:") == Some("0")).then(|| kilobytes.unwrap_or(0) << 10)
}

/// Returns whether the process has so little resident memory that the memory for compiling matters.
pub fn is_small() -> bool {
    has_at_most(SMALL)
}

/// Returns whether at most `bytes` bytes of the process are resident, according to the system.
pub fn has_at_most(bytes: usize) -> bool {
    const PAGE: usize = 4096;
    let statistics = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let resident = statistics.split(' ').nth(1).and_then(|pages| pages.parse().ok());
    resident.is_some_and(|pages: usize| pages <= bytes / PAGE)
}

/// Returns freed memory that the C library has kept to the system, if the process is small. Threads
/// that allocate have to wait during this call, about 0.1 ms for each megabyte.
pub fn release_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]
    {
        const MOST: usize = 20 << 20;
        if has_at_most(MOST) {
            // SAFETY: the function has no requirements.
            unsafe { libc::malloc_trim(0) };
        }
    }
}

/// Maps the pages of a range of memory that is about to be written for the first time, in one call
/// of the system: a page fault for each of them would take twice as long.
///
/// # Safety
/// The range consists of whole pages of allocated memory.
pub(crate) unsafe fn populate(start: *mut u8, bytes: usize) {
    // Where the system cannot do this, the pages are mapped when they are written.
    #[cfg(all(target_os = "linux", not(miri)))]
    libc::madvise(start.cast(), bytes, libc::MADV_POPULATE_WRITE);
    #[cfg(not(all(target_os = "linux", not(miri))))]
    let _ = (start, bytes);
}

/// Returns the text and the constants of the program and its libraries to the system, which maps
/// them again when they are needed.
pub fn release_text() {
    #[cfg(all(target_os = "linux", not(miri)))]
    for &(start, end) in text() {
        // SAFETY: the range is that of a segment of the program or of a library that is linked to
        // it, which stay in place. The contents are those of the file: nothing has written to the
        // pages, as they have no relocations (`sys::visit`) and no debugger has set breakpoints
        // (`may_release_text`).
        unsafe { libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_DONTNEED) };
    }
}

#[cfg(all(target_os = "linux", not(miri)))]
mod sys {
    use std::ffi::c_void;
    use std::ptr::from_mut;

    /// The tags of an object's dynamic section that say that its text is relocated.
    const DT_TEXTREL: usize = 22;
    const DT_FLAGS: usize = 30;
    const DF_TEXTREL: usize = 4;

    /// Returns the ranges of [`TEXT`](super::TEXT).
    pub(super) fn find_text() -> Vec<(usize, usize)> {
        let mut text = Vec::new();
        // SAFETY: the callback fulfils the contract of the function, and gets the list that it
        // expects.
        unsafe { libc::dl_iterate_phdr(Some(visit), from_mut(&mut text).cast()) };
        text
    }

    /// Adds the segments of an object that are never written. Returns whether to stop: a library
    /// that is loaded before the others may have changed them, so if there is one, only the first
    /// object, the program, is used.
    unsafe extern "C" fn visit(
        info: *mut libc::dl_phdr_info,
        _size: usize,
        data: *mut c_void,
    ) -> libc::c_int {
        let (info, text) = (&*info, &mut *data.cast::<Vec<(usize, usize)>>());
        // The object that the kernel provides belongs to no file.
        let is_kernels =
            info.dlpi_addr != 0 && info.dlpi_addr == libc::getauxval(libc::AT_SYSINFO_EHDR);
        let headers = std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum));
        let address = |header: &libc::Elf64_Phdr| (info.dlpi_addr + header.p_vaddr) as usize;
        let is_relocated = headers.iter().filter(|h| h.p_type == libc::PT_DYNAMIC).any(|h| {
            let entries = std::ptr::with_exposed_provenance::<[usize; 2]>(address(h));
            let count = h.p_memsz as usize / size_of::<[usize; 2]>();
            std::slice::from_raw_parts(entries, count).iter().any(|&[tag, value]| {
                tag == DT_TEXTREL || tag == DT_FLAGS && value & DF_TEXTREL != 0
            })
        });
        if !is_kernels && !is_relocated {
            let page = libc::sysconf(libc::_SC_PAGESIZE) as usize;
            for header in headers.iter().filter(|h| h.p_type == libc::PT_LOAD) {
                // Only whole pages that belong to no other segment are added.
                let end = address(header) + header.p_memsz as usize;
                let (start, end) = (address(header).next_multiple_of(page), end / page * page);
                if header.p_flags & libc::PF_W == 0 && start < end {
                    text.push((start, end));
                }
            }
        }
        libc::c_int::from(std::env::var_os("LD_PRELOAD").is_some())
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
            release_text();
            resident_text() < before
        };
        assert!((0..100).any(|_| falls()), "the text stays resident");
    }

    #[test]
    #[cfg(all(target_os = "linux", not(miri)))]
    fn populated_memory_causes_no_page_faults() {
        const PAGE: usize = 4096;
        const PAGES: usize = 512;
        fn faults() -> i64 {
            // SAFETY: the function initializes the structure.
            unsafe {
                let mut usage = std::mem::zeroed::<libc::rusage>();
                assert_eq!(libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage), 0);
                usage.ru_minflt
            }
        }
        let (rights, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE);
        // SAFETY: a new mapping is written within its bounds, and unmapped once.
        let faults = unsafe {
            let flags = flags | libc::MAP_ANONYMOUS;
            let p = libc::mmap(std::ptr::null_mut(), PAGES * PAGE, rights, flags, -1, 0);
            assert_ne!(p, libc::MAP_FAILED);
            populate(p.cast(), PAGES * PAGE);
            let before = faults();
            (0..PAGES).for_each(|i| p.cast::<u8>().add(i * PAGE).write_volatile(1));
            let faults = faults() - before;
            libc::munmap(p, PAGES * PAGE);
            faults
        };
        assert!(faults < 8, "{faults} page faults; Linux 5.14 or later is required");
    }

    #[test]
    fn text_stays_unless_the_program_asks() {
        assert!(!may_release_text());
    }
}
