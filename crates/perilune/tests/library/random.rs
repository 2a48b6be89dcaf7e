//! Random choices, which depend only on the seed.

use fastrand::Rng;

/// Returns a number from the environment.
pub(crate) fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// A source of random choices.
pub(crate) struct Random(Rng);

impl Random {
    /// Creates the source for a seed.
    pub(crate) fn new(seed: u64) -> Random {
        Random(Rng::with_seed(seed))
    }

    /// Returns 64 random bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0.u64(..)
    }

    /// Returns a number below `limit`; 0 if `limit` is 0.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0.usize(..limit.max(1))
    }

    /// Returns true once in `n` calls on average.
    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// Returns an element of `from`.
    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// Damages a text: inserts or replaces bytes of `alphabet`, removes bytes, truncates.
    pub(crate) fn damage(&mut self, text: &mut Vec<u8>, alphabet: &[u8]) {
        for _ in 0..=self.below(3) {
            let at = self.below(text.len());
            match self.below(5) {
                0 if !text.is_empty() => _ = text.remove(at),
                1 if !text.is_empty() => text[at] = *self.pick(alphabet),
                2 => text.truncate(at),
                _ => text.insert(at, *self.pick(alphabet)),
            }
        }
    }

    /// Returns an integer: small, near a power of two, or any.
    pub(crate) fn integer(&mut self) -> i64 {
        match self.below(6) {
            0 | 1 => self.below(300) as i64 - 150,
            2 => *self.pick(&[0, 1, -1, i64::MAX, i64::MIN, i64::MIN + 1, 1 << 53, i64::MAX - 1]),
            3 | 4 => {
                let power = 1u64 << self.below(64);
                let near = power.wrapping_add(self.below(5) as u64).wrapping_sub(2) as i64;
                if self.one_in(2) { near.wrapping_neg() } else { near }
            }
            _ => self.next() as i64,
        }
    }
}
