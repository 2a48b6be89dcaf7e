//! The free parts of the region: spans of offsets, best fit, coalescing.
//!
//! All operations are logarithmic and exact. In contrast, `range-alloc` searches all free spans one
//! by one, and `offset-allocator` rounds sizes up by an eighth and cannot free a part of an
//! allocation.

use std::collections::{BTreeMap, BTreeSet};

/// The free spans of a region. Offsets and sizes are multiples of the granule that the region
/// chose.
#[derive(Debug)]
pub(super) struct Spans {
    /// Free spans: offset to size. No two touch.
    by_offset: BTreeMap<usize, usize>,
    /// The same spans as (size, offset).
    by_size: BTreeSet<(usize, usize)>,
    free: usize,
}

impl Spans {
    /// Creates the spans of a region: a single free one.
    pub(super) fn new(size: usize) -> Spans {
        let mut spans = Spans { by_offset: BTreeMap::new(), by_size: BTreeSet::new(), free: 0 };
        if size > 0 {
            spans.insert(0, size);
            spans.free = size;
        }
        spans
    }

    /// Takes `size` from the smallest span that is large enough, and among equal ones from the
    /// lowest.
    pub(super) fn take(&mut self, size: usize) -> Option<usize> {
        debug_assert!(size > 0);
        let &(found, offset) = self.by_size.range((size, 0)..).next()?;
        self.remove(offset, found);
        if found > size {
            self.insert(offset + size, found - size);
        }
        self.free -= size;
        Some(offset)
    }

    /// Gives back a span that was taken, or a part of one.
    ///
    /// # Panics
    /// Panics if a part of it is already free.
    pub(super) fn give(&mut self, offset: usize, size: usize) {
        debug_assert!(size > 0);
        let (mut start, mut end) = (offset, offset + size);
        if let Some((&before, &length)) = self.by_offset.range(..end).next_back() {
            assert!(before + length <= offset, "a span is freed twice");
            if before + length == offset {
                self.remove(before, length);
                start = before;
            }
        }
        if let Some(&length) = self.by_offset.get(&end) {
            self.remove(end, length);
            end += length;
        }
        self.insert(start, end - start);
        self.free += size;
    }

    fn insert(&mut self, offset: usize, size: usize) {
        self.by_offset.insert(offset, size);
        self.by_size.insert((size, offset));
    }

    fn remove(&mut self, offset: usize, size: usize) {
        self.by_offset.remove(&offset);
        self.by_size.remove(&(size, offset));
    }

    /// Returns the sum of all sizes.
    pub(super) fn free(&self) -> usize {
        self.free
    }

    /// Returns the size of the largest.
    pub(super) fn largest(&self) -> usize {
        self.by_size.last().map_or(0, |&(size, _)| size)
    }

    /// Returns the number of free spans.
    pub(super) fn count(&self) -> usize {
        self.by_offset.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn best_fit_and_coalescing() {
        let mut spans = Spans::new(1024);
        let [a, b, c, d] = [256, 64, 128, 64].map(|size| spans.take(size).expect("there is room"));
        assert_eq!([a, b, c, d], [0, 256, 320, 448]);
        spans.give(b, 64);
        spans.give(d, 64);
        assert_eq!(spans.count(), 2, "the second joins the rest");
        assert_eq!(spans.take(64), Some(b), "the smallest that fits");
        spans.give(c, 128);
        spans.give(b, 64);
        spans.give(a, 256);
        assert_eq!((spans.free(), spans.largest(), spans.count()), (1024, 1024, 1));
        assert_eq!(spans.take(1088), None);
    }

    #[test]
    #[should_panic(expected = "freed twice")]
    fn freed_twice() {
        let mut spans = Spans::new(1024);
        let a = spans.take(128).expect("there is room");
        spans.give(a, 128);
        spans.give(a, 64);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 200 }))]
        /// Compares the free spans with a map of granules.
        #[test]
        fn as_a_bitmap(
            steps in prop::collection::vec(
                (any::<bool>(), 1usize..9, any::<prop::sample::Index>()),
                1..200,
            )
        ) {
            const SIZE: usize = 64;
            let mut spans = Spans::new(SIZE);
            let mut used = [false; SIZE];
            let mut taken: Vec<(usize, usize)> = Vec::new();
            for (take, size, which) in steps {
                if take {
                    if let Some(at) = spans.take(size) {
                        prop_assert!(used[at..at + size].iter().all(|u| !u));
                        used[at..at + size].fill(true);
                        taken.push((at, size));
                    } else {
                        prop_assert!(used.chunk_by(|a, b| a == b).all(|c| c[0] || c.len() < size));
                    }
                } else if !taken.is_empty() {
                    let (at, size) = taken.swap_remove(which.index(taken.len()));
                    spans.give(at, size);
                    used[at..at + size].fill(false);
                }
                prop_assert_eq!(spans.free(), used.iter().filter(|u| !**u).count());
                let free = used.chunk_by(|a, b| a == b).filter(|c| !c[0]);
                prop_assert_eq!(spans.count(), free.count());
            }
        }
    }
}
