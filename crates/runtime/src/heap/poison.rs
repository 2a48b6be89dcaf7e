//! Poison in freed memory, which shows that something still uses it.

use crate::header::{GcHeader, Kind};

/// The byte that fills freed memory.
pub(crate) const POISON: u8 = 0xDB;

/// Fills freed memory with poison.
pub(crate) unsafe fn poison(p: *mut u8, size: usize) {
    p.write_bytes(POISON, size);
}

/// Panics if freed memory was written to.
pub(crate) unsafe fn check_poison(p: *mut u8, size: usize) {
    let bytes = std::slice::from_raw_parts(p, size);
    let word = u64::from_ne_bytes([POISON; 8]);
    let (head, words, tail) = bytes.align_to::<u64>();
    let intact = head.iter().chain(tail).all(|b| *b == POISON) && words.iter().all(|w| *w == word);
    assert!(
        intact,
        "freed memory was written at {:?}",
        bytes.iter().position(|b| *b != POISON).map(|i| p.wrapping_add(i))
    );
}

/// Panics if `o` is not an object.
pub(crate) unsafe fn check_object(o: *mut GcHeader) {
    let kind = o.cast::<u8>().read();
    let known = 1..=Kind::LAST as u8;
    assert!(known.contains(&kind), "a reference to freed memory: {o:?} has kind {kind:#x}");
}
