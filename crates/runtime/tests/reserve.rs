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
    let mut random = fastrand::Rng::with_seed(1);
    let mut random = |n: u64| random.u64(..n);
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

#[test]
#[cfg(all(target_os = "linux", not(miri)))]
fn large_blocks_of_transient_work_have_mappings() {
    use perilune_runtime::transient;

    static RESERVE: Reserve = Reserve::new(std::alloc::System);
    let of = |size| Layout::from_size_align(size, 8).unwrap();
    const LARGE: usize = 64 << 10;
    let filled = |p: *mut u8, size: usize, byte: u8| {
        // SAFETY: the block has this size.
        unsafe { (0..size).all(|i| *p.add(i) == byte) }
    };
    // SAFETY: each block is used within its layout and freed once, with the same layout.
    unsafe {
        let ordinary = RESERVE.alloc(of(LARGE));
        ordinary.write_bytes(1, LARGE);
        let (grown, zeroed) = transient::during(0, || {
            assert_eq!(transient::count(), 0);
            let small = RESERVE.alloc(of(LARGE - 1));
            assert_eq!(transient::count(), 0);
            small.write_bytes(2, LARGE - 1);
            let grown = RESERVE.realloc(small, of(LARGE - 1), LARGE);
            assert_eq!(transient::count(), 1);
            assert!(filled(grown, LARGE - 1, 2));
            grown.write_bytes(3, LARGE);
            let grown = RESERVE.realloc(grown, of(LARGE), 50 * LARGE);
            assert!(filled(grown, LARGE, 3) && filled(grown.add(LARGE), 49 * LARGE, 0));
            let zeroed = RESERVE.alloc_zeroed(of(2 * LARGE));
            assert!(filled(zeroed, 2 * LARGE, 0));
            assert_eq!(transient::count(), 2);
            // An ordinary block becomes a mapping when it grows here.
            let grown_here = RESERVE.realloc(ordinary, of(LARGE), 3 * LARGE);
            assert!(filled(grown_here, LARGE, 1));
            assert_eq!(transient::count(), 3);
            RESERVE.dealloc(grown_here, of(3 * LARGE));
            assert_eq!(transient::count(), 2);
            // Some work wants mappings for larger blocks only.
            transient::during(4 * LARGE, || {
                let below = RESERVE.alloc(of(4 * LARGE - 1));
                assert_eq!(transient::count(), 2);
                let grown = RESERVE.realloc(below, of(4 * LARGE - 1), 4 * LARGE);
                assert_eq!(transient::count(), 3);
                RESERVE.dealloc(grown, of(4 * LARGE));
            });
            assert_eq!(transient::count(), 2);
            (grown, zeroed)
        });
        // Later, or on other threads, they are what they were.
        let later = RESERVE.alloc(of(LARGE));
        assert_eq!(transient::count(), 2);
        let grown = RESERVE.realloc(grown, of(50 * LARGE), 60 * LARGE);
        assert!(filled(grown, LARGE, 3));
        let small = RESERVE.realloc(grown, of(60 * LARGE), 100);
        assert!(filled(small, 100, 3));
        assert_eq!(transient::count(), 1);
        let zeroed = zeroed.expose_provenance();
        std::thread::spawn(move || {
            let zeroed = std::ptr::with_exposed_provenance_mut(zeroed);
            RESERVE.dealloc(zeroed, of(2 * LARGE));
        })
        .join()
        .unwrap();
        assert_eq!(transient::count(), 0);
        RESERVE.dealloc(small, of(100));
        RESERVE.dealloc(later, of(LARGE));
        // When there are too many, further ones come from the system's allocator.
        let many: Vec<_> =
            transient::during(LARGE, || (0..300).map(|_| RESERVE.alloc(of(LARGE))).collect());
        assert_eq!(transient::count(), 256);
        for (i, p) in many.iter().enumerate() {
            p.write_bytes(i as u8, LARGE);
        }
        for (i, &p) in many.iter().enumerate() {
            assert!(filled(p, LARGE, i as u8));
            RESERVE.dealloc(p, of(LARGE));
        }
        assert_eq!(transient::count(), 0);
    }
}
