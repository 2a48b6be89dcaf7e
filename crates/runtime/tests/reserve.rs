//! The reserve of memory.

use std::alloc::{GlobalAlloc, Layout};
use std::ptr::null_mut;

use perilune_runtime::reserve::Reserve;

/// An allocator without any memory.
struct Nothing;

// SAFETY: it allocates nothing.
unsafe impl GlobalAlloc for Nothing {
    unsafe fn alloc(&self, _: Layout) -> *mut u8 {
        null_mut()
    }
    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {
        unreachable!("it allocated nothing")
    }
}

#[test]
fn pieces_are_apart_aligned_and_joined_again() {
    let reserve = Box::new(Reserve::<Nothing, { 64 << 10 }>::new(Nothing));
    let mut seed = 1u64;
    let mut random = |n: u64| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) % n
    };
    let mut live: Vec<(*mut u8, Layout, u8)> = Vec::new();
    for round in 0..2_000 {
        let size = 1 + random(2_000) as usize;
        let layout = Layout::from_size_align(size, 1 << random(9)).unwrap();
        // SAFETY: each block is used within its layout and freed once, with the same layout.
        unsafe {
            let p = reserve.alloc(layout);
            if !p.is_null() {
                assert!(p.addr().is_multiple_of(layout.align()));
                p.write_bytes(round as u8, size);
                live.push((p, layout, round as u8));
            }
            if p.is_null() || random(3) == 0 {
                let (p, layout, fill) = live.swap_remove(random(live.len() as u64) as usize);
                let bytes = std::slice::from_raw_parts(p, layout.size());
                assert!(bytes.iter().all(|&b| b == fill));
                reserve.dealloc(p, layout);
            }
        }
    }
    for (p, layout, _) in live {
        // SAFETY: as above.
        unsafe { reserve.dealloc(p, layout) };
    }
    // The free pieces have merged: both halves are available.
    let half = Layout::from_size_align(32 << 10, 64).unwrap();
    // SAFETY: as above.
    unsafe {
        let (a, b) = (reserve.alloc(half), reserve.alloc(half));
        assert!(!a.is_null() && !b.is_null());
        reserve.dealloc(a, half);
        reserve.dealloc(b, half);
    }
}
