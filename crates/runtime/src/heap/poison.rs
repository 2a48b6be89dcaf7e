//! Poisons freed memory, to reveal code that still uses it.

use crate::header::{GcHeader, Kind};

/// The byte that fills freed memory.
pub(crate) const POISON: u8 = 0xDB;

/// Fills freed memory with poison.
pub(crate) unsafe fn poison(p: *mut u8, size: usize) {
    p.write_bytes(POISON, size);
}

/// Returns whether memory holds nothing but poison.
pub(crate) unsafe fn is_intact(p: *mut u8, size: usize) -> bool {
    let bytes = std::slice::from_raw_parts(p, size);
    let word = u64::from_ne_bytes([POISON; 8]);
    let (head, words, tail) = bytes.align_to::<u64>();
    // There is no early exit, so that the loop is vectorized.
    let difference = words.iter().fold(0, |sum, w| sum | (w ^ word));
    difference == 0 && head.iter().chain(tail).all(|b| *b == POISON)
}

/// Panics if freed memory was written to.
pub(crate) unsafe fn check_poison(p: *mut u8, size: usize) {
    let first_written = || (0..size).map(|i| p.add(i)).find(|b| **b != POISON);
    assert!(is_intact(p, size), "freed memory was written at {:?}", first_written());
}

/// Panics if `o` is not an object.
pub(crate) unsafe fn check_object(o: *mut GcHeader) {
    let kind = o.cast::<u8>().read();
    let known = 1..=Kind::LAST as u8;
    assert!(known.contains(&kind), "a reference to freed memory: {o:?} has kind {kind:#x}");
}
