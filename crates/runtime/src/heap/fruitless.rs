//! Decides when to raise "not enough memory" without another full collection.
//!
//! A program may catch the error and continue, and a collection takes long if much memory is live.
//! After several fruitless full collections in a row, with little allocation in between, errors are
//! raised without a collection: first one error, then twice as many each time, up to a limit. A
//! program that releases memory after that many errors may therefore have to retry a few times.

/// The full collections after which memory was as short as before.
#[derive(Default)]
pub(crate) struct Fruitless {
    /// How many there were in a row.
    count: u32,
    /// How many errors are raised without another collection.
    errors_left: u32,
    /// The next collection is made when more bytes than this are in use.
    until: usize,
    /// The smallest request that was refused; 0 for small objects.
    least: usize,
}

/// The number of collections before errors are raised without one.
const PATIENCE: u32 = 16;
/// The base-2 logarithm of the largest number of errors between two collections.
const MOST: u32 = 6;
/// The bounds of how many bytes may be allocated between two collections. When memory is short,
/// they come from the reserve.
const LITTLE: usize = 1 << 16;
const MUCH: usize = 1 << 19;

impl Fruitless {
    /// Notes that a request of `bytes` bytes is refused after a full collection, which left
    /// `in_use` bytes in use.
    pub(super) fn note(&mut self, bytes: usize, in_use: usize) {
        self.least = if self.count == 0 { bytes } else { self.least.min(bytes) };
        self.count = self.count.saturating_add(1);
        if let Some(more) = self.count.checked_sub(PATIENCE) {
            self.errors_left = 1 << more.min(MOST);
        }
        self.until = in_use.saturating_add((in_use / 256).clamp(LITTLE, MUCH));
    }

    /// Forgets the fruitless collections: memory is available, or another collection has run.
    pub(super) fn forget(&mut self) {
        *self = Fruitless::default();
    }

    /// Returns whether a request of `bytes` bytes is refused without a full collection, and counts
    /// it.
    pub(super) fn skips(&mut self, bytes: usize, in_use: usize) -> bool {
        let skips = self.errors_left > 0 && bytes >= self.least && in_use < self.until;
        self.errors_left = self.errors_left.saturating_sub(1);
        skips
    }
}

#[cfg(test)]
mod tests {
    use super::{Fruitless, LITTLE, PATIENCE};

    #[test]
    fn errors_between_collections() {
        let mut fruitless = Fruitless::default();
        let (mut errors, mut collections) = (0, 0);
        for _ in 0..5000 {
            errors += 1;
            if !fruitless.skips(100, 0) {
                collections += 1;
                fruitless.note(100, 0);
            }
        }
        assert!((u64::from(PATIENCE)..100).contains(&collections), "{collections} of {errors}");
        // No error is raised for a smaller request, after some memory was allocated, or after a
        // request was granted.
        fruitless.note(100, 0);
        assert!(
            fruitless.skips(100, 0) && !fruitless.skips(99, 0) && !fruitless.skips(100, LITTLE)
        );
        fruitless.forget();
        assert!(!fruitless.skips(100, 0));
    }
}
