//! Making written code visible to the cores that execute it.

/// Makes the `size` bytes at `code` visible to instruction fetches of all cores, after they were
/// written through any address of the same memory.
///
/// The caller runs [`crate::barrier::sync_cores`] before another thread learns the address, since a
/// core may have fetched instructions that were there before.
#[cfg(target_arch = "x86_64")]
pub(super) fn publish(_code: *const u8, _size: usize) {
    // The processor keeps instruction caches coherent with stores through any address.
}

/// As for x86-64. On aarch64 instruction fetches do not see stores by themselves: the data caches
/// have to be cleaned down to the point from which all instruction caches are filled (the point of
/// unification), and the lines in these caches invalidated.
#[cfg(target_arch = "aarch64")]
pub(super) fn publish(code: *const u8, size: usize) {
    use std::arch::asm;

    let ctr: usize;
    // SAFETY: it reads a register of constants, which programs may read.
    unsafe { asm!("mrs {}, ctr_el0", out(reg) ctr, options(nomem, nostack, preserves_flags)) };
    // The register has the binary logarithms of the smallest lines of all caches, in words.
    let lines = |log_words: usize| {
        let line = 4 << (log_words & 15);
        let first = code as usize & !(line - 1);
        (first..code as usize + size).step_by(line)
    };
    // SAFETY: the addresses are those of mapped and readable memory. The instructions change no
    // contents of memory, and the compiler moves no access to memory across them.
    unsafe {
        // The stores went to another address, so without this barrier they would not be ordered
        // before the cleaning of lines by the address of the code.
        asm!("dsb ishst", options(nostack, preserves_flags));
        for line in lines(ctr >> 16) {
            asm!("dc cvau, {}", in(reg) line, options(nostack, preserves_flags));
        }
        // The lines are clean before they are invalidated: a core that fetches in between would
        // fill its cache with the old contents.
        asm!("dsb ish", options(nostack, preserves_flags));
        // By the address at which the code is executed: caches may be indexed by it. The
        // instruction reaches all cores of the system.
        for line in lines(ctr) {
            asm!("ic ivau, {}", in(reg) line, options(nostack, preserves_flags));
        }
        // No core has an old line from here on, so the address may be published.
        asm!("dsb ish", options(nostack, preserves_flags));
        // This core drops the instructions that it has fetched already. The others do so in
        // `sync_cores`.
        asm!("isb", options(nostack, preserves_flags));
    }
}
